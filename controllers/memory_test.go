package controllers

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hadoop-bench/operator/controllers/jobs"
)

// vanished is a pod that was deleted.
func vanished(run, name, attempt string, uid types.UID) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "bench", Name: string(uid), UID: uid, Annotations: map[string]string{jobs.AnnotationRun: name},
		Labels: map[string]string{jobs.LabelRunUID: run, jobs.LabelAttempt: attempt},
	}}
}

// remembered names the vanished pods that are known of an attempt.
func remembered(m *memory, run types.UID, attempt string) []string {
	var out []string
	for _, p := range m.deletedPods(run, attempt) {
		out = append(out, p.Name)
	}
	slices.Sort(out)
	return out
}

func newTestMemory() *memory {
	m := newMemory()
	m.podDeleted(vanished("run-1", "nightly", "a", "p1"))
	m.podDeleted(vanished("run-1", "nightly", "a", "p2"))
	m.podDeleted(vanished("run-1", "nightly", "b", "p3"))
	m.podDeleted(vanished("run-2", "weekly", "a", "p4"))
	m.gave("run-1", "p1", "T1")
	m.gave("run-2", "p4", "T2")
	return m
}

func TestMemory(t *testing.T) {
	tests := map[string]struct {
		forget     func(*memory)
		a, b       []string // vanished pods of run-1's attempts
		other      []string // of run-2
		given      string   // start time of p1
		givenOther string
	}{
		"everything":            {func(*memory) {}, []string{"p1", "p2"}, []string{"p3"}, []string{"p4"}, "T1", "T2"},
		"all attempts but one":  {func(m *memory) { m.forget("run-1", "b") }, nil, []string{"p3"}, []string{"p4"}, "T1", "T2"},
		"all of a run":          {func(m *memory) { m.forget("run-1", "") }, nil, nil, []string{"p4"}, "", "T2"},
		"an unknown run":        {func(m *memory) { m.forget("run-3", "") }, []string{"p1", "p2"}, []string{"p3"}, []string{"p4"}, "T1", "T2"},
		"a run that is gone":    {func(m *memory) { m.forgetNamesakes(types.NamespacedName{Namespace: "bench", Name: "nightly"}, "") }, nil, nil, []string{"p4"}, "", "T2"},
		"a run that was remade": {func(m *memory) { m.forgetNamesakes(types.NamespacedName{Namespace: "bench", Name: "nightly"}, "run-3") }, nil, nil, []string{"p4"}, "", "T2"},
		"namesakes of a run": {
			func(m *memory) { m.forgetNamesakes(types.NamespacedName{Namespace: "bench", Name: "nightly"}, "run-1") },
			[]string{"p1", "p2"},
			[]string{"p3"},
			[]string{"p4"},
			"T1", "T2",
		},
		"a run of another namespace": {
			func(m *memory) { m.forgetNamesakes(types.NamespacedName{Namespace: "other", Name: "nightly"}, "") },
			[]string{"p1", "p2"},
			[]string{"p3"},
			[]string{"p4"},
			"T1", "T2",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			m := newTestMemory()
			tc.forget(m)
			wantSlice(t, "attempt a", tc.a, remembered(m, "run-1", "a"))
			wantSlice(t, "attempt b", tc.b, remembered(m, "run-1", "b"))
			wantSlice(t, "the other run", tc.other, remembered(m, "run-2", "a"))
			if m.startOf("run-1", "p1") != tc.given || m.startOf("run-2", "p4") != tc.givenOther {
				t.Errorf("start times %q and %q", m.startOf("run-1", "p1"), m.startOf("run-2", "p4"))
			}
		})
	}
}

// TestMemoryIsNotShared: what is read of a vanished pod may be changed.
func TestMemoryIsNotShared(t *testing.T) {
	m := newTestMemory()
	for _, p := range m.deletedPods("run-1", "a") {
		p.Labels[jobs.LabelAttempt] = "changed"
	}
	wantSlice(t, "attempt a", []string{"p1", "p2"}, remembered(m, "run-1", "a"))
}

func TestForgottenRunsTakeNoRoom(t *testing.T) {
	m := newTestMemory()
	m.forget("run-1", "c")
	m.forget("run-2", "")
	if len(m.deleted) != 0 || len(m.given) != 1 {
		t.Errorf("%d runs with vanished pods, %d with start times", len(m.deleted), len(m.given))
	}
}
