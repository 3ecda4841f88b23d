package controllers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
)

// TestLostBeforeTheGate: the step begins anew, at most three times in all.
func TestLostBeforeTheGate(t *testing.T) {
	for _, seen := range []bool{true, false} {
		t.Run(fmt.Sprintf("the manager saw it: %t", seen), func(t *testing.T) {
			w := newWorld(t)
			for range 2 {
				w.reach("write", v1alpha1.StepPreparing)
				w.attempt()
				w.vanish(1, seen)
				w.visit()
			}
			w.finish()
			wantSlice(t, "attempts", []string{"preflight/1/1", "write/1/1", "write/1/2", "write/1/3", "read/1/1", "cleanup/1/1"}, w.made)
			assertSucceeded(t, w)
		})
	}
}

func TestLostBeforeTheGateTooOften(t *testing.T) {
	w := newWorld(t)
	for range 3 {
		w.reach("write", v1alpha1.StepPreparing)
		w.attempt()
		w.tick(time.Millisecond) // scheduled
		w.vanish(1, true)
		w.visit()
	}
	w.finish()
	wantSlice(t, "attempts", []string{"preflight/1/1", "write/1/1", "write/1/2", "write/1/3", "cleanup/1/1"}, w.made)
	wantSlice(t, "rows", []string{"preflight/1/1 Done 1 of 1", "write/1/3 Failed 0 of 2", "cleanup/1/1 Done 1 of 1"}, rowsOf(w.st))
	f := w.st.Failure
	if f.Reason != v1alpha1.ReasonShardLost || f.Node != "node-1" || value(f.Shard, -1) != 1 || !strings.HasPrefix(f.Message, "3 attempts of the step lost a shard before its start; the last: shard 1 (pod ") {
		t.Errorf("failure %+v", f)
	}
}

// TestRefusedBeforeTheGate: a shard that reported why it cannot work would not be able to in another attempt either.
func TestRefusedBeforeTheGate(t *testing.T) {
	w := newWorld(t)
	w.reach("write", v1alpha1.StepPreparing)
	w.visit()
	w.end(w.job().pods[0], failedReport(w.job().id, 0))
	w.finish()
	wantSlice(t, "attempts", []string{"preflight/1/1", "write/1/1", "cleanup/1/1"}, w.made)
	if f := w.st.Failure; f.Reason != "TargetUnreachable" || f.Step != "write" || value(f.ExitCode, -1) != 3 {
		t.Errorf("failure %+v", f)
	}
}

// measuring runs until all shards of write have their start time and 4 s of it have gone.
func measuring(t *testing.T, edits ...func(*v1alpha1.DFSIORun)) *world {
	t.Helper()
	w := newWorld(t, edits...)
	w.reach("write", v1alpha1.StepRunning)
	w.visit()
	w.tick(6 * time.Second)
	return w
}

// TestLostAfterTheGate: the step is stopped, what the others have is kept, and the run says who was lost and where.
func TestLostAfterTheGate(t *testing.T) {
	tests := map[string]struct {
		lose   func(w *world)
		reason string
		node   string
		code   int32
	}{
		"vanished, seen":   {func(w *world) { w.vanish(1, true) }, v1alpha1.ReasonShardLost, "node-1", -1},
		"vanished, unseen": {func(w *world) { w.vanish(1, false) }, v1alpha1.ReasonShardLost, "", -1},
		"out of memory": {func(w *world) {
			p := w.job().pods[1]
			p.Status.ContainerStatuses, p.Status.Phase = nil, corev1.PodFailed
			terminated(137, "OOMKilled", "")(p)
		}, v1alpha1.ReasonShardLost, "node-1", 137},
		"evicted": {func(w *world) {
			p := w.job().pods[1]
			w.end(p, partialReport(w.job().id, 1, w.now.Add(-5*time.Second)))
			condition(corev1.DisruptionTarget, corev1.ConditionTrue, "EvictionByEvictionAPI", "")(p)
			deleted(w.now)(p)
		}, v1alpha1.ReasonPodDisrupted, "node-1", 6},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := measuring(t, func(r *v1alpha1.DFSIORun) { r.Spec.NrFiles = ptr(int32(3)) })
			tc.lose(w)
			w.visit()
			row := present(w.st)
			if row == nil || row.State != v1alpha1.StepStopping || row.Stop.Reason != v1alpha1.ReasonShardFailed {
				t.Fatalf("row %+v", row)
			}
			w.visit()
			if len(w.last.stop) != 2 || w.last.requeue <= 0 || w.last.requeue > stopGrace {
				t.Errorf("%d shards are told to stop, next visit in %s", len(w.last.stop), w.last.requeue)
			}
			w.finish()
			lostShardIsTold(t, w, tc.reason, tc.node, tc.code)
		})
	}
}

func lostShardIsTold(t *testing.T, w *world, reason, node string, code int32) {
	t.Helper()
	st := w.st
	wantSlice(t, "attempts", []string{"preflight/1/1", "write/1/1", "cleanup/1/1"}, w.made)
	f := st.Failure
	if f == nil || f.Reason != reason || f.Node != node || (f.Pod != "") != (node != "") || value(f.Shard, -1) != 1 || value(f.ExitCode, -1) != code || f.Step != "write" {
		t.Errorf("failure %+v", f)
	}
	want := map[string]string{
		"TargetReady": "True PreflightPassed", "Completed": "False " + reason, "Valid": "False ShardsMissing", "ThresholdsMet": "Unknown NoThresholds",
		"Succeeded": "False " + reason, "Reconciling": "False Finished", "Stalled": "True " + reason,
	}
	if diff := cmp.Diff(want, verdicts(st)); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
	row := st.Steps[1]
	partials := int64(2)
	if reason == v1alpha1.ReasonPodDisrupted {
		partials = 3 // it could still report
	}
	if row.State != v1alpha1.StepFailed || row.Result == nil || row.Result.Bytes != partials*400<<20 || len(w.document.Sections) != 1 {
		t.Errorf("row %+v, result %+v", row, row.Result)
	}
	if st.Aggregates != nil {
		t.Errorf("a step that was not measured to its end has aggregates: %v", st.Aggregates)
	}
	if _, kept := w.jobs[row.Job]; !kept || row.Job == "" {
		t.Errorf("Job %q of the failed step is not kept for inspection", row.Job)
	}
}

// TestShardsThatDoNotStop: after the grace the step is over without them, and their Job goes.
func TestShardsThatDoNotStop(t *testing.T) {
	w := measuring(t)
	w.vanish(0, true)
	w.kubelet = func(j *simJob, _ *corev1.Pod) bool { return j.id.Step == "write" }
	w.visit()
	row := *present(w.st)
	w.until("the end of write", func(st *v1alpha1.RunStatus) bool { return present(st) == nil })
	if waited := w.visited.Sub(row.Stop.Time.Time); waited < stopGrace || waited > stopGrace+2*time.Second {
		t.Errorf("the step ended %s after the order", waited)
	}
	if got := w.st.Steps[1]; got.Job != "" || got.State != v1alpha1.StepFailed {
		t.Errorf("row %+v", got)
	}
	w.until("cleanup", func(st *v1alpha1.RunStatus) bool {
		row := present(st)
		return row != nil && row.Name == plan.StepCleanup
	})
	w.visit()
	if _, ok := w.jobs[row.Job]; ok {
		t.Error("the Job with pods that run is kept")
	}
	w.finish()
	if w.st.Failure.Reason != v1alpha1.ReasonShardLost {
		t.Errorf("failure %+v", w.st.Failure)
	}
}

// TestGate: pods that are not patched yet get the same start time if there is time enough, else the attempt is broken.
func TestGate(t *testing.T) {
	tests := map[string]struct {
		before time.Duration // the visit is so long before T
		broken bool
	}{
		"T is far":         {1200 * time.Millisecond, false},
		"T is near enough": {gateMargin, false},
		"T is too near":    {gateMargin - time.Microsecond, true},
		"T has gone":       {-time.Minute, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(r *v1alpha1.DFSIORun) { r.Spec.NrFiles = ptr(int32(4)) })
			w.reach("write", v1alpha1.StepRunning)
			at := present(w.st).StartAt
			for _, p := range w.job().pods[:2] { // what a manager did before it was killed
				w.give(order{p.Name, p.UID, plan.AnnotationStartAt, at.UTC().Format(plan.TimeFormat)})
			}
			w.now = at.Add(-tc.before)
			w.visit()
			row := present(w.st)
			if tc.broken {
				if row.State != v1alpha1.StepStopping || row.Stop.Reason != v1alpha1.ReasonGateBroken || len(w.last.start) != 0 {
					t.Errorf("row %+v, %d start orders", row, len(w.last.start))
				}
				if want := "2 of 4 shards could not be given the start time " + at.UTC().Format(plan.TimeFormat) + " in time"; row.Stop.Message != want {
					t.Errorf("message %q, want %q", row.Stop.Message, want)
				}
				w.finish()
				wantSlice(t, "attempts", []string{"preflight/1/1", "write/1/1", "write/1/2", "read/1/1", "cleanup/1/1"}, w.made)
				assertSucceeded(t, w)
				return
			}
			if len(w.last.start) != 2 || !row.StartAt.Equal(at) || row.State != v1alpha1.StepRunning {
				t.Errorf("%d start orders, row %+v", len(w.last.start), row)
			}
			w.finish()
			wantSlice(t, "attempts", []string{"preflight/1/1", "write/1/1", "read/1/1", "cleanup/1/1"}, w.made)
			assertSucceeded(t, w)
		})
	}
}

// TestRestartInMidMeasurement: a manager that finds all pods with their start time measures nothing again.
func TestRestartInMidMeasurement(t *testing.T) {
	w := measuring(t)
	for range 3 {
		w.visit()
		if len(w.last.start)+len(w.last.stop) != 0 {
			t.Fatalf("orders %v %v", w.last.start, w.last.stop)
		}
	}
	w.finish()
	wantSlice(t, "attempts", []string{"preflight/1/1", "write/1/1", "read/1/1", "cleanup/1/1"}, w.made)
	assertSucceeded(t, w)
}

// TestMissedGate: a shard that was shown its start time too late measured nothing, and the others measured without it.
// Nothing of that counts; the step is measured anew, but not for ever.
func TestMissedGate(t *testing.T) {
	missed := func(w *world) *report.Report {
		r := failedReport(w.job().id, 0)
		r.Envelope.ExitCode, r.Envelope.Failure.Reason = report.ExitNeverBegan, "GateMissed"
		return r
	}
	miss := func(w *world) {
		w.reach("write", v1alpha1.StepRunning)
		w.visit()
		w.tick(6 * time.Second)
		w.end(w.job().pods[0], missed(w))
		w.visit()
	}
	t.Run("once", func(t *testing.T) {
		w := newWorld(t)
		miss(w)
		if row := present(w.st); row.State != v1alpha1.StepStopping || row.Stop.Reason != v1alpha1.ReasonGateBroken {
			t.Fatalf("row %+v", row)
		}
		w.finish()
		wantSlice(t, "attempts", []string{"preflight/1/1", "write/1/1", "write/1/2", "read/1/1", "cleanup/1/1"}, w.made)
		assertSucceeded(t, w)
	})
	t.Run("always", func(t *testing.T) {
		w := newWorld(t)
		for range maxAttempts {
			miss(w)
		}
		w.finish()
		wantSlice(t, "attempts", []string{"preflight/1/1", "write/1/1", "write/1/2", "write/1/3", "cleanup/1/1"}, w.made)
		if f := w.st.Failure; f == nil || f.Reason != v1alpha1.ReasonGateBroken || f.Step != "write" {
			t.Errorf("failure %+v", f)
		}
	})
	t.Run("while another fails", func(t *testing.T) {
		w := measuring(t)
		w.end(w.job().pods[0], missed(w))
		w.end(w.job().pods[1], failedReport(w.job().id, 1))
		w.finish()
		if f := w.st.Failure; f == nil || f.Reason != "TargetUnreachable" || *f.Shard != 1 {
			t.Errorf("failure %+v", f)
		}
	})
}

// TestReminder: every shard gets its start time a second time, once, when all were told and while it can still matter.
func TestReminder(t *testing.T) {
	tests := map[string]struct {
		before    time.Duration // the visit is so long before T
		over      bool          // the first shard has ended
		reminders int
		requeue   time.Duration
	}{
		"too early":           {before: gateMargin + 120*time.Millisecond, requeue: 100 * time.Millisecond},
		"in time":             {before: gateMargin + 20*time.Millisecond, reminders: 2},
		"a shard has ended":   {before: gateMargin + time.Millisecond, over: true, reminders: 1},
		"too late to be told": {before: gateMargin},
		"the start has gone":  {before: -time.Second},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.reach("write", v1alpha1.StepRunning)
			w.visit() // gives both their start time
			j := w.job()
			at := present(w.st).StartAt
			w.now = at.Add(-tc.before)
			if tc.over {
				w.end(j.pods[0], w.report(j.id, 0, at.Time))
			}
			w.visit()
			var want []order
			for _, p := range j.pods[2-tc.reminders:] {
				want = append(want, order{p.Name, p.UID, plan.AnnotationReminder, at.UTC().Format(plan.TimeFormat)})
			}
			if diff := cmp.Diff(want, w.last.reminders, cmp.AllowUnexported(order{})); diff != "" {
				t.Errorf("reminders (-want +got):\n%s", diff)
			}
			if tc.requeue > 0 && w.last.requeue != tc.requeue {
				t.Errorf("the next visit is in %s, want %s", w.last.requeue, tc.requeue)
			}
			w.visit()
			if len(w.last.reminders) > 0 {
				t.Errorf("reminded again: %v", w.last.reminders)
			}
		})
	}
}

// TestStartIsPutOff: a start time that no shard could be told in time is replaced in the same attempt, but not for ever.
func TestStartIsPutOff(t *testing.T) {
	w := newWorld(t)
	w.reach("write", v1alpha1.StepRunning)
	for range 4 {
		w.now = present(w.st).StartAt.Add(-gateMargin + time.Millisecond)
		w.visit()
		row := present(w.st)
		if want := w.now.Add(gateLead + 20*time.Millisecond); row.State != v1alpha1.StepRunning || !row.StartAt.Time.Equal(want) || len(w.last.start) != 0 {
			t.Fatalf("start orders %v, row %+v, want the start at %s", w.last.start, row, want)
		}
	}
	row := present(w.st)
	w.now = row.ProgressTime.Add(defaultStartDeadline)
	w.visit()
	if row := present(w.st); row.State != v1alpha1.StepStopping || row.Stop.Reason != v1alpha1.ReasonGateBroken {
		t.Errorf("row after startDeadline %+v", row)
	}
	w.finish()
	wantSlice(t, "attempts", []string{"preflight/1/1", "write/1/1", "write/1/2", "read/1/1", "cleanup/1/1"}, w.made)
	assertSucceeded(t, w)
}

func TestGateBreaksTooOften(t *testing.T) {
	w := newWorld(t)
	for range 3 {
		w.reach("write", v1alpha1.StepRunning)
		at := present(w.st).StartAt
		first := w.job().pods[0]
		w.give(order{first.Name, first.UID, plan.AnnotationStartAt, at.UTC().Format(plan.TimeFormat)})
		w.now = at.Add(-gateMargin + time.Millisecond)
		w.visit()
	}
	w.finish()
	wantSlice(t, "attempts", []string{"preflight/1/1", "write/1/1", "write/1/2", "write/1/3", "cleanup/1/1"}, w.made)
	if f := w.st.Failure; f.Reason != v1alpha1.ReasonGateBroken || f.Step != "write" || !strings.HasPrefix(f.Message, "3 attempts: 1 of 2 shards could not be given the start time ") {
		t.Errorf("failure %+v", f)
	}
}

// TestNewAttemptWaitsForOldPods: two attempts work on the same files, and must not do so at once.
func TestNewAttemptWaitsForOldPods(t *testing.T) {
	w := newWorld(t)
	w.reach("write", v1alpha1.StepPreparing)
	w.visit()
	old := w.job()
	w.tick(time.Second)
	w.vanish(0, true)
	w.visit() // a new attempt is recorded
	o := w.observe()
	o.othersBusy = true
	d := decide(o)
	if d.create || d.requeue != time.Second || len(d.remove) != 1 {
		t.Errorf("create %t, remove %v, next visit in %s while %d old pods run", d.create, d.remove, d.requeue, len(old.pods))
	}
	o.othersBusy = false
	if d := decide(o); !d.create {
		t.Error("the new attempt is not made once the old pods are gone")
	}
}

func TestStartDeadline(t *testing.T) {
	const unschedulable = "0/3 nodes are available: 3 Insufficient cpu."
	w := newWorld(t, func(r *v1alpha1.DFSIORun) { r.Spec.NrFiles = ptr(int32(3)) })
	w.kubelet = func(j *simJob, p *corev1.Pod) bool {
		if j.id.Step != "write" || j.pods[0] == p {
			return false
		}
		if len(p.Status.Conditions) == 0 {
			condition(corev1.PodScheduled, corev1.ConditionFalse, "Unschedulable", unschedulable)(p)
		}
		return true
	}
	w.reach("write", v1alpha1.StepPreparing)
	w.visit()
	for range 3 { // the first pod gets Ready, which is progress
		w.tick(time.Minute)
		w.visit()
	}
	last := w.visited
	row := present(w.st)
	wantState := "step write, repeat 1: 1 of 3 shards Ready; 2 unschedulable, Unschedulable: " + unschedulable
	if row.Shards.Ready != 1 || row.Message != wantState || !row.ProgressTime.Time.Equal(last) {
		t.Fatalf("row %+v, last progress %s", row, last)
	}
	if w.last.requeue != 75*time.Second {
		t.Errorf("events are read in %s", w.last.requeue)
	}
	w.now = last.Add(5*time.Minute - time.Second)
	w.trouble = "FailedCreate: exceeded quota"
	w.visit()
	if w.st.Failure != nil || w.last.requeue != time.Second {
		t.Fatalf("a second before the deadline: failure %+v, next visit in %s", w.st.Failure, w.last.requeue)
	}
	w.now = last.Add(5 * time.Minute)
	w.visit()
	want := wantState + ", FailedCreate: exceeded quota. No progress for 5m0s (spec.startDeadline); free what is missing, or ask for less"
	if f := w.st.Failure; f == nil || f.Reason != v1alpha1.ReasonStartDeadlineExceeded || f.Message != want || f.Step != "write" {
		t.Fatalf("failure %+v", f)
	}
	w.finish()
	wantSlice(t, "rows", []string{"preflight/1/1 Done 1 of 1", "write/1/1 Failed 0 of 3", "cleanup/1/1 Done 1 of 1"}, rowsOf(w.st))
	if len(w.jobs) != 0 {
		t.Errorf("%d Jobs are left whose pods could still be scheduled", len(w.jobs))
	}
}

func TestPreflightCannotBeScheduled(t *testing.T) {
	w := newWorld(t, func(r *v1alpha1.DFSIORun) { r.Spec.StartDeadline = duration(20 * time.Second) })
	w.kubelet = func(*simJob, *corev1.Pod) bool { return true }
	w.finish()
	wantSlice(t, "attempts", []string{"preflight/1/1"}, w.made)
	want := "step preflight: 0 of 1 shards running; 1 unschedulable. No progress for 20s (spec.startDeadline); free what is missing, or ask for less"
	if f := w.st.Failure; f.Reason != v1alpha1.ReasonStartDeadlineExceeded || f.Message != want {
		t.Errorf("failure %+v", f)
	}
}

// TestStartDeadlineOfALongSetUp: shards that run, but have much to prepare, are not in want of anything.
func TestStartDeadlineOfALongSetUp(t *testing.T) {
	w := worldOf(t, NNThroughput{}, newNNThroughputRun(func(r *v1alpha1.NNThroughputRun) { r.Spec.StartDeadline = duration(20 * time.Second) }), operationsReport)
	w.kubelet = func(j *simJob, p *corev1.Pod) bool { return j.gated && len(p.Status.ContainerStatuses) > 0 }
	w.until("a failure", func(st *v1alpha1.RunStatus) bool { return st.Failure != nil })
	want := "step create, repeat 1: 0 of 2 shards Ready. No progress for 20s (spec.startDeadline); they are all preparing: give them less to prepare, or raise spec.startDeadline"
	if f := w.st.Failure; f.Reason != v1alpha1.ReasonStartDeadlineExceeded || f.Message != want {
		t.Errorf("failure %+v, want message %q", f, want)
	}
}

// TestUngatedStepsMayTakeLong: startDeadline counts up to the start only.
func TestUngatedStepsMayTakeLong(t *testing.T) {
	w := newWorld(t, func(r *v1alpha1.DFSIORun) { r.Spec.Verify = ptr(true) })
	until := testNow.Add(2 * time.Hour)
	w.kubelet = func(j *simJob, p *corev1.Pod) bool {
		if j.id.Step != plan.StepVerify || len(p.Status.ContainerStatuses) == 0 {
			return false
		}
		if len(p.Status.Conditions) == 0 {
			ready()(p)
		}
		return w.now.Before(until)
	}
	w.reach(plan.StepVerify, v1alpha1.StepPreparing)
	for range 5 {
		w.visit()
		w.tick(time.Second)
	}
	w.now = until
	w.finish()
	assertSucceeded(t, w)
}

func TestSuspend(t *testing.T) {
	suspend := func(w *world, on bool) { w.spec.Suspend = ptr(on) }
	isSuspended := func(t *testing.T, w *world) {
		t.Helper()
		made := len(w.made)
		for range 4 {
			w.visit()
			w.tick(time.Hour)
		}
		if len(w.made) != made || w.st.CompletionTime != nil {
			t.Fatalf("attempts %v, completed %v while suspended", w.made, w.st.CompletionTime)
		}
		got := verdicts(w.st)
		if got["Reconciling"] != "True Suspended" || got["Stalled"] != "False Suspended" || got["Succeeded"] != "Unknown Pending" || w.st.Phase != "Suspended" {
			t.Errorf("conditions %v, phase %s", got, w.st.Phase)
		}
	}
	t.Run("from the beginning", func(t *testing.T) {
		w := newWorld(t)
		suspend(w, true)
		isSuspended(t, w)
		wantSlice(t, "attempts", nil, w.made)
		suspend(w, false)
		w.finish()
		assertSucceeded(t, w)
	})
	t.Run("before its Job is made", func(t *testing.T) {
		w := newWorld(t)
		w.reach("write", v1alpha1.StepPreparing)
		suspend(w, true)
		isSuspended(t, w)
		suspend(w, false)
		w.visit()
		if got := present(w.st); !got.ProgressTime.Time.Equal(w.visited) || w.st.Failure != nil {
			t.Errorf("startDeadline does not count from the resume: %+v", got)
		}
		w.finish()
		wantSlice(t, "attempts", []string{"preflight/1/1", "write/1/1", "read/1/1", "cleanup/1/1"}, w.made)
		assertSucceeded(t, w)
	})
	t.Run("while pods get ready", func(t *testing.T) {
		w := newWorld(t)
		w.reach("write", v1alpha1.StepPreparing)
		w.visit()
		w.tick(time.Second)
		w.tick(time.Second) // the pods run
		suspend(w, true)
		w.visit()
		w.visit()
		if len(w.last.stop) != 2 || w.last.stop[0].value != v1alpha1.ReasonSuspended {
			t.Errorf("orders %v", w.last.stop)
		}
		w.tick(time.Second)
		isSuspended(t, w)
		suspend(w, false)
		w.finish()
		wantSlice(t, "attempts", []string{"preflight/1/1", "write/1/1", "write/1/2", "read/1/1", "cleanup/1/1"}, w.made)
		assertSucceeded(t, w)
	})
	t.Run("in mid-measurement", func(t *testing.T) {
		w := measuring(t)
		suspend(w, true)
		isSuspended(t, w)
		if w.document != nil || len(w.st.Aggregates) != 0 {
			t.Error("what will be measured anew is kept")
		}
		suspend(w, false)
		w.finish()
		wantSlice(t, "attempts", []string{"preflight/1/1", "write/1/1", "write/1/2", "read/1/1", "cleanup/1/1"}, w.made)
		assertSucceeded(t, w)
	})
	t.Run("when all shards are done", func(t *testing.T) {
		w := measuring(t)
		w.tick(10 * time.Second)
		suspend(w, true)
		w.visit()
		if got := rowsOf(w.st)[1]; got != "write/1/1 Done 2 of 2" {
			t.Errorf("row %s", got)
		}
	})
	t.Run("between steps", func(t *testing.T) {
		w := measuring(t)
		w.until("the end of write", func(st *v1alpha1.RunStatus) bool { return len(st.Steps) == 2 && present(st) == nil })
		suspend(w, true)
		isSuspended(t, w)
		if want := "suspended before step read, repeat 1"; w.st.Summary != want {
			t.Errorf("summary %q, want %q", w.st.Summary, want)
		}
	})
}

// TestCleanupIsFinished: cleanup goes on although the run is suspended, once it has begun.
func TestCleanupIsFinished(t *testing.T) {
	w := newWorld(t)
	w.reach(plan.StepCleanup, v1alpha1.StepPreparing)
	w.spec.Suspend = ptr(true)
	w.finish()
	assertSucceeded(t, w)
}

func TestCleanupFails(t *testing.T) {
	w := newWorld(t)
	w.kubelet = func(j *simJob, p *corev1.Pod) bool {
		if j.id.Step != plan.StepCleanup || len(p.Status.ContainerStatuses) == 0 {
			return false
		}
		w.end(p, failedReport(j.id, 0))
		return true
	}
	w.finish()
	if got := verdicts(w.st); got["Completed"] != "False TargetUnreachable" || got["Stalled"] != "True TargetUnreachable" {
		t.Errorf("conditions %v", got)
	}
	if len(w.st.Aggregates) == 0 || w.st.Failure.Step != plan.StepCleanup {
		t.Errorf("failure %+v, %d aggregates", w.st.Failure, len(w.st.Aggregates))
	}
}

// TestContradictingReports: reports that cannot be merged end the run, and say that it is our defect.
func TestContradictingReports(t *testing.T) {
	w := measuring(t)
	w.tick(10 * time.Second)
	o := w.observe()
	o.shards[1].report = o.shards[0].report
	d := decide(o)
	row := d.next.Steps[1]
	if d.next.Failure == nil || d.next.Failure.Reason != v1alpha1.ReasonReportsUnusable || row.State != v1alpha1.StepFailed || d.persist != nil || row.Message == "" {
		t.Errorf("failure %+v, row %+v", d.next.Failure, row)
	}
}

func TestCount(t *testing.T) {
	complete := shardOf(testID(), 0, podOf(0, reported(completeReport(testID(), 0, testNow))), testNow)
	failed := shardOf(testID(), 0, podOf(0, reported(failedReport(testID(), 0))), testNow)
	tests := map[string]struct {
		in   []shard
		want v1alpha1.ShardCounts
	}{
		"none":      {nil, v1alpha1.ShardCounts{Expected: 9}},
		"absent":    {[]shard{{}}, v1alpha1.ShardCounts{Expected: 9}},
		"created":   {[]shard{{phase: shardCreated}}, v1alpha1.ShardCounts{Expected: 9, Progress: 1}},
		"scheduled": {[]shard{{phase: shardScheduled}}, v1alpha1.ShardCounts{Expected: 9, Progress: 2}},
		"started":   {[]shard{{phase: shardStarted}}, v1alpha1.ShardCounts{Expected: 9, Progress: 3}},
		"ready":     {[]shard{{phase: shardReady}}, v1alpha1.ShardCounts{Expected: 9, Progress: 4, Ready: 1}},
		"complete":  {[]shard{complete}, v1alpha1.ShardCounts{Expected: 9, Progress: 5, Ready: 1, Reported: 1}},
		"failed":    {[]shard{failed}, v1alpha1.ShardCounts{Expected: 9, Progress: 5, Ready: 1, Failed: 1}},
		"lost":      {[]shard{{phase: shardLost}}, v1alpha1.ShardCounts{Expected: 9, Progress: 4, Failed: 1}},
		"several":   {[]shard{complete, failed, {phase: shardReady}, {}}, v1alpha1.ShardCounts{Expected: 9, Progress: 14, Ready: 3, Reported: 1, Failed: 1}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			row := v1alpha1.StepStatus{Shards: v1alpha1.ShardCounts{Expected: 9, Progress: 99, Ready: 99}}
			count(&row, tc.in)
			if diff := cmp.Diff(tc.want, row.Shards); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWaitingFor(t *testing.T) {
	cpu, image := "Unschedulable: cpu", "ImagePullBackOff: no such image"
	tests := map[string]struct {
		in      []shard
		trouble string
		want    string
	}{
		"nothing":                  {[]shard{{phase: shardReady, waiting: "old"}, {phase: shardStarted}}, "", ""},
		"no pods":                  {[]shard{{}, {}}, "", "2 without a pod"},
		"quota":                    {[]shard{{}}, "FailedCreate: exceeded quota", "1 without a pod, FailedCreate: exceeded quota"},
		"unschedulable":            {[]shard{{phase: shardCreated, waiting: cpu}, {phase: shardReady}}, "", "1 unschedulable, " + cpu},
		"the most frequent reason": {[]shard{{phase: shardCreated, waiting: cpu}, {phase: shardScheduled, waiting: image}, {phase: shardScheduled, waiting: image}}, "", "1 unschedulable, " + image},
		"equally frequent":         {[]shard{{phase: shardScheduled, waiting: "b"}, {phase: shardScheduled, waiting: "a"}}, "", "a"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := waitingFor(tc.in, tc.trouble); got != tc.want {
				t.Errorf("waitingFor() = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestWake(t *testing.T) {
	tests := map[string]struct {
		in   []time.Duration
		want time.Duration
	}{
		"once":            {[]time.Duration{time.Second}, time.Second},
		"the earlier one": {[]time.Duration{time.Minute, time.Second, time.Hour}, time.Second},
		"never at once":   {[]time.Duration{0, -time.Second}, 10 * time.Millisecond},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var d decision
			for _, in := range tc.in {
				d.wake(in)
			}
			if d.requeue != tc.want {
				t.Errorf("requeue %s, want %s", d.requeue, tc.want)
			}
		})
	}
}

// TestShardsPerNodeIsBounded: the environment of 10,000 shards on 500 nodes is small.
func TestShardsPerNodeIsBounded(t *testing.T) {
	o := &observed{status: &v1alpha1.RunStatus{}}
	for i := range 1000 {
		o.shards = append(o.shards, shard{index: int32(i), node: fmt.Sprintf("node-%03d", i%500), imageID: "sha256:image"})
	}
	d := decision{next: v1alpha1.RunStatus{Effective: &v1alpha1.Effective{}}}
	d.environment(o, Step{Name: "write", Measured: true})
	env := d.next.Environment
	if env.Nodes != 500 || len(env.ShardsPerNode) != maxNodesShown || env.ShardsPerNode["node-000"] != 2 || d.next.Effective.RunnerImageID != "sha256:image" {
		t.Errorf("environment of %d nodes, %d of them shown, image %q", env.Nodes, len(env.ShardsPerNode), d.next.Effective.RunnerImageID)
	}
}

func TestFirstFailureIsKept(t *testing.T) {
	var d decision
	d.fail(&v1alpha1.Failure{Reason: "First", Message: "cause"})
	d.fail(&v1alpha1.Failure{Reason: "Second", Message: "consequence"})
	if d.next.Failure.Reason != "First" || len(d.events) != 1 || d.events[0].kind != corev1.EventTypeWarning {
		t.Errorf("failure %+v, events %v", d.next.Failure, d.events)
	}
	d.note("Normal", "Long", strings.Repeat("x", 5000))
	if n := len(d.events[1].message); n != maxMessage {
		t.Errorf("an event's message has %d bytes", n)
	}
}

func TestPresent(t *testing.T) {
	row := func(states ...v1alpha1.StepState) *v1alpha1.RunStatus {
		st := &v1alpha1.RunStatus{StartTime: &metav1.Time{Time: testNow}}
		for _, s := range states {
			st.Steps = append(st.Steps, v1alpha1.StepStatus{Name: string(s), State: s})
		}
		return st
	}
	tests := map[string]struct {
		st   *v1alpha1.RunStatus
		want string
	}{
		"no rows":   {row(), ""},
		"preparing": {row(v1alpha1.StepDone, v1alpha1.StepPreparing), "Preparing"},
		"running":   {row(v1alpha1.StepRunning), "Running"},
		"stopping":  {row(v1alpha1.StepStopping), "Stopping"},
		"done":      {row(v1alpha1.StepDone), ""},
		"failed":    {row(v1alpha1.StepFailed), ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if r := present(tc.st); r != nil {
				got = r.Name
			}
			if got != tc.want {
				t.Errorf("present row %q, want %q", got, tc.want)
			}
		})
	}
}
