package measure

import (
	"cmp"
	"slices"
	"time"

	"github.com/hadoop-bench/operator/runner/report"
)

// A Recorder holds what one thread measured. It is not safe for concurrent use: each thread has its own, and they are
// merged at the end.
type Recorder struct {
	origin     time.Time // of the series, with a monotonic reading
	micros     int64     // the same, since the epoch
	operations int64
	bytes      int64
	latency    *report.Histogram
	series     *report.Series
	errors     map[string]*report.ErrorCount
}

// NewRecorder returns a recorder whose series starts at origin, the same instant for all shards of an attempt, with
// buckets of width δ0 or a doubling of it. The series is kept in the target's clock: offset is that clock minus the
// shard's.
func NewRecorder(origin time.Time, delta0, offset time.Duration) *Recorder {
	r := &Recorder{
		origin:  origin,
		micros:  origin.UnixMicro(),
		latency: report.NewHistogram(report.DefaultScale),
		series:  report.NewSeries(origin.UnixMicro(), delta0.Microseconds()),
		errors:  map[string]*report.ErrorCount{},
	}
	r.series.Shift(offset.Microseconds())
	return r
}

// Operation records a completed operation that moved bytes. It does not allocate.
func (r *Recorder) Operation(began, ended time.Time, bytes int64) {
	r.operations++
	r.bytes += bytes
	r.latency.Record(int64(ended.Sub(began)))
	// Counted from the origin by the monotonic clock, so that a step of the wall clock tears no hole into the series.
	r.series.Add(r.micros+ended.Sub(r.origin).Microseconds(), bytes)
}

// Error counts a failed operation under a class. The first text of a class is kept.
func (r *Recorder) Error(class, text string) {
	e := r.errors[class]
	if e == nil {
		e = &report.ErrorCount{Class: class, First: text}
		r.errors[class] = e
	}
	e.Count++
}

// Bytes is the sum of the bytes of completed operations.
func (r *Recorder) Bytes() int64 { return r.bytes }

// Fill puts the figures into a report's body. Errors are ordered by count, then class.
func (r *Recorder) Fill(body *report.Body) {
	body.Operations, body.Bytes = r.operations, r.bytes
	if r.operations > 0 {
		body.Latency, body.Series = r.latency, r.series
	}
	body.Errors = nil
	for _, e := range r.errors {
		body.Errors = append(body.Errors, *e)
	}
	slices.SortFunc(body.Errors, func(a, b report.ErrorCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Class, b.Class))
	})
}

// Micros is the instant t since the epoch, placed relative to the recorder's origin by the monotonic clock.
func (r *Recorder) Micros(t time.Time) int64 {
	return r.micros + t.Sub(r.origin).Microseconds()
}
