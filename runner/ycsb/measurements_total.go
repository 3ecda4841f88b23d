package ycsb

import (
	"errors"

	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/report"
)

// A MetricResult is what all threads measured of a metric. Histograms are in nanoseconds.
type MetricResult struct {
	Metric Metric
	// Statuses are counts by status.
	Statuses [statuses]int64
	// Latency is that of successes, from begin to end; nil if there are none.
	Latency *report.Histogram
	// Intended is that of successes from when they were to begin; nil without a target, and for what has none (CLEANUP, VERIFY,
	// SCAN-LATENCY-PER-RECORD).
	Intended *report.Histogram
	// Failed is the latency of failures; nil if there are none.
	Failed *report.Histogram
	// Series counts successes by when they ended; nil if there are none.
	Series *report.Series
	// Errors are the failures by class, the most frequent first.
	Errors []report.ErrorCount

	measured, intended [textSlots]*textTotal
}

// Successes is how many operations of the metric succeeded.
func (m *MetricResult) Successes() int64 { return m.Statuses[OK] + m.Statuses[BatchedOK] }

// Failures is how many operations of the metric did not succeed.
func (m *MetricResult) Failures() (n int64) {
	for s, count := range m.Statuses {
		if !Status(s).Success() {
			n += count
		}
	}
	return n
}

// total adds up what closed threads recorded. The error is of sums that do not fit.
func total(k *keep, threads []*threadRecorder) ([]MetricResult, error) {
	var results []MetricResult
	for m := range metrics {
		result, err := totalOf(k, m, threads)
		if err != nil {
			return nil, err
		}
		if result != nil {
			results = append(results, *result)
		}
	}
	return results, nil
}

// totalOf adds up one metric; nil if nobody recorded it.
func totalOf(k *keep, m Metric, threads []*threadRecorder) (*MetricResult, error) {
	result := &MetricResult{Metric: m}
	all := (&threadRecorder{keep: k}).newMetric()
	intended, failed := false, report.NewHistogram(report.DefaultScale)
	for _, t := range threads {
		own := t.metrics[m]
		if own == nil {
			continue
		}
		for s, n := range own.statuses {
			result.Statuses[s] += n
		}
		intended = intended || k.paced && m.hasIntended() && m != MetricCleanup
		if err := errors.Join(all.good.Add(own.good), failed.Merge(own.failed)); err != nil {
			return nil, err
		}
		if texts := t.texts[m].Load(); texts != nil {
			result.addTexts(texts)
		}
	}
	if result.Successes()+result.Failures() == 0 {
		return nil, nil
	}
	result.fill(all.good, intended)
	if failed.Count() > 0 {
		result.Failed = failed
	}
	return result, nil
}

func (m *MetricResult) fill(from *measure.Recorder, intended bool) {
	var body report.Body
	from.Fill(&body)
	m.Latency, m.Series, m.Errors = body.Latency, body.Series, body.Errors
	if intended {
		m.Intended = body.Intended
	}
}

func (m *MetricResult) addTexts(from *textRecorder) {
	for slot := range textSlots {
		m.measured[slot] = m.measured[slot].add(from.measured[slot].Load())
		m.intended[slot] = m.intended[slot].add(from.intended[slot].Load())
	}
}

// textTotal is what textSinks kept.
type textTotal struct {
	hdr     HDRCounts
	average // of what has no HDR histogram
	buckets *bucketCounts
	series  []average
	min     int64 // of the series
	max     int64
	raw     []rawPoint
}

// add adds a sink and returns the total, which it makes if there is none; without a sink it changes nothing.
func (t *textTotal) add(s *textSink) *textTotal {
	if s == nil {
		return t
	}
	if t == nil {
		t = new(textTotal)
	}
	if s.hdr != nil {
		t.hdr.Add(s.hdr)
	}
	t.count += s.count.Load()
	t.sum += s.sum.Load()
	if s.buckets != nil {
		if t.buckets == nil {
			t.buckets = newBucketCounts(len(s.buckets.counts))
		}
		t.buckets.merge(s.buckets)
	}
	if len(t.series) == 0 {
		t.min = s.min
	}
	if len(s.series) > 0 {
		t.min, t.max = min(t.min, s.min), max(t.max, s.max)
	}
	for k, a := range s.series {
		if len(t.series) <= k {
			t.series = append(t.series, average{})
		}
		t.series[k].count += a.count
		t.series[k].sum += a.sum
	}
	if s.raw != nil {
		for _, block := range s.raw.blocks {
			t.raw = append(t.raw, block...)
		}
	}
	return t
}

// operations is how many were filed here.
func (t *textTotal) operations(o *TextOptions) int64 {
	switch {
	case t == nil:
		return 0
	case o.HDR:
		return t.hdr.Count()
	}
	return t.count
}
