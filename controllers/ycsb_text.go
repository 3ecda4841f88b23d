package controllers

import (
	"fmt"
	"strings"

	"github.com/hadoop-bench/operator/runner/report"
)

// Text implements Benchmark: what YCSB prints at the end, of all shards together as if they were one process.
// A line before it says which measurement it is, since one file has them all.
func (YCSB) Text(_ Run, step Step, _ report.MergeInput, merged *report.Merged) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s, repeat %d\n", step.Name, step.Repeat)
	if err := report.RenderYCSB(&b, ycsbTextOf(merged)); err != nil {
		return "", err
	}
	return b.String(), nil
}

// ycsbTextOf has a block for each metric, as YCSB has by default. With an offered rate the blocks of intended
// latencies follow, as with measurement.interval=both.
func ycsbTextOf(m *report.Merged) report.YCSBText {
	var t report.YCSBText
	millis := m.Times.LastEnd/1000 - m.Times.FirstStart/1000 // YCSB reads its clock in whole milliseconds
	t.AddOverall(millis, max(m.Tried, m.Operations))
	for i := range m.Parts {
		p := &m.Parts[i]
		block := latencyBlock(p.Name, p.Latency, p.Histogram)
		for _, r := range p.Returns {
			block.Returns = append(block.Returns, report.YCSBReturn(r))
		}
		t.AddLatency(block)
	}
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Intended != nil {
			t.AddLatency(latencyBlock("Intended-"+p.Name, p.Intended, p.IntendedHistogram))
		}
	}
	return t
}

// latencyBlock is one metric's, in whole microseconds as YCSB has them. One of whose operations none succeeded is empty.
func latencyBlock(name string, l *report.Latency, h *report.Histogram) report.YCSBLatency {
	if l == nil || h == nil {
		l, h = &report.Latency{}, nil
	}
	out := report.YCSBLatency{Name: name, Operations: l.Count, Min: l.Min / 1000, Max: l.Max / 1000}
	if h != nil {
		out.Average = float64(h.Sum()) / float64(l.Count) / 1000
	}
	for _, p := range []struct {
		percent float64
		nanos   int64
	}{{50, l.P50}, {95, l.P95}, {99, l.P99}} {
		out.Percentiles = append(out.Percentiles, report.YCSBPercentile{Percent: p.percent, Micros: p.nanos / 1000})
	}
	return out
}
