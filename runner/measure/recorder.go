package measure

import (
	"cmp"
	"errors"
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
	intended   *report.Histogram // nil: there is no rate
	series     *report.Series
	delta0     int64 // width of the series' finest bucket, in microseconds
	offset     int64 // the target's clock minus the shard's, in microseconds
	errors     map[string]*report.ErrorCount
}

// NewRecorder returns a recorder whose series starts at origin, the same instant for all shards of an attempt, with
// buckets of width δ0 or a doubling of it. The series is kept in the target's clock: offset is that clock minus the
// shard's.
func NewRecorder(origin time.Time, delta0, offset time.Duration) *Recorder {
	r := &Recorder{
		latency: report.NewHistogram(report.DefaultScale),
		errors:  map[string]*report.ErrorCount{},
		delta0:  delta0.Microseconds(),
		offset:  offset.Microseconds(),
	}
	r.Begin(origin)
	return r
}

// Begin sets the origin of a recorder that has recorded nothing yet: what takes long to make can be made before the origin
// is known.
func (r *Recorder) Begin(origin time.Time) {
	r.origin, r.micros = origin, origin.UnixMicro()
	r.series = report.NewSeries(r.micros, r.delta0)
	r.series.Shift(r.offset)
}

// KeepIntended has the recorder keep intended latencies, too; Paced needs it.
func (r *Recorder) KeepIntended() { r.intended = report.NewHistogram(report.DefaultScale) }

// Operation records a completed operation that moved bytes. It does not allocate.
func (r *Recorder) Operation(began, ended time.Time, bytes int64) {
	r.operations++
	r.bytes += bytes
	r.latency.Record(int64(ended.Sub(began)))
	// Counted from the origin by the monotonic clock, so that a step of the wall clock tears no hole into the series.
	r.series.Add(r.micros+ended.Sub(r.origin).Microseconds(), bytes)
}

// Call records a completed operation that moves no bytes: the series counts operations. It does not allocate.
func (r *Recorder) Call(began, ended time.Time) {
	r.operations++
	r.latency.Record(int64(ended.Sub(began)))
	r.series.Add(r.micros+ended.Sub(r.origin).Microseconds(), 1)
}

// Paced is Call for an operation that a rate wanted to begin at an instant. It does not allocate.
func (r *Recorder) Paced(scheduled, began, ended time.Time) {
	r.Call(began, ended)
	r.intended.Record(int64(ended.Sub(scheduled)))
}

// Add counts what another recorder of the same origin and series has recorded, and leaves that one as it is. The error is
// of sums that do not fit.
func (r *Recorder) Add(other *Recorder) error {
	r.operations += other.operations
	r.bytes += other.bytes
	err := errors.Join(r.latency.Merge(other.latency), r.series.Merge(other.series))
	if r.intended != nil {
		err = errors.Join(err, r.intended.Merge(other.intended))
	}
	for class, e := range other.errors {
		if own := r.errors[class]; own != nil {
			own.Count += e.Count
		} else {
			r.errors[class] = &report.ErrorCount{Class: class, Count: e.Count, First: e.First}
		}
	}
	return err
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
		body.Latency, body.Intended, body.Series = r.latency, r.intended, r.series
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
