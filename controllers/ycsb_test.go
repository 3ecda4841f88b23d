package controllers

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
)

func stepNames(b Benchmark, run Run) []string {
	var out []string
	for _, s := range stepsOf(b, run) {
		out = append(out, fmt.Sprintf("%s/%d on %d", s.Name, s.Repeat, s.Shards))
	}
	return out
}

func TestYCSBSteps(t *testing.T) {
	type spec = v1alpha1.YCSBRunSpec
	tests := map[string]struct {
		edits []ycsbEdit
		want  []string
	}{
		"default": {nil, []string{"preflight/1 on 1", "create/1 on 1", "load/1 on 2", "compact/1 on 1", "workload-a/1 on 2", "workload-e/1 on 2"}},
		"repeats": {
			[]ycsbEdit{func(s *spec) {
				s.Repeats, s.Workloads[1].Repeats, s.Table.DropAfter = ptr(int32(2)), ptr(int32(3)), ptr(true)
			}},
			[]string{
				"preflight/1 on 1", "create/1 on 1", "load/1 on 2", "compact/1 on 1", "workload-a/1 on 2", "workload-a/2 on 2",
				"workload-e/1 on 2", "workload-e/2 on 2", "workload-e/3 on 2", "cleanup/1 on 1",
			},
		},
		"round robin": {
			[]ycsbEdit{func(s *spec) {
				s.Repeats, s.Workloads[1].Repeats, s.RepeatOrder = ptr(int32(2)), ptr(int32(3)), v1alpha1.RepeatRoundRobin
				s.Load = &v1alpha1.YCSBLoad{WaitForCompaction: ptr(false), Shards: ptr(int32(4))}
			}},
			[]string{
				"preflight/1 on 1", "create/1 on 1", "load/1 on 4", "workload-a/1 on 2", "workload-e/1 on 2", "workload-a/2 on 2",
				"workload-e/2 on 2", "workload-e/3 on 2",
			},
		},
		"somebody else's table": {
			[]ycsbEdit{func(s *spec) { s.Table.CreatePolicy, s.Workloads = v1alpha1.YCSBCreateNever, nil }},
			[]string{"preflight/1 on 1", "load/1 on 2", "compact/1 on 1"},
		},
		"existing records": {
			[]ycsbEdit{func(s *spec) { s.UseExisting = ptr(true) }},
			[]string{"preflight/1 on 1", "workload-a/1 on 2", "workload-e/1 on 2"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { wantSlice(t, "steps", tc.want, stepNames(YCSB{}, ycsbRun(tc.edits...))) })
	}
}

// sliceReport is the report of a slice of compact: unfinished says what is still waited for.
func sliceReport(id report.Identity, unfinished string) *report.Report {
	r := auxReport(id, 0)
	r.Body.Facts = map[string]string{"slices": fmt.Sprint(id.Attempt), "since": "2026-12-01T12:00:00Z"}
	if unfinished != "" {
		r.Body.Facts[plan.FactUnfinished] = unfinished
	}
	return r
}

// compacting makes the compactions of a world last for a number of slices, and keeps the plans of all of them.
func compacting(w *world, slices int32) {
	w.kubelet = func(j *simJob, p *corev1.Pod) bool {
		if j.id.Step != plan.StepCompact || len(p.Status.ContainerStatuses) == 0 || p.Annotations[plan.AnnotationStop] != "" {
			return false
		}
		left := ""
		if j.id.Attempt < slices {
			left = fmt.Sprintf("%d of %d regions still compacting", slices-j.id.Attempt, slices)
		}
		w.end(p, sliceReport(j.id, left))
		return true
	}
}

// TestYCSBRunToItsEnd goes through all steps, slices of the wait and rests between repeats.
func TestYCSBRunToItsEnd(t *testing.T) {
	run := ycsbRun(func(s *v1alpha1.YCSBRunSpec) {
		s.Repeats, s.Rest, s.Table.DropAfter = ptr(int32(2)), duration(30*time.Second), ptr(true)
	})
	w := worldOf(t, YCSB{}, run, mixedReport)
	compacting(w, 4)
	w.finish()
	wantSlice(t, "rows", []string{
		"preflight/1/1 Done 1 of 1", "create/1/1 Done 1 of 1", "load/1/1 Done 2 of 2", "compact/1/4 Done 1 of 1",
		"workload-a/1/1 Done 2 of 2", "workload-a/2/1 Done 2 of 2", "workload-e/1/1 Done 2 of 2", "workload-e/2/1 Done 2 of 2", "cleanup/1/1 Done 1 of 1",
	}, rowsOf(w.st))
	for i := 4; i < 8; i++ {
		if rest := w.st.Steps[i].BeginTime.Sub(w.st.Steps[i-1].EndTime.Time); rest < 30*time.Second {
			t.Errorf("%s, repeat %d began %s after the step before", w.st.Steps[i].Name, w.st.Steps[i].Repeat, rest)
		}
	}
	want := map[string]string{"nameNode": "namenode:8020", "compact.slices": "4", "compact.since": "2026-12-01T12:00:00Z"}
	if diff := cmp.Diff(want, w.st.Environment.Facts); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	if got := verdicts(w.st)[v1alpha1.ConditionSucceeded]; got != "True Succeeded" {
		t.Errorf("succeeded: %s", got)
	}
	if !strings.HasPrefix(w.st.Summary, "load 204.8 ops/s") || !strings.Contains(w.st.Summary, "workload-e ") {
		t.Errorf("summary %q", w.st.Summary)
	}
	headlines := map[string]string{}
	for _, row := range w.st.Steps {
		if row.Result != nil {
			headlines[row.Name] = row.Result.Headline
		}
	}
	if diff := cmp.Diff(map[string]string{"load": "opsPerSec", "workload-a": "opsPerSec", "workload-e": "windowOpsPerSec"}, headlines); diff != "" {
		t.Errorf("headlines (-want +got):\n%s", diff)
	}
}

// TestSlices: what a slice still waits for is told until the next one says otherwise, and what it found goes into the next
// one's plan. Neither slices nor a loss among them ends the step.
func TestSlices(t *testing.T) {
	w := worldOf(t, YCSB{}, ycsbRun(), mixedReport)
	compacting(w, 9)
	w.until("the third slice", func(st *v1alpha1.RunStatus) bool {
		row := present(st)
		return row != nil && row.Name == plan.StepCompact && row.Attempt == 3 && w.jobs[row.Job] != nil
	})
	const left = "step compact: 7 of 9 regions still compacting"
	if w.st.Summary != left || present(w.st).Message != left {
		t.Errorf("summary %q, message %q, want %q", w.st.Summary, present(w.st).Message, left)
	}
	w.visit()
	w.now = w.now.Add(2 * time.Minute) // but a pod that does not start for long is something to tell
	w.visit()
	if want := left + "; 0 of 1 shards running"; w.st.Summary != want {
		t.Errorf("summary %q, want %q", w.st.Summary, want)
	}
	o := w.observe()
	in := (&Reconciler{Benchmark: YCSB{}}).input(o)
	if diff := cmp.Diff(map[string]string{"slices": "2", "since": "2026-12-01T12:00:00Z"}, in.Plan.Earlier); diff != "" {
		t.Errorf("facts in the plan (-want +got):\n%s", diff)
	}
	if n := present(w.st).Losses; n != 0 {
		t.Errorf("%d losses", n)
	}
	for range 2 {
		w.vanish(0, true)
		w.attempt()
		w.until("another attempt", func(st *v1alpha1.RunStatus) bool { return w.jobs[present(st).Job] != nil && len(w.job().gone) == 0 })
	}
	if row := present(w.st); row.Losses != 2 || row.Attempt != 5 {
		t.Errorf("%d losses in %d attempts", row.Losses, row.Attempt)
	}
	w.until("the next slice", func(st *v1alpha1.RunStatus) bool { return present(st).Attempt == 6 })
	if n := present(w.st).Losses; n != 0 {
		t.Errorf("%d losses after a slice that was not lost", n)
	}
	w.finish()
	if f := w.st.Failure; f != nil {
		t.Errorf("failure %+v", f)
	}
}

// TestSlicesStop: a suspension and a deadline end the wait between two slices as within one.
func TestSlicesStop(t *testing.T) {
	w := worldOf(t, YCSB{}, ycsbRun(func(s *v1alpha1.YCSBRunSpec) { s.ActiveDeadline = duration(time.Hour) }), mixedReport)
	compacting(w, 1000)
	w.until("the second slice", func(st *v1alpha1.RunStatus) bool {
		row := present(st)
		return row != nil && row.Name == plan.StepCompact && row.Attempt == 2
	})
	w.spec.Suspend = ptr(true)
	w.until("suspension", func(st *v1alpha1.RunStatus) bool { return st.Phase == "Suspended" && !w.presentJob().busy() })
	if got := w.st.Summary; !strings.HasPrefix(got, "suspended") {
		t.Errorf("summary %q", got)
	}
	w.spec.Suspend = nil
	w.until("another slice", func(st *v1alpha1.RunStatus) bool { return present(st).Attempt >= 4 })
	w.now = w.now.Add(time.Hour)
	w.finish()
	if w.st.Failure == nil || w.st.Failure.Reason != v1alpha1.ReasonDeadlineExceeded {
		t.Errorf("failure %+v", w.st.Failure)
	}
	if row := rowOf(w.st, plan.StepCompact); row.State != v1alpha1.StepFailed {
		t.Errorf("compact is %s", row.State)
	}
}

// presentJob is the present attempt's Job, or an empty one.
func (w *world) presentJob() *simJob {
	if row := present(w.st); row != nil && w.jobs[row.Job] != nil {
		return w.jobs[row.Job]
	}
	return &simJob{}
}

// TestCompactionDeadline: a slice that gives up ends the run.
func TestCompactionDeadline(t *testing.T) {
	w := worldOf(t, YCSB{}, ycsbRun(func(s *v1alpha1.YCSBRunSpec) { s.Table.DropAfter = ptr(true) }), mixedReport)
	w.kubelet = func(j *simJob, p *corev1.Pod) bool {
		if j.id.Step != plan.StepCompact || len(p.Status.ContainerStatuses) == 0 {
			return false
		}
		r := failedReport(j.id, 0)
		r.Envelope.ExitCode, r.Envelope.Failure.Reason = report.ExitDeadline, "CompactionDeadline"
		w.end(p, r)
		return true
	}
	w.finish()
	if f := w.st.Failure; f == nil || f.Reason != "CompactionDeadline" || f.Step != plan.StepCompact {
		t.Errorf("failure %+v", f)
	}
	wantSlice(t, "rows", []string{
		"preflight/1/1 Done 1 of 1", "create/1/1 Done 1 of 1", "load/1/1 Done 2 of 2", "compact/1/1 Failed 0 of 1", "cleanup/1/1 Done 1 of 1",
	}, rowsOf(w.st))
}

// TestRest: while nothing is done the status says why, and changes no more than once.
func TestRest(t *testing.T) {
	w := worldOf(t, YCSB{}, ycsbRun(func(s *v1alpha1.YCSBRunSpec) { s.Rest, s.UseExisting = duration(time.Minute), ptr(true) }), mixedReport)
	w.until("rest", func(st *v1alpha1.RunStatus) bool { return strings.HasPrefix(st.Summary, "resting") })
	if want := "resting for 1m0s before step workload-a, repeat 1"; w.st.Summary != want {
		t.Errorf("summary %q, want %q", w.st.Summary, want)
	}
	before := w.st.DeepCopy()
	w.tick(30 * time.Second)
	w.visit()
	if diff := cmp.Diff(before, w.st); diff != "" {
		t.Errorf("the status changed (-before +after):\n%s", diff)
	}
	if w.last.requeue <= 0 || w.last.requeue > 31*time.Second {
		t.Errorf("the next visit is in %s", w.last.requeue)
	}
	w.tick(w.last.requeue)
	w.visit()
	if row := present(w.st); row == nil || row.Name != "workload-a" {
		t.Errorf("present row %+v", row)
	}
}

// TestFactsOfMeasurements: the servers' latest facts, and every shard's troubles.
func TestFactsOfMeasurements(t *testing.T) {
	shardWith := func(facts map[string]string) shard {
		r := auxReport(testID(), 0)
		r.Body.Facts = facts
		return shard{report: r}
	}
	facts := map[string]string{"hbaseVersion": "2.6.4"}
	for r, told := range []map[string]string{{"after.regions": "6", "retries": "2 retries"}, {"after.regions": "7", "other": "x"}, {"retries": "1 retry"}} {
		facts = factsWith(facts, Step{Name: "workload-a", Repeat: int32(r + 1), Measured: true}, []shard{shardWith(told)})
	}
	want := map[string]string{
		"hbaseVersion": "2.6.4", "after.regions": "7",
		"retries": "workload-a, repeat 1, shard 0: 2 retries; workload-a, repeat 3, shard 0: 1 retry",
	}
	if diff := cmp.Diff(want, facts); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	facts = factsWith(facts, Step{Name: plan.StepCreate}, []shard{shardWith(map[string]string{"tableRegions": "6"})})
	if facts["tableRegions"] != "6" || len(facts) != 4 {
		t.Errorf("facts %v", facts)
	}
}

func TestYCSBText(t *testing.T) {
	run := ycsbRun()
	id := report.Identity{RunUID: testUID, Execution: 1, Step: "workload-a", Repeat: 1, Attempt: 1}
	failed := report.Part{Name: "READ-FAILED", Latency: report.NewHistogram(report.DefaultScale)}
	failed.Latency.Record(2_500_000)
	one, two := mixedReport(id, 0, testNow), mixedReport(id, 1, testNow)
	one.Body.Tried++
	one.Body.Parts[0].Returns = append(one.Body.Parts[0].Returns, report.ReturnCount{Status: "NOT_FOUND", Count: 1})
	one.Body.Parts = append(one.Body.Parts, failed)
	two.Body.Parts[1].Intended = two.Body.Parts[1].Latency
	in := report.MergeInput{Expected: 2, Reports: []*report.Report{one, two}}
	merged, err := report.Merge(in)
	if err != nil {
		t.Fatal(err)
	}
	text, err := YCSB{}.Text(run, Step{Name: "workload-a", Repeat: 1}, in, merged)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := report.ParseYCSB(strings.NewReader(text))
	if err != nil || len(parsed) != 1 {
		t.Fatalf("%d reports, error %v, in\n%s", len(parsed), err, text)
	}
	got := map[string]string{}
	for _, l := range parsed[0] {
		got[l.Metric+" "+l.Measurement] = l.Value.String()
	}
	for name, want := range map[string]string{
		"OVERALL RunTime(ms)": "10000", "OVERALL Throughput(ops/sec)": "204.9",
		"READ Operations": "1024", "READ AverageLatency(us)": "9000.2555", "READ MinLatency(us)": "9000", "READ MaxLatency(us)": "9000",
		"READ Return=OK": "1024", "READ Return=NOT_FOUND": "1", "READ-FAILED Operations": "1", "READ-FAILED AverageLatency(us)": "2500.0",
		"UPDATE Operations": "1024", "Intended-UPDATE Operations": "512",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

func TestYCSBOptions(t *testing.T) {
	run := ycsbRun(func(s *v1alpha1.YCSBRunSpec) {
		s.Seed, s.Properties = ptr(int64(7)), map[string]v1alpha1.PropertyValue{"debug": "true"}
		s.Workloads[0].Target, s.Workloads[0].Warmup = "100", duration(time.Second)
	})
	want := map[string]string{
		"table.name": "usertable", "table.columnFamily": "family", "table.createPolicy": "Create", "table.regions": "1", "table.compression": "None",
		"table.dropAfter": "false", "recordCount": "1000", "useExisting": "false", "seed": "7", "threads": "4", "shards": "2", "properties": "debug=true",
		"load.threads": "4", "load.shards": "2", "load.waitForCompaction": "true", "load.majorCompact": "false", "load.settleTime": "1m0s",
		"load.compactionDeadline": "2h0m0s", "insertionRetryLimit": "0",
		"fieldCount": "10", "fieldLength": "100", "fieldLengthDistribution": "constant", "fieldNamePrefix": "field", "readAllFields": "true",
		"readAllFieldsByName": "false", "writeAllFields": "false", "dataIntegrity": "false", "insertOrder": "hashed", "zeroPadding": "1",
		"durability": "UseDefault", "clientBuffering": "false", "zipfianScrambling": "YCSB", "usePageFilter": "true",
		"workload-a.repeats": "1", "workload-a.readProportion": "0.5", "workload-a.updateProportion": "0.5", "workload-a.requestDistribution": "zipfian",
		"workload-a.operationCount": "10000", "workload-a.target": "100", "workload-a.warmup": "1s",
		"workload-e.repeats": "1", "workload-e.scanProportion": "0.95", "workload-e.insertProportion": "0.05", "workload-e.requestDistribution": "zipfian",
		"workload-e.minScanLength": "1", "workload-e.maxScanLength": "100", "workload-e.scanLengthDistribution": "uniform", "workload-e.duration": "1m0s",
	}
	got := YCSB{}.Options(run)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
	existing := YCSB{}.Options(ycsbRun(func(s *v1alpha1.YCSBRunSpec) { s.UseExisting = ptr(true) }))
	for name := range maps.Keys(existing) {
		if strings.HasPrefix(name, "load.") || slices.Contains([]string{"table.regions", "table.dropAfter", "insertionRetryLimit"}, name) {
			t.Errorf("option %s of a run that loads nothing", name)
		}
	}
	if shared := options(YCSB{}, run); shared["keepResults"] != "" || shared["client"] != "Native" {
		t.Errorf("keepResults %q, client %q", shared["keepResults"], shared["client"])
	}
}
