package report

import (
	"math"
	"testing"
)

func TestSpreadLimit(t *testing.T) {
	for name, tc := range map[string]struct{ shortest, want int64 }{
		"nothing":   {0, 0},
		"short":     {10 * second, 500_000},
		"at 20 s":   {20 * second, second},
		"long":      {3600 * second, second},
		"one below": {20*second - 20, second - 1},
	} {
		t.Run(name, func(t *testing.T) {
			if got := SpreadLimit(tc.shortest); got != tc.want {
				t.Errorf("got %d, want %d", got, tc.want)
			}
		})
	}
}

// steady is a shard that moves 1 MiB at the end of each tenth of a second between two times, in tenths after t0.
func steady(index int32, from, to int64) *Report {
	const tenth = 100_000
	r := simpleReport(index, from*tenth, to*tenth, (to-from)*mebi, to-from)
	r.Body.Series = NewSeries(t0, tenth)
	for k := from; k < to; k++ {
		r.Body.Series.Add(t0+k*tenth+tenth-1, mebi)
	}
	return r
}

func TestWindow(t *testing.T) {
	late := func(r *Report, micros int64) *Report {
		r.Body.Start += micros
		return r
	}
	noSeries := steady(1, 0, 10)
	noSeries.Body.Series = nil
	// The target's clock is 350 ms behind: what was done until T is filed in the first bucket, which then does not count.
	behind := steady(0, 0, 20)
	behind.Body.Clock = &Clock{OffsetMicros: -350_000}
	behind.Body.Series = NewSeries(t0, 100_000)
	behind.Body.Series.Shift(-350_000)
	for k := range int64(20) {
		behind.Body.Series.Add(t0+k*100_000+99_999, mebi)
	}
	for name, tc := range map[string]struct {
		reports  []*Report
		expected int32
		want     float64 // 0: absent
		micros   int64
	}{
		"all the time":           {[]*Report{steady(0, 0, 10), steady(1, 0, 10)}, 2, 20, second},
		"only the common part":   {[]*Report{steady(0, 0, 10), steady(1, 2, 12)}, 2, 20, 800_000},
		"edges snap inward":      {[]*Report{steady(0, 0, 10), late(steady(1, 0, 10), 1)}, 2, 20, 900_000},
		"five buckets":           {[]*Report{steady(0, 0, 5)}, 1, 10, 500_000},
		"four buckets":           {[]*Report{steady(0, 0, 4)}, 1, 0, 0},
		"exactly half the time":  {[]*Report{steady(0, 0, 10), steady(1, 0, 20)}, 2, 20, second},
		"under half the time":    {[]*Report{steady(0, 0, 10), steady(1, 0, 21)}, 2, 0, 0},
		"never together":         {[]*Report{steady(0, 0, 10), steady(1, 10, 20)}, 2, 0, 0},
		"a shard is missing":     {[]*Report{steady(0, 0, 10)}, 2, 0, 0},
		"a shard has no series":  {[]*Report{steady(0, 0, 10), noSeries}, 2, 0, 0},
		"no series at all":       {[]*Report{simpleReport(0, 0, second, 1, 1)}, 1, 0, 0},
		"amounts before T":       {[]*Report{behind}, 1, 10, 1_500_000},
		"wider buckets of one":   {[]*Report{steady(0, 0, 100), steady(1, 0, 60)}, 2, 20, 6 * second},
		"wide buckets, few left": {[]*Report{steady(0, 0, 1000)}, 1, 10, 99_200_000},
	} {
		t.Run(name, func(t *testing.T) {
			m := mustMerge(t, MergeInput{Expected: tc.expected, Reports: tc.reports})
			got := m.Rates.WindowMiBps
			if (got != nil) != (tc.want != 0) || m.Rates.WindowMicros != tc.micros {
				t.Fatalf("got %v over %d µs", got, m.Rates.WindowMicros)
			}
			if got != nil && *got != tc.want {
				t.Errorf("got %v MiB/s, want %v", *got, tc.want)
			}
		})
	}
}

// A rate that cannot be told is absent: the result must stay JSON, which knows neither infinity nor NaN.
func TestRatesThatCannotBeTold(t *testing.T) {
	for name, tc := range map[string]struct {
		r    *Report
		want Rates
	}{
		"no time":       {simpleReport(0, 0, 0, mebi, 1), Rates{MeanIOBytes: ptr(float64(mebi))}},
		"no operations": {simpleReport(0, 0, second, 0, 0), Rates{IOPS: ptr(0.0)}},
		"operations without bytes": {
			simpleReport(0, 0, 2*second, 0, 10), Rates{OpsPerSec: ptr(5.0), UpstreamOpsPerSec: ptr(5.0)},
		},
		"operations within a millisecond": {
			simpleReport(0, 0, 500, 0, 10), Rates{OpsPerSec: ptr(20_000.0), UpstreamOpsPerSec: ptr(0.0)},
		},
		"under a millisecond": {simpleReport(0, 0, 500, mebi, 1), Rates{
			AggregateMiBps: ptr(2000.0), IOPS: ptr(2000.0), MeanIOBytes: ptr(float64(mebi)),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			m := mustMerge(t, MergeInput{Expected: 1, Reports: []*Report{tc.r}})
			checkRates(t, tc.want, m.Rates)
		})
	}
}

func checkRates(t *testing.T, want, got Rates) {
	t.Helper()
	w, g := Merged{Rates: want}, Merged{Rates: got}
	wf, gf := w.Figures(), g.Figures()
	if len(wf) != len(gf) {
		t.Fatalf("got %v, want %v", gf, wf)
	}
	for i := range wf {
		if wf[i].Name != gf[i].Name || math.Abs(wf[i].Value-gf[i].Value) > 1e-9*wf[i].Value {
			t.Errorf("got %v, want %v", gf[i], wf[i])
		}
	}
}

// The three upstream figures are those that TestDFSIO prints for the same shards, to the last bit.
func TestUpstreamRatesAreThoseOfTheText(t *testing.T) {
	in := MergeInput{Expected: 2, Reports: []*Report{
		simpleReport(1, 500, 88_400, 3145728, 4), simpleReport(0, 0, 117_900, 3145728, 4),
	}}
	m := mustMerge(t, in)
	checks := map[string]struct {
		got  *float64
		want string
	}{
		"throughput": {m.Rates.PerStreamMiBps, "29.27"},
		"average":    {m.Rates.AverageIORateMiBps, "29.87"},
		"deviation":  {m.Rates.IORateStdDevMiBps, "4.22"},
	}
	for name, c := range checks {
		if c.got == nil || javaDecimal(*c.got) != c.want {
			t.Errorf("%s: got %v, want %s", name, c.got, c.want)
		}
	}
}
