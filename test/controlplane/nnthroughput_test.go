package controlplane

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/controllers/jobs"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
)

const nnThroughputManifest = `apiVersion: hadoopbench.dev/v1alpha1
kind: NNThroughputRun
metadata:
  name: bench
spec:
  target:
    fs: "hdfs://nn.example:8020"
    http: {nameNodes: ["http://nn.example:9870"]}
  operations: [create, fileStatus, clean]
  threads: 10
  shards: 4
  files: 4000
  repeats: 2
  warmup: 1s
`

// nnt returns an NNThroughputRun as the API server has it.
func (s *scenario) nnt(name string) *v1alpha1.NNThroughputRun {
	s.Helper()
	var run v1alpha1.NNThroughputRun
	if err := s.client.Get(s.ctx, types.NamespacedName{Namespace: s.ns, Name: name}, &run); err != nil {
		s.Fatal(err)
	}
	return &run
}

// createNNT makes a run of create on two shards whose files are kept, changed as the test likes.
func (s *scenario) createNNT(adjust func(*v1alpha1.NNThroughputRunSpec)) {
	s.Helper()
	run := &v1alpha1.NNThroughputRun{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: "bench"},
		Spec: v1alpha1.NNThroughputRunSpec{
			RunSpec:    v1alpha1.RunSpec{Target: v1alpha1.Target{FS: "hdfs://nn.example:8020"}, KeepResults: ptr(true)},
			Operations: []v1alpha1.NNThroughputOperation{v1alpha1.NNThroughputCreate}, Shards: ptr(int32(2)), Files: ptr(int64(1000)),
		},
	}
	adjust(&run.Spec)
	if err := s.client.Create(s.ctx, run); err != nil {
		s.Fatal(err)
	}
}

// finishedNNT waits until a run is finished and returns it.
func (s *scenario) finishedNNT() *v1alpha1.NNThroughputRun {
	s.Helper()
	s.until(func() string {
		if st := s.nnt("bench").Status; st.CompletionTime == nil {
			return "the run is not finished: " + st.Summary
		}
		return ""
	})
	return s.nnt("bench")
}

func (s *scenario) wholeNNThroughputRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.yaml")
	if err := os.WriteFile(file, []byte(nnThroughputManifest), 0o600); err != nil {
		t.Fatal(err)
	}
	s.kubectl("apply", "-f", file)
	run := s.finishedNNT()
	if got := kstatus(t, run); got != status.CurrentStatus {
		t.Errorf("kstatus is %s at the end, want Current", got)
	}
	s.wantCondition(run, v1alpha1.ConditionTargetReady, metav1.ConditionTrue, v1alpha1.ReasonPreflightPassed)
	s.wantCondition(run, v1alpha1.ConditionCompleted, metav1.ConditionTrue, v1alpha1.ReasonAllStepsDone)
	s.wantCondition(run, v1alpha1.ConditionValid, metav1.ConditionTrue, v1alpha1.ReasonMeasuredProperly)
	s.wantCondition(run, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonSucceeded)
	var rows []string
	for _, r := range run.Status.Steps {
		rows = append(rows, fmt.Sprintf("%s/%d %d of %d", r.Name, r.Repeat, r.Shards.Reported, r.Shards.Expected))
	}
	want := []string{"preflight/1 1 of 1", "create/1 4 of 4", "create/2 4 of 4", "fileStatus/1 4 of 4", "fileStatus/2 4 of 4", "clean/1 1 of 1", "cleanup/1 1 of 1"}
	if d := cmp.Diff(want, rows); d != "" {
		t.Errorf("steps (-want +got):\n%s", d)
	}
	s.wantRates(run)
	facts := map[string]string{"nameNode": "nn.example:8020", "calls.after.Create": "7"}
	if d := cmp.Diff(facts, run.Status.Environment.Facts); d != "" {
		t.Errorf("facts (-want +got):\n%s", d)
	}
	doc, cm := s.document(run)
	if doc.Kind != "NNThroughputRun" || len(doc.Sections) != 4 || !metav1.IsControlledBy(&cm, run) {
		t.Errorf("report.json of a %s has %d measurements, want 4", doc.Kind, len(doc.Sections))
	}
	for part, n := range map[string]int{
		"--- create inputs ---\n": 2, "--- fileStatus stats  ---\n": 2, "# operations: 4000\n": 4, "nrThreads = 10\n": 4,
		"baseDir = /nnThroughputBenchmark/" + s.ns + "/bench/create\n": 1,
	} {
		if got := strings.Count(cm.Data["NNThroughputBenchmark.txt"], part); got != n {
			t.Errorf("NNThroughputBenchmark.txt has %q %d times, want %d:\n%s", part, got, n, cm.Data["NNThroughputBenchmark.txt"])
		}
	}
	s.wantRows(run, 4, 4)
	s.wantGone(&batchv1.JobList{}, &corev1.PodList{})
	s.wantEvents("NNThroughputRun", "Started", "Measured", "Finished")
	s.kubectl("diff", "-f", file)
}

// wantRates computes the headline anew from what the shards reported, without the product's code.
func (s *scenario) wantRates(run *v1alpha1.NNThroughputRun) {
	s.Helper()
	for _, step := range []string{"create", "fileStatus"} {
		mean := 0.0
		for _, repeat := range []int32{1, 2} {
			r := row(run, step, repeat)
			first, last, ops := int64(math.MaxInt64), int64(0), int64(0)
			for _, r := range s.script.left(step, repeat, r.Attempt) {
				first, last = min(first, r.Body.Start+r.Body.Clock.OffsetMicros), max(last, r.Body.End+r.Body.Clock.OffsetMicros)
				ops += r.Body.Operations
			}
			rate := float64(ops) / (float64(last-first) / 1e6)
			mean += rate / 2
			if r.Result == nil || r.Result.Operations != 4000 || r.Result.Headline != report.FigureOps || r.Result.SetUpMicros != 1_500_003 {
				s.Fatalf("the row of %s, repeat %d, is %+v", step, repeat, r)
			}
			s.wantDecimal(step, figure(r.Result.Rates, report.FigureOps), rate)
		}
		if want := fmt.Sprintf("%s %.1f ops/s (n=2", step, mean); !strings.Contains(run.Status.Summary, want) {
			s.Errorf("the summary is %q, want %q in it", run.Status.Summary, want)
		}
	}
}

// TestNNThroughputRefused: what the API server cannot know to be impossible is refused at the first visit, by field, value
// and remedy, and nothing is made for it.
func TestNNThroughputRefused(t *testing.T) {
	t.Parallel()
	s := begin(t)
	s.manage(nil, nil)
	s.createNNT(func(spec *v1alpha1.NNThroughputRunSpec) { spec.Files, spec.FilesPerDir = ptr(int64(20)), ptr(int32(1)) })
	run := s.finishedNNT()
	const why = "spec.files: 20 is invalid; raise spec.filesPerDir: with 1 there are names for 19 files"
	s.wantCondition(run, v1alpha1.ConditionCompleted, metav1.ConditionFalse, v1alpha1.ReasonInvalidSpec, why)
	s.wantCondition(run, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonInvalidSpec, why)
	if got := s.history.names(s.ns, "Job"); len(got) != 0 {
		t.Errorf("Jobs %v were made", got)
	}
}

// TestNNThroughputKerberos: the pods mount keytab and realm, and fit the restricted Pod Security Standard with any user.
func TestNNThroughputKerberos(t *testing.T) {
	t.Parallel()
	s := begin(t)
	s.player.hold(s.ns, plan.OpCreate)
	s.manage(nil, nil)
	s.createNNT(func(spec *v1alpha1.NNThroughputRunSpec) {
		spec.Target.Kerberos = &v1alpha1.Kerberos{
			Principal:       "bench@EXAMPLE.COM",
			KeytabSecretRef: v1alpha1.LocalObjectReference{Name: "bench-keytab"}, Krb5ConfigMapRef: v1alpha1.LocalObjectReference{Name: "realm"},
		}
		spec.PodTemplate = &v1alpha1.PodTemplate{SecurityContext: &corev1.PodSecurityContext{RunAsUser: ptr(int64(1000650000))}}
	})
	s.measuring(plan.OpCreate, 1, 2)
	for _, p := range s.pods(s.nnt("bench"), plan.OpCreate, 1) {
		mounted := map[string]string{}
		for _, v := range p.Spec.Volumes {
			switch {
			case v.Secret != nil:
				mounted[v.Name] = v.Secret.SecretName
			case v.Name == "krb5":
				mounted[v.Name] = v.ConfigMap.Name
			}
		}
		if d := cmp.Diff(map[string]string{"keytab": "bench-keytab", "krb5": "realm"}, mounted); d != "" {
			t.Errorf("volumes of pod %s (-want +got):\n%s", p.Name, d)
		}
	}
	if err := s.player.release(s.ctx, s.ns, plan.OpCreate); err != nil {
		t.Fatal(err)
	}
	run := s.finishedNNT()
	s.wantCondition(run, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonSucceeded)
}

// TestNNThroughputUpstream: so do those in which the original tool runs, in a Hadoop image, without a gate.
func TestNNThroughputUpstream(t *testing.T) {
	t.Parallel()
	s := begin(t)
	s.player.hold(s.ns, plan.OpReplication)
	s.manage(nil, nil)
	s.createNNT(func(spec *v1alpha1.NNThroughputRunSpec) {
		*spec = v1alpha1.NNThroughputRunSpec{
			RunSpec: v1alpha1.RunSpec{
				Target: v1alpha1.Target{FS: "file:///"}, Engine: v1alpha1.EngineUpstream,
				PodTemplate: &v1alpha1.PodTemplate{Image: "registry.example/hadoop:3.5.0", SecurityContext: &corev1.PodSecurityContext{RunAsUser: ptr(int64(1000650000))}},
			},
			Operations: []v1alpha1.NNThroughputOperation{v1alpha1.NNThroughputReplication},
		}
	})
	s.until(func() string {
		if s.script.measuring(plan.OpReplication, 1, 1) == 0 {
			return "the tool does not run: " + s.nnt("bench").Status.Summary
		}
		return ""
	})
	for _, p := range s.pods(s.nnt("bench"), plan.OpReplication, 1) {
		if len(p.Spec.InitContainers) != 1 || p.Spec.InitContainers[0].Name != jobs.InstallContainer || p.Spec.InitContainers[0].Image != runnerImage ||
			p.Spec.Containers[0].Image != "registry.example/hadoop:3.5.0" || p.Spec.Containers[0].StartupProbe != nil {
			t.Errorf("containers of pod %s: %+v", p.Name, p.Spec)
		}
	}
	if err := s.player.release(s.ctx, s.ns, plan.OpReplication); err != nil {
		t.Fatal(err)
	}
	run := s.finishedNNT()
	s.wantCondition(run, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonSucceeded)
	s.wantCondition(run, v1alpha1.ConditionValid, metav1.ConditionTrue, v1alpha1.ReasonMeasuredProperly)
	if _, cm := s.document(run); !strings.Contains(cm.Data["NNThroughputBenchmark.txt"], "Average Time: 2\n") {
		t.Errorf("the tool's text:\n%s", cm.Data["NNThroughputBenchmark.txt"])
	}
}
