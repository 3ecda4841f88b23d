package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func mustMerge(t *testing.T, in MergeInput) *Merged {
	t.Helper()
	m, err := Merge(in)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func ptr[T any](v T) *T { return &v }

// threeShards are shards of 10 MiB at different times and clocks. By the target's clock they run from 0 to 1 s, from 20
// ms to 2 s, and from 10 ms to 1.5 s after t0.
func threeShards() MergeInput {
	a := simpleReport(0, 0, second, 10*mebi, 10)
	b := simpleReport(1, 0, 1_980_000, 10*mebi, 20)
	b.Body.Clock = &Clock{OffsetMicros: 20_000, UncertaintyMicros: 300}
	b.Body.Errors = []ErrorCount{{"EOFException", 2, "first"}, {"IOException", 1, ""}}
	b.Body.Client = &ClientUse{CPUMicros: 990_000, AllowanceMilli: 1000, ThrottledMicros: 19_800}
	c := simpleReport(2, 60_000, 1_550_000, 10*mebi, 30)
	c.Body.Clock = &Clock{OffsetMicros: -50_000, UncertaintyMicros: 200}
	c.Body.Errors = []ErrorCount{{"IOException", 4, "late"}, {"EOFException", 1, "second"}}
	c.Body.Client = &ClientUse{CPUMicros: 1_490_000, AllowanceMilli: 4000}
	c.Envelope.Outcome, c.Envelope.ExitCode = Partial, ExitDeadline
	c.Envelope.Failure = &Failure{Reason: "Deadline", Message: "too slow"}
	return MergeInput{Expected: 4, Reports: []*Report{c, a, b}, Nodes: map[int32]string{0: "n0", 1: "n1", 2: "n2"}}
}

func TestMerge(t *testing.T) {
	got := mustMerge(t, threeShards())
	row := func(index int32, outcome Outcome, start, exec, ops, errs, cpu int64) ShardRow {
		return ShardRow{
			Index: index, Node: fmt.Sprintf("n%d", index), Outcome: outcome, StartMicros: start, ExecMicros: exec,
			Bytes: 10 * mebi, Operations: ops, Errors: errs, CPUPermille: cpu,
		}
	}
	want := &Merged{
		Identity:   identity(),
		Shards:     ShardCounts{Expected: 4, Complete: 2, Partial: 1, Missing: 1, Started: 3},
		Operations: 60, Bytes: 30 * mebi, Planned: 30 * mebi,
		Errors: []ErrorCount{{"IOException", 5, "late"}, {"EOFException", 3, "first"}},
		Times: Times{
			FirstStart: t0, LastStart: t0 + 20_000, StartSpreadMicros: 20_000, FirstEnd: t0 + second,
			LastEnd: t0 + 2*second, WallMicros: 2 * second, SumExecMicros: 4_470_000, MinExecMicros: second,
			MaxExecMicros: 1_980_000,
		},
		Rates: Rates{
			AggregateMiBps: ptr(15.0), PerStreamMiBps: ptr(float64(float32(30) / float32(4.47))),
			AverageIORateMiBps: ptr(7.25397), IORateStdDevMiBps: ptr(2.05672),
			IOPS: ptr(30.0), MeanIOBytes: ptr(524288.0),
		},
		Clock: Clocks{Unknown: 1, MaxOffsetMicros: 50_000, MaxOffsetIndex: 2, MaxUncertaintyMicros: 300},
		Use: &Use{
			MaxCPURatio: 0.5, MaxCPUIndex: 1, MaxCPUNode: "n1", MaxThrottledRatio: 0.01, MaxThrottledIndex: 1,
			MaxThrottledNode: "n1",
		},
		Slowest: []ShardRow{row(1, Complete, 20_000, 1_980_000, 20, 3, 500), row(2, Partial, 10_000, 1_490_000, 30, 5, 250)},
		Fastest: []ShardRow{row(0, Complete, 0, second, 10, 0, 0)},
		Failed: []FailedShard{{
			Index: 2, Node: "n2", Outcome: Partial, ExitCode: ExitDeadline,
			Failure: &Failure{Reason: "Deadline", Message: "too slow"},
		}},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 0.00001)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A merged result is stored and read again, whole.
func TestMergedRoundTrip(t *testing.T) {
	in := threeShards()
	in.Reports = append(in.Reports, fullReport())
	want := mustMerge(t, in)
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got := new(Merged)
	if err := json.Unmarshal(data, got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMergeDoesNotDependOnOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(71, 72))
	in := MergeInput{Expected: 50}
	for i := range in.Expected {
		r := simpleReport(i, random.Int64N(1000), second+random.Int64N(second), 1+random.Int64N(1<<40), 5)
		r.Body.Errors = []ErrorCount{{fmt.Sprintf("E%d", i%23), 1 + int64(i%3), fmt.Sprintf("of shard %d", i)}}
		in.Reports = append(in.Reports, r)
	}
	want, err := json.Marshal(mustMerge(t, in))
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		random.Shuffle(len(in.Reports), func(i, j int) { in.Reports[i], in.Reports[j] = in.Reports[j], in.Reports[i] })
		got, err := json.Marshal(mustMerge(t, in))
		if err != nil || string(got) != string(want) {
			t.Fatalf("%v\ngot  %s\nwant %s", err, got, want)
		}
	}
}

func TestMergeLeavesReportsAlone(t *testing.T) {
	a, b := fullReport(), fullReport()
	b.Envelope.Index = 0
	b.Body.Latency.Downscale(3)
	want := fullReport()
	m := mustMerge(t, MergeInput{Expected: 4, Reports: []*Report{a, b}})
	if diff := cmp.Diff(want, a); diff != "" {
		t.Errorf("a report changed (-want +got):\n%s", diff)
	}
	if m.Histogram.Scale() != 3 || m.Latency.Count != 4000 || m.Series.Total() != 2*a.Body.Bytes {
		t.Errorf("scale %d, count %d, series %d", m.Histogram.Scale(), m.Latency.Count, m.Series.Total())
	}
}

func TestMergeRefuses(t *testing.T) {
	one := func(change func(*Report)) MergeInput {
		a, b := fullReport(), fullReport()
		b.Envelope.Index = 1
		change(b)
		return MergeInput{Expected: 4, Reports: []*Report{a, b}}
	}
	for name, tc := range map[string]struct {
		in   MergeInput
		want error // nil: any
	}{
		"nothing":         {MergeInput{Expected: 4}, nil},
		"twice":           {one(func(r *Report) { r.Envelope.Index = 3 }), nil},
		"out of range":    {one(func(r *Report) { r.Envelope.Index = 4 }), nil},
		"another attempt": {one(func(r *Report) { r.Envelope.Attempt = 2 }), nil},
		"another run":     {one(func(r *Report) { r.Envelope.RunUID = "x" }), nil},
		"invalid":         {one(func(r *Report) { r.Body.Bytes = -1 }), ErrInvalid},
		"operations":      {one(func(r *Report) { r.Body.Errors, r.Body.Operations = nil, maxInt64 }), ErrOverflow},
		"bytes":           {one(func(r *Report) { r.Body.Bytes = maxInt64 }), ErrOverflow},
		"errors": {MergeInput{Expected: 4, Reports: []*Report{
			simpleReportWithErrors(0, maxInt64-1000), simpleReportWithErrors(1, 2000),
		}}, ErrOverflow},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := Merge(tc.in)
			if err == nil || m != nil {
				t.Fatalf("got %v, %v", m, err)
			}
			if tc.want != nil && !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
		})
	}
}

// Shards without a common start have series that do not align. That costs the window, not the result.
func TestMergeWithoutACommonStart(t *testing.T) {
	want := mustMerge(t, MergeInput{Expected: 3, Reports: []*Report{steady(0, 0, 10), steady(1, 0, 10), steady(2, 0, 10)}})
	if want.Series == nil || want.SeriesMismatch || want.Rates.WindowMiBps == nil {
		t.Fatalf("aligned: %+v", want)
	}
	want.Series, want.SeriesMismatch = nil, true
	want.Rates.WindowMiBps, want.Rates.WindowMicros = nil, 0
	for odd := range int32(3) {
		in := MergeInput{Expected: 3}
		for i := range int32(3) {
			r := steady(i, 0, 10)
			if i == odd {
				r.Body.Series = NewSeries(t0+1, DefaultSeriesMicros)
				r.Body.Series.Add(t0+2, mebi)
			}
			in.Reports = append(in.Reports, r)
		}
		if diff := cmp.Diff(want, mustMerge(t, in)); diff != "" {
			t.Errorf("shard %d is odd (-want +got):\n%s", odd, diff)
		}
	}
}

func simpleReportWithErrors(index int32, count int64) *Report {
	r := simpleReport(index, 0, 10, 1, 1)
	r.Body.Errors = []ErrorCount{{Class: "E", Count: count}}
	return r
}

func TestBoundClasses(t *testing.T) {
	for name, tc := range map[string]struct {
		in, want []ErrorCount
		err      error
	}{
		"none":          {nil, nil, nil},
		"by count":      {[]ErrorCount{{"B", 1, ""}, {"A", 1, ""}, {"C", 9, ""}}, []ErrorCount{{"C", 9, ""}, {"A", 1, ""}, {"B", 1, ""}}, nil},
		"rarest":        {[]ErrorCount{{"A", 4, ""}, {"B", 3, ""}, {"C", 2, ""}, {"D", 1, "d"}, {"E", 1, "e"}}, []ErrorCount{{"A", 4, ""}, {"B", 3, ""}, {"C", 2, ""}, {OtherErrors, 2, "d"}}, nil},
		"other is last": {[]ErrorCount{{OtherErrors, 99, "o"}, {"A", 1, ""}}, []ErrorCount{{"A", 1, ""}, {OtherErrors, 99, "o"}}, nil},
		"overflow":      {[]ErrorCount{{OtherErrors, maxInt64, ""}, {"A", 4, ""}, {"B", 3, ""}, {"C", 2, ""}, {"D", 1, "d"}}, nil, ErrOverflow},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := boundClasses(tc.in, 3)
			if !errors.Is(err, tc.err) {
				t.Fatalf("got %v", err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestMergeOfShardsThatNeverStarted(t *testing.T) {
	m := mustMerge(t, MergeInput{Expected: 1, Reports: []*Report{failedReport()}})
	want := &Merged{
		Identity: identity(), Shards: ShardCounts{Expected: 1, Failed: 1},
		Failed: []FailedShard{{Outcome: Failed, ExitCode: ExitTarget, Failure: failedReport().Envelope.Failure}},
	}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOutliersAreBoundedAndDistinct(t *testing.T) {
	for _, n := range []int32{1, 2, 3, 4, 9, 10, 11, 100} {
		in := MergeInput{Expected: n}
		for i := range n {
			in.Reports = append(in.Reports, simpleReport(i, 0, second+int64((i*37)%101), 1000, 1))
		}
		m := mustMerge(t, in)
		if want := min(MaxOutliers, (int(n)+1)/2); len(m.Slowest) != want {
			t.Errorf("%d shards: %d slowest, want %d", n, len(m.Slowest), want)
		}
		if want := min(MaxOutliers, int(n)/2); len(m.Fastest) != want {
			t.Errorf("%d shards: %d fastest, want %d", n, len(m.Fastest), want)
		}
		if m.Slowest[0].ExecMicros != m.Times.MaxExecMicros {
			t.Errorf("%d shards: the slowest took %d, the longest %d", n, m.Slowest[0].ExecMicros, m.Times.MaxExecMicros)
		}
		if n > 1 && m.Fastest[0].ExecMicros != m.Times.MinExecMicros {
			t.Errorf("%d shards: the fastest took %d, the shortest %d", n, m.Fastest[0].ExecMicros, m.Times.MinExecMicros)
		}
	}
}

// Ten thousand shards of different distributions: the percentiles of the merged histogram, after every fourth report went
// through its text, are within 1.1 % of those of all the values together.
func TestTenThousandReports(t *testing.T) {
	const shards, perShard = 10_000, 100
	shapes := distributions()
	delete(shapes, "small") // rounding to whole nanoseconds matters there, and has a test of its own
	names := make([]string, 0, len(shapes))
	for name := range shapes {
		names = append(names, name)
	}
	slices.Sort(names)
	in := MergeInput{Expected: shards, Nodes: map[int32]string{}}
	values := make([]int64, 0, shards*perShard)
	for i := range int32(shards) {
		random := rand.New(rand.NewPCG(81, uint64(i)))
		h := NewHistogram(DefaultScale)
		s := NewSeries(t0, DefaultSeriesMicros)
		for k := range perShard {
			v := shapes[names[int(i)%len(names)]](random)
			values = append(values, v)
			h.Record(v)
			s.Add(t0+int64(k+1)*100_000, mebi)
		}
		r := simpleReport(i, 0, 11*second, perShard*mebi, perShard)
		r.Body.Latency, r.Body.Series = h.Clone(), s
		if i%4 == 0 {
			var err error
			if r, err = Decode(mustEncode(t, r)); err != nil {
				t.Fatal(err)
			}
		}
		in.Reports = append(in.Reports, r)
		in.Nodes[i] = fmt.Sprintf("worker-%03d.example.org", i%500)
	}
	m := mustMerge(t, in)
	checkQuantiles(t, m.Histogram, values)
	if e := m.Latency.RelativeError; e > 0.011 {
		t.Errorf("the stated error is %v", e)
	}
	for _, q := range testQuantiles() {
		got, want := float64(m.Histogram.Quantile(q)), float64(exactQuantile(values, q))
		if math.Abs(got-want) > 0.011*want {
			t.Errorf("quantile %v is %v, exactly %v: off by more than 1.1 %%", q, got, want)
		}
	}
	if m.Series.Total() != shards*perShard*mebi || m.Bytes != m.Series.Total() {
		t.Errorf("series of %d, %d bytes", m.Series.Total(), m.Bytes)
	}
	data, err := json.Marshal(m)
	if err != nil || len(data) > 8<<10 {
		t.Errorf("the merged result takes %d bytes, %v", len(data), err)
	}
	checkRows(t, in)
}
