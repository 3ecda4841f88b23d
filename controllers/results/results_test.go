package results

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/report"
)

func TestMeasure(t *testing.T) {
	in := input("write", 2, 4)
	in.Shards[3].Report = shardReport(in.Identity, 3, 100_000, 20*second)
	p := measure(t, in, nil)
	r := p.Result
	got := v1alpha1.StepResult{
		Operations: r.Operations, Bytes: r.Bytes, WallMicros: r.WallMicros, StartSpreadMicros: r.StartSpreadMicros, Headline: r.Headline, Invalid: r.Invalid,
	}
	want := v1alpha1.StepResult{
		Operations: 4096, Bytes: 4 << 30, WallMicros: 20 * second, StartSpreadMicros: 100_000, Headline: "aggregateMiBps",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	var rates []string
	for _, f := range r.Rates {
		rates = append(rates, f.Name+"="+f.Value)
	}
	// 4 GiB in 20 s; 4 GiB in 10+10+10+19.9 s; 3 shards at 102.4 and one at 1024/19.9 MiB/s; 4096 calls of 1 MiB in 20 s.
	wantRates := []string{
		"aggregateMiBps=204.800", "perStreamMiBps=82.084", "averageIORateMiBps=89.664", "ioRateStdDevMiBps=22.059", "iops=204.800", "meanIOBytes=1048576.000",
	}
	if diff := cmp.Diff(wantRates, rates); diff != "" {
		t.Errorf("rates (-want +got):\n%s", diff)
	}
	if l := r.Latency; l == nil || l.Count != 4096 || l.MinMicros != 9765 || l.MaxMicros != 19434 || l.RelativeError != "0.0108" {
		t.Errorf("latency %+v", r.Latency)
	}
	if want := "write: 4 files, 4.0 GiB in 20.0 s: aggregate 204.8 MiB/s, per stream 82.1 MiB/s, p99 of one 1.0 MB write 19.3 ms"; p.Line != want {
		t.Errorf("line %q, want %q", p.Line, want)
	}
	if want := "write 2: 4 reports, 4294967296 bytes\n"; p.Document.Text() != want {
		t.Errorf("text %q, want %q", p.Document.Text(), want)
	}
	rows, err := report.DecodeRows(p.Rows)
	if err != nil || len(rows) != 4 || rows[3].Node != "node-0" || rows[3].ExecMicros != 20*second-100_000 {
		t.Errorf("rows %+v, error %v", rows, err)
	}
}

// opsInput is an attempt of n shards that moved no bytes, with a rate.
func opsInput(n int32, headlines ...string) Input {
	in := input("create", 1, n)
	in.Headlines = headlines
	for i := range in.Shards {
		b := &in.Shards[i].Report.Body
		b.Bytes, b.Planned, b.Series, b.Due, b.SetUp = 0, 0, nil, 1024, int64(1+i)*second
		b.Intended = b.Latency.Clone()
	}
	return in
}

// TestMeasureOperations: where no bytes move, operations are what is quoted.
func TestMeasureOperations(t *testing.T) {
	r := measure(t, opsInput(2, report.FigureOps), nil).Result
	if r.Headline != "opsPerSec" || r.Operations != 2048 || r.DueOperations != 2048 || r.SetUpMicros != 2*second || r.IntendedLatency == nil || len(r.Invalid) != 0 {
		t.Errorf("result %+v", r)
	}
	for _, f := range r.Rates {
		if isLatency(f.Name) || f.Name == r.Headline && f.Value != "204.800" {
			t.Errorf("rate %+v", f)
		}
	}
	if d := measure(t, opsInput(2, report.FigureWindowOps, report.FigureOps), nil).Result; d.Headline != "opsPerSec" {
		t.Errorf("headline %s of a measurement without a window", d.Headline)
	}
}

// TestTextIsBounded: the text of thousands of fake DataNodes would take the room of all other measurements.
func TestTextIsBounded(t *testing.T) {
	in := input("blockReport", 1, 1)
	in.Text = func(report.MergeInput, *report.Merged) (string, error) { return "begin" + text(100_000) + "end", nil }
	got := measure(t, in, nil).Document.Text()
	if len(got) > maxText+64 || !strings.HasPrefix(got, "begin") || !strings.HasSuffix(got, "end") || !strings.Contains(got, "bytes left out") {
		t.Errorf("text of %d bytes", len(got))
	}
}

func TestOutliers(t *testing.T) {
	in := input("write", 1, 10)
	for i := range in.Shards {
		in.Shards[i].Report = shardReport(in.Identity, int32(i), 0, int64(10+i)*second)
	}
	in.Shards[4].Report = partial(in.Shards[4].Report)
	in.Shards[5].Report = nil
	p := measure(t, in, nil)
	var got []string
	for _, o := range p.Result.Outliers {
		got = append(got, fmt.Sprintf("%s %d %s/%s %s %d %d", o.Why, o.Index, o.Pod, o.Node, o.Outcome, o.ExecMicros/second, o.Operations))
	}
	want := []string{
		"Slowest 9 pod-9/node-0 Complete 19 1024", "Slowest 8 pod-8/node-2 Complete 18 1024", "Slowest 7 pod-7/node-1 Complete 17 1024",
		"Fastest 0 pod-0/node-0 Complete 10 1024", "Fastest 1 pod-1/node-1 Complete 11 1024", "Fastest 2 pod-2/node-2 Complete 12 1024",
		"Failed 4 pod-4/node-1 Partial 14 1024", "Failed 5 pod-5/node-2 Lost 0 0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outliers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]v1alpha1.Doubt{{Reason: v1alpha1.ReasonShardsMissing, Message: "8 of 10 shards have a complete report"}}, p.Result.Invalid[:1]); diff != "" {
		t.Errorf("first doubt (-want +got):\n%s", diff)
	}
}

func TestMeasureWithoutReports(t *testing.T) {
	in := input("write", 1, 5)
	for i := range in.Shards {
		in.Shards[i].Report = nil
	}
	p := measure(t, in, nil)
	want := &v1alpha1.StepResult{Invalid: []v1alpha1.Doubt{{Reason: v1alpha1.ReasonShardsMissing, Message: "0 of 5 shards have a complete report"}}}
	for i := range int32(3) {
		want.Outliers = append(want.Outliers, v1alpha1.ShardRow{Index: i, Why: "Failed", Pod: fmt.Sprintf("pod-%d", i), Node: fmt.Sprintf("node-%d", i), Outcome: "Lost"})
	}
	if diff := cmp.Diff(want, p.Result); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	if p.Rows != nil || p.Line != "none of 5 shards left a report" || p.Document.Aggregates() != nil {
		t.Errorf("rows %v, line %q, aggregates %v", p.Rows, p.Line, p.Document.Aggregates())
	}
}

// TestMeasureNothingBegan: reports of shards that never began have no text, which would be dated 1970 and full of NaN.
func TestMeasureNothingBegan(t *testing.T) {
	in := input("write", 1, 2)
	for i := range in.Shards {
		r := in.Shards[i].Report
		r.Envelope.Outcome, r.Envelope.ExitCode = report.Failed, report.ExitTarget
		r.Envelope.Failure = &report.Failure{Reason: "TargetUnreachable", Message: "no answer"}
		r.Body = report.Body{}
	}
	p := measure(t, in, nil)
	if got := p.Document.Text(); got != "" {
		t.Errorf("text %q of a measurement that never began", got)
	}
	if len(p.Result.Rates) != 0 || p.Result.Latency != nil || len(p.Result.Outliers) != 2 {
		t.Errorf("result %+v", p.Result)
	}
}

func TestMeasureRefuses(t *testing.T) {
	tests := map[string]func(*Input){
		"two reports of a shard": func(in *Input) { in.Shards[1].Report = in.Shards[0].Report },
		"another attempt":        func(in *Input) { in.Shards[1].Report.Envelope.Attempt = 2 },
		"text that fails": func(in *Input) {
			in.Text = func(report.MergeInput, *report.Merged) (string, error) { return "", errors.New("no such test") }
		},
	}
	for name, spoil := range tests {
		t.Run(name, func(t *testing.T) {
			in := input("write", 1, 2)
			spoil(&in)
			if p, err := Measure(in, nil); err == nil || p != nil {
				t.Errorf("Measure returns %v and error %v", p, err)
			}
		})
	}
}

func TestErrorClassesAreBounded(t *testing.T) {
	in := input("write", 1, 1)
	for i := range 12 {
		in.Shards[0].Report.Body.Errors = append(in.Shards[0].Report.Body.Errors, report.ErrorCount{Class: fmt.Sprintf("E%02d", i), Count: int64(100 - i), First: "text"})
	}
	r := measure(t, in, nil).Result
	if len(r.ErrorClasses) != maxErrorClasses || r.Errors != 12*100-66 {
		t.Errorf("%d classes, %d errors", len(r.ErrorClasses), r.Errors)
	}
	if diff := cmp.Diff(v1alpha1.ErrorClass{Class: "E00", Count: 100, First: "text"}, r.ErrorClasses[0]); diff != "" {
		t.Errorf("first class (-want +got):\n%s", diff)
	}
}

// TestTenThousandShards: status, rows and document stay within their bounds, and percentiles within 1.1 % of exact ones.
func TestTenThousandShards(t *testing.T) {
	const shards, calls = 10000, 20
	in := input("write", 1, 0)
	in.Expected = shards
	random := rand.New(rand.NewPCG(1, 2))
	var all []int64
	h := report.NewHistogram(report.DefaultScale)
	for i := range int32(shards) {
		*h = *report.NewHistogram(report.DefaultScale)
		for range calls {
			v := int64(random.ExpFloat64()*20e6) + 1e6
			all = append(all, v)
			h.Record(v)
		}
		r := shardReport(in.Identity, i, random.Int64N(400_000), 10*second+random.Int64N(second))
		r.Body.Operations, r.Body.Latency = 1024, h.Clone()
		in.Shards = append(in.Shards, Shard{Index: i, Pod: fmt.Sprintf("nightly-write-711d31e2-%d-abcde", i), Node: fmt.Sprintf("worker-%d.example.com", i%500), Report: r})
	}
	p := measure(t, in, nil)
	st := &v1alpha1.RunStatus{Steps: []v1alpha1.StepStatus{{Name: "write", Repeat: 1, State: v1alpha1.StepDone, Result: p.Result}}, Aggregates: p.Document.Aggregates()}
	doc, err := p.Document.Encode()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("status %d bytes, report.json %d, rows %d", size(st), len(doc), len(p.Rows))
	if size(st) > 8<<10 || len(doc) > 16<<10 || len(p.Rows) > 48*shards {
		t.Errorf("status %d bytes, report.json %d, rows %d", size(st), len(doc), len(p.Rows))
	}
	slices.Sort(all)
	for q, got := range map[float64]int64{0.5: p.Result.Latency.P50Micros, 0.9: p.Result.Latency.P90Micros, 0.99: p.Result.Latency.P99Micros, 0.999: p.Result.Latency.P999Micros} {
		want := float64(all[int(q*float64(len(all)))-1]) / 1000
		if off := (float64(got) - want) / want; off < -0.011 || off > 0.011 {
			t.Errorf("quantile %g is %d µs, exactly %.0f µs: off by %.2f %%", q, got, want, 100*off)
		}
	}
}

func TestDecimal(t *testing.T) {
	for in, want := range map[float64]string{0: "0.000", 0.0004: "0.000", 0.0006: "0.001", 1234567.8915: "1234567.891", 1e15: "1000000000000000.000"} {
		if got := Decimal(in); got != want {
			t.Errorf("Decimal(%v) = %q, want %q", in, got, want)
		}
	}
	if strings.ContainsAny(Decimal(1e300), "eE") {
		t.Error("a large figure is printed with an exponent")
	}
}
