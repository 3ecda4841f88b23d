package controlplane

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/plan"
)

// heldPods keeps the run's pods from getting Ready until unhold.
func heldPods(r *v1alpha1.DFSIORun) {
	r.Spec.PodTemplate = &v1alpha1.PodTemplate{Annotations: map[string]v1alpha1.AnnotationValue{annotationHold: "true"}}
}

// waitPods waits for the pods of a step's attempt.
func (s *scenario) waitPods(run *v1alpha1.DFSIORun, step string, attempt int32, n int) []corev1.Pod {
	s.Helper()
	var out []corev1.Pod
	s.until(func() string {
		if out = s.pods(run, step, attempt); len(out) != n {
			return fmt.Sprintf("attempt %d of %s has %d pods, want %d", attempt, step, len(out), n)
		}
		return ""
	})
	return out
}

// passPreflight lets a held preflight pass.
func (s *scenario) passPreflight(run *v1alpha1.DFSIORun) {
	s.Helper()
	s.unhold(s.waitPods(run, plan.StepPreflight, 1, 1))
}

// wantOneMeasurement: whatever happened, write was measured once, in this attempt, and the run has succeeded.
func (s *scenario) wantOneMeasurement(run *v1alpha1.DFSIORun, attempt int32) {
	s.Helper()
	s.wantCondition(run, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonSucceeded)
	s.wantCondition(run, v1alpha1.ConditionValid, metav1.ConditionTrue, v1alpha1.ReasonMeasuredProperly)
	doc, _ := s.document(run)
	if len(doc.Sections) != 1 || doc.Sections[0].Attempt != attempt || doc.Sections[0].Merged == nil || doc.Sections[0].Merged.Shards.Complete != 3 {
		s.Errorf("report.json has %+v, want one measurement of attempt %d", doc.Sections, attempt)
	}
	if r := row(run, "write", 1); r.Attempt != attempt || r.Result == nil || r.Result.Bytes != 3*64<<20 {
		s.Errorf("the row of write is %+v, want attempt %d", r, attempt)
	}
	for _, a := range run.Status.Aggregates {
		if a.N != 1 {
			s.Errorf("%s counts %d measurements, want 1", a.Figure, a.N)
		}
	}
	for a := int32(1); a <= attempt; a++ {
		s.wantJobs(run, "write", a, 1)
	}
	s.wantJobs(run, "write", attempt+1, 0)
	s.wantJobs(run, plan.StepPreflight, 1, 1)
	s.script.mu.Lock()
	defer s.script.mu.Unlock()
	for pod, at := range s.script.starts {
		if strings.Contains(at, "and then") {
			s.Errorf("pod %s was given the start times %s", pod, at)
		}
	}
}

// TestRestartBeforeGate: the manager ends while shards prepare, and comes back when they are ready.
func TestRestartBeforeGate(t *testing.T) {
	t.Parallel()
	s := begin(t)
	first := s.manage(nil, nil)
	run := s.create(heldPods)
	s.passPreflight(run)
	pods := s.waitPods(run, "write", 1, 3)
	s.unhold(pods[:1])
	first.stop(t)
	s.unhold(pods[1:])
	s.until(func() string {
		for _, p := range s.pods(run, "write", 1) {
			if p.Status.Phase != corev1.PodRunning {
				return p.Name + " does not run"
			}
		}
		return ""
	})
	s.manage(nil, nil)
	s.wantOneMeasurement(s.finished("bench"), 1)
}

// cutAfterFirst cuts a manager off once it has given one pod an order.
func cutAfterFirst(tp *tap, order string) <-chan struct{} {
	var mu sync.Mutex
	cut := make(chan struct{})
	tp.onPatch = func(_ *corev1.Pod, patch []byte, do func() error) error {
		if !strings.Contains(string(patch), order) {
			return do()
		}
		mu.Lock()
		defer mu.Unlock()
		if tp.dead.Load() {
			return errCut
		}
		err := do()
		tp.dead.Store(true)
		close(cut)
		return err
	}
	return cut
}

// given are the start times that pods of write's first attempt have.
func (s *scenario) given(run *v1alpha1.DFSIORun) []string {
	s.Helper()
	var out []string
	for _, p := range s.pods(run, "write", 1) {
		if at := p.Annotations[plan.AnnotationStartAt]; at != "" {
			out = append(out, at)
		}
	}
	return out
}

// TestRestartBetweenGatePatches: the manager dies when one of three pods has its start time. The next one is there in
// time and gives the others the same.
func TestRestartBetweenGatePatches(t *testing.T) {
	t.Parallel()
	s := begin(t)
	tp := &tap{easeBy: 6 * time.Second}
	cut := cutAfterFirst(tp, plan.AnnotationStartAt)
	first := s.manage(tp, nil)
	run := s.create()
	s.await(cut, "the first start order")
	first.stop(t)
	at := s.given(run)
	if len(at) != 1 {
		t.Fatalf("pods have the start times %v, want one", at)
	}
	if got := row(s.live("bench"), "write", 1).StartAt.UTC().Format(plan.TimeFormat); got != at[0] {
		t.Fatalf("status has the start time %s, the pod %s", got, at[0])
	}
	s.manage(nil, &clock{})
	run = s.finished("bench")
	s.wantOneMeasurement(run, 1)
	if got := row(run, "write", 1).StartAt.UTC().Format(plan.TimeFormat); got != at[0] {
		t.Errorf("the start time was changed from %s to %s", at[0], got)
	}
}

// TestRestartTooLateForGate: the same, but the next manager comes when the one shard has begun. Its attempt is given up,
// and another one measured.
func TestRestartTooLateForGate(t *testing.T) {
	t.Parallel()
	s := begin(t)
	tp := &tap{}
	cut := cutAfterFirst(tp, plan.AnnotationStartAt)
	s.player.hold(s.ns, "write")
	first := s.manage(tp, nil)
	s.create()
	s.await(cut, "the first start order")
	first.stop(t)
	s.measuring("write", 1, 1)
	s.manage(nil, nil)
	s.measuring("write", 2, 3)
	if err := s.player.release(s.ctx, s.ns, "write"); err != nil {
		t.Fatal(err)
	}
	run := s.finished("bench")
	s.wantOneMeasurement(run, 2)
	s.wantEvents(v1alpha1.ReasonGateBroken)
	if n := s.script.measuring("write", 1, 1); n != 1 {
		t.Errorf("%d shards of the broken attempt measured, want 1", n)
	}
}

// TestRestartInMeasurement: shards measure and end while there is no manager.
func TestRestartInMeasurement(t *testing.T) {
	t.Parallel()
	s := begin(t)
	s.player.hold(s.ns, "write")
	first := s.manage(nil, nil)
	run := s.create()
	s.measuring("write", 1, 3)
	first.stop(t)
	if err := s.player.release(s.ctx, s.ns, "write"); err != nil {
		t.Fatal(err)
	}
	s.until(func() string {
		for _, p := range s.pods(run, "write", 1) {
			if p.Status.Phase != corev1.PodSucceeded {
				return p.Name + " has not ended"
			}
		}
		return ""
	})
	s.manage(nil, nil)
	s.wantOneMeasurement(s.finished("bench"), 1)
}

// TestRestartWhileStopping: the manager dies when one of three pods has the order to stop. The next one tells the others
// and keeps what all of them have.
func TestRestartWhileStopping(t *testing.T) {
	t.Parallel()
	s := begin(t)
	s.player.hold(s.ns, "write")
	tp := &tap{}
	cut := cutAfterFirst(tp, plan.AnnotationStop)
	first := s.manage(tp, nil)
	s.create(func(r *v1alpha1.DFSIORun) { r.Spec.ActiveDeadline = minutes(60) })
	s.measuring("write", 1, 3)
	first.clock.set(2 * time.Hour)
	s.annotate("bench")
	s.await(cut, "the first order to stop")
	first.stop(t)
	s.manage(nil, nil)
	run := s.finished("bench")
	s.wantCondition(run, v1alpha1.ConditionCompleted, metav1.ConditionFalse, v1alpha1.ReasonDeadlineExceeded)
	if doc, _ := s.document(run); len(doc.Sections) != 1 || doc.Sections[0].Merged == nil || doc.Sections[0].Merged.Shards.Partial != 3 {
		t.Errorf("report.json has %+v, want 3 partial reports", doc.Sections)
	}
	s.wantJobs(run, "write", 1, 1)
	s.wantJobs(run, "write", 2, 0)
}

// TestRestartAfterResultIsKept: the manager dies between keeping a result in its ConfigMap and saying so in the status.
func TestRestartAfterResultIsKept(t *testing.T) {
	t.Parallel()
	s := begin(t)
	tp := &tap{}
	cut := make(chan struct{})
	var once sync.Once
	tp.onStatus = func(run *v1alpha1.DFSIORun, do func() error) error {
		if row(run, "write", 1).State != v1alpha1.StepDone {
			return do()
		}
		tp.dead.Store(true)
		once.Do(func() { close(cut) })
		return errCut
	}
	first := s.manage(tp, nil)
	s.create()
	s.await(cut, "the result's writing")
	first.stop(t)
	if r := row(s.live("bench"), "write", 1); r.State != v1alpha1.StepRunning {
		t.Fatalf("the row of write is %s, want Running", r.State)
	}
	s.manage(nil, nil)
	s.wantOneMeasurement(s.finished("bench"), 1)
}

func (s *scenario) await(c <-chan struct{}, what string) {
	s.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		s.Fatalf("%s does not come: %s", what, s.seen("bench").Status.Summary)
	}
}
