package controlplane

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/controllers"
	"github.com/hadoop-bench/operator/controllers/manager"
	"github.com/hadoop-bench/operator/runner/report"
)

const manifest = `apiVersion: hadoopbench.dev/v1alpha1
kind: DFSIORun
metadata:
  name: bench
spec:
  target: {fs: "hdfs://nn.example:8020"}
  tests: [write, read]
  nrFiles: 3
  repeats: 2
  size: 64MB
  podTemplate:
    resources: {requests: {cpu: 50m}}
`

// TestWholeRun: a user applies a run of each kind, at the same time, and gets the results, from the manager as the product
// starts it, cluster-wide and with the rights of config/rbac. It runs before the parallel tests, whose managers it would
// disturb, and once in a process, since the manager's controllers have names.
func TestWholeRun(t *testing.T) {
	e := cluster(t)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- manager.Run(ctx, e.manager, manager.Options{RunnerImage: runnerImage, MetricsAddress: "0", ProbeAddress: "0"})
	}()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error("the manager failed:", err)
		}
	}()
	t.Run("kinds", func(t *testing.T) {
		t.Run("DFSIORun", func(t *testing.T) {
			t.Parallel()
			begin(t).wholeDFSIORun(t)
		})
		t.Run("NNThroughputRun", func(t *testing.T) {
			t.Parallel()
			begin(t).wholeNNThroughputRun(t)
		})
		t.Run("YCSBRun", func(t *testing.T) {
			t.Parallel()
			begin(t).wholeYCSBRun(t)
		})
	})
}

func (s *scenario) wholeDFSIORun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.yaml")
	if err := os.WriteFile(file, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	s.kubectl("apply", "-f", file)
	s.until(func() string {
		run := s.seen("bench")
		if run.UID == "" {
			return "the run does not show"
		}
		if run.Status.CompletionTime == nil {
			if got := kstatus(t, run); got != status.InProgressStatus {
				t.Errorf("kstatus is %s in phase %q, want InProgress", got, run.Status.Phase)
			}
			return "the run is not finished: " + run.Status.Summary
		}
		return ""
	})
	run := s.live("bench")
	if got := kstatus(t, run); got != status.CurrentStatus {
		t.Errorf("kstatus is %s at the end, want Current", got)
	}
	s.wantCondition(run, v1alpha1.ConditionTargetReady, metav1.ConditionTrue, v1alpha1.ReasonPreflightPassed)
	s.wantCondition(run, v1alpha1.ConditionCompleted, metav1.ConditionTrue, v1alpha1.ReasonAllStepsDone)
	s.wantCondition(run, v1alpha1.ConditionValid, metav1.ConditionTrue, v1alpha1.ReasonMeasuredProperly)
	s.wantCondition(run, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonSucceeded)
	s.wantCondition(run, v1alpha1.ConditionReconciling, metav1.ConditionFalse, v1alpha1.ReasonFinished)
	s.wantCondition(run, v1alpha1.ConditionStalled, metav1.ConditionFalse, v1alpha1.ReasonSucceeded)
	if run.Status.ObservedGeneration != run.Generation {
		t.Errorf("observedGeneration is %d, want %d", run.Status.ObservedGeneration, run.Generation)
	}
	s.wantFigures(run)
	s.wantReport(run)
	s.wantGone(&batchv1.JobList{}, &corev1.PodList{})
	jobs, pods := 0, 0 // an attempt more than one per row is a gate that broke: the machine was very busy
	for _, r := range run.Status.Steps {
		jobs += int(r.Attempt)
		pods += int(r.Attempt) * int(r.Shards.Expected)
	}
	if got := len(s.history.names(s.ns, "Job")); got != jobs || jobs < 6 {
		t.Errorf("%d Jobs were made for %d attempts: %v", got, jobs, s.history.names(s.ns, "Job"))
	}
	if got := len(s.history.names(s.ns, "Pod")); got != pods || pods < 1+4*3+1 {
		t.Errorf("%d pods were made for %d shards", got, pods)
	}
	s.wantEvents("DFSIORun", "Started", "Measured", "Finished")
	s.wantNoDrift(file)
}

// kstatus is the real library's opinion.
func kstatus(t *testing.T, run controllers.Run) status.Status {
	t.Helper()
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(run)
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: object}
	u.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(reflect.TypeOf(run).Elem().Name()))
	r, err := status.Compute(u)
	if err != nil {
		t.Fatal(err)
	}
	return r.Status
}

// wantFigures computes the figures anew from what the shards reported, without the product's code.
func (s *scenario) wantFigures(run *v1alpha1.DFSIORun) {
	s.Helper()
	for _, step := range []string{"write", "read"} {
		var rates []float64
		for _, repeat := range []int32{1, 2} {
			r := row(run, step, repeat)
			reports := s.script.left(step, repeat, r.Attempt)
			if len(reports) != 3 {
				s.Fatalf("%d shards of %s, repeat %d, reported, want 3", len(reports), step, repeat)
			}
			var bytes, ops int64
			first, last, firstStart, lastStart := int64(math.MaxInt64), int64(0), int64(math.MaxInt64), int64(0)
			for _, r := range reports {
				b := r.Body
				bytes, ops = bytes+b.Bytes, ops+b.Operations
				start, end := b.Start+b.Clock.OffsetMicros, b.End+b.Clock.OffsetMicros
				first, last = min(first, start), max(last, end)
				firstStart, lastStart = min(firstStart, start), max(lastStart, start)
			}
			rates = append(rates, float64(bytes)/(1<<20)/(float64(last-first)/1e6))
			if r.State != v1alpha1.StepDone || r.Shards.Reported != 3 || r.Shards.Failed != 0 || r.Result == nil {
				s.Fatalf("the row of %s, repeat %d, is %+v", step, repeat, r)
			}
			got := []int64{r.Result.Bytes, r.Result.Operations, r.Result.WallMicros, r.Result.StartSpreadMicros, r.Result.Errors, r.Result.Latency.Count}
			want := []int64{bytes, ops, last - first, lastStart - firstStart, 0, ops}
			if d := cmp.Diff(want, got); d != "" {
				s.Errorf("%s, repeat %d: bytes, operations, wall, spread, errors, latencies (-want +got):\n%s", step, repeat, d)
			}
			s.wantDecimal(step, figure(r.Result.Rates, report.FigureAggregate), rates[repeat-1])
		}
		mean := (rates[0] + rates[1]) / 2
		for _, a := range run.Status.Aggregates {
			if a.Step == step && a.Figure == report.FigureAggregate {
				s.wantDecimal(step+" mean", a.Mean, mean)
				s.wantDecimal(step+" stdDev", a.StdDev, math.Abs(rates[0]-rates[1])/math.Sqrt2)
				s.wantDecimal(step+" min", a.Min, min(rates[0], rates[1]))
				s.wantDecimal(step+" max", a.Max, max(rates[0], rates[1]))
				rates = nil
			}
		}
		if rates != nil {
			s.Errorf("status has no aggregate %s of %s", report.FigureAggregate, step)
		}
		if want := fmt.Sprintf("%s %.1f MiB/s (n=2", step, mean); !strings.Contains(run.Status.Summary, want) {
			s.Errorf("the summary is %q, want %q in it", run.Status.Summary, want)
		}
	}
	if got := run.Status.Environment.Facts["nameNode"]; got != "nn.example:8020" {
		s.Errorf("the NameNode that preflight found is %q", got)
	}
	total := int32(0)
	for _, n := range run.Status.Environment.ShardsPerNode {
		total += n
	}
	if total != 3 || run.Status.Environment.Nodes < 1 {
		s.Errorf("environment says %d shards on %d nodes, want 3", total, run.Status.Environment.Nodes)
	}
}

func figure(figures []v1alpha1.Figure, name string) string {
	for _, f := range figures {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

func (s *scenario) wantDecimal(what, got string, want float64) {
	s.Helper()
	if v, err := strconv.ParseFloat(got, 64); err != nil || math.Abs(v-want) > 0.001 {
		s.Errorf("%s is %q, want %.3f", what, got, want)
	}
}

// wantReport looks at the kept documents.
func (s *scenario) wantReport(run *v1alpha1.DFSIORun) {
	s.Helper()
	doc, cm := s.document(run)
	if !metav1.IsControlledBy(&cm, run) {
		s.Errorf("the report's ConfigMap belongs to %v", cm.OwnerReferences)
	}
	if len(doc.Sections) != 4 {
		s.Fatalf("report.json has %d measurements, want 4", len(doc.Sections))
	}
	for i, section := range doc.Sections {
		r := row(run, section.Step, section.Repeat)
		if section.Merged == nil || r.Result == nil || section.Merged.Bytes != r.Result.Bytes || section.Merged.Times.WallMicros != r.Result.WallMicros {
			s.Errorf("measurement %d of report.json differs from the status: %+v", i, section)
		}
	}
	text := cm.Data["TestDFSIO_results.log"]
	for label, want := range map[string]int{
		"----- TestDFSIO ----- : write\n": 2, "----- TestDFSIO ----- : read\n": 2, "        Number of files: 3\n": 4,
		" Total MBytes processed: 192\n": 4, "      Throughput mb/sec: ": 4,
	} {
		if got := strings.Count(text, label); got != want {
			s.Errorf("TestDFSIO_results.log has %q %d times, want %d:\n%s", label, got, want, text)
		}
	}
	s.wantRows(run, 4, 3)
}

// wantRows looks for the ConfigMaps with the shards' rows of so many measurements of so many shards.
func (s *scenario) wantRows(run controllers.Run, measurements, shards int) {
	s.Helper()
	var list corev1.ConfigMapList
	if err := s.client.List(s.ctx, &list, client.InNamespace(s.ns), client.MatchingLabels{"app.kubernetes.io/managed-by": "hadoop-bench-operator"}); err != nil {
		s.Fatal(err)
	}
	rows := 0
	for _, cm := range list.Items {
		if !metav1.IsControlledBy(&cm, run) {
			s.Errorf("ConfigMap %s belongs to %v", cm.Name, cm.OwnerReferences)
		}
		if data := cm.BinaryData["shards.jsonl.gz"]; data != nil {
			rows++
			decoded, err := report.DecodeRows(data)
			if err != nil || len(decoded) != shards {
				s.Errorf("ConfigMap %s has %d rows, want %d: %v", cm.Name, len(decoded), shards, err)
			}
		}
	}
	if rows != measurements {
		s.Errorf("%d ConfigMaps have shards' rows, want %d", rows, measurements)
	}
}

// wantEvents waits for events of these reasons.
func (s *scenario) wantEvents(kind string, reasons ...string) {
	s.Helper()
	s.until(func() string {
		list, err := s.kube.EventsV1().Events(s.ns).List(s.ctx, metav1.ListOptions{FieldSelector: "regarding.kind=" + kind})
		if err != nil {
			return err.Error()
		}
		seen := map[string]bool{}
		for _, e := range list.Items {
			seen[e.Reason] = true
		}
		for _, r := range reasons {
			if !seen[r] {
				return fmt.Sprintf("there is no event %s, but %v", r, seen)
			}
		}
		return ""
	})
}

// wantNoDrift applies a finished run again, as kubectl and as GitOps tools do.
func (s *scenario) wantNoDrift(file string) {
	s.Helper()
	before := s.live("bench")
	s.kubectl("diff", "-f", file)
	s.kubectl("apply", "-f", file)
	after := s.live("bench")
	if d := cmp.Diff(before, after); d != "" {
		s.Errorf("applying the run again changed it (-before +after):\n%s", d)
	}
	// The first server-side apply of another manager adds it to managedFields and changes nothing else.
	s.kubectl("apply", "--server-side", "--field-manager=gitops", "--force-conflicts", "-f", file)
	first := s.live("bench")
	if d := cmp.Diff(before.Spec, first.Spec); d != "" || first.Generation != before.Generation {
		s.Errorf("server-side apply changed the spec (generation %d to %d):\n%s", before.Generation, first.Generation, d)
	}
	s.kubectl("diff", "--server-side", "--field-manager=gitops", "--force-conflicts", "-f", file)
	s.kubectl("apply", "--server-side", "--field-manager=gitops", "--force-conflicts", "-f", file)
	if d := cmp.Diff(first, s.live("bench")); d != "" {
		s.Errorf("server-side apply again changed the run (-before +after):\n%s", d)
	}
	for _, f := range first.ManagedFields {
		if fields := f.FieldsV1.GetRawString(); f.Manager == "hadoop-bench-operator" && (f.Subresource != "status" || strings.Contains(fields, `"f:spec":`)) {
			s.Errorf("the operator owns fields outside status: %s", fields)
		}
	}
}

// kubectl runs the real one; it must succeed.
func (s *scenario) kubectl(args ...string) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.ctx, patience)
	defer cancel()
	args = append([]string{"--kubeconfig", s.kubeconfig, "--namespace", s.ns}, args...)
	out, err := exec.CommandContext(ctx, filepath.Join(os.Getenv("HADOOPBENCH_BIN"), "kubectl"), args...).CombinedOutput()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		s.Fatalf("kubectl %s: exit code %d:\n%s", strings.Join(args[4:], " "), exit.ExitCode(), out)
	case err != nil:
		s.Fatal(err)
	}
}

// TestLeaderElection: the role for it is enough, and a manager that ends lets the next one in at once.
func TestLeaderElection(t *testing.T) {
	t.Parallel()
	s := begin(t)
	for range 2 {
		m := startManager(t, s.environment, s.ns, nil, nil, electLeader)
		select {
		case <-m.Elected():
		case <-time.After(10 * time.Second):
			t.Fatal("no leader:\n" + m.log.String())
		}
		m.stop(t)
	}
}
