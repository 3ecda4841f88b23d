package controlplane

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"github.com/hadoop-bench/operator/api/v1alpha1"
)

// suspended waits until the run says that it is.
func (s *scenario) suspended() *v1alpha1.DFSIORun {
	s.Helper()
	s.until(func() string {
		for _, c := range s.seen("bench").Status.Conditions {
			if c.Type == v1alpha1.ConditionReconciling && c.Status == metav1.ConditionTrue && c.Reason == v1alpha1.ReasonSuspended {
				return ""
			}
		}
		return "the run is not suspended: " + s.seen("bench").Status.Summary
	})
	return s.live("bench")
}

// TestSuspend: a run is created suspended, resumed, suspended in the middle of a measurement and resumed again. The
// measurement is made anew.
func TestSuspend(t *testing.T) {
	t.Parallel()
	s := begin(t)
	s.player.hold(s.ns, "write")
	tp := &tap{}
	s.manage(tp, nil)
	s.create(func(r *v1alpha1.DFSIORun) { r.Spec.Suspend = ptr(true) })
	s.suspended()
	s.visit("bench", tp, 2)
	if made := tp.created(); len(made) != 0 {
		t.Errorf("a suspended run made %v", made)
	}
	s.suspend("bench", false)
	s.measuring("write", 1, 3)
	s.suspend("bench", true)
	s.until(func() string {
		if row(s.seen("bench"), "write", 1).Attempt != 2 {
			return "the attempt is not given up"
		}
		return ""
	})
	run := s.suspended()
	if got := kstatus(t, run); got != status.InProgressStatus {
		t.Errorf("kstatus of a suspended run is %s, want InProgress", got)
	}
	stopped := s.script.left("write", 1, 1)
	if len(stopped) != 3 {
		t.Errorf("%d shards left a report, want 3", len(stopped))
	}
	for _, r := range stopped {
		if r.Envelope.Outcome != "Partial" {
			t.Errorf("shard %d ended %s, want Partial: it was to be told to stop", r.Envelope.Index, r.Envelope.Outcome)
		}
	}
	s.wantGone(&batchv1.JobList{}, &corev1.PodList{})
	s.visit("bench", tp, 2)
	s.wantJobs(run, "write", 2, 0)
	s.suspend("bench", false)
	s.measuring("write", 2, 3)
	if err := s.player.release(s.ctx, s.ns, "write"); err != nil {
		t.Fatal(err)
	}
	s.wantOneMeasurement(s.finished("bench"), 2)
}
