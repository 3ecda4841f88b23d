package results

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/report"
)

// Lengths of the longest texts that reach a status.
const (
	longMessage = 1024
	longName    = 253
)

func text(n int) string { return strings.Repeat("x", n) }

// largestRow is a row of 10,000 shards with everything in it that there can be.
func largestRow(step string, repeat int32, state v1alpha1.StepState) v1alpha1.StepStatus {
	now := metav1.NewTime(time.Unix(1_790_000_000, 0).UTC())
	at := metav1.NewMicroTime(now.Time)
	row := v1alpha1.StepStatus{
		Name: step, Repeat: repeat, State: state, Attempt: 3, Job: text(43), Message: text(longMessage),
		BeginTime: &now, ProgressTime: &now, EndTime: &now, StartAt: &at,
		Stop:   &v1alpha1.StopOrder{Reason: v1alpha1.ReasonStartDeadlineExceeded, Message: text(longMessage), Time: now},
		Shards: v1alpha1.ShardCounts{Expected: 10000, Progress: 40000, Ready: 10000, Reported: 9000, Failed: 1000},
	}
	row.Result = &v1alpha1.StepResult{
		Operations: 1 << 40, Bytes: 1 << 60, Errors: 1 << 40, WallMicros: 1 << 42, StartSpreadMicros: 1 << 40, ClockOffsetMaxMicros: 1 << 40,
		Headline: report.FigureAggregate,
		Latency: &v1alpha1.Latency{
			Count: 1 << 40, MinMicros: 1 << 40, MeanMicros: 1 << 40, P50Micros: 1 << 40, P90Micros: 1 << 40, P95Micros: 1 << 40,
			P99Micros: 1 << 40, P999Micros: 1 << 40, MaxMicros: 1 << 40, RelativeError: "0.0108",
		},
	}
	row.Result.SetUpMicros, row.Result.DueOperations, row.Result.IntendedLatency = 1<<42, 1<<40, row.Result.Latency
	for i := range maxErrorClasses {
		row.Result.ErrorClasses = append(row.Result.ErrorClasses, v1alpha1.ErrorClass{Class: text(64) + fmt.Sprint(i), Count: 1 << 40, First: text(report.MaxFirst)})
	}
	for _, name := range []string{report.FigureAggregate, report.FigureWindow, report.FigurePerStream, report.FigureAverageIO, report.FigureIODeviation, report.FigureIOPS, report.FigureMeanIO} {
		row.Result.Rates = append(row.Result.Rates, v1alpha1.Figure{Name: name, Value: "1234567890.123"})
	}
	for _, reason := range []string{
		v1alpha1.ReasonShardsMissing, v1alpha1.ReasonOperationErrors, v1alpha1.ReasonConfigChanged, v1alpha1.ReasonTooShort,
		v1alpha1.ReasonStartSpread, v1alpha1.ReasonClockSkew, v1alpha1.ReasonClientSaturated, v1alpha1.ReasonClientSaturated,
	} {
		row.Result.Invalid = append(row.Result.Invalid, v1alpha1.Doubt{Reason: reason, Message: text(160)})
	}
	for i := range int32(3 * maxOutliers) {
		row.Result.Outliers = append(row.Result.Outliers, v1alpha1.ShardRow{
			Index: 9990 + i, Why: "Slowest", Pod: text(63), Node: text(longName), Bytes: 1 << 50, ExecMicros: 1 << 40, Outcome: "Complete",
		})
	}
	return row
}

// largestStatus is that of a run of some tests that were all measured 30 times, with nothing in it left out.
func largestStatus(tests []string) *v1alpha1.RunStatus {
	st := &v1alpha1.RunStatus{
		Execution: 1, Phase: "Preparing", Summary: text(256),
		Failure:     &v1alpha1.Failure{Reason: v1alpha1.ReasonStartDeadlineExceeded, Message: text(longMessage), Step: "write", Pod: text(63), Node: text(longName)},
		ReportRef:   &v1alpha1.LocalObjectReference{Name: text(longName)},
		Environment: &v1alpha1.Environment{Nodes: 10000, ShardsPerNode: map[string]int32{}, Facts: map[string]string{"facts": text(6500)}},
		Effective: &v1alpha1.Effective{
			SpecHash: text(16), ConfigHash: text(23), RunnerImage: text(512), RunnerImageID: text(600),
			Options: map[string]string{"baseDir": text(1024), "target.fs": text(512), "others": text(1300)},
		},
	}
	for i := range 32 {
		st.Environment.ShardsPerNode[fmt.Sprintf("%0253d", i)] = 400
	}
	for range 7 {
		st.Conditions = append(st.Conditions, metav1.Condition{Type: "ThresholdsMet", Status: "Unknown", Reason: v1alpha1.ReasonStartDeadlineExceeded, Message: text(longMessage)})
	}
	for _, test := range tests {
		for repeat := range int32(30) {
			st.Steps = append(st.Steps, largestRow(test, repeat+1, v1alpha1.StepDone))
		}
		for range 17 {
			st.Aggregates = append(st.Aggregates, v1alpha1.Aggregate{
				Step: test, Figure: report.FigureIODeviation, N: 30, Mean: "1234567890.123", StdDev: "1234567890.123", CVPercent: "100.000", Min: "1234567890.123", Max: "1234567890.123",
			})
		}
		st.Aggregates[len(st.Aggregates)-1].Figure, st.Aggregates[len(st.Aggregates)-2].Figure = report.FigureAggregate, report.FigureWindowOps
		st.PooledLatencies = append(st.PooledLatencies, v1alpha1.PooledLatency{Step: test, Latency: *st.Steps[0].Result.Latency})
	}
	return st
}

// withMetrics adds what a step that mixes kinds of operations has: nine metrics of each row, and figures over the repeats.
func withMetrics(st *v1alpha1.RunStatus) {
	names := []string{"READ", "READ-FAILED", "UPDATE", "INSERT", "SCAN", "READ-MODIFY-WRITE", "VERIFY", "SCAN-LATENCY-PER-RECORD", "CLEANUP"}
	latency := st.Steps[0].Result.Latency
	for i := range st.Steps {
		for _, name := range names {
			st.Steps[i].Result.Metrics = append(st.Steps[i].Result.Metrics, v1alpha1.MetricResult{
				Name: name, Count: 1 << 40, Returns: "OK=1099511627776 NOT_FOUND=1099511627776", OpsPerSec: "1234567890.123",
				Latency: latency, IntendedLatency: latency,
			})
		}
	}
	var aggregates []v1alpha1.Aggregate
	for _, a := range st.Aggregates {
		aggregates = append(aggregates, a)
		for _, figure := range []string{report.FigureOps, report.FigureMeanLatency, report.FigureP99, report.FigureIntendedP99} {
			if a.Figure == report.FigureAggregate {
				a.Figure = "readModifyWrite." + figure
				aggregates = append(aggregates, a)
				a.Figure = report.FigureAggregate
			}
		}
	}
	st.Aggregates = aggregates
	for _, p := range st.PooledLatencies {
		for _, name := range names {
			st.PooledLatencies = append(st.PooledLatencies, v1alpha1.PooledLatency{Step: p.Step, Metric: name, Latency: p.Latency})
		}
	}
}

// TestFitKeepsKindsOfOperations: in a run of many measurements every row keeps the counts of each kind of operations, the
// latest rows their latencies, and all rows the latency of all operations.
func TestFitKeepsKindsOfOperations(t *testing.T) {
	st := largestStatus([]string{"workload-a"})
	st.Steps, st.Environment = st.Steps[:18], nil
	for i := range st.Steps {
		row := &st.Steps[i]
		row.Message, row.Stop, row.Result.ErrorClasses, row.Result.Outliers, row.Result.Invalid = "", nil, nil, nil, nil
	}
	withMetrics(st)
	for i := range st.Steps {
		st.Steps[i].Result.Metrics = st.Steps[i].Result.Metrics[:5]
	}
	Fit(st)
	for i, row := range st.Steps {
		if len(row.Result.Metrics) != 5 || row.Result.Latency == nil || size(st) > MaxStatusBytes {
			t.Fatalf("row %d: %+v", i, row.Result)
		}
		m := row.Result.Metrics[4]
		if m.Count != 1<<40 || m.Returns == "" || i == 0 && m.Latency != nil || i == 17 && m.Latency == nil {
			t.Errorf("row %d: %+v", i, m)
		}
	}
}

// TestFit: whatever there is to say, the status stays within its bound, and says what it must.
func TestFit(t *testing.T) {
	all := []string{"write", "read", "randomRead", "backwardRead", "skipRead", "append", "truncate", "clean"}
	operations := []string{"create", "mkdirs", "open", "delete", "append", "fileStatus", "rename", "blockReport", "replication"}
	workloads := []string{"load", "workload-a", "workload-b", "workload-c", "workload-d", "workload-e", "workload-f"}
	for name, tests := range map[string][]string{"one test": all[:1], "what this version measures": all[:2], "all of TestDFSIO's tests": all, "all operations": operations, "all workloads": workloads} {
		t.Run(name, func(t *testing.T) {
			st, before := largestStatus(tests), largestStatus(tests)
			if name == "all workloads" {
				withMetrics(st)
				withMetrics(before)
			}
			Fit(st)
			t.Logf("from %d to %d bytes", size(before), size(st))
			if size(st) > MaxStatusBytes {
				t.Errorf("the status takes %d bytes", size(st))
			}
			if len(st.Steps) != len(before.Steps) || len(st.Conditions) != 7 || st.Failure.Message != before.Failure.Message {
				t.Errorf("%d rows, %d conditions, failure %v", len(st.Steps), len(st.Conditions), st.Failure)
			}
			headlines := 0
			for _, a := range st.Aggregates {
				if a.Figure == report.FigureAggregate {
					headlines++
				}
			}
			if headlines != len(tests) {
				t.Errorf("%d of %d tests have their headline", headlines, len(tests))
			}
			for i := range st.Steps {
				keepsCounts(t, &before.Steps[i], &st.Steps[i], len(tests) <= 2)
			}
			again := st.DeepCopy()
			Fit(again)
			if diff := cmp.Diff(st, again); diff != "" {
				t.Errorf("fitting again changes the status (-once +twice):\n%s", diff)
			}
		})
	}
}

// keepsCounts compares what no row may lose, and what none loses that this version can have.
func keepsCounts(t *testing.T, before, after *v1alpha1.StepStatus, all bool) {
	t.Helper()
	type counts struct {
		Name                       string
		Repeat, Attempt            int32
		State                      v1alpha1.StepState
		Expected, Reported, Failed int32
		Operations, Bytes, Errors  int64
		Doubt                      string
	}
	of := func(row *v1alpha1.StepStatus) counts {
		if !all {
			row.Result.Operations, row.Result.Bytes, row.Result.Errors = 0, 0, 0
		}
		return counts{
			row.Name, row.Repeat, row.Attempt, row.State, row.Shards.Expected, row.Shards.Reported, row.Shards.Failed,
			row.Result.Operations, row.Result.Bytes, row.Result.Errors, row.Result.Invalid[0].Reason,
		}
	}
	if diff := cmp.Diff(of(before), of(after)); diff != "" {
		t.Errorf("row lost what it must keep (-before +after):\n%s", diff)
	}
}

func TestFitLeavesAloneWhatFits(t *testing.T) {
	st := largestStatus([]string{"write"})
	st.Steps = st.Steps[:2]
	want := st.DeepCopy()
	Fit(st)
	if diff := cmp.Diff(want, st); diff != "" {
		t.Errorf("a status of %d bytes was changed (-want +got):\n%s", size(want), diff)
	}
}

// TestFitDropsFromTheOldest: the latest measurement is what one looks at.
func TestFitDropsFromTheOldest(t *testing.T) {
	st := largestStatus([]string{"write"})
	for i := range st.Steps {
		st.Steps[i].Message, st.Steps[i].Stop, st.Steps[i].Result.IntendedLatency = "", nil, nil
	}
	st.Steps, st.Aggregates, st.Environment.ShardsPerNode = st.Steps[:7], st.Aggregates[:14], nil
	Fit(st)
	first, last := st.Steps[0].Result, st.Steps[6].Result
	if first.Outliers != nil || len(last.Outliers) != 9 || len(first.Rates) != 7 || len(first.Invalid) != 8 {
		t.Errorf("first row %d outliers, %d rates, %d doubts; last row %d outliers", len(first.Outliers), len(first.Rates), len(first.Invalid), len(last.Outliers))
	}
}

// TestFitKeepsWhatDecides: the step under way, and the Jobs of failed steps, are decided by.
func TestFitKeepsWhatDecides(t *testing.T) {
	st := largestStatus([]string{"write", "read", "randomRead", "backwardRead", "skipRead", "append", "truncate"})
	st.Steps = append(st.Steps, largestRow("clean", 1, v1alpha1.StepStopping))
	st.Steps[0].State = v1alpha1.StepFailed
	before := st.DeepCopy()
	Fit(st)
	last := len(st.Steps) - 1
	if diff := cmp.Diff(before.Steps[last], st.Steps[last]); diff != "" {
		t.Errorf("the step under way was changed (-before +after):\n%s", diff)
	}
	if st.Steps[0].Job != before.Steps[0].Job {
		t.Errorf("the failed step's Job is %q", st.Steps[0].Job)
	}
}
