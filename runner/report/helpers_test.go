package report

import (
	"errors"
	"math"
	"math/rand/v2"
)

const (
	second = int64(1_000_000)             // in microseconds
	t0     = int64(1_790_000_000_000_000) // a start time T
)

// identity is that of every report made by the helpers.
func identity() Identity {
	return Identity{
		RunUID: "7d3f1c1e-5a52-4b7c-9a53-2f7f1c1f0a11", Execution: 1, Step: "write", Repeat: 1, Attempt: 1,
	}
}

// fullReport is a complete report that uses every field a DFSIO shard fills.
func fullReport() *Report {
	r := &Report{
		Envelope: Envelope{Version: Version, Identity: identity(), Index: 3, Outcome: Complete},
		Body: Body{
			Prepared: t0 - second, Start: t0 + 1200, End: t0 + 12*second, CloseMicros: 31_000,
			Clock:    &Clock{OffsetMicros: -1500, UncertaintyMicros: 700},
			Planned:  2000 * 1_000_000,
			Errors:   []ErrorCount{{Class: "java.io.IOException", Count: 2, First: "connection reset by peer"}},
			Client:   &ClientUse{CPUMicros: 3_100_000, AllowanceMilli: 2000, ThrottledMicros: 120},
			ConfHash: "5f3a9c0d1e2b",
		},
	}
	h, s := NewHistogram(DefaultScale), NewSeries(t0, DefaultSeriesMicros)
	random := rand.New(rand.NewPCG(3, 4))
	for i := range int64(2000) {
		h.Record(int64(5e6 * math.Exp(random.NormFloat64()*0.7)))
		s.Add(t0+1200+i*5990, 1_000_000)
	}
	r.Body.Latency, r.Body.Series = h, s
	r.Body.Operations, r.Body.Bytes = 2000, 2000*1_000_000
	return r
}

// simpleReport is a complete report of a shard that moved bytes in ops operations between two times after t0.
func simpleReport(index int32, start, end, bytes, ops int64) *Report {
	return &Report{
		Envelope: Envelope{Version: Version, Identity: identity(), Index: index, Outcome: Complete},
		Body:     Body{Start: t0 + start, End: t0 + end, Bytes: bytes, Operations: ops, Planned: bytes},
	}
}

// shape is the density of a distribution over the natural logarithm of a latency in nanoseconds.
type shape func(x float64) float64

// logUniform spreads evenly from 1 µs to 60 s: nothing real is as wide.
func logUniform(x float64) float64 {
	if x < math.Log(1e3) || x > math.Log(60e9) {
		return 0
	}
	return 1
}

// withTail is a database that answers in about 0.5 ms, and one call of a thousand in 30 ms.
func withTail(x float64) float64 {
	bell := func(middle, width float64) float64 { return math.Exp(-math.Pow((x-math.Log(middle))/width, 2) / 2) }
	return bell(5e5, 0.3) + 0.001*bell(3e7, 1.2)
}

// drawn is a histogram of about n values of a shape, with the noise that so many have.
func drawn(random *rand.Rand, n float64, density shape) *Histogram {
	h := NewHistogram(DefaultScale)
	weights, total := make([]float64, len(h.counts)), 0.0
	for k := range weights {
		weights[k] = density(math.Log(float64(h.middle(k))))
		total += weights[k]
	}
	for k, w := range weights {
		mean := w / total * n
		count := int64(math.Round(mean + math.Sqrt(mean)*random.NormFloat64()))
		if count < 1 {
			continue
		}
		middle := h.middle(k)
		if h.count == 0 {
			h.min = middle
		}
		h.counts[k], h.count, h.sum, h.max = count, h.count+count, h.sum+count*middle, middle
	}
	return h
}

// mixedReport is a complete report of a step of so many kinds of operations, each with about 100,000 values.
func mixedReport(kinds int) *Report { return mixed(kinds, 100_000, withTail) }

// mixed is the same with n values each and some shape. Kinds beyond the operations are what fails and what is checked.
func mixed(kinds int, n float64, density shape) *Report {
	random := rand.New(rand.NewPCG(7, uint64(kinds)))
	r := simpleReport(0, 0, 60*second, 0, 0)
	r.Envelope.Step = "workload-a"
	b := &r.Body
	b.Clock, b.Client, b.ConfHash = &Clock{OffsetMicros: -1500, UncertaintyMicros: 700}, &ClientUse{CPUMicros: 31_000_000, AllowanceMilli: 2000}, "5f3a9c0d1e2b"
	names := append(operationNames()[:5], "READ-FAILED", "UPDATE-FAILED", "VERIFY", "CLEANUP")
	for _, name := range names[:kinds] {
		p := Part{Name: name, Latency: drawn(random, n, density), Intended: drawn(random, n, density)}
		p.Returns = Returns{{"OK", p.Latency.Count()}}
		if isOperation(name) {
			must(addHistogram(&b.Latency, p.Latency), addHistogram(&b.Intended, p.Intended))
		}
		b.Parts = append(b.Parts, p)
	}
	b.Operations = max(b.Latency.Count(), b.Intended.Count())
	b.Tried, b.Planned, b.Series = b.Operations+3, b.Operations+3, NewSeries(t0, DefaultSeriesMicros)
	b.Errors = []ErrorCount{{"org.apache.hadoop.hbase.NotServingRegionException", 3, "usertable,user5,1790000000000.d8e8fca2dc0f896fd7cb4cb0031ba249. is not online on 10.1.2.3,16020,1790000000000"}}
	for k := range int64(MaxBuckets) {
		b.Series.Add(t0+k*second, b.Operations/MaxBuckets)
	}
	return r
}

func must(errs ...error) {
	if err := errors.Join(errs...); err != nil {
		panic(err)
	}
}
