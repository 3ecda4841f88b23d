package controllers

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/controllers/jobs"
	"github.com/hadoop-bench/operator/controllers/results"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
)

// observed is all that a decision depends on.
type observed struct {
	now   time.Time
	bench Benchmark
	run   Run
	spec  *v1alpha1.RunSpec
	// status as it was read; it is not to be changed.
	status *v1alpha1.RunStatus
	hash   string // of the spec
	image  string // of the runner

	config config
	// jobFound says whether the present attempt's Job exists, shards what is known of its shards.
	jobFound bool
	shards   []shard
	// others are Jobs of the run that are not the present attempt's; othersBusy says whether one of them still has pods
	// that run.
	others     []string
	othersBusy bool
	// trouble is what events say about missing pods and mounts; read only when the start takes long.
	trouble string
	// document holds the results so far; read only when an attempt's shards are all over.
	document *results.Document
}

// config is what is known of the Hadoop configuration's ConfigMap.
type config struct {
	wanted bool
	found  bool
	hash   string
}

// decision is what a visit leads to. Everything but persist follows from the status as it was read.
type decision struct {
	next v1alpha1.RunStatus

	create bool    // make the present attempt's objects
	start  []order // give shards their start time
	// reminders give it to them again.
	reminders []order
	stop      []order              // tell shards to stop
	remove    []string             // delete these Jobs
	persist   *results.Persistence // keep these results before the status says so

	events  []note
	requeue time.Duration // visit again after this time; 0: when something changes
}

// order is an annotation for one pod.
type order struct {
	pod   string
	uid   types.UID
	key   string
	value string
}

// note is an event to tell after the status was written.
type note struct {
	kind, reason, message string
}

// decide is the operator's logic. It is pure.
func decide(o *observed) decision {
	d := decision{next: *o.status.DeepCopy()}
	activity := advance(o, &d)
	if d.next.CompletionTime != nil && o.status.CompletionTime == nil {
		d.finish(o)
	}
	setConditions(o.run, o.spec, &d.next, activity, metav1.NewTime(o.now))
	if d.next.CompletionTime == nil {
		d.next.Summary = truncate(activity.message, maxSummary)
	}
	if o.spec.TTLAfterFinished != nil && o.status.Effective != nil && o.status.ObservedGeneration != o.run.GetGeneration() {
		// It may be set at any time; once the run is under way that is no reason to end it.
		d.note(corev1.EventTypeWarning, v1alpha1.ReasonNotSupported, "spec.ttlAfterFinished: deletion of finished runs is not supported yet; the run stays until you delete it")
	}
	if rerunChanged(o) && o.status.CompletionTime == nil && o.status.Effective.SpecHash == o.hash && o.status.ObservedGeneration != o.run.GetGeneration() {
		d.note(corev1.EventTypeWarning, v1alpha1.ReasonNotSupported, "spec.rerun: a second execution is not supported yet; the present one goes on, create a new run for another")
	}
	results.Fit(&d.next)
	return d
}

// maxSummary keeps the summary fit for a printer column.
const maxSummary = 256

// advance takes the run one step further and says what it is doing.
func advance(o *observed, d *decision) verdict {
	running := func(format string, args ...any) verdict {
		return yes(v1alpha1.ReasonRunning, fmt.Sprintf(format, args...))
	}
	switch {
	case o.status.CompletionTime != nil:
		return d.afterwards(o)
	case o.status.Effective == nil:
		return d.begin(o)
	case o.status.Effective.SpecHash != o.hash && o.status.Failure == nil:
		d.fail(&v1alpha1.Failure{Reason: v1alpha1.ReasonSpecChanged, Message: specChanged(o)})
		d.stopPresent(o, v1alpha1.ReasonSpecChanged, "the spec was changed during the execution")
		return running("stopping: the spec was changed")
	}
	d.remove = o.others
	if row := present(o.status); row != nil {
		return d.carryOn(o, row)
	}
	return d.nextStep(o)
}

// specChanged says what became of an execution whose spec is another now.
func specChanged(o *observed) string {
	what := "the spec was changed during the execution, which the installed CRD should have refused"
	if rerunChanged(o) {
		what = "the spec was changed together with spec.rerun during the execution, and a second execution is not supported yet"
	}
	return what + "; the data stays, since the spec may no longer say where it is; create a new run for the new spec"
}

// begin fixes what the execution runs with. Nothing is made before the status says so.
func (d *decision) begin(o *observed) verdict {
	now := metav1.NewTime(o.now)
	if d.next.StartTime == nil {
		d.next.StartTime, d.next.Execution = &now, 1
	}
	if problems := check(o.bench, o.run); len(problems) > 0 {
		msg := problems[0].Message
		for _, p := range problems[1:] {
			msg += "; " + p.Message
		}
		return d.refuse(o, &v1alpha1.Failure{Reason: problems[0].Reason, Message: truncate(msg, maxMessage)})
	}
	if o.deadlineIn() <= 0 {
		return d.refuse(o, o.deadlineFailure())
	}
	if o.config.wanted && !o.config.found {
		name := o.spec.Target.HadoopConfig.ConfigMapRef.Name
		wait := durationOr(o.spec.StartDeadline, defaultStartDeadline) - o.now.Sub(d.next.StartTime.Time)
		if wait <= 0 {
			return d.refuse(o, &v1alpha1.Failure{Reason: v1alpha1.ReasonConfigNotFound, Message: fmt.Sprintf("spec.target.hadoopConfig.configMapRef: ConfigMap %q did not appear in namespace %q within spec.startDeadline; create it, then delete this run and create it again", name, o.run.GetNamespace())})
		}
		d.requeue = min(wait, 5*time.Second)
		return yes(v1alpha1.ReasonWaitingForConfig, fmt.Sprintf("waiting for ConfigMap %q in namespace %q", name, o.run.GetNamespace()))
	}
	d.next.Effective = &v1alpha1.Effective{
		SpecHash: o.hash, ConfigHash: o.config.hash, RunnerImage: o.image, Options: options(o.bench, o.run),
	}
	d.note(corev1.EventTypeNormal, "Started", fmt.Sprintf("execution %d started", d.next.Execution))
	return yes(v1alpha1.ReasonRunning, "starting")
}

// refuse ends an execution before it has begun.
func (d *decision) refuse(o *observed, f *v1alpha1.Failure) verdict {
	d.next.Effective = &v1alpha1.Effective{SpecHash: o.hash}
	if o.spec.Rerun != "" {
		d.next.Effective.Options = map[string]string{optionRerun: o.spec.Rerun}
	}
	d.fail(f)
	d.next.CompletionTime = &metav1.Time{Time: o.now}
	return verdict{}
}

// present is the row of the step that is under way, or nil between steps.
func present(st *v1alpha1.RunStatus) *v1alpha1.StepStatus {
	if n := len(st.Steps); n > 0 {
		if row := &st.Steps[n-1]; row.State != v1alpha1.StepDone && row.State != v1alpha1.StepFailed {
			return row
		}
	}
	return nil
}

// nextStep begins the step after the last one that ended, or ends the execution.
func (d *decision) nextStep(o *observed) verdict {
	steps := stepsOf(o.bench, o.run)
	step, ok := following(steps, o.status)
	overdue := o.deadlineIn() <= 0 && step.Name != plan.StepCleanup
	switch {
	case !ok, o.status.Effective.SpecHash != o.hash: // a changed spec may say other places to clean up
		now := metav1.NewTime(o.now)
		d.next.CompletionTime = &now
		return verdict{}
	case overdue && o.status.Failure == nil:
		d.fail(o.deadlineFailure())
		d.requeue = time.Millisecond
		return yes(v1alpha1.ReasonRunning, "activeDeadline passed")
	case value(o.spec.Suspend, false):
		if o.spec.ActiveDeadline != nil && o.status.Failure == nil && step.Name != plan.StepCleanup {
			d.wake(o.deadlineIn())
		}
		state := fmt.Sprintf("suspended before step %s", step)
		if f := o.status.Failure; f != nil {
			state += fmt.Sprintf("; the run has failed: %s: %s", f.Reason, f.Message)
		}
		return yes(v1alpha1.ReasonSuspended, truncate(state, maxMessage))
	}
	if left := restLeft(o, step); left > 0 {
		d.wake(min(left, max(o.deadlineIn(), 0)))
		return yes(v1alpha1.ReasonRunning, fmt.Sprintf("resting for %s before step %s", step.Rest, step))
	}
	now := metav1.NewTime(o.now)
	row := v1alpha1.StepStatus{
		Name: step.Name, Repeat: step.Repeat, State: v1alpha1.StepPreparing, Attempt: 1, BeginTime: &now, ProgressTime: &now,
		Shards: v1alpha1.ShardCounts{Expected: step.Shards},
	}
	row.Job = jobs.AttemptName(o.run.GetName(), identity(o.run, d.next.Execution, row))
	d.next.Steps = append(d.next.Steps, row)
	return yes(v1alpha1.ReasonRunning, fmt.Sprintf("step %s begins", step))
}

func identity(run Run, execution int32, row v1alpha1.StepStatus) report.Identity {
	return report.Identity{RunUID: string(run.GetUID()), Execution: execution, Step: row.Name, Repeat: row.Repeat, Attempt: row.Attempt}
}

// deadlineIn is the time left until activeDeadline; a day if there is none.
func (o *observed) deadlineIn() time.Duration {
	if o.spec.ActiveDeadline == nil || o.status.StartTime == nil {
		return 24 * time.Hour
	}
	return o.status.StartTime.Add(o.spec.ActiveDeadline.Duration.Duration).Sub(o.now)
}

func (o *observed) deadlineFailure() *v1alpha1.Failure {
	return &v1alpha1.Failure{Reason: v1alpha1.ReasonDeadlineExceeded, Message: fmt.Sprintf("spec.activeDeadline of %s passed; give the run more time, or less to do", o.spec.ActiveDeadline.Duration.Duration)}
}

// fail records the first failure; later ones are its consequences.
func (d *decision) fail(f *v1alpha1.Failure) {
	if d.next.Failure == nil {
		d.next.Failure = f
		d.note(corev1.EventTypeWarning, f.Reason, f.Message)
	}
}

func (d *decision) note(kind, reason, message string) {
	d.events = append(d.events, note{kind, reason, truncate(message, maxMessage)})
}

// finish writes the last words of an execution.
func (d *decision) finish(o *observed) {
	if d.next.Failure != nil {
		d.next.Summary = truncate(d.next.Failure.Reason+": "+d.next.Failure.Message, maxSummary)
		return
	}
	d.next.Summary = truncate(summary(o, d.next.Aggregates), maxSummary)
	d.note(corev1.EventTypeNormal, "Finished", orDefault(d.next.Summary, "all steps ran to their end"))
}

// summary quotes every step that was measured by the figure that says most about it.
func summary(o *observed, aggregates []v1alpha1.Aggregate) string {
	var parts []string
	for len(aggregates) > 0 {
		step, n := aggregates[0].Step, 1
		for n < len(aggregates) && aggregates[n].Step == step {
			n++
		}
		if text := results.Summary(aggregates[:n], o.bench.Headlines(o.run, step)); text != "" {
			parts = append(parts, text)
		}
		aggregates = aggregates[n:]
	}
	return strings.Join(parts, ", ")
}

// afterwards tends a finished run: its Jobs go, except those with failed pods, and nothing is ever made again. If the
// spec was changed, it says that nothing comes of it.
func (d *decision) afterwards(o *observed) verdict {
	d.remove = o.others
	if o.status.Effective == nil || o.status.Effective.SpecHash == o.hash && !rerunChanged(o) || o.status.Failure != nil && o.status.Failure.Reason == v1alpha1.ReasonSpecChanged {
		return verdict{}
	}
	return no(v1alpha1.ReasonNotSupported, "spec.rerun: a second execution is not supported yet; create a new run. The results are those of the spec before the change")
}
