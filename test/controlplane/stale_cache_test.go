package controlplane

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/plan"
)

// TestStaleCacheAfterEnd: a finished run is shown to the manager once more in every version that it ever had, as a cache
// might that is fed by a lagging API server. Nothing is made, and result and status stay as they are.
func TestStaleCacheAfterEnd(t *testing.T) {
	t.Parallel()
	s := begin(t)
	tp := &tap{}
	s.manage(tp, nil)
	s.create()
	run := s.finished("bench")
	s.wantGone(&corev1.PodList{})
	made, jobs := tp.created(), s.history.names(s.ns, "Job")
	results := s.configMaps()
	versions := s.history.versions(client.ObjectKeyFromObject(run))
	if len(versions) < 5 {
		t.Fatalf("only %d versions of the run were seen", len(versions))
	}
	for _, old := range versions {
		tp.serve(old)
		s.visit("bench", tp, 2)
	}
	tp.serve(nil)
	s.visit("bench", tp, 2)
	if d := cmp.Diff(made, tp.created()); d != "" {
		t.Errorf("objects were made by a manager with a stale cache:\n%s", d)
	}
	if d := cmp.Diff(jobs, s.history.names(s.ns, "Job")); d != "" {
		t.Errorf("Jobs were made by a manager with a stale cache:\n%s", d)
	}
	if d := cmp.Diff(results, s.configMaps()); d != "" {
		t.Errorf("results were changed by a manager with a stale cache:\n%s", d)
	}
	if d := cmp.Diff(run.Status, s.live("bench").Status); d != "" {
		t.Errorf("the status was changed by a manager with a stale cache:\n%s", d)
	}
}

// configMaps are the data of all ConfigMaps in the namespace.
func (s *scenario) configMaps() map[string]map[string]string {
	s.Helper()
	var list corev1.ConfigMapList
	if err := s.client.List(s.ctx, &list, client.InNamespace(s.ns)); err != nil {
		s.Fatal(err)
	}
	out := map[string]map[string]string{}
	for _, cm := range list.Items {
		out[cm.Name] = cm.Data
	}
	return out
}

// TestStaleCacheInMeasurement: while an attempt measures, the manager is shown the run as it was before. The attempt is
// neither disturbed nor made twice.
func TestStaleCacheInMeasurement(t *testing.T) {
	t.Parallel()
	s := begin(t)
	tp := &tap{}
	s.player.hold(s.ns, "write")
	s.manage(tp, nil)
	run := s.create()
	s.measuring("write", 1, 3)
	made := tp.created()
	for _, old := range s.history.versions(client.ObjectKeyFromObject(run)) {
		tp.serve(old)
		s.visit("bench", tp, 2)
	}
	if d := cmp.Diff(made, tp.created()); d != "" {
		t.Errorf("objects were made by a manager with a stale cache:\n%s", d)
	}
	for _, p := range s.pods(run, "write", 1) {
		if p.Status.Phase != corev1.PodRunning || p.DeletionTimestamp != nil {
			t.Errorf("pod %s is %s, deleted %v", p.Name, p.Status.Phase, p.DeletionTimestamp)
		}
	}
	if t.Failed() {
		return
	}
	tp.serve(nil)
	if err := s.player.release(s.ctx, s.ns, "write"); err != nil {
		t.Fatal(err)
	}
	s.wantOneMeasurement(s.finished("bench"), 1)
}

// TestStaleCacheInSecondAttempt: the same in a second attempt: what belongs to it must not be taken for a leftover by a
// manager that is shown the first one.
func TestStaleCacheInSecondAttempt(t *testing.T) {
	t.Parallel()
	s := begin(t)
	tp := &tap{}
	s.player.hold(s.ns, "write")
	s.manage(tp, nil)
	run := s.create()
	s.measuring("write", 1, 3)
	s.suspend("bench", true)
	s.until(func() string {
		if got := row(s.seen("bench"), "write", 1).Attempt; got != 2 {
			return "the attempt is not given up"
		}
		return ""
	})
	s.suspend("bench", false)
	s.measuring("write", 2, 3)
	for _, old := range s.history.versions(client.ObjectKeyFromObject(run)) {
		tp.serve(old)
		s.visit("bench", tp, 2)
	}
	tp.serve(nil)
	if err := s.player.release(s.ctx, s.ns, "write"); err != nil {
		t.Fatal(err)
	}
	run = s.finished("bench")
	s.wantCondition(run, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonSucceeded)
	s.wantOneMeasurement(run, 2)
}

// TestStaleCacheOfChildren: the manager does not see yet what it has made. It makes it only once.
func TestStaleCacheOfChildren(t *testing.T) {
	t.Parallel()
	s := begin(t)
	tp := &tap{}
	tp.blind.Store(true)
	m := s.manage(tp, nil)
	run := s.create(heldPods)
	preflight := s.waitPods(run, plan.StepPreflight, 1, 1)
	made := tp.created()
	s.visit("bench", tp, 4)
	if d := cmp.Diff(made, tp.created()); d != "" {
		t.Errorf("objects were made again by a manager that did not see them:\n%s", d)
	}
	tp.blind.Store(false)
	s.unhold(preflight)
	s.unhold(s.waitPods(run, "write", 1, 3))
	s.wantOneMeasurement(s.finished("bench"), 1)
	if errs := m.log.errors(); len(errs) > 0 {
		t.Errorf("the manager logged %d errors", len(errs))
	}
}
