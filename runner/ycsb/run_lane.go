package ycsb

import (
	"errors"
	"sync/atomic"
	"time"
)

// lane is one thread. Only its own goroutine writes to it; others may read what is atomic at any time, and the rest once the
// recorder is closed.
type lane struct {
	run       *Run
	index     int
	thread    *Thread
	session   Session
	recorder  *threadRecorder
	share     int64 // operations to carry out, if the run has a number of them and no rate
	warmShare int64

	measuring bool      // what is carried out is measured
	opened    time.Time // begin of the operation at hand, with all its calls
	record    Record
	rows      int64
	visit     func(Record) // counts rows

	tried    atomic.Int64 // operations that ended, measured ones
	failed   atomic.Int64 // those of them that did not succeed
	retries  atomic.Int64
	lost     atomic.Int64 // inserts of a load that never succeeded
	inFlight atomic.Bool  // an operation has begun and not ended, or was cut off
	// Times since the run's origin, in nanoseconds, plus one; 0: never. Of the begin of the first operation, with a rate also
	// of the last one, and of the end of the last one.
	began, lastBegan, ended atomic.Int64
	failure                 atomic.Pointer[error] // that ended the thread
}

// work is the whole life of a thread.
func (a *lane) work() {
	a.visit = func(Record) { a.rows++ }
	a.warmUp()
	if a.run.Warmup.Operations > 0 {
		a.run.warming.Done()
	}
	// A stop during the warm-up of the others comes here as well: nothing is measured then.
	select {
	case <-a.run.measure:
	case <-a.run.waits.Done():
	}
	if !a.run.stop.Load() {
		a.measured()
	}
	a.close()
}

// warmUp carries out operations that are not recorded: its share of a number, or until the measurement begins.
func (a *lane) warmUp() {
	r := a.run
	if r.Warmup.none() {
		return
	}
	for k := int64(0); !r.stop.Load() && (r.Warmup.Operations == 0 || k < a.warmShare); k++ {
		var arrival time.Time
		if r.warm != nil {
			arrival = r.warm.At(r.warm.Claim())
		}
		if r.Warmup.Operations == 0 {
			if !r.Clock.Now().Before(r.origin) {
				return
			}
			if arrival.After(r.origin) {
				arrival = r.origin
			}
		}
		if r.warm != nil && r.warm.Wait(r.waits, r.Clock, arrival) != nil {
			return
		}
		op, err := a.thread.Next()
		if err != nil {
			a.fail(err)
			return
		}
		a.carryOut(op, time.Time{}, discard{})
	}
}

// discard takes what a warm-up measures.
type discard struct{}

func (discard) Record(Metric, Status, time.Time, time.Time, time.Time, error) {}

// measured carries out the thread's part of the measurement.
func (a *lane) measured() {
	r := a.run
	if left := r.origin.Sub(r.Clock.Now()); left > 0 && r.Clock.Wait(r.waits, left) != nil {
		return
	}
	a.measuring = true
	now := r.origin
	for k := int64(0); !r.stop.Load(); k++ {
		if r.pacer == nil && !r.end.IsZero() && !now.Before(r.end) {
			r.timeUp.Store(true)
			return
		}
		scheduled, ok := a.next(k)
		if !ok {
			return
		}
		if now, ok = a.operate(scheduled); !ok {
			return
		}
	}
}

// next tells whether there is a k-th operation, and waits for its time if there is a rate.
func (a *lane) next(k int64) (scheduled time.Time, ok bool) {
	r := a.run
	if r.pacer == nil {
		return scheduled, r.Operations == 0 || k < a.share
	}
	arrival := r.pacer.Claim()
	scheduled = r.pacer.At(arrival)
	if r.Operations > 0 && arrival >= r.Operations {
		return scheduled, false
	}
	if !r.end.IsZero() && !scheduled.Before(r.end) {
		r.timeUp.Store(true)
		return scheduled, false
	}
	return scheduled, r.pacer.Wait(r.waits, r.Clock, scheduled) == nil
}

// operate makes the next operation and carries it out. ok is false if the thread is to end.
func (a *lane) operate(scheduled time.Time) (ended time.Time, ok bool) {
	op, err := a.make()
	if op == nil {
		a.fail(err)
		return ended, false
	}
	c := a.run.Workload.config
	a.opened = time.Time{}
	a.inFlight.Store(true)
	var status Status
	if c.DoTransactions {
		ended, status = a.carryOut(op, scheduled, a.recorder)
	} else {
		ended, status = a.load(op, scheduled)
	}
	if !status.Success() && a.cut() {
		return ended, false // it stays in flight: nobody knows what became of it
	}
	a.count(ended, status)
	if status.Success() {
		a.recorder.success(scheduled, a.opened, ended)
	}
	a.inFlight.Store(false)
	return ended, status.Success() || c.DoTransactions || c.KeepGoing
}

// make chooses what to do next; nil if there is nothing left, or if it cannot.
func (a *lane) make() (*Operation, error) {
	if a.run.Workload.config.DoTransactions {
		return a.thread.Next()
	}
	op, ok := a.thread.NextLoad()
	if !ok {
		return nil, nil
	}
	return op, nil
}

// count counts an operation that ended.
func (a *lane) count(ended time.Time, status Status) {
	if !status.Success() {
		a.failed.Store(a.failed.Load() + 1)
	}
	a.ended.Store(a.since(ended))
	a.tried.Store(a.tried.Load() + 1)
}

func (a *lane) since(t time.Time) int64 { return int64(t.Sub(a.run.origin)) + 1 }

// fail ends the thread for a reason that is not the database's.
func (a *lane) fail(err error) {
	if err == nil {
		return
	}
	a.failure.Store(&err)
	a.run.Log.Error("A thread cannot go on", "thread", a.index, "error", err)
}

// begins notes that an operation begins, and returns when.
func (a *lane) begins() time.Time {
	now := a.run.Clock.Now()
	if !a.measuring {
		return now
	}
	if a.opened.IsZero() {
		a.opened = now
	}
	if a.began.Load() == 0 {
		a.began.Store(a.since(now))
	}
	if a.run.pacer != nil {
		a.lastBegan.Store(a.since(now))
	}
	return now
}

// load carries out an insert of the load, again and again while it fails and may be retried, always with the same key and
// values.
func (a *lane) load(op *Operation, scheduled time.Time) (ended time.Time, status Status) {
	for failures := 1; ; failures++ {
		ended, status = a.carryOut(op, scheduled, a.recorder)
		if status.Success() || a.cut() {
			return ended, status
		}
		pause, again := a.thread.Retry(failures)
		if !again || a.run.stop.Load() || a.run.Clock.Wait(a.run.waits, pause) != nil {
			a.lost.Store(a.lost.Load() + 1)
			return ended, status
		}
		a.retries.Store(a.retries.Load() + 1)
	}
}

// cut tells whether operations under way were cut off.
func (a *lane) cut() bool { return a.run.calls.Err() != nil }

// carryOut carries out one operation and records its calls.
func (a *lane) carryOut(op *Operation, scheduled time.Time, to Recorder) (ended time.Time, status Status) {
	began := a.begins()
	switch op.Kind {
	case MetricRead:
		ended, status = a.read(op, scheduled, began, to)
	case MetricScan:
		ended, status = a.scan(op, scheduled, began, to)
	case MetricUpdate:
		ended, status = a.update(op, scheduled, began, to)
	case MetricReadModifyWrite:
		ended, status = a.readModifyWrite(op, scheduled, began, to)
	default:
		var err error
		status, err = a.session.Insert(a.run.calls, op.Key, op.Values)
		ended = a.run.Clock.Now()
		a.put(to, MetricInsert, status, scheduled, began, ended, err)
	}
	a.thread.Done(op, status)
	return ended, status
}

// put records a call, unless it was cut off.
func (a *lane) put(to Recorder, m Metric, status Status, scheduled, began, ended time.Time, err error) {
	if !status.Success() && a.cut() {
		return
	}
	to.Record(m, status, scheduled, began, ended, err)
}

func (a *lane) read(op *Operation, scheduled, began time.Time, to Recorder) (ended time.Time, status Status) {
	a.record = a.record[:0]
	status, err := a.session.Read(a.run.calls, op.Key, op.Fields, &a.record)
	ended = a.run.Clock.Now()
	a.put(to, MetricRead, status, scheduled, began, ended, err)
	if !a.run.Workload.config.DataIntegrity {
		return ended, status
	}
	if !status.Success() {
		a.record = a.record[:0]
	}
	from := a.run.Clock.Now()
	verdict, err := a.thread.Verify(op, a.record)
	a.put(to, MetricVerify, verdict, time.Time{}, from, a.run.Clock.Now(), err)
	if status.Success() && !verdict.Success() {
		status = verdict
	}
	return ended, status
}

func (a *lane) update(op *Operation, scheduled, began time.Time, to Recorder) (ended time.Time, status Status) {
	status, err := a.session.Update(a.run.calls, op.Key, op.Values)
	ended = a.run.Clock.Now()
	a.put(to, MetricUpdate, status, scheduled, began, ended, err)
	return ended, status
}

// scan also records the time per record, if any came.
func (a *lane) scan(op *Operation, scheduled, began time.Time, to Recorder) (ended time.Time, status Status) {
	a.rows = 0
	status, err := a.session.Scan(a.run.calls, op.Key, op.Count, op.Fields, a.visit)
	ended = a.run.Clock.Now()
	a.put(to, MetricScan, status, scheduled, began, ended, err)
	if status.Success() && a.rows > 0 {
		each := ended.Sub(began) / time.Duration(a.rows)
		a.put(to, MetricScanPerRecord, status, time.Time{}, began, began.Add(each), nil)
	}
	return ended, status
}

// readModifyWrite updates even what could not be read, as YCSB does, and counts as failed if one of the two did.
func (a *lane) readModifyWrite(op *Operation, scheduled, began time.Time, to Recorder) (ended time.Time, status Status) {
	_, status = a.read(op, scheduled, began, to)
	ended, written := a.update(op, scheduled, a.run.Clock.Now(), to)
	if status.Success() {
		status = written
	}
	a.put(to, MetricReadModifyWrite, status, scheduled, began, ended, errPart)
	return ended, status
}

// errPart is why a read-modify-write failed; the failure is told with its part.
var errPart error = partFailed{errors.New("the read or the update failed")}

type partFailed struct{ error }

func (partFailed) ErrorClass() string { return "ReadModifyWriteFailed" }

// close ends the session, which writes what it has buffered. It is measured as CLEANUP, once.
func (a *lane) close() {
	stuck := a.inFlight.Swap(true)
	began := a.run.Clock.Now()
	status, err := a.session.Close(a.run.calls)
	ended := a.run.Clock.Now()
	if !a.measuring {
		if !status.Success() {
			a.run.Log.Warn("Closing a session failed", "thread", a.index, "status", status, "error", err)
		}
		a.inFlight.Store(false)
		return
	}
	a.put(a.recorder, MetricCleanup, status, time.Time{}, began, ended, err)
	if !stuck {
		a.ended.Store(max(a.ended.Load(), a.since(ended)))
	}
	a.inFlight.Store(stuck || !status.Success() && a.cut())
}
