package ycsb

import (
	"errors"
	"fmt"
	"time"

	"github.com/hadoop-bench/operator/runner/report"
)

// A Result is what a Run measured.
type Result struct {
	// Origin is when the measurement began: all sessions were open, and the warm-up was over. It is zero if the run was
	// stopped before. Last is when the last operation or session ended, or the time that was given for it.
	Origin, Last time.Time
	// First is when the first operation began; zero without any.
	First   time.Time
	Threads int
	// Operations is how many ended, failed ones included; Failed how many of them did not succeed. A read-modify-write is one
	// operation, and so is an insert with all its retries.
	Operations, Failed int64
	// Unfinished is how many operations hung, and were cut off when the time was over. They are in no other figure.
	Unfinished int64
	// Retries is how often inserts of a load were tried again, and LostInserts how many records of a load were tried and not
	// inserted.
	Retries, LostInserts int64
	// Due is how many operations the rate wanted to begin until the end, or until the last one began where their number ended
	// the measurement; 0 without a rate.
	Due int64
	// TimeUp says that the time ended the measurement. Cause is why it was stopped before; nil if it was not.
	TimeUp bool
	Cause  error
	// Metrics are those that were recorded, in the order of their constants.
	Metrics []MetricResult
	// Latency, Intended and Series are those of operations that succeeded, each counted once with all its calls. They are nil
	// without any, Intended also without a rate.
	Latency, Intended *report.Histogram
	Series            *report.Series

	texts *TextOptions
}

// RunTime is how long the measurement took.
func (r *Result) RunTime() time.Duration { return max(0, r.Last.Sub(r.Origin)) }

// Metric is a metric's result; nil if it was not recorded.
func (r *Result) Metric(m Metric) *MetricResult {
	for k := range r.Metrics {
		if r.Metrics[k].Metric == m {
			return &r.Metrics[k]
		}
	}
	return nil
}

// result closes all recorders and adds them up. The error is of a thread that could not go on, or of sums that do not fit;
// a result comes with it.
func (r *Run) result(cause error) (*Result, error) {
	result := &Result{Threads: r.Threads, TimeUp: r.timeUp.Load(), Cause: cause, texts: r.Texts}
	// A warm-up that takes a time sets the origin before it comes.
	begun := r.seal() && (r.stopped.IsZero() || !r.stopped.Before(r.origin))
	recorders := make([]*threadRecorder, len(r.lanes))
	var failures []error
	for i, a := range r.lanes {
		a.recorder.close()
		recorders[i] = a.recorder
		if a.inFlight.Load() {
			result.Unfinished++
		}
		if failure := a.failure.Load(); failure != nil {
			failures = append(failures, fmt.Errorf("thread %d: %w", a.index, *failure))
		}
	}
	if !begun {
		return result, errors.Join(failures...)
	}
	lastBegan := r.sumUp(result)
	result.Due = r.due(result, lastBegan)
	var err error
	if result.Metrics, err = total(&r.keep, recorders); err != nil {
		failures = append(failures, fmt.Errorf("add up the threads: %w", err))
	}
	if err := result.addWhole(&r.keep, recorders); err != nil {
		failures = append(failures, fmt.Errorf("add up the operations of threads: %w", err))
	}
	return result, errors.Join(failures...)
}

// addWhole adds up the operations that succeeded.
func (r *Result) addWhole(k *keep, threads []*threadRecorder) error {
	all := newRecorder(k)
	for _, t := range threads {
		if err := all.Add(t.whole); err != nil {
			return err
		}
	}
	var body report.Body
	all.Fill(&body)
	r.Latency, r.Intended, r.Series = body.Latency, body.Intended, body.Series
	return nil
}

// sumUp fills counts and times of threads and returns when the last operation began; zero without any, or without a rate.
func (r *Run) sumUp(result *Result) (lastBegan time.Time) {
	first, last, latest := int64(0), int64(0), int64(0)
	for _, a := range r.lanes {
		result.Operations += a.tried.Load()
		result.Failed += a.failed.Load()
		result.Retries += a.retries.Load()
		result.LostInserts += a.lost.Load()
		if began := a.began.Load(); began > 0 && (first == 0 || began < first) {
			first = began
		}
		last, latest = max(last, a.ended.Load()), max(latest, a.lastBegan.Load())
	}
	at := func(since int64) time.Time {
		if since == 0 {
			return time.Time{}
		}
		return r.origin.Add(time.Duration(since - 1))
	}
	result.Origin, result.First, result.Last = r.origin, at(first), r.origin
	if last > 0 {
		result.Last = at(last)
	}
	// What hung did so until the run was stopped, and a time that was given is measured to its end.
	if result.Unfinished > 0 && r.stopped.After(result.Last) {
		result.Last = r.stopped
	}
	if result.TimeUp && r.end.After(result.Last) {
		result.Last = r.end
	}
	return at(latest)
}

// due is how many operations the rate wanted to begin. Where their number ended the measurement and they were late, these are
// more than there are: the rest of the time was one of another load.
func (r *Run) due(result *Result, lastBegan time.Time) int64 {
	switch {
	case r.pacer == nil:
		return 0
	case result.Cause != nil:
		return r.bounded(r.pacer.Due(r.stopped))
	case result.TimeUp:
		return r.bounded(r.pacer.Due(r.end.Add(-1)))
	case lastBegan.IsZero():
		return 0
	}
	return r.pacer.Due(lastBegan)
}

// bounded is a number of operations, but no more than there are.
func (r *Run) bounded(due int64) int64 {
	if r.Operations > 0 {
		return min(due, r.Operations)
	}
	return due
}
