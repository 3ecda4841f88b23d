package results

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/report"
)

// mixedInput is an attempt of n shards that each tried 1,000 operations at a rate in 10 s: 600 reads of 1 ms and 396
// updates of 2 ms succeeded, 4 updates failed after 50 ms.
func mixedInput(repeat, n int32) Input {
	in := input("workload-a", repeat, n)
	in.Headlines = []string{report.FigureOps}
	record := func(count int, nanos int64) *report.Histogram {
		h := report.NewHistogram(report.DefaultScale)
		for range count {
			h.Record(nanos)
		}
		return h.Clone()
	}
	for i := range in.Shards {
		b := &in.Shards[i].Report.Body
		b.Bytes, b.Series, b.Operations, b.Tried, b.Planned, b.Due = 0, nil, 996, 1000, 1000, 1000
		b.Errors = []report.ErrorCount{{Class: "TimeoutException", Count: 4, First: "late"}}
		b.Parts = []report.Part{
			{Name: "READ", Returns: report.Returns{{Status: "OK", Count: 600}}, Latency: record(600, 1_000_000), Intended: record(600, 1_500_000)},
			{Name: "UPDATE", Returns: report.Returns{{Status: "OK", Count: 396}, {Status: "ERROR", Count: 4}}, Latency: record(396, 2_000_000), Intended: record(396, 2_500_000)},
			{Name: "UPDATE-FAILED", Latency: record(4, 50_000_000), Intended: record(4, 50_000_000)},
		}
		b.Latency, b.Intended = record(600, 1_000_000), nil
		if err := b.Latency.Merge(b.Parts[1].Latency); err != nil {
			panic(err)
		}
	}
	return in
}

// TestMeasureMixedOperations: the status tells of each kind of operations beside what it tells of all.
func TestMeasureMixedOperations(t *testing.T) {
	p := measure(t, mixedInput(1, 2), nil)
	r := p.Result
	if r.Operations != 1992 || r.Tried != 2000 || r.Errors != 8 || r.Headline != report.FigureOps || len(r.Invalid) != 1 || r.Invalid[0].Reason != v1alpha1.ReasonOperationErrors {
		t.Errorf("result %+v", r)
	}
	want := []v1alpha1.Figure{{Name: "opsPerSec", Value: "199.200"}, {Name: "upstreamOpsPerSec", Value: "200.000"}}
	if diff := cmp.Diff(want, r.Rates); diff != "" {
		t.Errorf("rates (-want +got):\n%s", diff)
	}
	var got []string
	for _, m := range r.Metrics {
		got = append(got, fmt.Sprintf("%s %d [%s] %s/s p99 %d intended %d", m.Name, m.Count, m.Returns, m.OpsPerSec, m.Latency.P99Micros, m.IntendedLatency.MaxMicros))
	}
	wantMetrics := []string{
		"READ 1200 [OK=1200] 120.000/s p99 1000 intended 1500", "UPDATE 792 [OK=792 ERROR=8] 79.200/s p99 2000 intended 2500",
		"UPDATE-FAILED 8 [] 0.800/s p99 50000 intended 50000",
	}
	if diff := cmp.Diff(wantMetrics, got); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
	wantLine := "workload-a: 1992 operations on 2 shards in 10.0 s: 199.2 ops/s, READ p50 1.0 ms p99 1.0 ms intended p50 1.5 ms p99 1.5 ms, " +
		"UPDATE p50 2.0 ms p99 2.0 ms intended p50 2.5 ms p99 2.5 ms, 8 failed"
	if p.Line != wantLine {
		t.Errorf("line %q, want %q", p.Line, wantLine)
	}
}

// TestAggregatesOfMixedOperations: over the repeats the status has what is asked for first, report.json all of it.
func TestAggregatesOfMixedOperations(t *testing.T) {
	doc := execution(t, mixedInput(1, 2), mixedInput(2, 2))
	got := map[string]string{}
	for _, a := range doc.Aggregates() {
		if ofPart(a.Figure) {
			got[a.Figure] = a.Mean
		}
	}
	want := map[string]string{
		"read.opsPerSec": "120.000", "read.latencyMeanNanos": "1000000.000", "read.latencyP99Nanos": "1000000.000", "read.intendedP99Nanos": "1500000.000",
		"update.opsPerSec": "79.200", "update.latencyMeanNanos": "2000000.000", "update.latencyP99Nanos": "2000000.000", "update.intendedP99Nanos": "2500000.000",
		"updateFailed.opsPerSec": "0.800", "updateFailed.latencyMeanNanos": "50000000.000", "updateFailed.latencyP99Nanos": "50000000.000", "updateFailed.intendedP99Nanos": "50000000.000",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("aggregates (-want +got):\n%s", diff)
	}
	var pooled []string
	for _, p := range doc.PooledLatencies() {
		pooled = append(pooled, fmt.Sprintf("%s %q %d", p.Step, p.Metric, p.Latency.Count))
	}
	wantPooled := []string{`workload-a "" 3984`, `workload-a "READ" 2400`, `workload-a "UPDATE" 1584`, `workload-a "UPDATE-FAILED" 16`}
	if diff := cmp.Diff(wantPooled, pooled); diff != "" {
		t.Errorf("pooled (-want +got):\n%s", diff)
	}
	all := 0
	for _, s := range doc.Steps[0].Stats {
		if ofPart(s.Name) {
			all++
		}
	}
	if all != 3*15 {
		t.Errorf("report.json has %d figures of parts", all)
	}
	if want, got := "workload-a 199.2 ops/s (n=2, CV 0.0 %)", Summary(doc.Aggregates(), []string{report.FigureOps}); got != want {
		t.Errorf("summary %q, want %q", got, want)
	}
}
