package report

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// contractReport has every field of the document, with few values so that the text can be read.
func contractReport() *Report {
	h, s := NewHistogram(DefaultScale), NewSeries(t0, DefaultSeriesMicros)
	for _, v := range []int64{0, 1_000_000, 1_000_000, 2_500_000} {
		h.Record(v)
	}
	s.Add(t0+50_000, 2_000_000)
	s.Add(t0+250_000, 1_500_000)
	return &Report{
		Envelope: Envelope{
			Version: Version, Identity: identity(), Index: 2, Outcome: Partial, ExitCode: ExitInterrupted,
			Failure: &Failure{Reason: "Stopped", Message: "stop order: <Suspended>", Remedy: "resume it"},
		},
		Body: Body{
			Prepared: t0 - second, Start: t0 + 900, End: t0 + 300_000, CloseMicros: 1_000,
			Clock:      &Clock{OffsetMicros: -1500, UncertaintyMicros: 700},
			Operations: 4, Bytes: 3_500_000, Planned: 8_000_000, Tried: 5, Unfinished: 1,
			Errors:  []ErrorCount{{Class: "EOFException", Count: 1, First: "unexpected EOF"}},
			Latency: h, Series: s,
			Parts: []Part{
				{Name: "READ-MODIFY-WRITE", Latency: h.Clone(), Intended: h.Clone()},
				{Name: "READ", Returns: Returns{{"OK", 4}, {"NOT_FOUND", 1}}, Latency: h.Clone()},
			},
			Client:   &ClientUse{CPUMicros: 90_000, AllowanceMilli: 2000, ThrottledMicros: 120},
			ConfHash: "5f3a9c0d1e2b", Facts: map[string]string{"version": "3.5.0"},
		},
	}
}

// The text is a contract between programs of different age: a change of it needs another Version.
func TestReportTextIsFixed(t *testing.T) {
	want := strings.TrimSpace(readTestdata(t, "report.json"))
	if got := string(mustEncode(t, contractReport())); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	got, err := Decode([]byte(want))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(contractReport(), got); diff != "" {
		t.Errorf("decoded (-want +got):\n%s", diff)
	}
}

// What users read in report.json: names and units of the merged result.
func TestMergedTextIsFixed(t *testing.T) {
	in := threeShards()
	in.Reports = append(in.Reports, contractReport())
	in.Reports[len(in.Reports)-1].Envelope.Index = 3
	in.Nodes[3] = "n3"
	data, err := json.Marshal(mustMerge(t, in))
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := json.Indent(&got, data, "", "  "); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.TrimSpace(readTestdata(t, "merged.json")), got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAggregateTextIsFixed(t *testing.T) {
	a, err := AggregateRepeats([]*Merged{{
		Rates: Rates{AggregateMiBps: ptr(100.0)}, Latency: &Latency{Count: 1, Mean: 5, P50: 5}, Histogram: nil,
	}, {
		Rates: Rates{AggregateMiBps: ptr(104.0), WindowMiBps: ptr(110.0)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	a.Stats = a.Stats[:4]
	got, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"repeats":2,"stats":[` +
		`{"name":"aggregateMiBps","n":2,"mean":102,"min":100,"max":104,"stdDev":2.8284271247461903,"cv":0.0277296776935901},` +
		`{"name":"windowMiBps","n":1,"mean":110,"min":110,"max":110},` +
		`{"name":"latencyMeanNanos","n":1,"mean":5,"min":5,"max":5},` +
		`{"name":"latencyP50Nanos","n":1,"mean":5,"min":5,"max":5}]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Merging is associative and commutative: shards can be merged in groups of any size and order.
func TestHistogramMergeInAnyGrouping(t *testing.T) {
	random := rand.New(rand.NewPCG(91, 92))
	parts := make([]*Histogram, 12)
	for i := range parts {
		parts[i] = NewHistogram(random.IntN(MaxScale + 1))
		for range 100 {
			parts[i].Record(int64(math.Exp(random.Float64() * 30)))
		}
	}
	sum := func(order []int) *Histogram {
		total := NewHistogram(MaxScale)
		for _, i := range order {
			if err := total.Merge(parts[i]); err != nil {
				t.Fatal(err)
			}
		}
		return total
	}
	want := sum([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
	for range 50 {
		order := random.Perm(len(parts))
		cut := random.IntN(len(parts) + 1)
		left, right := sum(order[:cut]), sum(order[cut:])
		if err := left.Merge(right); err != nil {
			t.Fatal(err)
		}
		if !left.Equal(want) {
			t.Fatalf("order %v cut at %d gives another histogram", order, cut)
		}
	}
}

// A quantile never decreases with q, and none lies outside the exact extremes.
func TestQuantilesAreMonotonic(t *testing.T) {
	for name, draw := range distributions() {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(93, 94))
			for scale := MinScale; scale <= MaxScale; scale += 4 {
				h := NewHistogram(scale)
				for range 300 {
					h.Record(draw(random))
				}
				last := h.Min()
				for i := range 1001 {
					v := h.Quantile(float64(i) / 1000)
					if v < last || v > h.Max() {
						t.Fatalf("scale %d: quantile %v is %d after %d, the largest value is %d", scale, float64(i)/1000, v, last, h.Max())
					}
					last = v
				}
			}
		})
	}
}

// Rates add up: what the aggregate says times the wall time is the bytes, whatever the shards did.
func TestRatesAgreeWithTheirParts(t *testing.T) {
	random := rand.New(rand.NewPCG(95, 96))
	for range 200 {
		n := 1 + random.Int32N(20)
		in := MergeInput{Expected: n}
		for i := range n {
			start := random.Int64N(second)
			r := simpleReport(i, start, start+second+random.Int64N(9*second), 1+random.Int64N(1<<32), 1+random.Int64N(1000))
			r.Body.Clock = &Clock{OffsetMicros: random.Int64N(20_000) - 10_000}
			in.Reports = append(in.Reports, r)
		}
		m := mustMerge(t, in)
		near := func(name string, got, want float64) {
			t.Helper()
			if math.Abs(got-want) > 1e-9*want {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
		}
		wall := float64(m.Times.WallMicros) / 1e6
		near("bytes", *m.Rates.AggregateMiBps*mebi*wall, float64(m.Bytes))
		near("operations", *m.Rates.IOPS*wall, float64(m.Operations))
		near("bytes by size", *m.Rates.MeanIOBytes*float64(m.Operations), float64(m.Bytes))
		if m.Times.MinExecMicros > m.Times.MaxExecMicros || m.Times.MaxExecMicros > m.Times.WallMicros {
			t.Errorf("execution times %d to %d in %d", m.Times.MinExecMicros, m.Times.MaxExecMicros, m.Times.WallMicros)
		}
		perStream, aggregate := *m.Rates.PerStreamMiBps, *m.Rates.AggregateMiBps
		if perStream*float64(n) < aggregate*0.99 {
			t.Errorf("%d streams of %v MiB/s cannot make %v", n, perStream, aggregate)
		}
	}
}

func TestEqualRowsGiveEqualBytes(t *testing.T) {
	rows, err := Rows(threeShards())
	if err != nil {
		t.Fatal(err)
	}
	first, err := EncodeRows(rows)
	if err != nil {
		t.Fatal(err)
	}
	second, err := EncodeRows(rows)
	if err != nil || !bytes.Equal(first, second) {
		t.Errorf("two encodings differ, %v", err)
	}
}
