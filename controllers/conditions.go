package controllers

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/plan"
)

// verdict is one condition's answer.
type verdict struct {
	status  metav1.ConditionStatus
	reason  string
	message string
}

func yes(reason, message string) verdict { return verdict{metav1.ConditionTrue, reason, message} }
func no(reason, message string) verdict  { return verdict{metav1.ConditionFalse, reason, message} }
func unknown(reason, message string) verdict {
	return verdict{metav1.ConditionUnknown, reason, message}
}

// setConditions derives every condition from the rest of the status, so that none can be stale, and sets phase and
// observedGeneration; now is when those that change did so. It is called at the end of every visit.
func setConditions(run Run, spec *v1alpha1.RunSpec, st *v1alpha1.RunStatus, activity verdict, now metav1.Time) {
	finished := st.CompletionTime != nil
	verdicts := map[string]verdict{
		v1alpha1.ConditionTargetReady:   targetReady(st, finished),
		v1alpha1.ConditionCompleted:     completed(st, finished),
		v1alpha1.ConditionValid:         validity(st, finished),
		v1alpha1.ConditionThresholdsMet: unknown(v1alpha1.ReasonNoThresholds, "spec.thresholds is empty"),
	}
	success := succeeded(spec, verdicts, finished)
	verdicts[v1alpha1.ConditionSucceeded] = success
	switch {
	case !finished:
		verdicts[v1alpha1.ConditionReconciling] = yes(activity.reason, activity.message)
		verdicts[v1alpha1.ConditionStalled] = no(activity.reason, "")
	case activity.reason == v1alpha1.ReasonNotSupported:
		verdicts[v1alpha1.ConditionReconciling] = no(v1alpha1.ReasonFinished, "")
		verdicts[v1alpha1.ConditionStalled] = yes(activity.reason, activity.message)
	case success.status == metav1.ConditionTrue:
		verdicts[v1alpha1.ConditionReconciling] = no(v1alpha1.ReasonFinished, "")
		verdicts[v1alpha1.ConditionStalled] = no(v1alpha1.ReasonSucceeded, "")
	default:
		verdicts[v1alpha1.ConditionReconciling] = no(v1alpha1.ReasonFinished, "")
		verdicts[v1alpha1.ConditionStalled] = yes(success.reason, success.message)
	}
	for _, t := range []string{
		v1alpha1.ConditionTargetReady, v1alpha1.ConditionCompleted, v1alpha1.ConditionValid, v1alpha1.ConditionThresholdsMet,
		v1alpha1.ConditionSucceeded, v1alpha1.ConditionReconciling, v1alpha1.ConditionStalled,
	} {
		v := verdicts[t]
		meta.SetStatusCondition(&st.Conditions, metav1.Condition{
			Type: t, Status: v.status, Reason: v.reason, Message: truncate(v.message, maxMessage), ObservedGeneration: run.GetGeneration(),
			LastTransitionTime: now,
		})
	}
	st.ObservedGeneration = run.GetGeneration()
	st.Phase = phase(st, activity, success)
}

func targetReady(st *v1alpha1.RunStatus, finished bool) verdict {
	row := rowOf(st, plan.StepPreflight)
	switch {
	case row != nil && row.State == v1alpha1.StepDone:
		return yes(v1alpha1.ReasonPreflightPassed, orDefault(row.Message, "the target is fit for the run"))
	case row != nil && row.State == v1alpha1.StepFailed && st.Failure != nil:
		return no(st.Failure.Reason, st.Failure.Message)
	case finished:
		return unknown(v1alpha1.ReasonNotRun, "the run ended before its target was looked at")
	}
	return unknown(v1alpha1.ReasonPending, "preflight has not ended yet")
}

func completed(st *v1alpha1.RunStatus, finished bool) verdict {
	switch {
	case st.Failure != nil:
		return no(st.Failure.Reason, st.Failure.Message)
	case finished:
		return yes(v1alpha1.ReasonAllStepsDone, fmt.Sprintf("%d of %d steps ran to their end", len(st.Steps), len(st.Steps)))
	}
	return unknown(v1alpha1.ReasonPending, "steps are still to be run")
}

// validity is decided at the end, but a doubt shows as soon as it is found.
func validity(st *v1alpha1.RunStatus, finished bool) verdict {
	measured := 0
	for i := range st.Steps {
		row := &st.Steps[i]
		if row.Result == nil {
			continue
		}
		if len(row.Result.Invalid) > 0 {
			d := row.Result.Invalid[0]
			return no(d.Reason, fmt.Sprintf("%s, repeat %d: %s", row.Name, row.Repeat, d.Message))
		}
		measured++
	}
	switch {
	case !finished:
		return unknown(v1alpha1.ReasonPending, "not everything has been measured yet")
	case st.Failure != nil && measured > 0:
		return no(st.Failure.Reason, "the run ended early: "+st.Failure.Message)
	case measured == 0:
		return unknown(v1alpha1.ReasonNotMeasured, "the run measured nothing")
	}
	return yes(v1alpha1.ReasonMeasuredProperly, fmt.Sprintf("no doubt was found about any of the %d measurements", measured))
}

// succeeded is the summary by spec.successCriteria. Once a run is finished it is never Unknown: what could not be shown
// has not succeeded.
func succeeded(spec *v1alpha1.RunSpec, verdicts map[string]verdict, finished bool) verdict {
	by := v1alpha1.ConditionCompleted
	if spec.SuccessCriteria == v1alpha1.SuccessValid {
		by = v1alpha1.ConditionValid
	}
	v := verdicts[by]
	switch {
	case !finished:
		return unknown(v1alpha1.ReasonPending, "the run is not finished")
	case verdicts[v1alpha1.ConditionCompleted].status != metav1.ConditionTrue:
		return no(verdicts[v1alpha1.ConditionCompleted].reason, verdicts[v1alpha1.ConditionCompleted].message)
	case v.status == metav1.ConditionTrue:
		return yes(v1alpha1.ReasonSucceeded, by+": "+v.message)
	}
	return no(v.reason, v.message)
}

func phase(st *v1alpha1.RunStatus, activity, success verdict) string {
	switch {
	case st.CompletionTime != nil && success.status == metav1.ConditionTrue:
		return "Succeeded"
	case st.CompletionTime != nil:
		return "Failed"
	case activity.reason == v1alpha1.ReasonRunning && len(st.Steps) > 0:
		return string(st.Steps[len(st.Steps)-1].State)
	}
	return activity.reason
}

func rowOf(st *v1alpha1.RunStatus, name string) *v1alpha1.StepStatus {
	for i := range st.Steps {
		if st.Steps[i].Name == name {
			return &st.Steps[i]
		}
	}
	return nil
}
