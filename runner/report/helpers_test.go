package report

import (
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
