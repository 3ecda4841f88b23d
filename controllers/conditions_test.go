package controllers

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/plan"
)

// situation is a status as setConditions finds it, and what it must make of it.
type situation struct {
	criteria v1alpha1.SuccessCriteria
	status   v1alpha1.RunStatus
	activity verdict
	want     map[string]string
	phase    string
	kstatus  status.Status
}

func stepRow(name string, state v1alpha1.StepState, result *v1alpha1.StepResult) v1alpha1.StepStatus {
	return v1alpha1.StepStatus{Name: name, Repeat: 1, Attempt: 1, State: state, Result: result}
}

// conditionsOf are the seven conditions in the order of the documentation.
func conditionsOf(targetReady, completed, valid, succeeded, reconciling, stalled string) map[string]string {
	return map[string]string{
		"TargetReady": targetReady, "Completed": completed, "Valid": valid, "ThresholdsMet": "Unknown NoThresholds",
		"Succeeded": succeeded, "Reconciling": reconciling, "Stalled": stalled,
	}
}

func situations() map[string]situation {
	end := ptr(metav1.NewTime(testNow.Add(time.Hour)))
	running := yes(v1alpha1.ReasonRunning, "something is done")
	preflight := stepRow(plan.StepPreflight, v1alpha1.StepDone, nil)
	good := stepRow("write", v1alpha1.StepDone, &v1alpha1.StepResult{Bytes: 1})
	doubtful := stepRow("read", v1alpha1.StepDone, &v1alpha1.StepResult{Bytes: 1, Invalid: []v1alpha1.Doubt{{Reason: v1alpha1.ReasonTooShort, Message: "too short"}}})
	lost := &v1alpha1.Failure{Reason: v1alpha1.ReasonShardLost, Message: "shard 1 was lost"}
	const pending = "Unknown Pending"
	return map[string]situation{
		"waiting for the configuration": {
			activity: yes(v1alpha1.ReasonWaitingForConfig, "waiting"), phase: "WaitingForConfig", kstatus: status.InProgressStatus,
			want: conditionsOf(pending, pending, pending, pending, "True WaitingForConfig", "False WaitingForConfig"),
		},
		"starting": {
			activity: running, phase: "Running", kstatus: status.InProgressStatus,
			want: conditionsOf(pending, pending, pending, pending, "True Running", "False Running"),
		},
		"in preflight": {
			status: v1alpha1.RunStatus{Steps: []v1alpha1.StepStatus{stepRow(plan.StepPreflight, v1alpha1.StepPreparing, nil)}}, activity: running,
			phase: "Preparing", kstatus: status.InProgressStatus,
			want: conditionsOf(pending, pending, pending, pending, "True Running", "False Running"),
		},
		"measuring": {
			status: v1alpha1.RunStatus{Steps: []v1alpha1.StepStatus{preflight, stepRow("write", v1alpha1.StepRunning, nil)}}, activity: running,
			phase: "Running", kstatus: status.InProgressStatus,
			want: conditionsOf("True PreflightPassed", pending, pending, pending, "True Running", "False Running"),
		},
		"a doubt shows at once": {
			status: v1alpha1.RunStatus{Steps: []v1alpha1.StepStatus{preflight, good, doubtful}}, activity: running,
			phase: "Done", kstatus: status.InProgressStatus,
			want: conditionsOf("True PreflightPassed", pending, "False TooShort", pending, "True Running", "False Running"),
		},
		"suspended": {
			status: v1alpha1.RunStatus{Steps: []v1alpha1.StepStatus{preflight, good}}, activity: yes(v1alpha1.ReasonSuspended, "suspended"),
			phase: "Suspended", kstatus: status.InProgressStatus,
			want: conditionsOf("True PreflightPassed", pending, pending, pending, "True Suspended", "False Suspended"),
		},
		"stopping after a loss": {
			status: v1alpha1.RunStatus{Steps: []v1alpha1.StepStatus{preflight, stepRow("write", v1alpha1.StepStopping, nil)}, Failure: lost}, activity: running,
			phase: "Stopping", kstatus: status.InProgressStatus,
			want: conditionsOf("True PreflightPassed", "False ShardLost", pending, pending, "True Running", "False Running"),
		},
		"success": {
			status: v1alpha1.RunStatus{Steps: []v1alpha1.StepStatus{preflight, good}, CompletionTime: end},
			phase:  "Succeeded", kstatus: status.CurrentStatus,
			want: conditionsOf("True PreflightPassed", "True AllStepsDone", "True MeasuredProperly", "True Succeeded", "False Finished", "False Succeeded"),
		},
		"completed with a doubt": {
			status: v1alpha1.RunStatus{Steps: []v1alpha1.StepStatus{preflight, good, doubtful}, CompletionTime: end},
			phase:  "Succeeded", kstatus: status.CurrentStatus,
			want: conditionsOf("True PreflightPassed", "True AllStepsDone", "False TooShort", "True Succeeded", "False Finished", "False Succeeded"),
		},
		"completed with a doubt where none is wanted": {
			criteria: v1alpha1.SuccessValid,
			status:   v1alpha1.RunStatus{Steps: []v1alpha1.StepStatus{preflight, good, doubtful}, CompletionTime: end},
			phase:    "Failed", kstatus: status.FailedStatus,
			want: conditionsOf("True PreflightPassed", "True AllStepsDone", "False TooShort", "False TooShort", "False Finished", "True TooShort"),
		},
		"valid, as wanted": {
			criteria: v1alpha1.SuccessValid,
			status:   v1alpha1.RunStatus{Steps: []v1alpha1.StepStatus{preflight, good}, CompletionTime: end},
			phase:    "Succeeded", kstatus: status.CurrentStatus,
			want: conditionsOf("True PreflightPassed", "True AllStepsDone", "True MeasuredProperly", "True Succeeded", "False Finished", "False Succeeded"),
		},
		"nothing measured": {
			status: v1alpha1.RunStatus{Steps: []v1alpha1.StepStatus{preflight, stepRow("clean", v1alpha1.StepDone, nil)}, CompletionTime: end},
			phase:  "Succeeded", kstatus: status.CurrentStatus,
			want: conditionsOf("True PreflightPassed", "True AllStepsDone", "Unknown NotMeasured", "True Succeeded", "False Finished", "False Succeeded"),
		},
		"nothing measured where it is wanted": {
			criteria: v1alpha1.SuccessValid,
			status:   v1alpha1.RunStatus{Steps: []v1alpha1.StepStatus{preflight, stepRow("clean", v1alpha1.StepDone, nil)}, CompletionTime: end},
			phase:    "Failed", kstatus: status.FailedStatus,
			want: conditionsOf("True PreflightPassed", "True AllStepsDone", "Unknown NotMeasured", "False NotMeasured", "False Finished", "True NotMeasured"),
		},
		"preflight failed": {
			status: v1alpha1.RunStatus{
				Steps: []v1alpha1.StepStatus{stepRow(plan.StepPreflight, v1alpha1.StepFailed, nil)}, CompletionTime: end,
				Failure: &v1alpha1.Failure{Reason: "TargetUnreachable", Message: "no answer"},
			},
			phase: "Failed", kstatus: status.FailedStatus,
			want: conditionsOf("False TargetUnreachable", "False TargetUnreachable", "Unknown NotMeasured", "False TargetUnreachable", "False Finished", "True TargetUnreachable"),
		},
		"never begun": {
			status: v1alpha1.RunStatus{CompletionTime: end, Failure: &v1alpha1.Failure{Reason: v1alpha1.ReasonInvalidSpec, Message: "spec.size"}},
			phase:  "Failed", kstatus: status.FailedStatus,
			want: conditionsOf("Unknown NotRun", "False InvalidSpec", "Unknown NotMeasured", "False InvalidSpec", "False Finished", "True InvalidSpec"),
		},
		"lost a shard": {
			status: v1alpha1.RunStatus{
				Steps:   []v1alpha1.StepStatus{preflight, stepRow("write", v1alpha1.StepFailed, &v1alpha1.StepResult{Invalid: []v1alpha1.Doubt{{Reason: v1alpha1.ReasonShardsMissing}}})},
				Failure: lost, CompletionTime: end,
			},
			phase: "Failed", kstatus: status.FailedStatus,
			want: conditionsOf("True PreflightPassed", "False ShardLost", "False ShardsMissing", "False ShardLost", "False Finished", "True ShardLost"),
		},
		"failed after good measurements": {
			status: v1alpha1.RunStatus{Steps: []v1alpha1.StepStatus{preflight, good, stepRow("verify", v1alpha1.StepFailed, nil)}, Failure: lost, CompletionTime: end},
			phase:  "Failed", kstatus: status.FailedStatus,
			want: conditionsOf("True PreflightPassed", "False ShardLost", "False ShardLost", "False ShardLost", "False Finished", "True ShardLost"),
		},
		"changed after its success": {
			status:   v1alpha1.RunStatus{Steps: []v1alpha1.StepStatus{preflight, good}, CompletionTime: end},
			activity: no(v1alpha1.ReasonNotSupported, "spec.rerun"), phase: "Succeeded", kstatus: status.FailedStatus,
			want: conditionsOf("True PreflightPassed", "True AllStepsDone", "True MeasuredProperly", "True Succeeded", "False Finished", "True NotSupported"),
		},
	}
}

func TestConditions(t *testing.T) {
	for name, tc := range situations() {
		t.Run(name, func(t *testing.T) {
			run := newRun(func(r *v1alpha1.DFSIORun) { r.Spec.SuccessCriteria, r.Status = tc.criteria, tc.status })
			setConditions(run, &run.Spec.RunSpec, &run.Status, tc.activity, metav1.NewTime(testNow))
			if diff := cmp.Diff(tc.want, verdicts(&run.Status)); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
			if run.Status.Phase != tc.phase || run.Status.ObservedGeneration != run.Generation {
				t.Errorf("phase %s, want %s; observed generation %d", run.Status.Phase, tc.phase, run.Status.ObservedGeneration)
			}
			for _, c := range run.Status.Conditions {
				if c.ObservedGeneration != run.Generation || c.Reason == "" || c.LastTransitionTime.IsZero() {
					t.Errorf("condition %+v", c)
				}
			}
			if got := kstatusOf(t, run); got != tc.kstatus {
				t.Errorf("kstatus %s, want %s", got, tc.kstatus)
			}
		})
	}
}

// kstatusOf asks the library that GitOps tools use.
func kstatusOf(t *testing.T, run Run) status.Status {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(run)
	if err != nil {
		t.Fatal(err)
	}
	result, err := status.Compute(&unstructured.Unstructured{Object: content})
	if err != nil {
		t.Fatal(err)
	}
	return result.Status
}

// TestKstatusBeforeTheFirstVisit: with the status that the CRD gives every new object.
func TestKstatusBeforeTheFirstVisit(t *testing.T) {
	if got := kstatusOf(t, newRun()); got != status.InProgressStatus {
		t.Errorf("kstatus %s of a run that nobody has looked at", got)
	}
}

// TestKstatusOfAnEditedRun: a generation that was not looked at is unfinished, whatever the conditions say.
func TestKstatusOfAnEditedRun(t *testing.T) {
	w := newWorld(t)
	w.finish()
	w.run.SetGeneration(w.run.GetGeneration() + 1)
	if got := kstatusOf(t, w.run); got != status.InProgressStatus {
		t.Errorf("kstatus %s", got)
	}
	w.visit()
	if got := kstatusOf(t, w.run); got != status.CurrentStatus {
		t.Errorf("kstatus %s after another visit", got)
	}
}

// TestKstatusThroughLife: a run is InProgress at every visit but the last.
func TestKstatusThroughLife(t *testing.T) {
	w := newWorld(t)
	w.until("the end", func(st *v1alpha1.RunStatus) bool {
		if got := kstatusOf(t, w.run); st.CompletionTime == nil && got != status.InProgressStatus {
			t.Fatalf("kstatus %s while %s", got, st.Summary)
		}
		return st.CompletionTime != nil
	})
	if got := kstatusOf(t, w.run); got != status.CurrentStatus {
		t.Errorf("kstatus %s at the end", got)
	}
}

// TestTransitionTimes: a condition that stays keeps its time, one that changes gets the visit's.
func TestTransitionTimes(t *testing.T) {
	run := newRun()
	later := metav1.NewTime(testNow.Add(time.Minute))
	setConditions(run, &run.Spec.RunSpec, &run.Status, yes(v1alpha1.ReasonRunning, ""), metav1.NewTime(testNow))
	run.Status.CompletionTime = &later
	setConditions(run, &run.Spec.RunSpec, &run.Status, verdict{}, later)
	for _, c := range run.Status.Conditions {
		want := testNow
		if c.Type == "Completed" || c.Type == "Succeeded" || c.Type == "Reconciling" {
			want = later.Time
		}
		if !c.LastTransitionTime.Time.Equal(want) {
			t.Errorf("%s changed at %s, want %s", c.Type, c.LastTransitionTime, want)
		}
	}
}

func TestConditionMessages(t *testing.T) {
	run := newRun(func(r *v1alpha1.DFSIORun) {
		r.Status.Steps = []v1alpha1.StepStatus{stepRow(plan.StepPreflight, v1alpha1.StepFailed, nil)}
		r.Status.Failure = &v1alpha1.Failure{Reason: "TargetUnreachable", Message: strings.Repeat("ä", 5000)}
		r.Status.CompletionTime = ptr(metav1.NewTime(testNow))
	})
	setConditions(run, &run.Spec.RunSpec, &run.Status, verdict{}, metav1.NewTime(testNow))
	for _, c := range run.Status.Conditions {
		if len(c.Message) > maxMessage || strings.ToValidUTF8(c.Message, "") != c.Message {
			t.Errorf("%s has a message of %d bytes", c.Type, len(c.Message))
		}
	}
}
