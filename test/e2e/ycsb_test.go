package e2e

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/report"
)

// methodLimit bounds the sample, which measures eight times.
const methodLimit = 10 * time.Minute

// TestYCSBMethod: somebody applies the small sample of the method and gets a result to believe, whose counts are those of
// the RegionServers. Without HADOOPBENCH_LONG=1 it has a fifth of the records and measures for three seconds instead of ten.
func TestYCSBMethod(t *testing.T) {
	t.Parallel()
	s := beginHBase(t, "ycsb")
	run := s.ycsbSample()
	s.create(run)
	s.awaitEnd(run, methodLimit)
	s.expectSuccess(run)
	s.expect(run, v1alpha1.ConditionValid, metav1.ConditionTrue, v1alpha1.ReasonMeasuredProperly)
	s.expectMethodSteps(run)
	s.expectYCSBFigures(run)
	s.expectYCSBMeans(run)
	s.expectYCSBText(run)
	s.expectRequests(run)
	s.expectRows(hbaseCluster, run.Spec.RecordCount, 10, 100)
	s.expectHBaseFacts(run)
	s.expectYCSBColumns(run)
}

// readYCSBSample reads the sample for the story's namespace, with the story's table, which stays.
func (s *story) readYCSBSample() *v1alpha1.YCSBRun {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.root, "config/samples/ycsbrun.yaml"))
	if err != nil {
		s.t.Fatal(err)
	}
	run := &v1alpha1.YCSBRun{}
	if err := yaml.UnmarshalStrict(data, run); err != nil {
		s.t.Fatal(err)
	}
	if run.Spec.Table.DropAfter == nil || run.Spec.RecordCount < 1000 || len(run.Spec.Workloads) != 4 {
		s.t.Fatalf("the sample is another one: %+v", run.Spec)
	}
	run.Namespace, run.Spec.Table.Name, run.Spec.Table.DropAfter = s.namespace, s.table(), nil
	return run
}

// ycsbSample is the sample with the servers' web addresses.
func (s *story) ycsbSample() *v1alpha1.YCSBRun {
	s.t.Helper()
	run := s.readYCSBSample()
	run.Spec.Target.HTTP = &v1alpha1.HTTPAddresses{Masters: []string{hbaseMaster}, RegionServers: hbaseRegionServers()}
	if !long() {
		run.Spec.RecordCount /= 5
		for i := range run.Spec.Workloads {
			run.Spec.Workloads[i].Duration = duration(3 * time.Second)
		}
		// Where other stories want the processors, too, and so little is measured.
		run.Spec.MinDuration, run.Spec.MaxStartSpread = duration(100*time.Millisecond), duration(time.Second)
	}
	return run
}

func (s *story) expectMethodSteps(run *v1alpha1.YCSBRun) {
	s.t.Helper()
	var steps []string
	for _, r := range run.Status.Steps {
		steps = append(steps, fmt.Sprintf("%s %d %s", r.Name, r.Repeat, r.State))
		if r.EndTime == nil || r.BeginTime == nil || r.StartAt != nil && r.StartAt.Time.Before(r.BeginTime.Time) {
			s.t.Errorf("%s %d: begun %v, started %v, ended %v", r.Name, r.Repeat, r.BeginTime, r.StartAt, r.EndTime)
		}
	}
	want := []string{"preflight 1 Done", "create 1 Done", "load 1 Done", "compact 1 Done"}
	for _, w := range []string{"workload-a", "workload-c", "workload-f", "update-only"} {
		want = append(want, w+" 1 Done", w+" 2 Done")
	}
	if diff := cmp.Diff(want, steps); diff != "" {
		s.t.Errorf("steps and their states (-want +got):\n%s", diff)
	}
}

// expectYCSBFigures: no operation failed, every rate follows from count and time, and what was recorded of each kind of
// operation adds up.
func (s *story) expectYCSBFigures(run *v1alpha1.YCSBRun) {
	s.t.Helper()
	measured := 0
	for _, step := range run.Status.Steps {
		r := step.Result
		if r == nil {
			continue
		}
		measured++
		if r.Operations == 0 || r.Errors != 0 || r.Unfinished != 0 || r.Tried != r.Operations || r.WallMicros <= 0 {
			s.t.Errorf("%s %d: %d operations, %d failed, %d unfinished, %d tried, %d µs: %+v",
				step.Name, step.Repeat, r.Operations, r.Errors, r.Unfinished, r.Tried, r.WallMicros, r.ErrorClasses)
			continue
		}
		s.expectRate(step, report.FigureOps, float64(r.Operations)*1e6/float64(r.WallMicros))
		s.expectUpstreamRate(step)
		counts := map[string]int64{}
		for _, m := range r.Metrics {
			counts[m.Name] = m.Count
			if want := float64(m.Count) * 1e6 / float64(r.WallMicros); math.Abs(s.number(m.OpsPerSec)-want) > roundingError {
				s.t.Errorf("%s %d: %s has %s/s, its count and time say %.3f", step.Name, step.Repeat, m.Name, m.OpsPerSec, want)
			}
			if m.Latency == nil || m.Latency.Count != m.Count || hasReturns(m.Name) && m.Returns != fmt.Sprintf("OK=%d", m.Count) {
				s.t.Errorf("%s %d: %s counts %d: %q, %+v", step.Name, step.Repeat, m.Name, m.Count, m.Returns, m.Latency)
			}
		}
		// A read-modify-write is one operation; its read and its update are recorded beside it.
		if sum := counts["READ"] + counts["UPDATE"] + counts["INSERT"] + counts["SCAN"] - counts["READ-MODIFY-WRITE"]; sum != r.Operations {
			s.t.Errorf("%s %d: %d operations, but %v", step.Name, step.Repeat, r.Operations, counts)
		}
		s.t.Logf("%s %d: %.1f/s in %.3f s, %v, set-up %.3f s, start spread %.1f ms", step.Name, step.Repeat, s.rate(step, report.FigureOps),
			float64(r.WallMicros)/1e6, counts, float64(r.SetUpMicros)/1e6, float64(r.StartSpreadMicros)/1000)
	}
	if measured == 0 {
		s.t.Errorf("run %s measured nothing", run.Name)
	}
	if n := rowOps(run, "load"); n != run.Spec.RecordCount {
		s.t.Errorf("the load inserted %d records, want %d", n, run.Spec.RecordCount)
	}
}

// hasReturns says of which metrics YCSB counts the operations by status.
func hasReturns(metric string) bool {
	return slices.Contains([]string{"READ", "UPDATE", "INSERT", "SCAN"}, metric)
}

// expectUpstreamRate: YCSB reads its clock in whole milliseconds, so the time may be one more than the microseconds say.
func (s *story) expectUpstreamRate(step v1alpha1.StepStatus) {
	s.t.Helper()
	got, millis := s.rate(step, report.FigureUpstreamOps), step.Result.WallMicros/1000
	for _, m := range []int64{millis, millis + 1} {
		if math.Abs(got-1000*float64(step.Result.Tried)/float64(m)) < roundingError {
			return
		}
	}
	s.t.Errorf("%s %d: upstreamOpsPerSec is %.3f of %d operations in %d ms", step.Name, step.Repeat, got, step.Result.Tried, millis)
}

// rowOps is how many operations a step's first repeat did.
func rowOps(run *v1alpha1.YCSBRun, step string) int64 {
	if r := row(run, step); r != nil && r.Result != nil {
		return r.Result.Operations
	}
	return 0
}

// expectYCSBMeans computes the means over the repeats anew.
func (s *story) expectYCSBMeans(run *v1alpha1.YCSBRun) {
	s.t.Helper()
	for _, w := range []string{"workload-a", "workload-c", "workload-f", "update-only"} {
		sum, n := 0.0, 0.0
		for _, r := range run.Status.Steps {
			if r.Name == w && r.Result != nil {
				sum, n = sum+s.rate(r, report.FigureOps), n+1
			}
		}
		found := false
		for _, a := range run.Status.Aggregates {
			if a.Step != w || a.Figure != report.FigureOps {
				continue
			}
			found = true
			if got := s.number(a.Mean); float64(a.N) != n || math.Abs(got-sum/n) > 2*roundingError {
				s.t.Errorf("%s: mean %.3f of %d repeats, want %.3f of %.0f", w, got, a.N, sum/n, n)
			}
		}
		if !found {
			s.t.Errorf("no aggregate of %s", w)
		}
	}
}

// expectYCSBText reads the tool's own report of each measurement.
func (s *story) expectYCSBText(run *v1alpha1.YCSBRun) {
	s.t.Helper()
	_, text := s.report(run)
	reports, err := report.ParseYCSB(strings.NewReader(text))
	if err != nil {
		s.t.Fatalf("%v\n%s", err, text)
	}
	for _, step := range run.Status.Steps {
		r := step.Result
		if r == nil {
			continue
		}
		if len(reports) == 0 {
			s.t.Fatalf("no text of %s %d:\n%s", step.Name, step.Repeat, text)
		}
		upstream := s.rate(step, report.FigureUpstreamOps)
		want := map[string]float64{
			"OVERALL RunTime(ms)": math.Round(1000 * float64(r.Tried) / upstream), "OVERALL Throughput(ops/sec)": upstream,
		}
		for _, m := range r.Metrics {
			want[m.Name+" Operations"] = float64(m.Count)
			if hasReturns(m.Name) {
				want[m.Name+" Return=OK"] = float64(m.Count)
			}
		}
		for name, number := range want {
			metric, measurement, _ := strings.Cut(name, " ")
			if v, ok := reports[0].Find(metric, measurement); !ok || math.Abs(v.Float()-number) > roundingError {
				s.t.Errorf("%s %d: the text has %s %s, want %f", step.Name, step.Repeat, name, v, number)
			}
		}
		reports = reports[1:]
	}
	if len(reports) > 0 {
		s.t.Errorf("%d texts more than measurements:\n%s", len(reports), text)
	}
}

// What each shard of a measurement writes and reads, to compare its clock with the server's.
const clockWrites, clockReads = 10, 9

// expectRequests compares the run's counts with the RegionServers' own.
func (s *story) expectRequests(run *v1alpha1.YCSBRun) {
	s.t.Helper()
	reads, writes := measuredOps(run, "READ"), measuredOps(run, "UPDATE", "INSERT")
	for _, r := range run.Status.Steps {
		if r.Result != nil {
			pods := int64(r.Attempt) * int64(r.Shards.Expected) // those of a gate that broke had done this, too
			reads, writes = reads+pods*clockReads, writes+pods*clockWrites
		}
	}
	repeated, ok := run.Status.Environment.Facts["retries"]
	var gotReads, gotWrites int64
	for end := time.Now().Add(hbaseMetricsLimit); time.Now().Before(end); time.Sleep(poll) {
		if gotReads, gotWrites = s.tableRequests(); gotReads >= reads && gotWrites >= writes {
			break
		}
	}
	s.t.Logf("the RegionServers count %d reads and %d writes", gotReads, gotWrites)
	if gotReads < reads || gotWrites < writes || !ok && (gotReads > reads || gotWrites > writes) {
		s.t.Errorf("the RegionServers count %d reads and %d writes, the run %d and %d; repeated calls: %q", gotReads, gotWrites, reads, writes, repeated)
	}
}

func (s *story) expectHBaseFacts(run *v1alpha1.YCSBRun) {
	s.t.Helper()
	facts := run.Status.Environment.Facts
	for name, want := range map[string]string{
		"hbase.regionServers": "2", "table.exists": "false", "table.regions": fmt.Sprint(hbaseRegions), "after.table.regions": fmt.Sprint(hbaseRegions),
		"compact.regions": fmt.Sprint(hbaseRegions), "compact.queues": "empty", "hbase.user": "hadoop-bench",
	} {
		if facts[name] != want {
			s.t.Errorf("fact %s is %q, want %q", name, facts[name], want)
		}
	}
	for _, name := range []string{"hbase.version", "hbase.clusterId", "hbase.master", "hbase.regions", "hbase.jvm", "hbase.heapMiB", "hbase.blockCacheMiB", "hbase.walProvider"} {
		if facts[name] == "" || strings.HasPrefix(facts[name], "unknown") {
			s.t.Errorf("fact %s is %q", name, facts[name])
		}
	}
	if env := run.Status.Environment; env.Nodes != 2 {
		s.t.Errorf("shards per node: %v", env.ShardsPerNode)
	}
	if s.t.Failed() {
		s.t.Logf("facts: %v", facts)
	}
}

// expectYCSBColumns: kubectl get shows the result.
func (s *story) expectYCSBColumns(run *v1alpha1.YCSBRun) {
	s.t.Helper()
	out := s.kubectl("get", "ycsb")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 2 {
		s.t.Fatalf("kubectl get ycsb printed %q", lines)
	}
	if diff := cmp.Diff([]string{"NAME", "PHASE", "SUCCEEDED", "VALID", "SUMMARY", "AGE"}, strings.Fields(lines[0])); diff != "" {
		s.t.Errorf("columns of kubectl get ycsb (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{run.Name, "Succeeded", "True", "True"}, strings.Fields(lines[1])[:4]); diff != "" {
		s.t.Errorf("row of kubectl get ycsb (-want +got):\n%s", diff)
	}
	s.mentions(lines[1], run.Status.Summary)
	s.mentions(run.Status.Summary, "load ", "workload-a ", "workload-c ", "workload-f ", "update-only ", "ops/s", "n=2")
	s.t.Logf("%s", out)
}
