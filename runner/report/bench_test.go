package report

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkHistogramRecord is the cost of one value on the timed path, with values spread over three octaves as in a
// real measurement, so that neither the branch predictor nor one cache line flatters it.
func BenchmarkHistogramRecord(b *testing.B) {
	values := latencies(1 << 12)
	h := NewHistogram(DefaultScale)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		h.Record(values[i&(len(values)-1)])
	}
}

func BenchmarkSeriesAdd(b *testing.B) {
	s := NewSeries(0, DefaultSeriesMicros)
	b.ReportAllocs()
	for i := int64(0); b.Loop(); i++ {
		s.Add(i, 1_000_000)
	}
}

func BenchmarkEncode(b *testing.B) {
	r := fullReport()
	for b.Loop() {
		if _, err := Encode(r); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEncodeMixed is the worst case: every step of the loss of resolution is tried.
func BenchmarkEncodeMixed(b *testing.B) {
	r := mixed(9, 1e7, logUniform)
	for b.Loop() {
		if _, err := Encode(r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMerge1000(b *testing.B) {
	in := MergeInput{Expected: 1000}
	for i := range in.Expected {
		r := fullReport()
		r.Envelope.Index = i
		in.Reports = append(in.Reports, r)
	}
	for b.Loop() {
		if _, err := Merge(in); err != nil {
			b.Fatal(err)
		}
	}
}

func latencies(n int) []int64 {
	random := rand.New(rand.NewPCG(1, 2))
	values := make([]int64, n)
	for i := range values {
		values[i] = 1_000_000 + random.Int64N(8_000_000)
	}
	return values
}
