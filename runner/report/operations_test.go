package report

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// operationsReport is a shard that carried out an operation at the end of each tenth of a second between two times, in
// tenths after t0, at a rate.
func operationsReport(index int32, from, to int64) *Report {
	const tenth = 100_000
	r := simpleReport(index, from*tenth, to*tenth, 0, to-from)
	b := &r.Body
	b.Planned, b.Due, b.SetUp = to-from, to-from+1, second*int64(index+1)
	b.Series, b.Latency, b.Intended = NewSeries(t0, tenth), NewHistogram(DefaultScale), NewHistogram(DefaultScale)
	for k := from; k < to; k++ {
		b.Series.Add(t0+k*tenth+tenth-1, 1)
		b.Latency.Record(1_000_000)
		b.Intended.Record(2_000_000 + int64(index))
	}
	return r
}

// Where no bytes move, operations are counted, and what a rate adds is merged.
func TestMergeOfOperations(t *testing.T) {
	m := mustMerge(t, MergeInput{Expected: 2, Reports: []*Report{operationsReport(0, 0, 20), operationsReport(1, 2, 20)}})
	if m.Operations != 38 || m.Due != 40 || m.Planned != 38 || m.SetUpMaxMicros != 2*second {
		t.Errorf("%d operations of %d, %d due, set-up %d", m.Operations, m.Planned, m.Due, m.SetUpMaxMicros)
	}
	if m.Intended.Count != 38 || m.Intended.Min != 2_000_000 || m.Intended.Max != 2_000_001 || m.IntendedHistogram.Count() != 38 || m.Latency.Max != 1_000_000 {
		t.Errorf("intended %+v, latency %+v", m.Intended, m.Latency)
	}
	want := []Figure{{FigureOps, 19}, {FigureWindowOps, 20}, {FigureUpstreamOps, 19}}
	if diff := cmp.Diff(want, m.Figures()[:3]); diff != "" {
		t.Errorf("rates (-want +got):\n%s", diff)
	}
	if m.Rates.WindowMicros != 1_800_000 {
		t.Errorf("window of %d µs", m.Rates.WindowMicros)
	}
	if s := m.Slowest[0]; s.Index != 0 && s.Operations == 0 {
		t.Errorf("slowest %+v", s)
	}
}

// Slow and fast shards are told by operations where no bytes move.
func TestOutliersByOperations(t *testing.T) {
	fast, slow := simpleReport(0, 0, second, 0, 500), simpleReport(1, 0, second, 0, 100)
	m := mustMerge(t, MergeInput{Expected: 2, Reports: []*Report{fast, slow}})
	if m.Slowest[0].Index != 1 || m.Fastest[0].Index != 0 || m.Slowest[0].Operations != 100 {
		t.Errorf("slowest %+v, fastest %+v", m.Slowest, m.Fastest)
	}
}

func TestFiguresOfARateAreAggregated(t *testing.T) {
	m := mustMerge(t, MergeInput{Expected: 1, Reports: []*Report{operationsReport(0, 0, 20)}})
	a, err := AggregateRepeats([]*Merged{m, m})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range a.Stats {
		names = append(names, s.Name)
	}
	want := []string{
		"opsPerSec", "windowOpsPerSec", "upstreamOpsPerSec",
		"latencyMeanNanos", "latencyP50Nanos", "latencyP90Nanos", "latencyP95Nanos", "latencyP99Nanos", "latencyP999Nanos", "latencyMaxNanos",
		"intendedMeanNanos", "intendedP50Nanos", "intendedP90Nanos", "intendedP95Nanos", "intendedP99Nanos", "intendedP999Nanos", "intendedMaxNanos",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if a.PooledIntended == nil || a.PooledIntended.Count != 40 || a.Pooled.Count != 40 {
		t.Errorf("pooled %+v, intended %+v", a.Pooled, a.PooledIntended)
	}
}

// A merged result is stored and read again, whole; one from before there were operations, too.
func TestMergedOperationsRoundTrip(t *testing.T) {
	want := mustMerge(t, MergeInput{Expected: 1, Reports: []*Report{operationsReport(0, 0, 20)}})
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
	old := new(Merged)
	if err := json.Unmarshal([]byte(readTestdata(t, "merged.json")), old); err != nil || old.Intended != nil || old.Due != 0 {
		t.Errorf("a result without the new fields: %v, %+v", err, old.Intended)
	}
}

// Two wide distributions fit: both lose resolution, one no more than half of what the other keeps, and the report that is encoded stays as it is.
func TestEncodeSqueezesBothDistributions(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	r := operationsReport(0, 0, 600)
	r.Body.Latency, r.Body.Intended = NewHistogram(DefaultScale), NewHistogram(DefaultScale)
	for range 200_000 {
		v := int64(math.Exp(random.Float64() * 30))
		r.Body.Latency.Record(v)
		r.Body.Intended.Record(2 * v)
	}
	r.Body.Operations, r.Body.SetUp = 200_000, 77
	got, err := Decode(mustEncode(t, r))
	if err != nil {
		t.Fatal(err)
	}
	if a, b := got.Body.Latency, got.Body.Intended; a.Scale() < b.Scale() || a.Scale() > b.Scale()+1 || a.Count() != 200_000 || b.Sum() != r.Body.Intended.Sum() || b.Scale() >= DefaultScale {
		t.Errorf("scales %d and %d, counts %d and %d", a.Scale(), b.Scale(), a.Count(), b.Count())
	}
	if got.Body.SetUp != 77 || got.Body.Due != 601 || r.Body.Intended.Scale() != DefaultScale {
		t.Errorf("set-up %d, due %d, scale of the original %d", got.Body.SetUp, got.Body.Due, r.Body.Intended.Scale())
	}
}
