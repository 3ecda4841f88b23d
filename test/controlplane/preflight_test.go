package controlplane

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
)

// TestPreflightFails: the target is not fit for the run. The run says why and what to do, and nothing is measured.
func TestPreflightFails(t *testing.T) {
	t.Parallel()
	s := begin(t)
	s.player.fail(s.ns, plan.StepPreflight, report.Failure{
		Reason: "TargetUnreachable", Message: "nn.example:8020 refuses connections", Remedy: "Start the NameNode",
	})
	s.manage(nil, nil)
	s.create(func(r *v1alpha1.DFSIORun) { r.Spec.KeepResults = nil })
	run := s.finished("bench")
	for _, c := range []string{v1alpha1.ConditionTargetReady, v1alpha1.ConditionCompleted, v1alpha1.ConditionSucceeded} {
		s.wantCondition(run, c, metav1.ConditionFalse, "TargetUnreachable", "nn.example:8020 refuses connections", "Start the NameNode")
	}
	s.wantCondition(run, v1alpha1.ConditionStalled, metav1.ConditionTrue, "TargetUnreachable")
	if f := run.Status.Failure; f.Pod == "" || f.ExitCode == nil || *f.ExitCode != report.ExitTarget {
		t.Errorf("failure is %+v, want pod and exit code", f)
	}
	s.wantJobs(run, plan.StepPreflight, 1, 1)
	if got := s.history.names(s.ns, "Job"); len(got) != 1 {
		t.Errorf("Jobs %v were made, want preflight's only", got)
	}
}

// TestShardFailsInMeasurement: a shard that ends with an error of its own ends the run with that error.
func TestShardFailsInMeasurement(t *testing.T) {
	t.Parallel()
	s := begin(t)
	s.player.fail(s.ns, "write", report.Failure{Reason: "WriteFailed", Message: "no space left on any DataNode"})
	s.manage(nil, nil)
	s.create()
	run := s.finished("bench")
	s.wantCondition(run, v1alpha1.ConditionCompleted, metav1.ConditionFalse, "WriteFailed", "no space left on any DataNode", "bench-write-")
	s.wantCondition(run, v1alpha1.ConditionValid, metav1.ConditionFalse, v1alpha1.ReasonShardsMissing)
	s.wantJobs(run, "write", 1, 1)
	s.wantJobs(run, "write", 2, 0)
}
