package ycsb

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/hadoop-bench/operator/runner/report"
)

// Text is YCSB's final report of the run: its order of metrics is that of the Metric constants, intended latencies last.
// It needs a run with Texts.
func (r *Result) Text(collectors ...report.YCSBCollector) report.YCSBText {
	var text report.YCSBText
	text.AddOverall(r.RunTime().Milliseconds(), r.Operations, collectors...)
	r.eachText(func(name string, t *textTotal, returns []report.YCSBReturn) {
		r.addText(&text, name, t, returns)
	})
	return text
}

// WriteRaw writes the latencies one by one, as YCSB's raw measurement does, metric by metric and each in the order of time.
// Without measurementtype raw there are none.
func (r *Result) WriteRaw(w io.Writer) error {
	if r.texts == nil || !r.texts.Raw {
		return nil
	}
	buffer := bufio.NewWriter(w)
	r.eachText(func(name string, t *textTotal, _ []report.YCSBReturn) {
		if t == nil {
			return
		}
		name = r.texts.rawName(name)
		slices.SortStableFunc(t.raw, func(a, b rawPoint) int { return cmp.Compare(a.after, b.after) })
		fmt.Fprintf(buffer, "%s latency raw data: op, timestamp(ms), latency(us)\n", name)
		for _, p := range t.raw {
			fmt.Fprintf(buffer, "%s,%d,%d\n", name, r.Origin.Add(p.after).UnixMilli(), p.micros)
		}
	})
	if err := buffer.Flush(); err != nil {
		return fmt.Errorf("write raw latencies: %w", err)
	}
	return nil
}

// eachText calls f for every metric name that YCSB's report has. t is nil where only returns are known.
func (r *Result) eachText(f func(name string, t *textTotal, returns []report.YCSBReturn)) {
	o := r.texts
	if o == nil {
		return
	}
	if o.Measured {
		for k := range r.Metrics {
			m := &r.Metrics[k]
			o.eachSlot(m, &m.measured, m.Metric.String(), m.returned(), f)
		}
	}
	if !o.Intended {
		return
	}
	for k := range r.Metrics {
		m := &r.Metrics[k]
		if o.Measured {
			o.eachSlot(m, &m.intended, "Intended-"+m.Metric.String(), nil, f)
		} else {
			o.eachSlot(m, &m.intended, m.Metric.String(), m.returned(), f)
		}
	}
}

func (o *TextOptions) eachSlot(m *MetricResult, slots *[textSlots]*textTotal, name string, returns []report.YCSBReturn,
	f func(string, *textTotal, []report.YCSBReturn),
) {
	for slot, t := range slots {
		some := t.operations(o) > 0
		switch {
		case slot == plainSlot && (some || len(returns) > 0):
			f(name, t, returns)
		case some:
			f(name+slotSuffix(slot), t, nil)
		}
	}
}

func slotSuffix(slot int) string {
	switch slot {
	case plainSlot:
		return ""
	case failedSlot:
		return "-FAILED"
	}
	return "-" + Status(slot-statusSlot).String()
}

// returned are the metric's statuses, if YCSB counts them.
func (m *MetricResult) returned() (returns []report.YCSBReturn) {
	if !m.Metric.returns() {
		return nil
	}
	for s, n := range m.Statuses {
		if n > 0 {
			returns = append(returns, report.YCSBReturn{Status: Status(s).String(), Count: n})
		}
	}
	return returns
}

// Names of metrics that are measured in two ways.
func (o *TextOptions) hdrName(name string) string {
	if o.Buckets || o.Raw {
		return "Hdr" + name
	}
	return name
}

func (o *TextOptions) bucketName(name string) string {
	if o.HDR {
		return "Bucket" + name
	}
	return name
}

func (o *TextOptions) rawName(name string) string {
	if o.HDR {
		return "Raw" + name
	}
	return name
}

// addText appends a metric's lines in all the ways that it was measured. Statuses go with the first.
func (r *Result) addText(text *report.YCSBText, name string, t *textTotal, returns []report.YCSBReturn) {
	o := r.texts
	if t == nil {
		t = new(textTotal)
	}
	if o.HDR {
		l := t.hdr.latency(o.hdrName(name), o.Percentiles)
		l.Returns = returns
		text.AddLatency(l)
		if o.Verbose {
			t.hdr.Each(func(_, highest, count int64) bool {
				text.Add(l.Name, strconv.FormatInt(highest, 10), report.YCSBDouble(float64(count)))
				return true
			})
		}
		returns = nil
	}
	if o.Buckets {
		o.addBuckets(text, o.bucketName(name), t.buckets, returns)
	}
	if o.Series {
		o.addSeries(text, name, t, returns)
	}
	if o.Raw {
		o.addRaw(text, o.rawName(name), t, returns)
	}
}

// latency is what YCSB prints of a histogram.
func (c *HDRCounts) latency(name string, percentiles []float64) report.YCSBLatency {
	l := report.YCSBLatency{Name: name, Operations: c.Count(), Average: c.Mean(), Min: c.Min(), Max: c.Max()}
	for _, p := range percentiles {
		l.Percentiles = append(l.Percentiles, report.YCSBPercentile{Percent: p, Micros: c.Percentile(p)})
	}
	return l
}

// addBuckets appends the lines of YCSB's plain histogram. Its percentiles are the lower bounds of buckets, and are left out
// where they lie beyond the last one.
func (o *TextOptions) addBuckets(text *report.YCSBText, name string, b *bucketCounts, returns []report.YCSBReturn) {
	if b == nil {
		b = newBucketCounts(o.BucketCount)
	}
	n := float64(b.count)
	mean := float64(b.sum) / n
	text.Add(name, report.YCSBOperations, report.YCSBWhole(b.count))
	text.Add(name, "AverageLatency(us)", report.YCSBDouble(mean))
	text.Add(name, "LatencyVariance(us)", report.YCSBDouble(b.squares/n-float64(mean*mean)))
	text.Add(name, "MinLatency(us)", report.YCSBWhole(b.min))
	text.Add(name, "MaxLatency(us)", report.YCSBWhole(b.max))
	for _, p := range []struct {
		name string
		part float64
	}{{"95thPercentileLatency(us)", 0.95}, {"99thPercentileLatency(us)", 0.99}} {
		seen := int64(0)
		for k, count := range b.counts {
			if seen += count; float64(seen)/n >= p.part {
				text.Add(name, p.name, report.YCSBWhole(int64(k)*1000))
				break
			}
		}
	}
	text.AddReturns(name, returns)
	if !o.Verbose {
		return
	}
	for k, count := range b.counts {
		text.Add(name, strconv.Itoa(k), report.YCSBWhole(count))
	}
	text.Add(name, ">"+strconv.Itoa(len(b.counts)), report.YCSBWhole(b.overflow))
}

// addSeries appends the lines of a time series: an average for each time in which operations ended.
func (o *TextOptions) addSeries(text *report.YCSBText, name string, t *textTotal, returns []report.YCSBReturn) {
	low, high := t.min, t.max
	if len(t.series) == 0 {
		low, high = -1, -1
	}
	text.Add(name, report.YCSBOperations, report.YCSBWhole(t.count))
	text.Add(name, "AverageLatency(us)", report.YCSBDouble(float64(t.sum)/float64(t.count)))
	text.Add(name, "MinLatency(us)", report.YCSBWhole(low))
	text.Add(name, "MaxLatency(us)", report.YCSBWhole(high))
	text.AddReturns(name, returns)
	for k, a := range t.series {
		if a.count > 0 {
			at := time.Duration(k) * o.Granularity
			text.Add(name, strconv.FormatInt(at.Milliseconds(), 10), report.YCSBDouble(float64(a.sum)/float64(a.count)))
		}
	}
}

// addRaw appends the summary of raw latencies.
func (o *TextOptions) addRaw(text *report.YCSBText, name string, t *textTotal, returns []report.YCSBReturn) {
	text.Add(name, "Total Operations", report.YCSBWhole(int64(len(t.raw))))
	if n := len(t.raw); n > 0 && !o.RawOnly {
		sorted := make([]int64, n)
		sum := int64(0)
		for k, p := range t.raw {
			sorted[k] = p.micros
			sum += p.micros
		}
		slices.Sort(sorted)
		text.Add(name, "Below is a summary of latency in microseconds:", report.YCSBWhole(-1))
		text.Add(name, "Average", report.YCSBDouble(float64(sum)/float64(n)))
		text.Add(name, "Min", report.YCSBWhole(sorted[0]))
		text.Add(name, "Max", report.YCSBWhole(sorted[n-1]))
		for _, p := range []struct {
			name string
			part float64
		}{{"p1", 0.01}, {"p5", 0.05}, {"p50", 0.5}, {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}, {"p99.9", 0.999}, {"p99.99", 0.9999}} {
			text.Add(name, p.name, report.YCSBWhole(sorted[int(float64(n)*p.part)]))
		}
	}
	text.AddReturns(name, returns)
}
