package controlplane

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/controllers/jobs"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
)

const ycsbManifest = `apiVersion: hadoopbench.dev/v1alpha1
kind: YCSBRun
metadata:
  name: bench
spec:
  target: {properties: {hbase.zookeeper.quorum: zk.example}}
  table: {regions: 6, dropAfter: true}
  recordCount: 4000
  threads: 16
  shards: 4
  load: {shards: 2}
  repeats: 2
  rest: 2s
  workloads:
  - {preset: A, operationCount: 4000}
  - {preset: D, operationCount: 4000, repeats: 1}
`

// compactSlices is how many slices the compactions of these tests last.
const compactSlices = 3

// slice is what a shard that waits for compactions tells at the end of a slice.
func slice(p *plan.Plan) map[string]string {
	facts := map[string]string{"since": "2026-12-01T12:00:00Z", "seen": p.Earlier["seen"] + fmt.Sprint(p.Identity.Attempt)}
	if left := compactSlices - p.Identity.Attempt; left > 0 {
		facts[plan.FactUnfinished] = fmt.Sprintf("%d of %d regions still compacting", left, p.YCSB.Regions)
	}
	return facts
}

// mix fills the report of a shard that did its part of a load or of a workload, half by half of two sorts of operations.
func (s *shardOf) mix(outcome report.Outcome) {
	p, b := s.plan, &s.report.Body
	exec := execMicros(s.index, p.Identity.Repeat)
	names := []string{"READ", "UPDATE"}
	_, b.Planned = plan.RecordShare(p.YCSB.RecordCount, p.Shards, s.index)
	if p.Identity.Step == plan.StepLoad {
		names = []string{"INSERT"}
	} else {
		b.Planned = plan.OperationShare(p.YCSB.Operations, p.YCSB.Threads, p.Shards, s.index)
	}
	b.Operations = b.Planned
	if outcome == report.Partial {
		exec, b.Operations = exec/2, b.Operations/2
	}
	b.Tried = b.Operations
	b.Prepared = s.at.UnixMicro() - 2_000_000
	b.Start = s.at.UnixMicro() + int64(s.index)*1000
	b.End = b.Start + exec
	b.Clock = &report.Clock{OffsetMicros: 200 * int64(s.index), UncertaintyMicros: 500}
	b.Client = &report.ClientUse{CPUMicros: exec / 10, AllowanceMilli: 2000}
	b.Series = report.NewSeries(s.at.UnixMicro(), p.SeriesMicros)
	b.Series.Shift(b.Clock.OffsetMicros)
	for i := range b.Operations {
		b.Series.Add(b.Start+exec*(i+1)/b.Operations, 1)
	}
	each := b.Operations / int64(len(names))
	for _, name := range names {
		h := report.NewHistogram(report.DefaultScale)
		for i := range each {
			h.Record((exec/b.Operations + i) * 1000)
		}
		b.Parts = append(b.Parts, report.Part{Name: name, Returns: report.Returns{{Status: "OK", Count: each}}, Latency: h})
	}
}

// ycsb returns a YCSBRun as the API server has it.
func (s *scenario) ycsb(name string) *v1alpha1.YCSBRun {
	s.Helper()
	var run v1alpha1.YCSBRun
	if err := s.client.Get(s.ctx, types.NamespacedName{Namespace: s.ns, Name: name}, &run); err != nil {
		s.Fatal(err)
	}
	return &run
}

// wholeYCSBRun goes through all steps of a YCSBRun; on the way, the wait for compactions is seen in the status.
func (s *scenario) wholeYCSBRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.yaml")
	if err := os.WriteFile(file, []byte(ycsbManifest), 0o600); err != nil {
		t.Fatal(err)
	}
	s.kubectl("apply", "-f", file)
	waits, resting := map[string]bool{}, false
	s.until(func() string {
		st := s.ycsb("bench").Status
		if r := row(s.ycsb("bench"), plan.StepCompact, 1); strings.Contains(r.Message, "still compacting") {
			waits[r.Message] = true
		}
		resting = resting || strings.HasPrefix(st.Summary, "resting for 2s before step workload-")
		if st.CompletionTime == nil {
			return "the run is not finished: " + st.Summary
		}
		return ""
	})
	if !waits["2 of 6 regions still compacting"] && !waits["step compact: 2 of 6 regions still compacting"] || !resting {
		t.Errorf("the status told of the waits %v, of rest %t", waits, resting)
	}
	run := s.ycsb("bench")
	s.wantYCSBResult(run)
	s.wantYCSBPlans(run)
	s.wantGone(&batchv1.JobList{}, &corev1.PodList{})
	s.wantEvents("YCSBRun", "Started", "Measured", "Finished")
	s.kubectl("diff", "-f", file)
}

// wantYCSBResult looks at what a finished run shows.
func (s *scenario) wantYCSBResult(run *v1alpha1.YCSBRun) {
	s.Helper()
	if got := kstatus(s.T, run); got != status.CurrentStatus {
		s.Errorf("kstatus is %s at the end, want Current", got)
	}
	s.wantCondition(run, v1alpha1.ConditionTargetReady, metav1.ConditionTrue, v1alpha1.ReasonPreflightPassed)
	s.wantCondition(run, v1alpha1.ConditionValid, metav1.ConditionTrue, v1alpha1.ReasonMeasuredProperly)
	s.wantCondition(run, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonSucceeded)
	var rows []string
	for _, r := range run.Status.Steps {
		rows = append(rows, fmt.Sprintf("%s/%d %d of %d", r.Name, r.Repeat, r.Shards.Reported, r.Shards.Expected))
		if r.Result != nil && (r.Result.Operations != 4000 || r.Result.Headline != report.FigureOps) {
			s.Errorf("result of %s, repeat %d: %+v", r.Name, r.Repeat, r.Result)
		}
	}
	want := []string{
		"preflight/1 1 of 1", "create/1 1 of 1", "load/1 2 of 2", "compact/1 1 of 1", "workload-a/1 4 of 4", "workload-a/2 4 of 4", "workload-d/1 4 of 4", "cleanup/1 1 of 1",
	}
	if d := cmp.Diff(want, rows); d != "" {
		s.Errorf("steps (-want +got):\n%s", d)
	}
	facts := run.Status.Environment.Facts
	if facts["compact.seen"] != "123" || facts["compact.since"] == "" || facts["compact."+plan.FactUnfinished] != "" {
		s.Errorf("facts %v", facts)
	}
	doc, cm := s.document(run)
	if doc.Kind != "YCSBRun" || len(doc.Sections) != 4 || !metav1.IsControlledBy(&cm, run) {
		s.Errorf("report.json of a %s has %d measurements, want 4", doc.Kind, len(doc.Sections))
	}
	for part, n := range map[string]int{"[OVERALL], RunTime(ms), ": 4, "[INSERT], Return=OK, 4000\n": 1, "[READ], Operations, 2000\n": 3, "[UPDATE], Return=OK, 2000\n": 3} {
		if got := strings.Count(cm.Data["ycsb.txt"], part); got != n {
			s.Errorf("ycsb.txt has %q %d times, want %d:\n%s", part, got, n, cm.Data["ycsb.txt"])
		}
	}
	for _, step := range []string{"load ", "workload-a ", "workload-d "} {
		if !strings.Contains(run.Status.Summary, step) {
			s.Errorf("summary %q does not tell of %s", run.Status.Summary, step)
		}
	}
}

// wantYCSBPlans: measurements insert other records each time, and a slice knows what the one before found.
func (s *scenario) wantYCSBPlans(run *v1alpha1.YCSBRun) {
	s.Helper()
	bases := map[int64]bool{}
	for _, r := range run.Status.Steps {
		p := s.planOf(run, r.Name, r.Repeat, r.Attempt)
		switch {
		case r.Name == plan.StepLoad && p.YCSB.InsertBase != 0:
			s.Errorf("the load has the insert base %d", p.YCSB.InsertBase)
		case strings.HasPrefix(r.Name, "workload-"):
			if bases[p.YCSB.InsertBase] || p.YCSB.InsertBase < 4000 {
				s.Errorf("%s, repeat %d, inserts from %d on, as others do: %v", r.Name, r.Repeat, p.YCSB.InsertBase, bases)
			}
			bases[p.YCSB.InsertBase] = true
		case r.Name == plan.StepCompact:
			if d := cmp.Diff(map[string]string{"since": "2026-12-01T12:00:00Z", "seen": "12"}, p.Earlier); d != "" || r.Losses != 0 {
				s.Errorf("the last slice, after %d losses, knows (-want +got):\n%s", r.Losses, d)
			}
		}
	}
}

// planOf reads the plan of an attempt.
func (s *scenario) planOf(run *v1alpha1.YCSBRun, step string, repeat, attempt int32) *plan.Plan {
	s.Helper()
	id := report.Identity{RunUID: string(run.UID), Execution: 1, Step: step, Repeat: repeat, Attempt: attempt}
	var cm corev1.ConfigMap
	if err := s.client.Get(s.ctx, types.NamespacedName{Namespace: s.ns, Name: jobs.AttemptName(run.Name, id)}, &cm); err != nil {
		s.Fatal(err)
	}
	var p plan.Plan
	if err := json.Unmarshal([]byte(cm.Data["plan.json"]), &p); err != nil {
		s.Fatal(err)
	}
	return &p
}

// TestYCSBRefused: what the API server cannot know to be impossible is refused at the first visit, by field, value and
// remedy, and nothing is made for it.
func TestYCSBRefused(t *testing.T) {
	t.Parallel()
	s := begin(t)
	s.manage(nil, nil)
	run := &v1alpha1.YCSBRun{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: "bench"},
		Spec: v1alpha1.YCSBRunSpec{
			RunSpec:     v1alpha1.RunSpec{Target: v1alpha1.Target{Properties: map[string]v1alpha1.PropertyValue{"hbase.masters": "m"}}},
			RecordCount: 1000, Properties: map[string]v1alpha1.PropertyValue{"fieldcount": "1"},
		},
	}
	if err := s.client.Create(s.ctx, run); err != nil {
		t.Fatal(err)
	}
	s.until(func() string {
		if st := s.ycsb("bench").Status; st.CompletionTime == nil {
			return "the run is not finished: " + st.Summary
		}
		return ""
	})
	const why = "spec.properties[fieldcount]: 1 is invalid; use spec.fieldCount"
	s.wantCondition(s.ycsb("bench"), v1alpha1.ConditionCompleted, metav1.ConditionFalse, v1alpha1.ReasonInvalidSpec, why)
	if got := s.history.names(s.ns, "Job"); len(got) != 0 {
		t.Errorf("Jobs %v were made", got)
	}
}
