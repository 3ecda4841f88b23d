// Package e2e tests the operator as its users meet it: installed by its chart into a cluster with real nodes, measuring
// a real HDFS. Every test is a user's story in a namespace of its own, in which only pods that fit the restricted Pod
// Security Standard may run.
//
// Stories that disturb the manager, or that nothing may disturb, run one by one; the others run beside each other
// afterwards. hack/test.sh e2e installs the operator and runs them inside the network of the local cluster.
package e2e

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	gocmp "github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/controllers"
	"github.com/hadoop-bench/operator/controllers/jobs"
	"github.com/hadoop-bench/operator/controllers/manager"
	"github.com/hadoop-bench/operator/controllers/results"
)

// How long things may take on a busy machine. A story fails by them, it never waits for them.
const (
	poll = 100 * time.Millisecond
	// soon: what needs no pod, or one pod that starts.
	soon = 60 * time.Second
	// endOfRun: a run of a few small files.
	endOfRun = 4 * time.Minute
	// tidyUp bounds what is done after a story.
	tidyUp = 30 * time.Second
)

// What hack/demo.sh and hack/hadoop set up.
const (
	operatorNamespace = "hadoop-bench-system"
	operatorName      = "hadoop-bench-operator" // of the Deployment and of the lease
	nameNodeHost      = "198.18.0.1"
	configName        = "hdfs-config"
	restrictedLabel   = "pod-security.kubernetes.io/enforce"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// A story is one test's way to the cluster.
type story struct {
	t         *testing.T
	client    client.WithWatch
	root      string // of the repository
	namespace string
	made      *history
}

// begin makes the story's namespace with the configuration of the local HDFS. Both the namespace and its data in HDFS
// go at the end; if the story failed, what there is to see is printed before.
func begin(t *testing.T, name string) *story {
	t.Helper()
	if os.Getenv("HADOOPBENCH_E2E") != "1" {
		t.Skip("HADOOPBENCH_E2E is not 1; hack/test.sh e2e starts these tests where the cluster is")
	}
	s := &story{t: t, root: os.Getenv("HADOOPBENCH_ROOT")}
	if s.root == "" {
		t.Fatal("HADOOPBENCH_ROOT is not set: hack/test.sh e2e sets it to the repository's directory")
	}
	s.connect()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "e2e-" + name + "-", Labels: map[string]string{restrictedLabel: "restricted"},
	}}
	if err := s.client.Create(t.Context(), ns); err != nil {
		t.Fatal("make the namespace:", err)
	}
	s.namespace = ns.Name
	t.Cleanup(s.end)
	s.made = s.watchJobs()
	s.configure()
	return s
}

func (s *story) connect() {
	s.t.Helper()
	cfg, err := ctrl.GetConfig()
	if err != nil {
		s.t.Fatal("find the cluster: ", err)
	}
	cfg.QPS = -1
	scheme, err := manager.Scheme()
	if err != nil {
		s.t.Fatal(err)
	}
	if s.client, err = client.NewWithWatch(cfg, client.Options{Scheme: scheme}); err != nil {
		s.t.Fatal("connect to the cluster: ", err)
	}
}

// configure puts the configuration of the local HDFS into the namespace.
func (s *story) configure() {
	s.t.Helper()
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: configName}, Data: map[string]string{}}
	for _, file := range []string{"core-site.xml", "hdfs-site.xml"} {
		text, err := os.ReadFile(filepath.Join(s.root, "hack/hadoop/conf/client", file))
		if err != nil {
			s.t.Fatal(err)
		}
		cm.Data[file] = string(text)
	}
	s.create(cm)
}

// end takes back what the story made.
func (s *story) end() {
	if s.t.Failed() {
		s.dump()
	}
	ctx, cancel := context.WithTimeout(context.Background(), tidyUp)
	defer cancel()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}
	if err := s.client.Delete(ctx, ns); client.IgnoreNotFound(err) != nil {
		s.t.Error("delete the namespace:", err)
	}
	s.remove(ctx, path.Join(benchmarks, s.namespace))
}

// dump prints what one would look at first.
func (s *story) dump() {
	for _, args := range [][]string{
		{"-n", s.namespace, "get", "hadoopbench", "-o", "yaml"},
		{"-n", s.namespace, "get", "jobs,pods", "-o", "wide"},
		{"-n", s.namespace, "get", "events", "--sort-by=.lastTimestamp"},
		{"-n", operatorNamespace, "logs", "deployment/" + operatorName, "--tail=40"},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), tidyUp)
		out, err := exec.CommandContext(ctx, "kubectl", args...).CombinedOutput()
		cancel()
		s.t.Logf("kubectl %s (%v):\n%s", strings.Join(args, " "), err, out)
	}
}

// history counts the Jobs that were ever made in the namespace, by step.
type history struct {
	mu   sync.Mutex
	jobs map[string]int
}

func (s *story) watchJobs() *history {
	s.t.Helper()
	h := &history{jobs: map[string]int{}}
	w, err := s.client.Watch(s.t.Context(), &batchv1.JobList{}, client.InNamespace(s.namespace))
	if err != nil {
		s.t.Fatal("watch Jobs:", err)
	}
	s.t.Cleanup(w.Stop)
	go func() {
		for e := range w.ResultChan() {
			if job, ok := e.Object.(*batchv1.Job); ok && e.Type == "ADDED" {
				h.mu.Lock()
				h.jobs[job.Labels[jobs.LabelStep]]++
				h.mu.Unlock()
			}
		}
	}()
	return h
}

// jobs returns how many Jobs were made so far for each step.
func (s *story) jobs() map[string]int {
	s.made.mu.Lock()
	defer s.made.mu.Unlock()
	return maps.Clone(s.made.jobs)
}

// expectJobs checks how many Jobs were made for each step of the only run. An attempt beyond those must be one after a
// gate that was given up, as happens on a busy machine, and for which there is an event.
func (s *story) expectJobs(run controllers.Run, want map[string]int) {
	s.t.Helper()
	want = maps.Clone(want)
	for step := range want {
		if n := s.brokenGates(run, step); n > 0 {
			s.t.Logf("note: %d gates of step %s were given up", n, step)
			want[step] += n
		}
	}
	if diff := gocmp.Diff(want, s.jobs()); diff != "" {
		s.t.Errorf("Jobs by step (-want +got):\n%s", diff)
	}
}

// brokenGates is how many gates of the step were given up.
func (s *story) brokenGates(run controllers.Run, step string) int {
	s.t.Helper()
	n := 0
	for _, e := range s.events(run) {
		if strings.HasPrefix(e, v1alpha1.ReasonGateBroken+": step "+step+",") {
			n++
		}
	}
	return n
}

// events are the run's own, as "reason: note".
func (s *story) events(run controllers.Run) []string {
	s.t.Helper()
	var list eventsv1.EventList
	s.list(&list)
	var out []string
	for _, e := range list.Items {
		if e.Regarding.UID == run.GetUID() {
			out = append(out, e.Reason+": "+e.Note)
		}
	}
	return out
}

// eventually waits until ok says so.
func (s *story) eventually(limit time.Duration, what string, ok func() bool) {
	s.t.Helper()
	for end := time.Now().Add(limit); !ok(); {
		if time.Now().After(end) {
			s.t.Fatalf("not within %s: %s", limit, what)
		}
		select {
		case <-time.After(poll):
		case <-s.t.Context().Done():
			s.t.Fatalf("interrupted while waiting for: %s", what)
		}
	}
}

func (s *story) create(obj client.Object) {
	s.t.Helper()
	if err := s.client.Create(s.t.Context(), obj); err != nil {
		s.t.Fatalf("create %T %s: %v", obj, obj.GetName(), err)
	}
}

// get reads obj anew.
func (s *story) get(obj client.Object) {
	s.t.Helper()
	if err := s.client.Get(s.t.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
		s.t.Fatalf("get %T %s: %v", obj, obj.GetName(), err)
	}
}

func (s *story) list(list client.ObjectList, opts ...client.ListOption) {
	s.t.Helper()
	if err := s.client.List(s.t.Context(), list, append(opts, client.InNamespace(s.namespace))...); err != nil {
		s.t.Fatalf("list %T: %v", list, err)
	}
}

// patch merges a JSON document into obj.
func (s *story) patch(obj client.Object, doc string) {
	s.t.Helper()
	if err := s.client.Patch(s.t.Context(), obj, client.RawPatch(types.MergePatchType, []byte(doc))); err != nil {
		s.t.Fatalf("patch %T %s: %v", obj, obj.GetName(), err)
	}
}

// deleteNow deletes obj and waits until it is gone.
func (s *story) deleteNow(obj client.Object) {
	s.t.Helper()
	if err := s.client.Delete(s.t.Context(), obj); client.IgnoreNotFound(err) != nil {
		s.t.Fatalf("delete %T %s: %v", obj, obj.GetName(), err)
	}
	s.eventually(soon, obj.GetName()+" is gone", func() bool { return s.gone(obj) })
}

// gone says whether obj does not exist any more.
func (s *story) gone(obj client.Object) bool {
	return apierrors.IsNotFound(s.client.Get(s.t.Context(), client.ObjectKeyFromObject(obj), obj))
}

// kubectl runs kubectl in the story's namespace and returns what it printed.
func (s *story) kubectl(args ...string) string {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), "kubectl", append([]string{"-n", s.namespace}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("kubectl %s: %v\n%s%s", strings.Join(args, " "), err, out, stderr.Bytes())
	}
	return string(out)
}

// A change makes a run other than the small one that newRun returns.
type change func(*v1alpha1.DFSIORunSpec)

// newRun is a run that writes two files of 1 MB, whose length does not matter to its story.
func (s *story) newRun(name string, changes ...change) *v1alpha1.DFSIORun {
	run := &v1alpha1.DFSIORun{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}}
	run.Spec.Target.HadoopConfig = &v1alpha1.HadoopConfig{ConfigMapRef: v1alpha1.LocalObjectReference{Name: configName}}
	run.Spec.Tests = []v1alpha1.DFSIOTest{v1alpha1.DFSIOWrite}
	run.Spec.Replication = ptr(int32(1))
	run.Spec.MinDuration = &v1alpha1.Duration{}
	files(2, "1MB")(&run.Spec)
	for _, c := range changes {
		c(&run.Spec)
	}
	return run
}

// start creates a run.
func (s *story) start(name string, changes ...change) *v1alpha1.DFSIORun {
	s.t.Helper()
	run := s.newRun(name, changes...)
	s.create(run)
	return run
}

func files(n int32, size string) change {
	return func(spec *v1alpha1.DFSIORunSpec) { spec.NrFiles, spec.Size = &n, size }
}

func tests(names ...v1alpha1.DFSIOTest) change {
	return func(spec *v1alpha1.DFSIORunSpec) { spec.Tests = names }
}

func baseDir(dir string) change {
	return func(spec *v1alpha1.DFSIORunSpec) { spec.BaseDir = dir }
}

// gently keeps a run from taking the whole machine. It is for stories that need a measurement to last, not to be fast.
func gently(spec *v1alpha1.DFSIORunSpec) {
	if spec.PodTemplate == nil {
		spec.PodTemplate = &v1alpha1.PodTemplate{}
	}
	spec.PodTemplate.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("150m")}}
}

func ptr[T any](v T) *T { return &v }

// await reads run until ok, and gives up when the run has ended or the time is over.
func (s *story) await(run controllers.Run, limit time.Duration, what string, ok func() bool) {
	s.t.Helper()
	s.eventually(limit, fmt.Sprintf("run %s: %s", run.GetName(), what), func() bool {
		s.get(run)
		if ok() {
			return true
		}
		if statusOf(run).CompletionTime != nil {
			s.t.Fatalf("run %s ended before this: %s; %s", run.GetName(), what, statusOf(run).Summary)
		}
		return false
	})
}

// awaitEnd waits until the operator has nothing left to do.
func (s *story) awaitEnd(run controllers.Run, limit time.Duration) {
	s.t.Helper()
	s.await(run, limit, "ended", func() bool {
		c := meta.FindStatusCondition(statusOf(run).Conditions, v1alpha1.ConditionReconciling)
		return c != nil && c.Status == metav1.ConditionFalse
	})
}

// expect checks one condition; an empty reason accepts any. It returns the message.
func (s *story) expect(run controllers.Run, condition string, status metav1.ConditionStatus, reason string) string {
	s.t.Helper()
	c := meta.FindStatusCondition(statusOf(run).Conditions, condition)
	if c == nil {
		s.t.Errorf("run %s has no condition %s", run.GetName(), condition)
		return ""
	}
	if c.Status != status || reason != "" && c.Reason != reason {
		s.t.Errorf("run %s: %s=%s (%s: %s), want %s (%s)", run.GetName(), condition, c.Status, c.Reason, c.Message, status, reason)
	}
	return c.Message
}

// expectSuccess checks the conditions of a run that did all it was asked.
func (s *story) expectSuccess(run controllers.Run) {
	s.t.Helper()
	for condition, status := range map[string]metav1.ConditionStatus{
		v1alpha1.ConditionTargetReady: metav1.ConditionTrue, v1alpha1.ConditionCompleted: metav1.ConditionTrue,
		v1alpha1.ConditionSucceeded: metav1.ConditionTrue, v1alpha1.ConditionStalled: metav1.ConditionFalse,
	} {
		s.expect(run, condition, status, "")
	}
}

// expectFailure checks the conditions of a run that did not.
func (s *story) expectFailure(run controllers.Run, reason string) string {
	s.t.Helper()
	s.expect(run, v1alpha1.ConditionSucceeded, metav1.ConditionFalse, reason)
	s.expect(run, v1alpha1.ConditionStalled, metav1.ConditionTrue, reason)
	return s.expect(run, v1alpha1.ConditionCompleted, metav1.ConditionFalse, reason)
}

// mentions checks that text holds all parts.
func (s *story) mentions(text string, parts ...string) {
	s.t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			s.t.Errorf("%q does not mention %q", text, p)
		}
	}
}

func statusOf(run controllers.Run) *v1alpha1.RunStatus {
	_, status := run.RunObject()
	return status
}

// row is the row of a step's first repeat, or nil.
func row(run controllers.Run, step string) *v1alpha1.StepStatus {
	for i := range statusOf(run).Steps {
		if r := &statusOf(run).Steps[i]; r.Name == step && r.Repeat == 1 {
			return r
		}
	}
	return nil
}

// started says whether the step's shards have their start time and it has passed.
func started(run controllers.Run, step string) bool {
	r := row(run, step)
	return r != nil && r.State == v1alpha1.StepRunning && r.StartAt != nil && time.Now().After(r.StartAt.Time)
}

// pods are the pods of a run's step.
func (s *story) pods(run controllers.Run, step string) []corev1.Pod {
	s.t.Helper()
	var list corev1.PodList
	s.list(&list, client.MatchingLabels{jobs.LabelRunUID: string(run.GetUID()), jobs.LabelStep: step})
	return list.Items
}

// shardOf is the number of the pod's shard.
func shardOf(p *corev1.Pod) string { return p.Annotations[batchv1.JobCompletionIndexAnnotation] }

// report reads the run's report.json and the upstream tool's text beside it.
func (s *story) report(run controllers.Run) (*results.Document, string) {
	s.t.Helper()
	if statusOf(run).ReportRef == nil {
		s.t.Fatalf("run %s has no report", run.GetName())
	}
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: statusOf(run).ReportRef.Name}}
	s.get(cm)
	doc, err := results.Unpack(cm.Data, cm.BinaryData)
	if err != nil {
		s.t.Fatal(err)
	}
	return doc, cmp.Or(cm.Data["TestDFSIO_results.log"], cm.Data["NNThroughputBenchmark.txt"], cm.Data["ycsb.txt"])
}

// expectFigures checks that each measurement moved exactly n files of size bytes, that its rates follow from its bytes
// and time, and that the report has each of them exactly once.
func (s *story) expectFigures(run *v1alpha1.DFSIORun, n, size int64) {
	s.t.Helper()
	type key struct {
		step    string
		repeat  int32
		attempt int32
	}
	measured := map[key]int64{}
	for _, r := range run.Status.Steps {
		if r.Result == nil {
			continue
		}
		measured[key{r.Name, r.Repeat, r.Attempt}] = r.Result.Bytes
		if r.Result.Bytes != n*size || r.Result.WallMicros <= 0 || r.Result.Errors != 0 {
			s.t.Errorf("%s %d: %d bytes in %d µs with %d errors, want %d files of %d bytes", r.Name, r.Repeat, r.Result.Bytes, r.Result.WallMicros, r.Result.Errors, n, size)
			continue
		}
		seconds := float64(r.Result.WallMicros) / 1e6
		s.expectRate(r, "aggregateMiBps", float64(r.Result.Bytes)/(1<<20)/seconds)
		s.expectRate(r, "iops", float64(r.Result.Operations)/seconds)
		s.expectRate(r, "meanIOBytes", float64(r.Result.Bytes)/float64(r.Result.Operations))
	}
	doc, _ := s.report(run)
	if len(doc.Sections) != len(measured) || len(measured) == 0 {
		s.t.Errorf("report.json has %d measurements, the status %d", len(doc.Sections), len(measured))
	}
	for _, m := range doc.Sections {
		if want, ok := measured[key{m.Step, m.Repeat, m.Attempt}]; !ok || m.Merged == nil || m.Merged.Bytes != want {
			s.t.Errorf("report.json: %s %d, attempt %d is not what the status says: %+v", m.Step, m.Repeat, m.Attempt, m.Merged)
		}
	}
}

// roundingError is that of a figure with three decimals.
const roundingError = 0.00051

func (s *story) expectRate(r v1alpha1.StepStatus, name string, want float64) {
	s.t.Helper()
	if got := s.rate(r, name); got < want-roundingError || got > want+roundingError {
		s.t.Errorf("%s %d: %s is %.3f, its bytes and time say %.3f", r.Name, r.Repeat, name, got, want)
	}
}

func (s *story) rate(r v1alpha1.StepStatus, name string) float64 {
	s.t.Helper()
	for _, f := range r.Result.Rates {
		if f.Name == name {
			return s.number(f.Value)
		}
	}
	s.t.Errorf("%s %d has no rate %s", r.Name, r.Repeat, name)
	return 0
}

func (s *story) number(text string) float64 {
	s.t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		s.t.Error(err)
	}
	return v
}

// exitCode is that of a command; anything but an exit is a failure.
func (s *story) exitCode(err error) int {
	s.t.Helper()
	exit := new(exec.ExitError)
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	s.t.Fatal(err)
	return -1
}
