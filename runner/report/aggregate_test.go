package report

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestStatOf(t *testing.T) {
	for name, tc := range map[string]struct {
		values []float64
		want   Stat
	}{
		"one":        {[]float64{5}, Stat{Name: "x", N: 1, Mean: 5, Min: 5, Max: 5}},
		"two":        {[]float64{1, 3}, Stat{Name: "x", N: 2, Mean: 2, Min: 1, Max: 3, StdDev: ptr(1.4142135623730951), CV: ptr(0.7071067811865476)}},
		"three":      {[]float64{2, 4, 9}, Stat{Name: "x", N: 3, Mean: 5, Min: 2, Max: 9, StdDev: ptr(3.605551275463989), CV: ptr(0.7211102550927978)}},
		"equal":      {[]float64{7, 7, 7}, Stat{Name: "x", N: 3, Mean: 7, Min: 7, Max: 7, StdDev: ptr(0.0), CV: ptr(0.0)}},
		"zero mean":  {[]float64{0, 0}, Stat{Name: "x", N: 2, StdDev: ptr(0.0)}},
		"far from 0": {[]float64{1e15 + 1, 1e15 + 2, 1e15 + 3}, Stat{Name: "x", N: 3, Mean: 1e15 + 2, Min: 1e15 + 1, Max: 1e15 + 3, StdDev: ptr(1.0), CV: ptr(1 / (1e15 + 2))}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, statOf("x", tc.values)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestFiguresNamesAreTheJSONFields(t *testing.T) {
	m := mustMerge(t, MergeInput{Expected: 1, Reports: []*Report{fullReport2(0)}})
	data, err := json.Marshal(m.Rates)
	if err != nil {
		t.Fatal(err)
	}
	rates := map[string]float64{}
	if err := json.Unmarshal(data, &rates); err != nil {
		t.Fatal(err)
	}
	delete(rates, "windowMicros") // the window's length is no figure to compare by
	got := map[string]float64{}
	for _, f := range m.Figures()[:7] {
		got[f.Name] = f.Value
	}
	if diff := cmp.Diff(rates, got); diff != "" {
		t.Errorf("(-JSON +figures):\n%s", diff)
	}
}

func TestAggregateRepeats(t *testing.T) {
	repeat := func(micros int64, latencies ...int64) *Merged {
		r := simpleReport(0, 0, micros, 10*mebi, int64(len(latencies)))
		r.Body.Latency = NewHistogram(DefaultScale)
		for _, v := range latencies {
			r.Body.Latency.Record(v)
		}
		return mustMerge(t, MergeInput{Expected: 1, Reports: []*Report{r}})
	}
	// 10 and 5 MiB/s; one repeat is fast and short, so pooling weighs the other more.
	got, err := AggregateRepeats([]*Merged{repeat(second, 10, 10), repeat(2*second, 30, 30, 30, 30, 30, 30)})
	if err != nil {
		t.Fatal(err)
	}
	stat := func(name string, a, b, deviation float64) Stat {
		mean := (a + b) / 2
		s := Stat{Name: name, N: 2, Mean: mean, Min: min(a, b), Max: max(a, b), StdDev: &deviation}
		s.CV = quotient(deviation, mean)
		return s
	}
	const root = 1.4142135623730951
	want := &Aggregate{
		Repeats: 2,
		Stats: []Stat{
			stat(FigureAggregate, 10, 5, 2.5*root), stat(FigurePerStream, 10, 5, 2.5*root),
			stat(FigureAverageIO, 10, 5, 2.5*root), stat(FigureIODeviation, 0, 0, 0),
			stat(FigureIOPS, 2, 3, root/2), stat(FigureMeanIO, 5*mebi, 10*mebi/6.0, root/2*(5*mebi-10*mebi/6.0)),
			stat(FigureMeanLatency, 10, 30, 10*root), stat(FigureP50, 10, 30, 10*root), stat(FigureP90, 10, 30, 10*root),
			stat(FigureP95, 10, 30, 10*root), stat(FigureP99, 10, 30, 10*root), stat(FigureP999, 10, 30, 10*root),
			stat(FigureMaxLatency, 10, 30, 10*root),
		},
		Pooled: &Latency{
			Count: 8, Mean: 25, Min: 10, P50: 30, P90: 30, P95: 30, P99: 30, P999: 30, Max: 30,
			RelativeError: NewHistogram(DefaultScale).RelativeError(),
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-6, 1e-9)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAggregateOfPartlyAbsentFigures(t *testing.T) {
	with := mustMerge(t, MergeInput{Expected: 1, Reports: []*Report{steady(0, 0, 10)}})
	without := mustMerge(t, MergeInput{Expected: 1, Reports: []*Report{steady(0, 0, 4)}})
	a, err := AggregateRepeats([]*Merged{with, without, without})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range a.Stats {
		if want := map[bool]int{true: 1, false: 3}[s.Name == FigureWindow]; s.N != want {
			t.Errorf("%s: n is %d, want %d", s.Name, s.N, want)
		}
	}
	if a.Pooled != nil {
		t.Errorf("pooled without latencies: %v", a.Pooled)
	}
}

func TestAggregateRefuses(t *testing.T) {
	if _, err := AggregateRepeats(nil); err == nil {
		t.Error("no repeats were aggregated")
	}
	large := NewHistogram(0)
	large.Record(maxInt64)
	if _, err := AggregateRepeats([]*Merged{{Histogram: large}, {Histogram: large}}); err == nil {
		t.Error("sums that do not fit were pooled")
	}
}
