package report

import (
	"errors"
	"fmt"
	"math"
)

// Figure is one named number of a merged result. The name carries the unit.
type Figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// Names of figures. Those of Rates are the names of its JSON fields.
const (
	FigureAggregate   = "aggregateMiBps"
	FigureWindow      = "windowMiBps"
	FigurePerStream   = "perStreamMiBps"
	FigureAverageIO   = "averageIORateMiBps"
	FigureIODeviation = "ioRateStdDevMiBps"
	FigureIOPS        = "iops"
	FigureOps         = "opsPerSec"         // where operations move no bytes
	FigureWindowOps   = "windowOpsPerSec"   // while every shard was at work
	FigureUpstreamOps = "upstreamOpsPerSec" // by NNThroughputBenchmark's formula, in whole milliseconds
	FigureMeanIO      = "meanIOBytes"
	FigureMeanLatency = "latencyMeanNanos"
	FigureP50         = "latencyP50Nanos"
	FigureP90         = "latencyP90Nanos"
	FigureP95         = "latencyP95Nanos"
	FigureP99         = "latencyP99Nanos"
	FigureP999        = "latencyP999Nanos"
	FigureMaxLatency  = "latencyMaxNanos"
)

// Figures lists the numbers of a result by which repeats are compared, always in the same order; absent ones are left out.
func (m *Merged) Figures() []Figure {
	var figures []Figure
	r := &m.Rates
	for _, f := range [...]struct {
		name  string
		value *float64
	}{
		{FigureAggregate, r.AggregateMiBps},
		{FigureWindow, r.WindowMiBps},
		{FigurePerStream, r.PerStreamMiBps},
		{FigureAverageIO, r.AverageIORateMiBps},
		{FigureIODeviation, r.IORateStdDevMiBps},
		{FigureIOPS, r.IOPS},
		{FigureMeanIO, r.MeanIOBytes},
	} {
		if f.value != nil {
			figures = append(figures, Figure{f.name, *f.value})
		}
	}
	if l := m.Latency; l != nil {
		for _, f := range [...]struct {
			name  string
			value int64
		}{
			{FigureMeanLatency, l.Mean},
			{FigureP50, l.P50},
			{FigureP90, l.P90},
			{FigureP95, l.P95},
			{FigureP99, l.P99},
			{FigureP999, l.P999},
			{FigureMaxLatency, l.Max},
		} {
			figures = append(figures, Figure{f.name, float64(f.value)})
		}
	}
	return figures
}

// Stat is one figure over the repeats of a step.
type Stat struct {
	Name string  `json:"name"` // of the Figure, with its unit
	N    int     `json:"n"`    // repeats that have the figure
	Mean float64 `json:"mean"`
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
	// StdDev is the sample standard deviation, with n-1; absent for a single repeat, which has no spread.
	StdDev *float64 `json:"stdDev,omitempty"`
	// CV is the coefficient of variation, StdDev over Mean; absent where StdDev is, and for a mean of zero.
	CV *float64 `json:"cv,omitempty"`
}

// Aggregate is a step over its repeats.
type Aggregate struct {
	Repeats int    `json:"repeats"`
	Stats   []Stat `json:"stats"` // in the order of Merged.Figures
	// Pooled is the distribution of all operations of all repeats together. Its quantiles are those of the merged
	// histograms and in general differ from the means of the repeats' quantiles in Stats.
	Pooled *Latency `json:"pooled,omitempty"`
}

// AggregateRepeats makes mean and spread of the results of a step's repeats. It refuses an empty list, and histograms
// whose sums do not fit.
func AggregateRepeats(repeats []*Merged) (*Aggregate, error) {
	if len(repeats) == 0 {
		return nil, errors.New("aggregating repeats: there is none")
	}
	values := make(map[string][]float64)
	pooled := NewHistogram(MaxScale)
	for i, m := range repeats {
		for _, f := range m.Figures() {
			values[f.Name] = append(values[f.Name], f.Value)
		}
		if err := pooled.Merge(m.Histogram); err != nil {
			return nil, fmt.Errorf("pooling the latencies of repeat %d: %w", i+1, err)
		}
	}
	a := &Aggregate{Repeats: len(repeats), Stats: []Stat{}, Pooled: LatencyOf(pooled)}
	for _, name := range [...]string{
		FigureAggregate, FigureWindow, FigurePerStream, FigureAverageIO, FigureIODeviation, FigureIOPS, FigureMeanIO,
		FigureMeanLatency, FigureP50, FigureP90, FigureP95, FigureP99, FigureP999, FigureMaxLatency,
	} {
		if v := values[name]; len(v) > 0 {
			a.Stats = append(a.Stats, statOf(name, v))
		}
	}
	return a, nil
}

// statOf needs at least one value. The deviation is made in a second pass, which is exact where the difference of large
// sums of squares is not.
func statOf(name string, values []float64) Stat {
	s := Stat{Name: name, N: len(values), Min: values[0], Max: values[0]}
	sum := 0.0
	for _, v := range values {
		sum += v
		s.Min, s.Max = min(s.Min, v), max(s.Max, v)
	}
	s.Mean = sum / float64(s.N)
	if s.N < 2 {
		return s
	}
	squares := 0.0
	for _, v := range values {
		squares += float64((v - s.Mean) * (v - s.Mean)) // not fused, so that every processor gives the same
	}
	deviation := math.Sqrt(squares / float64(s.N-1))
	s.StdDev = &deviation
	s.CV = quotient(deviation, s.Mean)
	return s
}
