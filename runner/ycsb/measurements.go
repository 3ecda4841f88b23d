package ycsb

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/report"
)

// keep is what all threads of a run keep of an operation.
type keep struct {
	origin         time.Time
	delta0, offset time.Duration
	paced          bool // operations have an instant at which they are to begin
	texts          *TextOptions
	// first takes the first error of each class that a thread meets.
	first chan firstError
}

// A firstError is the first failure of a class.
type firstError struct {
	metric      Metric
	class, text string
}

// Who may use a thread's measurements.
const (
	threadIdle      = iota // the thread, when it has something to record
	threadRecording        // the thread
	threadClosed           // who closed it
)

// threadRecorder is what one thread measured. The thread records; another goroutine may look at the text's histograms
// meanwhile (see HDR), and after close at all of it, even if the thread still hangs in an operation: what it measures from
// then on is dropped.
type threadRecorder struct {
	keep    *keep
	state   atomic.Uint32
	metrics [metrics]*metricRecorder
	texts   [metrics]atomic.Pointer[textRecorder]
	whole   *measure.Recorder // operations that succeeded, each with all its calls
	told    map[string]bool   // classes of errors that first took
}

// metricRecorder is what one thread measured of one metric.
type metricRecorder struct {
	statuses [statuses]int64
	good     *measure.Recorder // successes, and the errors of failures
	failed   *report.Histogram // latencies of failures; nil without any
}

// newThreadRecorder makes room for metrics that are expected, so that recording them does not allocate.
func newThreadRecorder(k *keep, expected []Metric) *threadRecorder {
	r := &threadRecorder{keep: k, whole: newRecorder(k)}
	for _, m := range expected {
		r.metrics[m] = r.newMetric()
		if k.texts != nil {
			r.texts[m].Store(newTextRecorder(k))
		}
	}
	return r
}

func (r *threadRecorder) newMetric() *metricRecorder {
	return &metricRecorder{good: newRecorder(r.keep)}
}

func newRecorder(k *keep) *measure.Recorder {
	r := measure.NewRecorder(k.origin, k.delta0, k.offset)
	if k.paced {
		r.KeepIntended()
	}
	return r
}

// begin sets when the measurement begins, before anything is recorded.
func (r *threadRecorder) begin() {
	r.whole.Begin(r.keep.origin)
	for _, m := range r.metrics {
		if m != nil {
			m.good.Begin(r.keep.origin)
		}
	}
}

// close ends the recording and gives the caller all that was recorded.
func (r *threadRecorder) close() {
	for !r.state.CompareAndSwap(threadIdle, threadClosed) {
		runtime.Gosched() // the thread records, which takes a moment
	}
}

// Record implements Recorder.
func (r *threadRecorder) Record(m Metric, status Status, intended, began, ended time.Time, err error) {
	if !r.state.CompareAndSwap(threadIdle, threadRecording) {
		return
	}
	own := r.metrics[m]
	if own == nil {
		own = r.newMetric()
		r.metrics[m] = own
	}
	own.statuses[status]++
	switch {
	case !status.Success():
		r.failure(own, m, status, ended.Sub(began), err)
	case r.keep.paced && !intended.IsZero():
		own.good.Paced(intended, began, ended)
	default:
		own.good.Call(began, ended)
	}
	if r.keep.texts != nil {
		texts := r.texts[m].Load()
		if texts == nil {
			texts = newTextRecorder(r.keep)
			r.texts[m].Store(texts)
		}
		texts.record(m, status, intended, began, ended)
	}
	r.state.Store(threadIdle)
}

// success records an operation that succeeded with all its calls: a read-modify-write once, an insert with its retries.
func (r *threadRecorder) success(intended, began, ended time.Time) {
	if !r.state.CompareAndSwap(threadIdle, threadRecording) {
		return
	}
	if r.keep.paced && !intended.IsZero() {
		r.whole.Paced(intended, began, ended)
	} else {
		r.whole.Call(began, ended)
	}
	r.state.Store(threadIdle)
}

func (r *threadRecorder) failure(own *metricRecorder, m Metric, status Status, took time.Duration, err error) {
	if own.failed == nil {
		own.failed = report.NewHistogram(report.DefaultScale)
	}
	own.failed.Record(int64(took))
	class := ErrorClass(status, err)
	text := status.String()
	if err != nil {
		text = err.Error()
	}
	own.good.Error(class, m.String()+": "+text)
	if r.told[class] {
		return
	}
	select {
	case r.keep.first <- firstError{m, class, text}:
		if r.told == nil {
			r.told = map[string]bool{}
		}
		r.told[class] = true
	default: // the next one of the class is told
	}
}
