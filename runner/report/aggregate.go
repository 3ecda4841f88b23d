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

	// With a rate: the latency from when the schedule wanted an operation to begin.
	FigureIntendedMean = "intendedMeanNanos"
	FigureIntendedP50  = "intendedP50Nanos"
	FigureIntendedP90  = "intendedP90Nanos"
	FigureIntendedP95  = "intendedP95Nanos"
	FigureIntendedP99  = "intendedP99Nanos"
	FigureIntendedP999 = "intendedP999Nanos"
	FigureIntendedMax  = "intendedMaxNanos"
)

// figureNames are all figures in the order in which they are listed.
func figureNames() []string {
	return []string{
		FigureAggregate, FigureWindow, FigurePerStream, FigureAverageIO, FigureIODeviation, FigureIOPS, FigureMeanIO,
		FigureOps, FigureWindowOps, FigureUpstreamOps,
		FigureMeanLatency, FigureP50, FigureP90, FigureP95, FigureP99, FigureP999, FigureMaxLatency,
		FigureIntendedMean, FigureIntendedP50, FigureIntendedP90, FigureIntendedP95, FigureIntendedP99, FigureIntendedP999,
		FigureIntendedMax,
	}
}

// Figures lists the numbers of a result by which repeats are compared, always in the same order; absent ones are left out.
func (m *Merged) Figures() []Figure {
	r := &m.Rates
	values := map[string]*float64{
		FigureAggregate: r.AggregateMiBps, FigureWindow: r.WindowMiBps, FigurePerStream: r.PerStreamMiBps,
		FigureAverageIO: r.AverageIORateMiBps, FigureIODeviation: r.IORateStdDevMiBps,
		FigureIOPS: r.IOPS, FigureMeanIO: r.MeanIOBytes,
		FigureOps: r.OpsPerSec, FigureWindowOps: r.WindowOpsPerSec, FigureUpstreamOps: r.UpstreamOpsPerSec,
	}
	addLatency(values, m.Latency,
		FigureMeanLatency, FigureP50, FigureP90, FigureP95, FigureP99, FigureP999, FigureMaxLatency)
	addLatency(values, m.Intended,
		FigureIntendedMean, FigureIntendedP50, FigureIntendedP90, FigureIntendedP95, FigureIntendedP99, FigureIntendedP999,
		FigureIntendedMax)
	var figures []Figure
	for _, name := range figureNames() {
		if v := values[name]; v != nil {
			figures = append(figures, Figure{name, *v})
		}
	}
	return figures
}

// addLatency adds the figures of a distribution, if there is one, under the given names.
func addLatency(values map[string]*float64, l *Latency, mean, p50, p90, p95, p99, p999, most string) {
	if l == nil {
		return
	}
	for name, nanos := range map[string]int64{
		mean: l.Mean, p50: l.P50, p90: l.P90, p95: l.P95, p99: l.P99, p999: l.P999, most: l.Max,
	} {
		v := float64(nanos)
		values[name] = &v
	}
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
	// PooledIntended is the same of the intended latencies, with a rate.
	PooledIntended *Latency `json:"pooledIntended,omitempty"`
}

// AggregateRepeats makes mean and spread of the results of a step's repeats. It refuses an empty list, and histograms
// whose sums do not fit.
func AggregateRepeats(repeats []*Merged) (*Aggregate, error) {
	if len(repeats) == 0 {
		return nil, errors.New("aggregating repeats: there is none")
	}
	values := make(map[string][]float64)
	pooled, intended := NewHistogram(MaxScale), NewHistogram(MaxScale)
	for i, m := range repeats {
		for _, f := range m.Figures() {
			values[f.Name] = append(values[f.Name], f.Value)
		}
		if err := errors.Join(pooled.Merge(m.Histogram), intended.Merge(m.IntendedHistogram)); err != nil {
			return nil, fmt.Errorf("pooling the latencies of repeat %d: %w", i+1, err)
		}
	}
	a := &Aggregate{Repeats: len(repeats), Stats: []Stat{}, Pooled: LatencyOf(pooled), PooledIntended: LatencyOf(intended)}
	for _, name := range figureNames() {
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
