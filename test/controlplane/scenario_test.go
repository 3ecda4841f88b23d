package controlplane

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/controllers"
	"github.com/hadoop-bench/operator/controllers/jobs"
	"github.com/hadoop-bench/operator/controllers/results"
	"github.com/hadoop-bench/operator/runner/report"
)

// patience is how long a test waits for anything. Everything takes seconds; a loaded machine may need more.
const patience = 90 * time.Second

// scenario is a test's own namespace and what happens in it.
type scenario struct {
	*testing.T
	*environment
	ctx    context.Context
	ns     string
	script *script
}

// begin gives a test its namespace.
func begin(t *testing.T) *scenario {
	t.Helper()
	e := cluster(t)
	ctx, cancel := context.WithCancel(context.Background())
	ns, err := e.namespace(ctx, "t")
	if err != nil {
		t.Fatal(err)
	}
	s := &scenario{T: t, environment: e, ctx: ctx, ns: ns, script: e.player.script(ns)}
	t.Cleanup(func() {
		defer cancel()
		if t.Failed() {
			s.dump()
		}
		if err := ignoreGone(e.client.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}})); err != nil {
			t.Error(err)
		}
	})
	return s
}

// dump logs what a failed test left.
func (s *scenario) dump() {
	var runs v1alpha1.DFSIORunList
	var pods corev1.PodList
	if err := s.client.List(s.ctx, &runs, client.InNamespace(s.ns)); err != nil {
		s.Log(err)
	}
	for _, r := range runs.Items {
		r.ManagedFields = nil
		doc, _ := yaml.Marshal(r)
		s.Logf("run:\n%s", doc)
	}
	var others v1alpha1.NNThroughputRunList
	if err := s.client.List(s.ctx, &others, client.InNamespace(s.ns)); err != nil {
		s.Log(err)
	}
	for _, r := range others.Items {
		r.ManagedFields = nil
		doc, _ := yaml.Marshal(r)
		s.Logf("run:\n%s", doc)
	}
	var ycsb v1alpha1.YCSBRunList
	if err := s.client.List(s.ctx, &ycsb, client.InNamespace(s.ns)); err != nil {
		s.Log(err)
	}
	for _, r := range ycsb.Items {
		r.ManagedFields = nil
		doc, _ := yaml.Marshal(r)
		s.Logf("run:\n%s", doc)
	}
	if err := s.client.List(s.ctx, &pods, client.InNamespace(s.ns)); err != nil {
		s.Log(err)
	}
	for _, p := range pods.Items {
		s.Logf("pod %s: %s on %q, deleted %v, annotations %v", p.Name, p.Status.Phase, p.Spec.NodeName, p.DeletionTimestamp, p.Annotations)
	}
}

// manage starts a manager for the namespace; tap and clock may be nil.
func (s *scenario) manage(tp *tap, c *clock) *running {
	s.Helper()
	return startManager(s.T, s.environment, s.ns, tp, c, nil)
}

// newRun is a small run: one repeat of write on three shards, whose data is kept, so that there is no cleanup.
func newRun(namespace, name string) *v1alpha1.DFSIORun {
	return &v1alpha1.DFSIORun{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.DFSIORunSpec{
			RunSpec: v1alpha1.RunSpec{Target: v1alpha1.Target{FS: "hdfs://nn.example:8020"}, KeepResults: ptr(true)},
			Tests:   []v1alpha1.DFSIOTest{v1alpha1.DFSIOWrite}, NrFiles: ptr(int32(3)), Size: "64MB",
		},
	}
}

// create makes a run, changed as the test likes.
func (s *scenario) create(adjust ...func(*v1alpha1.DFSIORun)) *v1alpha1.DFSIORun {
	s.Helper()
	run := newRun(s.ns, "bench")
	for _, f := range adjust {
		f(run)
	}
	if err := s.client.Create(s.ctx, run); err != nil {
		s.Fatal(err)
	}
	return run
}

// until polls a condition, which says what it still waits for; empty: nothing.
func (s *scenario) until(condition func() string) {
	s.Helper()
	limit := time.Now().Add(patience)
	for {
		missing := condition()
		if missing == "" {
			return
		}
		if time.Now().After(limit) {
			s.Fatalf("after %s still: %s", patience, missing)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// seen returns the run as the tests' watch shows it.
func (s *scenario) seen(name string) *v1alpha1.DFSIORun {
	var run v1alpha1.DFSIORun
	if err := s.cache.Get(s.ctx, types.NamespacedName{Namespace: s.ns, Name: name}, &run); err != nil {
		return &v1alpha1.DFSIORun{}
	}
	return &run
}

// live returns the run as the API server has it.
func (s *scenario) live(name string) *v1alpha1.DFSIORun {
	s.Helper()
	var run v1alpha1.DFSIORun
	if err := s.client.Get(s.ctx, types.NamespacedName{Namespace: s.ns, Name: name}, &run); err != nil {
		s.Fatal(err)
	}
	return &run
}

// finished waits until a run is finished and returns it.
func (s *scenario) finished(name string) *v1alpha1.DFSIORun {
	s.Helper()
	s.until(func() string {
		if st := s.seen(name).Status; st.CompletionTime == nil {
			return "the run is not finished: " + st.Summary
		}
		return ""
	})
	return s.live(name)
}

// row is the row of a step's repeat, or an empty one.
func row(run controllers.Run, step string, repeat int32) v1alpha1.StepStatus {
	_, st := run.RunObject()
	for _, r := range st.Steps {
		if r.Name == step && r.Repeat == repeat {
			return r
		}
	}
	return v1alpha1.StepStatus{}
}

// measuring waits until all shards of an attempt measure.
func (s *scenario) measuring(step string, attempt int32, n int) {
	s.Helper()
	s.until(func() string {
		if got := s.script.measuring(step, 1, attempt); got < n {
			return fmt.Sprintf("%d of %d shards of %s measure in attempt %d: %s", got, n, step, attempt, s.seen("bench").Status.Summary)
		}
		return ""
	})
}

// pods are the pods of a step's attempt, read directly, in the order of their indexes.
func (s *scenario) pods(run controllers.Run, step string, attempt int32) []corev1.Pod {
	s.Helper()
	id := report.Identity{RunUID: string(run.GetUID()), Execution: 1, Step: step, Repeat: 1, Attempt: attempt}
	var list corev1.PodList
	if err := s.client.List(s.ctx, &list, client.InNamespace(s.ns), client.MatchingLabels{jobs.LabelAttempt: jobs.AttemptHash(id)}); err != nil {
		s.Fatal(err)
	}
	index := func(p corev1.Pod) int {
		i, err := strconv.Atoi(p.Annotations[batchv1.JobCompletionIndexAnnotation])
		if err != nil {
			s.Fatal(err)
		}
		return i
	}
	slices.SortFunc(list.Items, func(a, b corev1.Pod) int { return index(a) - index(b) })
	return list.Items
}

// jobsMade are the names of all Jobs that were ever in the namespace, for a step's attempt: its name as often as it
// was made.
func (s *scenario) jobsMade(run controllers.Run, step string, repeat, attempt int32) int {
	want := jobs.AttemptName(run.GetName(), report.Identity{RunUID: string(run.GetUID()), Execution: 1, Step: step, Repeat: repeat, Attempt: attempt})
	n := 0
	for _, name := range s.history.names(s.ns, "Job") {
		if name == want {
			n++
		}
	}
	return n
}

// wantJobs fails the test if an attempt's Job was not made exactly so often.
func (s *scenario) wantJobs(run controllers.Run, step string, attempt int32, want int) {
	s.Helper()
	if got := s.jobsMade(run, step, 1, attempt); got != want {
		s.Errorf("%d Jobs were made for attempt %d of %s, want %d; all: %v", got, attempt, step, want, s.history.names(s.ns, "Job"))
	}
}

// document reads report.json of a run.
func (s *scenario) document(run controllers.Run) (*results.Document, corev1.ConfigMap) {
	s.Helper()
	var cm corev1.ConfigMap
	_, st := run.RunObject()
	if st.ReportRef == nil {
		s.Fatal("the run has no reportRef")
	}
	if err := s.client.Get(s.ctx, types.NamespacedName{Namespace: s.ns, Name: st.ReportRef.Name}, &cm); err != nil {
		s.Fatal(err)
	}
	doc, err := results.Unpack(cm.Data, cm.BinaryData)
	if err != nil {
		s.Fatal(err)
	}
	return doc, cm
}

// wantCondition fails the test if a condition is not as it should be.
func (s *scenario) wantCondition(run controllers.Run, kind string, status metav1.ConditionStatus, reason string, parts ...string) {
	s.Helper()
	_, st := run.RunObject()
	for _, c := range st.Conditions {
		if c.Type != kind {
			continue
		}
		if c.Status != status || c.Reason != reason {
			s.Errorf("condition %s is %s, %s (%s), want %s, %s", kind, c.Status, c.Reason, c.Message, status, reason)
		}
		for _, part := range parts {
			if !strings.Contains(c.Message, part) {
				s.Errorf("condition %s says %q, want %q in it", kind, c.Message, part)
			}
		}
		return
	}
	s.Errorf("there is no condition %s", kind)
}

// visit has a manager look at a run so often, by changing an annotation each time.
func (s *scenario) visit(name string, tp *tap, times int) {
	s.Helper()
	for range times {
		before := tp.visited()
		s.annotate(name)
		s.until(func() string {
			if tp.visited() == before {
				return "the manager does not look at the run"
			}
			return ""
		})
	}
}

// annotate changes an annotation of the run.
func (s *scenario) annotate(name string) {
	s.Helper()
	s.patch(&v1alpha1.DFSIORun{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: name}},
		map[string]any{"metadata": map[string]any{"annotations": map[string]any{"test/visit": time.Now().Format(time.RFC3339Nano)}}})
}

// suspend sets or removes suspend.
func (s *scenario) suspend(name string, suspend bool) {
	s.Helper()
	s.patch(&v1alpha1.DFSIORun{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: name}}, map[string]any{"spec": map[string]any{"suspend": suspend}})
}

func (s *scenario) patch(obj client.Object, patch map[string]any) {
	s.Helper()
	doc, err := json.Marshal(patch)
	if err != nil {
		s.Fatal(err)
	}
	if err := s.client.Patch(s.ctx, obj, client.RawPatch(types.MergePatchType, doc)); err != nil {
		s.Fatal(err)
	}
}

// unhold lets held pods get Ready.
func (s *scenario) unhold(pods []corev1.Pod) {
	s.Helper()
	for i := range pods {
		s.patch(&pods[i], map[string]any{"metadata": map[string]any{"annotations": map[string]any{annotationHold: nil}}})
	}
}

// wantGone fails the test unless the objects of ours of these kinds are all gone soon.
func (s *scenario) wantGone(lists ...client.ObjectList) {
	s.Helper()
	s.until(func() string {
		for _, list := range lists {
			if err := s.client.List(s.ctx, list, client.InNamespace(s.ns), client.MatchingLabels{jobs.LabelManaged: jobs.ManagedBy}); err != nil {
				return err.Error()
			}
			raw, err := json.Marshal(list)
			if err != nil {
				return err.Error()
			}
			var items struct {
				Items []metav1.PartialObjectMetadata
			}
			if err := json.Unmarshal(raw, &items); err != nil {
				return err.Error()
			}
			if len(items.Items) > 0 {
				return fmt.Sprintf("%d objects in %T, the first: %s", len(items.Items), list, items.Items[0].Name)
			}
		}
		return ""
	})
}

func ptr[T any](v T) *T { return &v }

func minutes(n int) *v1alpha1.Duration { return seconds(60 * n) }

func seconds(n int) *v1alpha1.Duration {
	return &v1alpha1.Duration{Duration: metav1.Duration{Duration: time.Duration(n) * time.Second}}
}
