package report

import "slices"

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
	FigureUpstreamOps = "upstreamOpsPerSec" // by the upstream tool's formula, in whole milliseconds
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

// partFigureNames are the figures of a part in the order in which they are listed, without its prefix.
func partFigureNames() []string {
	names := figureNames()
	return append([]string{FigureOps}, names[slices.Index(names, FigureMeanLatency):]...)
}

// Figures lists the numbers of a result by which repeats are compared, always in the same order; absent ones are left
// out. Those of the parts of a step that mixes kinds of operations come last, and their names begin with the part's:
// read.opsPerSec, read.latencyP99Nanos.
func (m *Merged) Figures() []Figure {
	r := &m.Rates
	values := map[string]*float64{
		FigureAggregate: r.AggregateMiBps, FigureWindow: r.WindowMiBps, FigurePerStream: r.PerStreamMiBps,
		FigureAverageIO: r.AverageIORateMiBps, FigureIODeviation: r.IORateStdDevMiBps,
		FigureIOPS: r.IOPS, FigureMeanIO: r.MeanIOBytes,
		FigureOps: r.OpsPerSec, FigureWindowOps: r.WindowOpsPerSec, FigureUpstreamOps: r.UpstreamOpsPerSec,
	}
	addLatencies(values, m.Latency, m.Intended)
	figures := figuresOf(values, figureNames(), "")
	for _, p := range m.Parts {
		values := map[string]*float64{FigureOps: p.OpsPerSec}
		addLatencies(values, p.Latency, p.Intended)
		figures = append(figures, figuresOf(values, partFigureNames(), FigurePrefix(p.Name)+".")...)
	}
	return figures
}

// figuresOf lists the values that there are, in the order of names.
func figuresOf(values map[string]*float64, names []string, prefix string) []Figure {
	var figures []Figure
	for _, name := range names {
		if v := values[name]; v != nil {
			figures = append(figures, Figure{prefix + name, *v})
		}
	}
	return figures
}

// addLatencies adds the figures of service times and intended latencies.
func addLatencies(values map[string]*float64, latency, intended *Latency) {
	addLatency(values, latency,
		FigureMeanLatency, FigureP50, FigureP90, FigureP95, FigureP99, FigureP999, FigureMaxLatency)
	addLatency(values, intended,
		FigureIntendedMean, FigureIntendedP50, FigureIntendedP90, FigureIntendedP95, FigureIntendedP99, FigureIntendedP999,
		FigureIntendedMax)
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
