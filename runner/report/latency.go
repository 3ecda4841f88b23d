package report

// Latency is the distribution of the service time, or intended latency, of one operation in nanoseconds: what a person reads of a Histogram.
// Quantiles are nearest-rank; they come from merged histograms, never from averaged quantiles.
type Latency struct {
	Count int64 `json:"count"`
	Mean  int64 `json:"mean"` // exact, rounded down
	Min   int64 `json:"min"`  // exact
	P50   int64 `json:"p50"`
	P90   int64 `json:"p90"`
	P95   int64 `json:"p95"`
	P99   int64 `json:"p99"`
	P999  int64 `json:"p999"` // the 99.9 % quantile
	Max   int64 `json:"max"`  // exact
	// RelativeError bounds how far the quantiles are off, as a fraction of the true ones.
	RelativeError float64 `json:"relativeError"`
}

// LatencyOf reads a histogram; of nil or an empty one it is nil.
func LatencyOf(h *Histogram) *Latency {
	if h == nil || h.Count() == 0 {
		return nil
	}
	return &Latency{
		Count: h.Count(), Mean: h.Sum() / h.Count(), Min: h.Min(), Max: h.Max(),
		P50: h.Quantile(0.5), P90: h.Quantile(0.9), P95: h.Quantile(0.95), P99: h.Quantile(0.99), P999: h.Quantile(0.999),
		RelativeError: h.RelativeError(),
	}
}
