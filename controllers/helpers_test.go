package controllers

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/controllers/jobs"
	"github.com/hadoop-bench/operator/controllers/results"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
)

const (
	testUID   = "7d3f1c1e-5a52-4b7c-9a53-2f7f1c1f0a11"
	testImage = "registry.example.com/runner:1"
)

// testNow is when the runs of these tests begin.
var testNow = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

func ptr[T any](v T) *T { return &v }

func duration(d time.Duration) *v1alpha1.Duration {
	return &v1alpha1.Duration{Duration: metav1.Duration{Duration: d}}
}

// newRun is a run of write and read with two files and one repeat, adjusted by edits.
func newRun(edits ...func(*v1alpha1.DFSIORun)) *v1alpha1.DFSIORun {
	r := &v1alpha1.DFSIORun{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "DFSIORun"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "nightly", UID: testUID, Generation: 3},
		Spec: v1alpha1.DFSIORunSpec{
			RunSpec: v1alpha1.RunSpec{Target: v1alpha1.Target{FS: "hdfs://namenode:8020"}},
			Tests:   []v1alpha1.DFSIOTest{v1alpha1.DFSIOWrite, v1alpha1.DFSIORead},
			NrFiles: ptr(int32(2)),
		},
		Status: v1alpha1.RunStatus{ObservedGeneration: -1},
	}
	for _, edit := range edits {
		edit(r)
	}
	return r
}

// newNNThroughputRun is a run of create and open on two shards, adjusted by edits.
func newNNThroughputRun(edits ...func(*v1alpha1.NNThroughputRun)) *v1alpha1.NNThroughputRun {
	r := &v1alpha1.NNThroughputRun{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "NNThroughputRun"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "nightly", UID: testUID, Generation: 3},
		Spec: v1alpha1.NNThroughputRunSpec{
			RunSpec:    v1alpha1.RunSpec{Target: v1alpha1.Target{FS: "hdfs://namenode:8020"}},
			Operations: []v1alpha1.NNThroughputOperation{v1alpha1.NNThroughputCreate, v1alpha1.NNThroughputOpen},
			Shards:     ptr(int32(2)),
		},
		Status: v1alpha1.RunStatus{ObservedGeneration: -1},
	}
	for _, edit := range edits {
		edit(r)
	}
	return r
}

// newYCSBRun is a run of load, workload A and workload E on two shards, adjusted by edits.
func newYCSBRun(edits ...func(*v1alpha1.YCSBRun)) *v1alpha1.YCSBRun {
	r := &v1alpha1.YCSBRun{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "YCSBRun"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "nightly", UID: testUID, Generation: 3},
		Spec: v1alpha1.YCSBRunSpec{
			RunSpec: v1alpha1.RunSpec{Target: v1alpha1.Target{
				Properties: map[string]v1alpha1.PropertyValue{"hbase.zookeeper.quorum": "zookeeper:2181"},
			}},
			RecordCount: 1000, Threads: ptr(int32(4)), Shards: ptr(int32(2)),
			Workloads: []v1alpha1.YCSBWorkload{
				{Preset: "A", OperationCount: ptr(int64(10_000))},
				{Preset: "E", Duration: duration(time.Minute)},
			},
		},
		Status: v1alpha1.RunStatus{ObservedGeneration: -1},
	}
	for _, edit := range edits {
		edit(r)
	}
	return r
}

// testID is the attempt that single shards of these tests belong to.
func testID() report.Identity {
	return report.Identity{RunUID: testUID, Execution: 1, Step: "write", Repeat: 1, Attempt: 1}
}

// completeReport is that of a shard that moved 1 GiB in 10 s from at on.
func completeReport(id report.Identity, index int32, at time.Time) *report.Report {
	const calls = 1024
	start := at.UnixMicro() + int64(index)
	h, s := report.NewHistogram(report.DefaultScale), report.NewSeries(at.UnixMicro(), report.DefaultSeriesMicros)
	for i := range int64(calls) {
		h.Record(9_000_000 + i)
		s.Add(start+i*9765, 1<<20)
	}
	return &report.Report{
		Envelope: report.Envelope{Version: report.Version, Identity: id, Index: index, Outcome: report.Complete},
		Body: report.Body{
			Start: start, End: start + 10_000_000, Clock: &report.Clock{UncertaintyMicros: 300}, Operations: calls, Bytes: calls << 20,
			Planned: calls << 20, Latency: h.Clone(), Series: s,
		},
	}
}

// operationsReport is that of a shard that did 1,024 operations in 10 s and moved no bytes, after 2 s of set-up.
func operationsReport(id report.Identity, index int32, at time.Time) *report.Report {
	r := completeReport(id, index, at)
	r.Body.Bytes, r.Body.Planned, r.Body.SetUp = 0, r.Body.Operations, 2_000_000
	r.Body.Series = report.NewSeries(at.UnixMicro(), report.DefaultSeriesMicros)
	for i := range r.Body.Operations {
		r.Body.Series.Add(r.Body.Start+i*9765, 1)
	}
	return r
}

// partialReport is that of a shard that was told to stop after 4 s.
func partialReport(id report.Identity, index int32, at time.Time) *report.Report {
	r := completeReport(id, index, at)
	r.Envelope.Outcome, r.Envelope.ExitCode = report.Partial, report.ExitInterrupted
	r.Body.End = r.Body.Start + 4_000_000
	r.Body.Operations, r.Body.Bytes, r.Body.Latency, r.Body.Series = 400, 400<<20, nil, nil
	return r
}

// failedReport is that of a shard that could not do its work.
func failedReport(id report.Identity, index int32) *report.Report {
	return &report.Report{Envelope: report.Envelope{
		Version: report.Version, Identity: id, Index: index, Outcome: report.Failed, ExitCode: report.ExitTarget,
		Failure: &report.Failure{Reason: "TargetUnreachable", Message: "hdfs://namenode:8020: no answer", Remedy: "Check spec.target.fs"},
	}}
}

// auxReport is the complete report of a step that measures nothing.
func auxReport(id report.Identity, index int32) *report.Report {
	return &report.Report{
		Envelope: report.Envelope{Version: report.Version, Identity: id, Index: index, Outcome: report.Complete},
		Body:     report.Body{Facts: map[string]string{"nameNode": "namenode:8020"}},
	}
}

func encode(r *report.Report) string {
	text, err := report.Encode(r)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// podOf is a pod of shard index as the Job controller makes it, adjusted by edits.
func podOf(index int32, edits ...func(*corev1.Pod)) corev1.Pod {
	p := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "bench", Name: fmt.Sprintf("job-%d-abcde", index), UID: types.UID(fmt.Sprintf("pod-%d", index)), CreationTimestamp: metav1.NewTime(testNow),
			Annotations: map[string]string{batchv1.JobCompletionIndexAnnotation: strconv.Itoa(int(index))},
		},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	for _, edit := range edits {
		edit(&p)
	}
	return p
}

func condition(t corev1.PodConditionType, s corev1.ConditionStatus, reason, message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: t, Status: s, Reason: reason, Message: message})
	}
}

func scheduled(node string) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Spec.NodeName = node } }

// container sets the state of the runner's container.
func container(state corev1.ContainerState) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{Name: plan.Container, ImageID: "sha256:image", State: state})
	}
}

func waiting(reason, message string) func(*corev1.Pod) {
	return container(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}})
}

func running() func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Phase = corev1.PodRunning
		container(corev1.ContainerState{Running: &corev1.ContainerStateRunning{}})(p)
	}
}

func ready() func(*corev1.Pod) { return condition(corev1.PodReady, corev1.ConditionTrue, "", "") }

// terminated ends the runner's container with a termination message.
func terminated(code int32, reason, message string) func(*corev1.Pod) {
	return container(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, Message: message}})
}

// reported ends the runner's container with a report and its exit code.
func reported(r *report.Report) func(*corev1.Pod) {
	reason := "Completed"
	if r.Envelope.ExitCode != 0 {
		reason = "Error"
	}
	return terminated(int32(r.Envelope.ExitCode), reason, encode(r))
}

// deleted marks a pod whose grace period ends at a time.
func deleted(at time.Time) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.DeletionTimestamp = ptr(metav1.NewTime(at)) }
}

// world is a little cluster: it does what decisions say, moves pods, and asserts on every visit what must hold on all.
type world struct {
	t        *testing.T
	bench    Benchmark
	run      Run
	spec     *v1alpha1.RunSpec // of run
	st       *v1alpha1.RunStatus
	report   func(id report.Identity, index int32, at time.Time) *report.Report // of a shard that measured
	now      time.Time
	config   config
	trouble  string
	jobs     map[string]*simJob
	document *results.Document

	// kubelet overrides what becomes of a pod at a tick; it returns false to leave it to the default.
	kubelet func(j *simJob, p *corev1.Pod) bool
	// crash says that the manager dies after it acted, before it wrote the status.
	crash func(d *decision) bool

	made    []string // attempts whose Jobs were made, in order
	starts  map[types.UID]string
	events  []string
	last    decision
	visited time.Time // the last time
}

type simJob struct {
	id      report.Identity
	gated   bool
	pods    []*corev1.Pod
	gone    map[types.UID]bool
	failed  string // failedIndexes
	deleted bool
}

func newWorld(t *testing.T, edits ...func(*v1alpha1.DFSIORun)) *world {
	t.Helper()
	return worldOf(t, DFSIO{}, newRun(edits...), completeReport)
}

// worldOf is a world with a run of any kind, whose shards leave such reports.
func worldOf(t *testing.T, b Benchmark, run Run, report func(report.Identity, int32, time.Time) *report.Report) *world {
	t.Helper()
	spec, st := run.RunObject()
	return &world{
		t: t, bench: b, run: run, spec: spec, st: st, report: report, now: testNow, jobs: map[string]*simJob{}, starts: map[types.UID]string{},
	}
}

// observe is what gather would find.
func (w *world) observe() *observed {
	w.t.Helper()
	run, ok := w.run.DeepCopyObject().(Run)
	if !ok {
		w.t.Fatalf("the copy of a %T is no run", w.run)
	}
	spec, status := run.RunObject()
	hash, err := specHash(run)
	if err != nil {
		w.t.Fatal(err)
	}
	o := &observed{
		now: w.now, bench: w.bench, run: run, spec: spec, status: status, hash: hash, image: testImage, config: w.config,
		trouble: w.trouble, document: w.document,
	}
	if status.Effective == nil {
		return o
	}
	row := present(status)
	for name, j := range w.jobs {
		switch {
		case row != nil && name == row.Job:
			w.read(o, row, j)
		case j.busy():
			o.othersBusy = true
			fallthrough
		default:
			if !inspectable(status, name) && !j.deleted {
				o.others = append(o.others, name)
			}
		}
	}
	if row != nil && o.shards == nil {
		w.read(o, row, nil)
	}
	return o
}

// read fills what is known of the present attempt.
func (w *world) read(o *observed, row *v1alpha1.StepStatus, j *simJob) {
	w.t.Helper()
	var job *batchv1.Job
	var pods []corev1.Pod
	gone := map[types.UID]bool{}
	if j != nil {
		for _, p := range j.pods {
			pods = append(pods, *p.DeepCopy())
		}
		job, gone = &batchv1.Job{Status: batchv1.JobStatus{FailedIndexes: &j.failed}}, j.gone
	}
	o.jobFound = job != nil
	var err error
	if o.shards, err = shardsOf(identity(o.run, o.status.Execution, *row), row.Shards.Expected, row.StartAt != nil, job, pods, gone, o.now); err != nil {
		w.t.Fatal(err)
	}
}

// visit is one reconciliation.
func (w *world) visit() {
	w.t.Helper()
	o := w.observe()
	before := o.status.DeepCopy()
	d := decide(o)
	if diff := cmp.Diff(before, o.status); diff != "" {
		w.t.Fatalf("decide changed what it was given (-before +after):\n%s", diff)
	}
	w.assertRules(o, &d)
	w.act(o, &d)
	w.last, w.visited = d, w.now
	if w.crash != nil && w.crash(&d) {
		return
	}
	for _, e := range d.events {
		w.events = append(w.events, e.reason)
	}
	*w.st = d.next
}

// assertRules: everything is done on the strength of the status as it was read.
func (w *world) assertRules(o *observed, d *decision) {
	w.t.Helper()
	row := present(o.status)
	switch {
	case d.create && (row == nil || row.State != v1alpha1.StepPreparing || row.Job == ""):
		w.t.Fatal("an attempt is made that the status does not tell of")
	case len(d.start) > 0 && (row == nil || row.State != v1alpha1.StepRunning || row.StartAt == nil):
		w.t.Fatal("a start time is given that the status does not tell of")
	case len(d.reminders) > 0 && (len(d.start) > 0 || row == nil || row.State != v1alpha1.StepRunning):
		w.t.Fatal("shards are reminded of a start that not all were told")
	case len(d.stop) > 0 && (row == nil || row.State != v1alpha1.StepStopping || row.Stop == nil):
		w.t.Fatal("an order to stop is given that the status does not tell of")
	case o.status.CompletionTime != nil && (d.create || len(d.start)+len(d.stop) > 0 || d.persist != nil):
		w.t.Fatal("something is done for a finished run")
	case d.create && o.othersBusy:
		w.t.Fatal("an attempt is made while pods of another run")
	case d.requeue < 0:
		w.t.Fatalf("the next visit is in %s", d.requeue)
	case len(d.next.Conditions) != 7 || d.next.ObservedGeneration != w.run.GetGeneration():
		w.t.Fatalf("%d conditions of generation %d", len(d.next.Conditions), d.next.ObservedGeneration)
	}
	for _, ord := range d.start {
		if want := row.StartAt.UTC().Format(plan.TimeFormat); ord.key != plan.AnnotationStartAt || ord.value != want {
			w.t.Fatalf("order %+v, the status says %s", ord, want)
		}
	}
	if n := len(d.next.Steps); n < len(o.status.Steps) || n > len(o.status.Steps)+1 {
		w.t.Fatalf("%d rows after %d", n, len(o.status.Steps))
	}
	again := decide(o)
	if diff := cmp.Diff(d.next, again.next); diff != "" {
		w.t.Fatalf("the same observation leads to two statuses:\n%s", diff)
	}
}

// act does what was decided.
func (w *world) act(o *observed, d *decision) {
	w.t.Helper()
	if d.create {
		in := (&Reconciler{Benchmark: w.bench}).input(o)
		job := jobs.Job(in)
		if _, ok := w.jobs[job.Name]; !ok {
			w.made = append(w.made, fmt.Sprintf("%s/%d/%d", in.Plan.Identity.Step, in.Plan.Identity.Repeat, in.Plan.Identity.Attempt))
			w.jobs[job.Name] = w.newJob(job, in)
		}
	}
	for _, ord := range slices.Concat(d.start, d.reminders, d.stop) {
		w.give(ord)
	}
	if d.persist != nil {
		doc, err := d.persist.Document.Encode()
		if err != nil {
			w.t.Fatal(err)
		}
		if w.document, err = results.ParseDocument(doc); err != nil {
			w.t.Fatal(err)
		}
	}
	for _, name := range d.remove {
		delete(w.jobs, name)
	}
}

func (w *world) newJob(job *batchv1.Job, in jobs.Input) *simJob {
	j := &simJob{id: in.Plan.Identity, gated: in.Plan.Gate, gone: map[types.UID]bool{}}
	for i := range *job.Spec.Completions {
		p := podOf(i, func(p *corev1.Pod) {
			p.Name, p.UID = fmt.Sprintf("%s-%d-abcde", job.Name, i), types.UID(fmt.Sprintf("%s-%d", job.Name, i))
		})
		j.pods = append(j.pods, &p)
	}
	return j
}

func (w *world) give(ord order) {
	w.t.Helper()
	for _, j := range w.jobs {
		for _, p := range j.pods {
			if p.Name != ord.pod {
				continue
			}
			if p.UID != ord.uid {
				w.t.Fatalf("order %+v for pod %s", ord, p.UID)
			}
			p.Annotations[ord.key] = ord.value
			if ord.key == plan.AnnotationStartAt {
				if was, ok := w.starts[p.UID]; ok && was != ord.value {
					w.t.Fatalf("pod %s is told to start at %s and at %s", p.Name, was, ord.value)
				}
				w.starts[p.UID] = ord.value
			}
		}
	}
}

// busy says whether a pod of the Job runs.
func (j *simJob) busy() bool {
	for _, p := range j.pods {
		if !over(p) && !j.gone[p.UID] {
			return true
		}
	}
	return false
}

func over(p *corev1.Pod) bool {
	return len(p.Status.ContainerStatuses) > 0 && p.Status.ContainerStatuses[0].State.Terminated != nil ||
		p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded
}

// tick moves every pod one stage further and the clock by d.
func (w *world) tick(d time.Duration) {
	w.now = w.now.Add(d)
	for _, j := range w.jobs {
		for _, p := range j.pods {
			if over(p) || j.gone[p.UID] || w.kubelet != nil && w.kubelet(j, p) {
				continue
			}
			w.move(j, p)
		}
	}
}

// move takes a pod one stage further: scheduled, running, Ready, ended.
func (w *world) move(j *simJob, p *corev1.Pod) {
	i, _ := strconv.Atoi(p.Annotations[batchv1.JobCompletionIndexAnnotation])
	index := int32(i)
	isReady := len(p.Status.Conditions) > 0
	start := p.Annotations[plan.AnnotationStartAt]
	switch {
	case p.Spec.NodeName == "":
		scheduled(fmt.Sprintf("node-%d", index%3))(p)
	case len(p.Status.ContainerStatuses) == 0:
		running()(p)
	case p.Annotations[plan.AnnotationStop] != "":
		w.end(p, partialReport(j.id, index, w.now.Add(-5*time.Second)))
	case !j.gated:
		w.end(p, auxReport(j.id, index))
	case !isReady:
		ready()(p)
	case start != "":
		at, err := time.Parse(plan.TimeFormat, start)
		if err != nil {
			w.t.Fatal(err)
		}
		if !w.now.Before(at.Add(10 * time.Second)) {
			w.end(p, w.report(j.id, index, at))
		}
	}
}

func (w *world) end(p *corev1.Pod, r *report.Report) {
	p.Status.ContainerStatuses, p.Status.Conditions = nil, nil
	reported(r)(p)
	p.Status.Phase = corev1.PodSucceeded
	if r.Envelope.ExitCode != 0 {
		p.Status.Phase = corev1.PodFailed
	}
}

// until visits and ticks until a condition holds.
func (w *world) until(what string, holds func(st *v1alpha1.RunStatus) bool) {
	w.t.Helper()
	for range 2000 {
		if holds(w.st) {
			return
		}
		w.visit()
		pause := 100 * time.Millisecond
		if row := present(w.st); row != nil && row.StartAt != nil && w.now.After(row.StartAt.Time) {
			pause = 2 * time.Second // shards measure, nothing happens
		}
		w.tick(pause)
	}
	w.t.Fatalf("%s is never reached; status: %s, %+v", what, w.st.Summary, w.st.Failure)
}

// finish runs to the end.
func (w *world) finish() {
	w.t.Helper()
	w.until("the end", func(st *v1alpha1.RunStatus) bool { return st.CompletionTime != nil })
	w.visit() // which tends the finished run
}

// reach runs until a step is in a state.
func (w *world) reach(step string, state v1alpha1.StepState) {
	w.t.Helper()
	w.until(step+" "+string(state), func(st *v1alpha1.RunStatus) bool {
		row := present(st)
		return row != nil && row.Name == step && row.State == state
	})
}

// attempt visits until the present attempt's Job is made.
func (w *world) attempt() {
	w.t.Helper()
	w.until("a Job", func(st *v1alpha1.RunStatus) bool {
		row := present(st)
		return row != nil && w.jobs[row.Job] != nil
	})
}

// job is the present attempt's.
func (w *world) job() *simJob {
	w.t.Helper()
	row := present(w.st)
	if row == nil || w.jobs[row.Job] == nil {
		w.t.Fatal("no attempt is under way")
	}
	return w.jobs[row.Job]
}

// vanish deletes a pod at once, with what it would have reported; seen says whether the manager saw it go.
func (w *world) vanish(index int, seen bool) {
	w.t.Helper()
	j := w.job()
	p := j.pods[index]
	if seen {
		j.gone[p.UID] = true
		return
	}
	j.pods = append(j.pods[:index:index], j.pods[index+1:]...)
	j.failed = strconv.Itoa(index)
}

// verdicts are the conditions as "status reason" by type.
func verdicts(st *v1alpha1.RunStatus) map[string]string {
	out := map[string]string{}
	for _, c := range st.Conditions {
		out[c.Type] = string(c.Status) + " " + c.Reason
	}
	return out
}

// rowsOf tells the rows of a status in short.
func rowsOf(st *v1alpha1.RunStatus) []string {
	var out []string
	for _, r := range st.Steps {
		out = append(out, fmt.Sprintf("%s/%d/%d %s %d of %d", r.Name, r.Repeat, r.Attempt, r.State, r.Shards.Reported, r.Shards.Expected))
	}
	return out
}

func wantSlice(t *testing.T, what string, want, got []string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
