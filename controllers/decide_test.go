package controllers

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/plan"
)

// TestWholeLife walks a run from its first visit to its end.
func TestWholeLife(t *testing.T) {
	tests := map[string]struct {
		edit func(*v1alpha1.DFSIORun)
		made []string
		rows []string
	}{
		"write and read": {
			func(*v1alpha1.DFSIORun) {},
			[]string{"preflight/1/1", "write/1/1", "read/1/1", "cleanup/1/1"},
			[]string{"preflight/1/1 Done 1 of 1", "write/1/1 Done 2 of 2", "read/1/1 Done 2 of 2", "cleanup/1/1 Done 1 of 1"},
		},
		"repeats per step": {
			func(r *v1alpha1.DFSIORun) { r.Spec.Repeats, r.Spec.KeepResults = ptr(int32(2)), ptr(true) },
			[]string{"preflight/1/1", "write/1/1", "write/2/1", "read/1/1", "read/2/1"},
			[]string{"preflight/1/1 Done 1 of 1", "write/1/1 Done 2 of 2", "write/2/1 Done 2 of 2", "read/1/1 Done 2 of 2", "read/2/1 Done 2 of 2"},
		},
		"repeats round robin": {
			func(r *v1alpha1.DFSIORun) {
				r.Spec.Repeats, r.Spec.RepeatOrder, r.Spec.KeepResults = ptr(int32(2)), v1alpha1.RepeatRoundRobin, ptr(true)
			},
			[]string{"preflight/1/1", "write/1/1", "read/1/1", "write/2/1", "read/2/1"},
			[]string{"preflight/1/1 Done 1 of 1", "write/1/1 Done 2 of 2", "read/1/1 Done 2 of 2", "write/2/1 Done 2 of 2", "read/2/1 Done 2 of 2"},
		},
		"verify and clean": {
			func(r *v1alpha1.DFSIORun) {
				r.Spec.Verify, r.Spec.Tests = ptr(true), append(r.Spec.Tests, v1alpha1.DFSIOClean)
			},
			[]string{"preflight/1/1", "write/1/1", "read/1/1", "verify/1/1", "clean/1/1", "cleanup/1/1"},
			[]string{
				"preflight/1/1 Done 1 of 1", "write/1/1 Done 2 of 2", "read/1/1 Done 2 of 2", "verify/1/1 Done 2 of 2", "clean/1/1 Done 1 of 1",
				"cleanup/1/1 Done 1 of 1",
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, tc.edit)
			w.finish()
			wantSlice(t, "attempts", tc.made, w.made)
			wantSlice(t, "rows", tc.rows, rowsOf(w.st))
			assertSucceeded(t, w)
		})
	}
}

func assertSucceeded(t *testing.T, w *world) {
	t.Helper()
	want := map[string]string{
		"TargetReady": "True PreflightPassed", "Completed": "True AllStepsDone", "Valid": "True MeasuredProperly", "ThresholdsMet": "Unknown NoThresholds",
		"Succeeded": "True Succeeded", "Reconciling": "False Finished", "Stalled": "False Succeeded",
	}
	if diff := cmp.Diff(want, verdicts(w.st)); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
	if len(w.jobs) != 0 {
		t.Errorf("%d Jobs are left of a run that succeeded", len(w.jobs))
	}
}

// TestLifeInDetail follows one run visit by visit.
func TestLifeInDetail(t *testing.T) {
	w := newWorld(t, func(r *v1alpha1.DFSIORun) {
		r.Spec.Tests, r.Spec.KeepResults = r.Spec.Tests[:1], ptr(true)
	})
	var got []string
	for w.st.CompletionTime == nil && len(got) < 100 {
		w.visit()
		line := deeds(&w.last) + w.st.Summary
		if len(got) == 0 || got[len(got)-1] != line {
			got = append(got, line)
		}
		w.tick(250 * time.Millisecond)
	}
	want := []string{
		"starting",
		"step preflight begins",
		"create: step preflight: 0 of 1 shards running; 1 without a pod",
		"step preflight: 0 of 1 shards running",
		"step preflight ended",
		"remove: step write, repeat 1 begins",
		"create: step write, repeat 1: 0 of 2 shards Ready; 2 without a pod",
		"step write, repeat 1: 0 of 2 shards Ready",
		"step write, repeat 1 starts on 2 shards",
		"start: step write, repeat 1: 0 of 2 shards done",
		"step write, repeat 1: 0 of 2 shards done",
		"persist: step write, repeat 1 ended",
		"remove: write 204.8 MiB/s",
	}
	wantSlice(t, "visits", want, got)
	if st := w.st; st.ReportRef == nil || st.Environment.Nodes != 2 || st.Environment.Facts["nameNode"] != "namenode:8020" || st.Effective.RunnerImageID != "sha256:image" {
		t.Errorf("report %v, environment %+v, image %q", st.ReportRef, st.Environment, st.Effective.RunnerImageID)
	}
	wantSlice(t, "events", []string{"Started", "Measured", "Finished"}, w.events)
}

// deeds says what a decision does beside writing the status.
func deeds(d *decision) string {
	out := ""
	for _, deed := range []struct {
		name string
		done bool
	}{
		{"create: ", d.create}, {"start: ", len(d.start) > 0}, {"stop: ", len(d.stop) > 0}, {"persist: ", d.persist != nil}, {"remove: ", len(d.remove) > 0},
	} {
		if deed.done {
			out += deed.name
		}
	}
	return out
}

// TestStartTimeIsRecordedFirst: T is in the status, far enough ahead, before the first pod hears of it, and every pod
// hears the same.
func TestStartTimeIsRecordedFirst(t *testing.T) {
	w := newWorld(t, func(r *v1alpha1.DFSIORun) { r.Spec.NrFiles = ptr(int32(50)) })
	w.reach("write", v1alpha1.StepRunning)
	if len(w.starts) != 0 {
		t.Fatalf("%d pods have their start time before the status has it", len(w.starts))
	}
	row := present(w.st)
	if got, want := row.StartAt.Sub(w.now), gateLead+500*time.Millisecond-100*time.Millisecond; got != want {
		t.Errorf("T is %s ahead, want %s", got, want)
	}
	w.visit()
	if len(w.starts) != 50 {
		t.Errorf("%d pods have their start time", len(w.starts))
	}
	if got := w.last.requeue; got != 0 && got > row.StartAt.Sub(w.now) {
		t.Errorf("the next visit is in %s, after T", got)
	}
	w.finish()
	assertSucceeded(t, w)
}

// TestCrashes kills the manager after each of its deeds, before it writes the status, in one run.
func TestCrashes(t *testing.T) {
	calm := newWorld(t)
	calm.finish()
	w := newWorld(t)
	crashed := map[string]int{}
	w.crash = func(d *decision) bool {
		row := present(w.st)
		if row == nil || !d.create && len(d.start) == 0 && d.persist == nil {
			return false
		}
		key := fmt.Sprintf("%s create %t start %d persist %t", row.Name, d.create, len(d.start), d.persist != nil)
		crashed[key]++
		return crashed[key] == 1
	}
	w.finish()
	if len(crashed) != 8 {
		t.Errorf("the manager was killed at %v", crashed)
	}
	wantSlice(t, "attempts", calm.made, w.made)
	wantSlice(t, "rows", rowsOf(calm.st), rowsOf(w.st))
	assertSucceeded(t, w)
	if diff := cmp.Diff(calm.st.Aggregates, w.st.Aggregates); diff != "" {
		t.Errorf("aggregates (-calm +crashed):\n%s", diff)
	}
	if calm, got := len(calm.document.Sections), len(w.document.Sections); calm != got {
		t.Errorf("the document has %d sections, without crashes %d", got, calm)
	}
}

func TestFirstVisitOfOddSpecs(t *testing.T) {
	tests := map[string]struct {
		edit            func(*v1alpha1.DFSIORun)
		reason, message string
	}{
		"not supported": {
			func(r *v1alpha1.DFSIORun) { r.Spec.Engine = v1alpha1.EngineUpstream },
			v1alpha1.ReasonNotSupported, "spec.engine: Upstream is not supported yet for DFSIORun; use Native",
		},
		"invalid": {
			func(r *v1alpha1.DFSIORun) { r.Spec.Size = "0" },
			v1alpha1.ReasonInvalidSpec, "spec.size: 0 is invalid; give a size above zero",
		},
		"several problems": {
			func(r *v1alpha1.DFSIORun) { r.Spec.Client, r.Spec.Compression = v1alpha1.ClientNative, "gzip" },
			v1alpha1.ReasonNotSupported,
			"spec.client: Native is not supported yet for DFSIORun; use Colinmarc; spec.compression: gzip is not supported yet; remove it",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, tc.edit)
			w.visit()
			st := w.st
			if st.CompletionTime == nil || len(st.Steps) != 0 || st.Failure == nil || st.Failure.Reason != tc.reason || st.Failure.Message != tc.message {
				t.Fatalf("status %+v, failure %+v", st, st.Failure)
			}
			if got := verdicts(st)["Stalled"]; got != "True "+tc.reason {
				t.Errorf("Stalled is %s", got)
			}
			if want := truncate(tc.reason+": "+tc.message, maxSummary); st.Summary != want {
				t.Errorf("summary %q, want %q", st.Summary, want)
			}
			for range 3 {
				w.tick(time.Minute)
				w.visit()
			}
			if len(w.made) != 0 {
				t.Errorf("%v was made for a run that cannot be carried out", w.made)
			}
		})
	}
}

func TestConfigMissing(t *testing.T) {
	withConfig := func(r *v1alpha1.DFSIORun) {
		r.Spec.Target.HadoopConfig = &v1alpha1.HadoopConfig{ConfigMapRef: v1alpha1.LocalObjectReference{Name: "hdfs"}}
		r.Spec.StartDeadline = duration(time.Minute)
	}
	t.Run("appears", func(t *testing.T) {
		w := newWorld(t, withConfig)
		w.config = config{wanted: true}
		for range 59 {
			w.visit()
			if got := w.last.requeue; got <= 0 || got > 5*time.Second {
				t.Fatalf("looks again in %s", got)
			}
			w.tick(time.Second)
		}
		if got, want := verdicts(w.st)["Reconciling"], "True WaitingForConfig"; got != want || w.st.Phase != "WaitingForConfig" {
			t.Errorf("Reconciling is %s, phase %s", got, w.st.Phase)
		}
		if want := `waiting for ConfigMap "hdfs" in namespace "bench"`; w.st.Summary != want || w.st.Effective != nil {
			t.Errorf("summary %q, effective %+v", w.st.Summary, w.st.Effective)
		}
		w.config = config{wanted: true, found: true, hash: "sha256:a"}
		w.finish()
		if got := w.st.Effective.ConfigHash; got != "sha256:a" {
			t.Errorf("hash of the configuration %q", got)
		}
		assertSucceeded(t, w)
	})
	t.Run("until the deadline", func(t *testing.T) {
		w := newWorld(t, withConfig)
		w.config = config{wanted: true}
		w.visit()
		w.tick(time.Minute)
		w.visit()
		f := w.st.Failure
		want := `spec.target.hadoopConfig.configMapRef: ConfigMap "hdfs" did not appear in namespace "bench" within spec.startDeadline; create it, then delete this run and create it again`
		if w.st.CompletionTime == nil || f == nil || f.Reason != v1alpha1.ReasonConfigNotFound || f.Message != want {
			t.Fatalf("failure %+v", f)
		}
		w.config = config{wanted: true, found: true}
		w.visit()
		if len(w.made) != 0 || w.st.Failure.Reason != v1alpha1.ReasonConfigNotFound {
			t.Error("a run that has ended goes on when its ConfigMap appears")
		}
	})
	t.Run("until a shorter activeDeadline", func(t *testing.T) {
		w := newWorld(t, withConfig, func(r *v1alpha1.DFSIORun) { r.Spec.ActiveDeadline = duration(20 * time.Second) })
		w.config = config{wanted: true}
		w.visit()
		w.tick(20 * time.Second)
		w.visit()
		if f := w.st.Failure; f == nil || f.Reason != v1alpha1.ReasonDeadlineExceeded || w.st.CompletionTime == nil {
			t.Errorf("failure %+v", f)
		}
	})
}

func TestPreflightFails(t *testing.T) {
	w := newWorld(t)
	w.kubelet = func(j *simJob, p *corev1.Pod) bool {
		if len(p.Status.ContainerStatuses) == 0 {
			return false
		}
		w.end(p, failedReport(j.id, 0))
		return true
	}
	w.finish()
	wantSlice(t, "attempts", []string{"preflight/1/1"}, w.made)
	wantSlice(t, "rows", []string{"preflight/1/1 Failed 0 of 1"}, rowsOf(w.st))
	want := map[string]string{
		"TargetReady": "False TargetUnreachable", "Completed": "False TargetUnreachable", "Valid": "Unknown NotMeasured", "ThresholdsMet": "Unknown NoThresholds",
		"Succeeded": "False TargetUnreachable", "Reconciling": "False Finished", "Stalled": "True TargetUnreachable",
	}
	if diff := cmp.Diff(want, verdicts(w.st)); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
	if f := w.st.Failure; f.Node != "node-0" || f.Pod == "" || !strings.Contains(f.Message, "no answer. Check spec.target.fs") {
		t.Errorf("failure %+v", f)
	}
	if len(w.jobs) != 1 {
		t.Errorf("%d Jobs are kept with the failed pod", len(w.jobs))
	}
}

// TestPreflightFailsWhileSuspended: a failure that is there already is not lost to an order to stop.
func TestPreflightFailsWhileSuspended(t *testing.T) {
	w := newWorld(t)
	w.reach(plan.StepPreflight, v1alpha1.StepPreparing)
	w.visit()
	w.end(w.job().pods[0], failedReport(w.job().id, 0))
	w.spec.Suspend = ptr(true)
	w.visit()
	w.visit()
	if st := w.st; st.Failure == nil || st.Failure.Reason != "TargetUnreachable" || st.CompletionTime == nil {
		t.Errorf("failure %+v, completed %v", st.Failure, st.CompletionTime)
	}
}

func TestSpecChanged(t *testing.T) {
	change := func(w *world) { dfsioSpec(w.run).NrFiles = ptr(int32(7)); w.run.SetGeneration(4) }
	t.Run("between steps", func(t *testing.T) {
		w := newWorld(t)
		w.visit()
		change(w)
		w.finish()
		wantSlice(t, "attempts", nil, w.made)
	})
	t.Run("in a step", func(t *testing.T) {
		w := newWorld(t)
		w.reach("write", v1alpha1.StepRunning)
		w.visit()
		w.tick(3 * time.Second)
		change(w)
		w.finish()
		wantSlice(t, "rows", []string{"preflight/1/1 Done 1 of 1", "write/1/1 Failed 0 of 2"}, rowsOf(w.st))
		if r := w.st.Steps[1].Result; r == nil || r.Bytes != 800<<20 {
			t.Errorf("the partial result is %+v", r)
		}
		for _, c := range []string{"Completed", "Succeeded"} {
			if got := verdicts(w.st)[c]; got != "False SpecChanged" {
				t.Errorf("%s is %s", c, got)
			}
		}
		if got := verdicts(w.st)["Stalled"]; got != "True SpecChanged" {
			t.Errorf("Stalled is %s", got)
		}
	})
	t.Run("only what may change", func(t *testing.T) {
		w := newWorld(t)
		w.reach("write", v1alpha1.StepRunning)
		w.spec.Suspend = ptr(false)
		w.run.SetGeneration(4)
		w.finish()
		assertSucceeded(t, w)
	})
	t.Run("only the token of the next execution", func(t *testing.T) {
		w := newWorld(t)
		w.reach("write", v1alpha1.StepRunning)
		w.spec.Rerun = "again"
		w.run.SetGeneration(4)
		w.finish()
		if got := verdicts(w.st); got["Completed"] != "True AllStepsDone" || got["Stalled"] != "True NotSupported" {
			t.Errorf("conditions %v", got)
		}
	})
	t.Run("after the end", func(t *testing.T) {
		w := newWorld(t)
		w.finish()
		made := slices.Clone(w.made)
		w.spec.Rerun = "again"
		change(w)
		w.visit()
		once := w.st.DeepCopy()
		w.tick(time.Minute)
		w.visit()
		wantSlice(t, "attempts", made, w.made)
		if diff := cmp.Diff(once, w.st); diff != "" {
			t.Errorf("another visit changes the status, which leads to another one (-once +twice):\n%s", diff)
		}
		if got := verdicts(once); got["Stalled"] != "True NotSupported" || got["Succeeded"] != "True Succeeded" {
			t.Errorf("conditions %v", got)
		}
	})
}

// TestFinishedStaysFinished: whatever becomes of the children, and whenever it is visited.
func TestFinishedStaysFinished(t *testing.T) {
	w := newWorld(t)
	w.kubelet = func(j *simJob, p *corev1.Pod) bool {
		if j.id.Step != "read" || p.Annotations[plan.AnnotationStartAt] == "" {
			return false
		}
		w.end(p, failedReport(j.id, int32(slices.Index(j.pods, p))))
		return true
	}
	w.finish()
	made, want := slices.Clone(w.made), w.st.DeepCopy()
	if len(w.jobs) != 1 {
		t.Fatalf("%d Jobs are kept for inspection", len(w.jobs))
	}
	for range 2 {
		w.visit()
		w.tick(time.Hour)
	}
	clear(w.jobs)
	w.document = nil
	w.spec.Suspend = ptr(true)
	w.visit()
	wantSlice(t, "attempts", made, w.made)
	if diff := cmp.Diff(want, w.st); diff != "" {
		t.Errorf("the status was changed (-want +got):\n%s", diff)
	}
}

// TestJobsKeptAndRemoved: Jobs of steps that are done go, those of failed ones stay with their pods.
func TestJobsKeptAndRemoved(t *testing.T) {
	st := &v1alpha1.RunStatus{Steps: []v1alpha1.StepStatus{
		{Name: "write", Repeat: 1, State: v1alpha1.StepDone, Job: "done"},
		{Name: "write", Repeat: 2, State: v1alpha1.StepFailed, Job: "failed"},
		{Name: "cleanup", State: v1alpha1.StepPreparing, Job: "present"},
	}}
	for job, want := range map[string]bool{"done": false, "failed": true, "present": false, "earlier attempt": false, "": false} {
		if got := inspectable(st, job); got != want {
			t.Errorf("inspectable(%q) = %t", job, got)
		}
	}
}

func TestActiveDeadline(t *testing.T) {
	withDeadline := func(r *v1alpha1.DFSIORun) { r.Spec.ActiveDeadline = duration(time.Hour) }
	deadline := testNow.Add(time.Hour)
	tests := map[string]struct {
		before func(w *world)
		rows   []string
	}{
		"before the first step": {func(w *world) { w.visit() }, nil},
		"suspended before a step": {
			func(w *world) { w.spec.Suspend = ptr(true); w.visit(); w.visit() }, nil,
		},
		"in preflight": {
			func(w *world) { w.reach(plan.StepPreflight, v1alpha1.StepPreparing); w.visit() },
			[]string{"preflight/1/1 Failed 0 of 1"},
		},
		"between steps": {
			func(w *world) {
				w.until("the end of preflight", func(st *v1alpha1.RunStatus) bool { return len(st.Steps) == 1 && present(st) == nil })
			},
			[]string{"preflight/1/1 Done 1 of 1", "cleanup/1/1 Done 1 of 1"},
		},
		"preparing": {
			func(w *world) { w.reach("write", v1alpha1.StepPreparing); w.visit() },
			[]string{"preflight/1/1 Done 1 of 1", "write/1/1 Failed 0 of 2", "cleanup/1/1 Done 1 of 1"},
		},
		"suspended before its Job was made": {
			func(w *world) { w.reach("write", v1alpha1.StepPreparing); w.spec.Suspend = ptr(true); w.visit() },
			[]string{"preflight/1/1 Done 1 of 1", "write/1/1 Failed 0 of 2"},
		},
		"measuring": {
			func(w *world) {
				w.reach("write", v1alpha1.StepRunning)
				w.kubelet = func(_ *simJob, p *corev1.Pod) bool {
					return p.Annotations[plan.AnnotationStop] == "" && w.now.Before(deadline.Add(time.Minute))
				}
				w.visit()
			},
			[]string{"preflight/1/1 Done 1 of 1", "write/1/1 Failed 0 of 2", "cleanup/1/1 Done 1 of 1"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, withDeadline)
			tc.before(w)
			if left := deadline.Sub(w.visited); w.last.requeue <= 0 && present(w.st) != nil || w.last.requeue > left {
				t.Errorf("the next visit is in %s, the deadline in %s", w.last.requeue, left)
			}
			w.now = deadline
			w.visit()
			if f := w.st.Failure; f == nil || f.Reason != v1alpha1.ReasonDeadlineExceeded || f.Message != "spec.activeDeadline of 1h0m0s passed; give the run more time, or less to do" {
				t.Fatalf("failure %+v", f)
			}
			if value(w.spec.Suspend, false) && tc.rows != nil {
				w.until("the suspended cleanup", func(st *v1alpha1.RunStatus) bool { return present(st) == nil })
			} else {
				w.finish()
			}
			wantSlice(t, "rows", tc.rows, rowsOf(w.st))
			for _, row := range w.st.Steps {
				if row.State == v1alpha1.StepFailed && row.Message == "" {
					t.Errorf("row %s says nothing", row.Name)
				}
			}
		})
	}
}

// TestDeadlineInCleanup: a run that was measured in time is cleaned up, however long that takes.
func TestDeadlineInCleanup(t *testing.T) {
	w := newWorld(t, func(r *v1alpha1.DFSIORun) { r.Spec.ActiveDeadline = duration(time.Hour) })
	w.reach(plan.StepCleanup, v1alpha1.StepPreparing)
	w.visit()
	w.tick(time.Hour)
	w.finish()
	assertSucceeded(t, w)
}

func TestVerifyFails(t *testing.T) {
	w := newWorld(t, func(r *v1alpha1.DFSIORun) { r.Spec.Verify = ptr(true) })
	w.kubelet = func(j *simJob, p *corev1.Pod) bool {
		if j.id.Step != plan.StepVerify || len(p.Status.ContainerStatuses) == 0 || j.pods[1] != p {
			return false
		}
		r := failedReport(j.id, 1)
		r.Envelope.ExitCode, r.Envelope.Failure.Reason, r.Envelope.Failure.Message = 1, "WrongData", "file 1 differs at byte 4096"
		w.end(p, r)
		return true
	}
	w.finish()
	wantSlice(t, "rows", []string{
		"preflight/1/1 Done 1 of 1", "write/1/1 Done 2 of 2", "read/1/1 Done 2 of 2", "verify/1/1 Failed 1 of 2", "cleanup/1/1 Done 1 of 1",
	}, rowsOf(w.st))
	want := map[string]string{
		"TargetReady": "True PreflightPassed", "Completed": "False WrongData", "Valid": "False WrongData", "ThresholdsMet": "Unknown NoThresholds",
		"Succeeded": "False WrongData", "Reconciling": "False Finished", "Stalled": "True WrongData",
	}
	if diff := cmp.Diff(want, verdicts(w.st)); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
	if len(w.st.Aggregates) == 0 {
		t.Error("what was measured before is lost")
	}
}

func TestFollowing(t *testing.T) {
	row := func(name string, state v1alpha1.StepState) v1alpha1.StepStatus {
		return v1alpha1.StepStatus{Name: name, Repeat: 1, State: state}
	}
	failure := &v1alpha1.Failure{Reason: v1alpha1.ReasonShardFailed}
	tests := map[string]struct {
		edit    func(*v1alpha1.DFSIORun)
		rows    []v1alpha1.StepStatus
		failure *v1alpha1.Failure
		want    string // "": none
	}{
		"first":                     {want: "preflight"},
		"second":                    {rows: []v1alpha1.StepStatus{row("preflight", v1alpha1.StepDone)}, want: "write"},
		"failed before preflight":   {failure: failure},
		"preflight failed":          {rows: []v1alpha1.StepStatus{row("preflight", v1alpha1.StepFailed)}, failure: failure},
		"failed after preflight":    {rows: []v1alpha1.StepStatus{row("preflight", v1alpha1.StepDone), row("write", v1alpha1.StepFailed)}, failure: failure, want: "cleanup"},
		"failed, data are kept":     {edit: func(r *v1alpha1.DFSIORun) { r.Spec.KeepResults = ptr(true) }, rows: []v1alpha1.StepStatus{row("preflight", v1alpha1.StepDone), row("write", v1alpha1.StepFailed)}, failure: failure},
		"failed and cleaned up":     {rows: []v1alpha1.StepStatus{row("preflight", v1alpha1.StepDone), row("write", v1alpha1.StepFailed), row("cleanup", v1alpha1.StepDone)}, failure: failure},
		"failed, cleanup failed so": {rows: []v1alpha1.StepStatus{row("preflight", v1alpha1.StepDone), row("write", v1alpha1.StepFailed), row("cleanup", v1alpha1.StepFailed)}, failure: failure},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			run := newRun()
			if tc.edit != nil {
				tc.edit(run)
			}
			got, ok := following(stepsOf(DFSIO{}, run), &v1alpha1.RunStatus{Steps: tc.rows, Failure: tc.failure})
			if got.Name != tc.want || ok != (tc.want != "") {
				t.Errorf("following step %q, %t; want %q", got.Name, ok, tc.want)
			}
		})
	}
}

// TestDecideIsPure: the transition times of conditions are those of the visit's clock, too.
func TestDecideIsPure(t *testing.T) {
	w := newWorld(t)
	w.visit()
	for _, c := range w.st.Conditions {
		if !c.LastTransitionTime.Equal(ptr(metav1.NewTime(testNow))) {
			t.Errorf("%s changed at %s", c.Type, c.LastTransitionTime)
		}
	}
}
