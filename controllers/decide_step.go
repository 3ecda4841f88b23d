package controllers

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/controllers/jobs"
	"github.com/hadoop-bench/operator/runner/plan"
)

// The gate's timing. The kubelet shows a patched annotation to the pod within 0.25 to 0.55 s (measured on a real one);
// the margin leaves twice that. The lead leaves 1.5 s more for writing the start time to the status, reading it back and
// giving it to the pods, which takes some milliseconds each unless the machine is busy, and a broken gate costs far more.
const (
	gateLead = 2500 * time.Millisecond
	// patchRate is how many pods are surely patched in a second.
	patchRate = 100
	// gateMargin is the time before the start up to which a pod may still be patched.
	gateMargin = time.Second
)

// carryOn takes the present step further. seen is its row as the status had it, which is what is acted upon; row is the
// same row in the status to be written.
func (d *decision) carryOn(o *observed, seen *v1alpha1.StepStatus) verdict {
	row := &d.next.Steps[len(d.next.Steps)-1]
	step := stepOf(o, seen)
	count(row, o.shards)
	if seen.State == v1alpha1.StepStopping {
		return d.stopping(o, step, seen, row)
	}
	if o.deadlineIn() <= 0 && step.Name != plan.StepCleanup && o.status.Failure == nil {
		f := o.deadlineFailure()
		f.Step = step.Name
		d.fail(f)
		d.stopPresent(o, v1alpha1.ReasonDeadlineExceeded, f.Message)
		return yes(v1alpha1.ReasonRunning, fmt.Sprintf("step %s is being stopped: activeDeadline passed", step))
	}
	if o.spec.ActiveDeadline != nil && step.Name != plan.StepCleanup {
		d.wake(o.deadlineIn())
	}
	if value(o.spec.Suspend, false) && step.Name != plan.StepCleanup && !allOver(o.shards) {
		return d.suspend(o, step, row) // what is over cannot be stopped any more
	}
	if seen.State == v1alpha1.StepRunning {
		return d.measuring(o, step, seen, row)
	}
	return d.preparing(o, step, row)
}

// preparing: the Job is made, and shards get ready.
func (d *decision) preparing(o *observed, step Step, row *v1alpha1.StepStatus) verdict {
	if row.ProgressTime == nil || progressed(o.status, row) {
		row.ProgressTime = &metav1.Time{Time: o.now}
	}
	if !o.jobFound && row.Shards.Progress == 0 {
		d.create = !o.othersBusy
		if o.othersBusy {
			d.wake(time.Second)
		}
	}
	if s := firstFailure(o.shards); s != nil {
		return d.shardFailedEarly(o, step, row, s)
	}
	total := row.Shards.Expected
	if !step.Gated {
		if row.Shards.Reported == total {
			if left := unfinished(step, o.shards); left != "" {
				return d.nextSlice(o, step, row, left)
			}
			return d.over(o, step, row)
		}
		return d.awaitStart(o, step, row, "running")
	}
	if row.Shards.Ready < total {
		return d.awaitStart(o, step, row, "Ready")
	}
	row.StartAt = startTime(o.now, total)
	row.State = v1alpha1.StepRunning
	return yes(v1alpha1.ReasonRunning, fmt.Sprintf("step %s starts on %d shards", step, total))
}

// awaitStart watches startDeadline: a step may take as long as it likes to get ready, if only something happens.
func (d *decision) awaitStart(o *observed, step Step, row *v1alpha1.StepStatus, what string) verdict {
	deadline := durationOr(o.spec.StartDeadline, defaultStartDeadline)
	left := row.ProgressTime.Add(deadline).Sub(o.now)
	state := fmt.Sprintf("%d of %d shards %s", row.Shards.Ready, row.Shards.Expected, what)
	if why := waitingFor(o.shards, o.trouble); why != "" {
		state += "; " + why
	}
	if waited := progress(o.status, step); waited != "" && deadline-left < deadline/troubleAfter {
		state = waited // that the next slice has no pod yet is nothing to tell
	} else if waited != "" {
		state = waited + "; " + state
	}
	state = fmt.Sprintf("step %s: %s", step, state)
	row.Message = truncate(state, maxMessage)
	if !step.Gated && row.Shards.Ready == row.Shards.Expected {
		return yes(v1alpha1.ReasonRunning, state) // it runs; how long that may take is its plan's business
	}
	if left <= 0 {
		f := &v1alpha1.Failure{Reason: v1alpha1.ReasonStartDeadlineExceeded, Step: step.Name, Message: truncate(fmt.Sprintf("%s. No progress for %s (spec.startDeadline); %s", state, deadline, startRemedy(o.shards)), maxMessage)}
		d.fail(f)
		d.order(o, row, v1alpha1.ReasonStartDeadlineExceeded, f.Message)
		return yes(v1alpha1.ReasonRunning, f.Message)
	}
	d.wake(left)
	if look := left - deadline + deadline/troubleAfter; look > 0 {
		d.wake(look) // events are read from then on
	}
	return yes(v1alpha1.ReasonRunning, state)
}

// startRemedy is what to do about shards that do not get ready.
func startRemedy(shards []shard) string {
	for _, s := range shards {
		if s.phase < shardStarted {
			return "free what is missing, or ask for less"
		}
	}
	return "they are all preparing: give them less to prepare, or raise spec.startDeadline"
}

// shardFailedEarly: a shard ended before the gate opened, or in a step without one. One that reported why it cannot do
// its work will not be able to in another attempt either; one that was lost may.
func (d *decision) shardFailedEarly(o *observed, step Step, row *v1alpha1.StepStatus, s *shard) verdict {
	f := failureOf(step.Name, *s)
	lost := s.lost() || s.disrupted != ""
	if !lost || row.Losses+1 >= maxAttempts {
		if lost {
			f.Message = truncate(fmt.Sprintf("%d attempts of the step lost a shard before its start; the last: %s", row.Losses+1, f.Message), maxMessage)
		}
		return d.shardFailed(o, step, row, f)
	}
	d.note(corev1.EventTypeWarning, f.Reason, fmt.Sprintf("step %s, attempt %d: %s", step, row.Attempt, f.Message))
	row.Losses++
	d.again(o, row, f.Message)
	return yes(v1alpha1.ReasonRunning, fmt.Sprintf("step %s begins anew: %s", step, f.Message))
}

// shardFailed fails the run for one shard's sake and stops the others, if some still run.
func (d *decision) shardFailed(o *observed, step Step, row *v1alpha1.StepStatus, f *v1alpha1.Failure) verdict {
	d.fail(f)
	if allOver(o.shards) {
		return d.over(o, step, row)
	}
	d.order(o, row, v1alpha1.ReasonShardFailed, f.Message)
	return yes(v1alpha1.ReasonRunning, "stopping: "+f.Message)
}

// measuring: the shards have their start time.
func (d *decision) measuring(o *observed, step Step, seen, row *v1alpha1.StepStatus) verdict {
	at := seen.StartAt.UTC().Format(plan.TimeFormat)
	var late []order
	for _, s := range o.shards {
		if !s.over() && s.startAt != at {
			late = append(late, order{s.pod, s.uid, plan.AnnotationStartAt, at})
		}
	}
	if s := firstFailure(o.shards); s != nil {
		f := failureOf(step.Name, *s)
		if s.neverBegan() {
			return d.breakGate(o, step, row, f.Message)
		}
		return d.shardFailed(o, step, row, f)
	}
	if len(late) > 0 && seen.StartAt.Sub(o.now) < gateMargin {
		return d.gateTooLate(o, step, row, late, at)
	}
	d.start = late
	if len(late) > 0 {
		d.wake(seen.StartAt.Sub(o.now) - gateMargin)
	} else {
		d.remind(o, seen, at)
	}
	if row.Shards.Reported == row.Shards.Expected {
		return d.over(o, step, row)
	}
	row.Message = fmt.Sprintf("%d of %d shards done", row.Shards.Reported, row.Shards.Expected)
	return yes(v1alpha1.ReasonRunning, fmt.Sprintf("step %s: %s", step, row.Message))
}

// remind gives shards their start time a second time, as late as they can still be told all. A kubelet that was writing a
// pod's volumes when the first came shows it to the pod only with its next round of all pods, which would break the gate.
func (d *decision) remind(o *observed, seen *v1alpha1.StepStatus, at string) {
	last := seen.StartAt.Sub(o.now) - gateMargin
	if last <= 0 {
		return
	}
	if first := last - patchTime(seen.Shards.Expected); first > 0 {
		d.wake(first)
		return
	}
	for _, s := range o.shards {
		if !s.over() && s.reminder != at {
			d.reminders = append(d.reminders, order{s.pod, s.uid, plan.AnnotationReminder, at})
		}
	}
}

// gateTooLate: the start time is too near to be given to the shards that do not have it yet. If none has it, nothing is
// lost: a later one is set, for as long as startDeadline allows. If some have it, they start without the others.
func (d *decision) gateTooLate(o *observed, step Step, row *v1alpha1.StepStatus, late []order, at string) verdict {
	deadline := durationOr(o.spec.StartDeadline, defaultStartDeadline)
	if len(late) == len(o.shards) && row.ProgressTime != nil && o.now.Sub(row.ProgressTime.Time) < deadline {
		row.StartAt = startTime(o.now, row.Shards.Expected)
		return yes(v1alpha1.ReasonRunning, fmt.Sprintf("step %s: the start is put off, no shard could be told in time", step))
	}
	return d.breakGate(o, step, row, fmt.Sprintf("%d of %d shards could not be given the start time %s in time", len(late), len(o.shards), at))
}

// breakGate ends an attempt whose shards do not start together.
func (d *decision) breakGate(o *observed, step Step, row *v1alpha1.StepStatus, msg string) verdict {
	d.note(corev1.EventTypeWarning, v1alpha1.ReasonGateBroken, fmt.Sprintf("step %s, attempt %d: %s", step, row.Attempt, msg))
	d.order(o, row, v1alpha1.ReasonGateBroken, msg)
	return yes(v1alpha1.ReasonRunning, fmt.Sprintf("step %s: %s", step, msg))
}

// startTime is when n shards that are ready now can start together.
func startTime(now time.Time, n int32) *metav1.MicroTime {
	lead := gateLead + patchTime(n)
	return &metav1.MicroTime{Time: now.Add(lead).Truncate(time.Microsecond)}
}

// patchTime is how long it takes to patch n pods.
func patchTime(n int32) time.Duration { return time.Duration(n) * time.Second / patchRate }

// stopping: shards were told to stop; they report what they have.
func (d *decision) stopping(o *observed, step Step, seen, row *v1alpha1.StepStatus) verdict {
	state := yes(v1alpha1.ReasonRunning, truncate(fmt.Sprintf("step %s is being stopped: %s", step, seen.Stop.Message), maxMessage))
	left := seen.Stop.Time.Add(stopGrace).Sub(o.now)
	if stillRunning(o.shards) && left > 0 {
		for _, s := range o.shards {
			if s.pod != "" && !s.over() && s.stop == "" {
				d.stop = append(d.stop, order{s.pod, s.uid, plan.AnnotationStop, seen.Stop.Reason})
			}
		}
		d.wake(left)
		return state
	}
	switch seen.Stop.Reason {
	case v1alpha1.ReasonSuspended:
		d.again(o, row, "suspended")
		row.Message = "suspended; it will be measured anew"
		return yes(v1alpha1.ReasonSuspended, fmt.Sprintf("suspended in step %s, which will be measured anew", step))
	case v1alpha1.ReasonGateBroken:
		if row.Losses+1 < maxAttempts {
			row.Losses++
			d.again(o, row, seen.Stop.Message)
			return yes(v1alpha1.ReasonRunning, fmt.Sprintf("step %s begins anew: %s", step, seen.Stop.Message))
		}
		d.fail(&v1alpha1.Failure{Reason: v1alpha1.ReasonGateBroken, Step: step.Name, Message: fmt.Sprintf("%d attempts: %s", row.Losses+1, seen.Stop.Message)})
	}
	return d.over(o, step, row)
}

// stillRunning says whether a shard of the attempt runs. A pod that never started has nothing to report.
func stillRunning(shards []shard) bool {
	for _, s := range shards {
		if s.phase == shardStarted || s.phase == shardReady {
			return true
		}
	}
	return false
}

// suspend stops the present step, if its shards exist.
func (d *decision) suspend(o *observed, step Step, row *v1alpha1.StepStatus) verdict {
	if o.jobFound || row.Shards.Progress > 0 {
		d.order(o, row, v1alpha1.ReasonSuspended, "spec.suspend is true")
		return yes(v1alpha1.ReasonSuspended, fmt.Sprintf("step %s is being stopped: spec.suspend is true", step))
	}
	row.ProgressTime = nil // startDeadline counts from the resume
	return yes(v1alpha1.ReasonSuspended, fmt.Sprintf("suspended before step %s", step))
}

// again begins a new attempt of the step. The old one's Job is removed, and the new one's is not made before the old
// pods are gone: they work on the same files.
func (d *decision) again(o *observed, row *v1alpha1.StepStatus, why string) {
	d.create = false
	row.Attempt++
	row.State, row.StartAt, row.Stop = v1alpha1.StepPreparing, nil, nil
	row.Shards = v1alpha1.ShardCounts{Expected: row.Shards.Expected}
	row.ProgressTime = &metav1.Time{Time: o.now}
	row.Job = jobs.AttemptName(o.run.GetName(), identity(o.run, d.next.Execution, *row))
	row.Message = truncate("attempt "+fmt.Sprint(row.Attempt)+": "+why, maxMessage)
}

// stopPresent tells the present step's shards to stop, if there is one under way.
func (d *decision) stopPresent(o *observed, reason, message string) {
	row := present(&d.next)
	switch {
	case row == nil:
		now := metav1.NewTime(o.now)
		d.next.CompletionTime = &now
	case row.State != v1alpha1.StepStopping:
		d.order(o, row, reason, message)
	}
}

// order records the order to stop; a later visit that reads it gives it to the shards.
func (d *decision) order(o *observed, row *v1alpha1.StepStatus, reason, message string) {
	row.State = v1alpha1.StepStopping
	row.Stop = &v1alpha1.StopOrder{Reason: reason, Message: truncate(message, maxMessage), Time: metav1.NewTime(o.now)}
	d.create = false
}

// wake asks for a visit after at most t.
func (d *decision) wake(t time.Duration) {
	t = max(t, 10*time.Millisecond)
	if d.requeue == 0 || t < d.requeue {
		d.requeue = t
	}
}
