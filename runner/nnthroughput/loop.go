package nnthroughput

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hadoop-bench/operator/runner/measure"
)

// stopGrace is how long calls under way may take to end after a stop order or a failure.
const stopGrace = 5 * time.Second

// loop is the threads of a shard at work. It is made and its goroutines run before the start order comes, so that all
// threads begin at once.
type loop struct {
	step  *step
	lanes []*lane
	// windows and schedules are set before begin is closed.
	windows windows
	warm    *measure.Pacer // of the warm-up; nil: as fast as it goes
	pacer   *measure.Pacer // of the measurement
	phase   uint64         // of both schedules, as a part of all values
	begin   chan struct{}
	all     sync.WaitGroup
	before  usage

	// ctx ends with a stop order or with the first failure that ends the shard; calls gets stopGrace more.
	ctx     context.Context
	cancel  context.CancelCauseFunc
	calls   context.Context
	release func()
}

// usage is a reading of what the process used.
type usage struct {
	taken atomic.Bool
	measure.Usage
	err error
}

// windows are the instants between which threads work.
type windows struct {
	origin time.Time // end of the warm-up, start of the measurement
	end    time.Time // zero: a number of operations ends it
}

// lane is one thread. Only its own goroutine writes to it while the loop runs.
type lane struct {
	loop   *loop
	index  int
	worker worker
	nn     NameNode
	r      *measure.Recorder
	done   atomic.Int64 // operations tried, for the progress and the refreshing of groups

	began       time.Time // when the thread began to work, be it on an operation or on waiting for its time
	first, last time.Time // begin of the first and end of the last operation
	lastBegan   time.Time
	firstErr    error // of an operation
}

// newLoop starts the threads, which wait for run.
func (s *step) newLoop(ctx context.Context, op operation) *loop {
	l := &loop{step: s, begin: make(chan struct{})}
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	calls, cancelCalls := context.WithCancel(context.WithoutCancel(ctx))
	l.calls = calls
	// Once the loop is to end, calls under way are cut off after the grace.
	stop := context.AfterFunc(l.ctx, func() {
		_ = s.env.Clock.Wait(calls, stopGrace)
		cancelCalls()
	})
	l.release = func() {
		stop()
		cancelCalls()
		l.cancel(nil)
	}
	for i := range s.work.own() {
		l.lanes = append(l.lanes, &lane{loop: l, index: i, worker: op.worker(i), nn: s.thread(i), r: s.recorder()})
	}
	for _, a := range l.lanes {
		l.all.Go(a.run)
	}
	return l
}

// run lets the threads work and waits for their end.
func (l *loop) run(w windows, warm, pacer *measure.Pacer) {
	l.windows, l.warm, l.pacer = w, warm, pacer
	for _, a := range l.lanes {
		a.r.Begin(w.origin) // also of a thread that a stop order reaches before it begins: all are added up
	}
	close(l.begin)
	l.all.Wait()
}

// abandon ends a loop that never ran.
func (l *loop) abandon(cause error) {
	l.cancel(cause)
	l.all.Wait()
	l.release()
}

// failure is what ended the loop early, besides the stop of the step itself.
func (l *loop) failure() error {
	if l.ctx.Err() == nil {
		return nil
	}
	return context.Cause(l.ctx)
}

// run is the whole life of one thread.
func (a *lane) run() {
	select {
	case <-a.loop.begin:
	case <-a.loop.ctx.Done():
		return
	}
	var err error
	if a.loop.step.warmsUp() {
		err = a.warmUp()
	}
	if err == nil {
		a.loop.readUsage()
		err = a.work()
	}
	if err != nil {
		a.loop.cancel(err)
	}
}

// readUsage reads what the process used until now, for the first thread that comes here: that of the warm-up is no part
// of what measuring costs.
func (l *loop) readUsage() {
	if l.before.taken.CompareAndSwap(false, true) {
		l.before.Usage, l.before.err = l.step.env.Self.Read()
	}
}

// warmUp works until the measurement begins. What fails is of interest only if the NameNode is gone.
func (a *lane) warmUp() error {
	l, clock := a.loop, a.loop.step.env.Clock
	until := l.windows.origin
	for k := int64(0); l.ctx.Err() == nil; k++ {
		if l.warm != nil {
			arrival := l.warm.At(l.warm.Claim())
			if arrival.After(until) {
				arrival = until
			}
			if err := l.warm.Wait(l.ctx, clock, arrival); err != nil {
				return err
			}
		}
		left := until.Sub(clock.Now())
		if left <= 0 {
			return nil
		}
		err := a.worker.warmUp(l.calls, k)
		switch {
		case errors.Is(err, errNoMore):
			return clock.Wait(l.ctx, left)
		case err != nil && unreachable(err):
			return err
		case err != nil && a.firstErr == nil:
			a.firstErr = err
			l.step.env.Log.Warn("An operation of the warm-up failed", "thread", a.index, "error", err)
		}
	}
	return nil
}

// work is the measurement of one thread.
func (a *lane) work() error {
	a.firstErr = nil
	clock, end := a.loop.step.env.Clock, a.loop.windows.end
	a.began = clock.Now()
	for k := int64(0); a.loop.ctx.Err() == nil; k++ {
		if !end.IsZero() && !clock.Now().Before(end) {
			return nil
		}
		it, scheduled, ok := a.next(k)
		if !ok {
			return nil
		}
		if err := a.operate(k, it, scheduled); err != nil {
			return err
		}
	}
	return nil
}

// next is the thread's k-th item and, with a rate, the instant at which its operation is to begin, which has come when
// next returns. It is false at the end of the work.
func (a *lane) next(k int64) (it item, scheduled time.Time, ok bool) {
	l := a.loop
	if l.pacer == nil {
		it, ok = l.step.work.at(a.index, k)
		return it, scheduled, ok
	}
	arrival := l.pacer.Claim()
	it, ok = l.step.work.arrival(arrival)
	scheduled = l.pacer.At(arrival)
	if !ok || (!l.windows.end.IsZero() && !scheduled.Before(l.windows.end)) {
		return it, scheduled, false
	}
	return it, scheduled, l.pacer.Wait(l.ctx, l.step.env.Clock, scheduled) == nil
}

// operate carries out and records one operation. It returns an error only if the shard is to end.
func (a *lane) operate(k int64, it item, scheduled time.Time) error {
	l := a.loop
	if g := int64(l.step.nnt.UGCacheRefreshCount); g > 0 && (k+1)%g == 0 {
		if err := a.nn.RefreshUserToGroupsMappings(l.calls); err != nil {
			if fatal := a.failed(err); fatal != nil {
				return fatal
			}
		}
	}
	if err := a.worker.prepare(it); err != nil {
		return err
	}
	clock := l.step.env.Clock
	began := clock.Now()
	err := a.worker.do(l.calls)
	ended := clock.Now()
	if a.first.IsZero() {
		a.first = began
	}
	a.last, a.lastBegan = ended, began
	if err == nil {
		err = a.worker.after(l.calls)
	}
	a.done.Store(k + 1)
	if err != nil {
		return a.failed(err)
	}
	if scheduled.IsZero() {
		a.r.Call(began, ended)
	} else {
		a.r.Paced(scheduled, began, ended)
	}
	return nil
}

// failed counts a failure; it returns it if the shard is to end.
func (a *lane) failed(err error) error {
	if a.loop.calls.Err() != nil {
		return nil // cut off after the grace: nobody knows what became of it
	}
	if a.firstErr == nil {
		a.firstErr = err
	}
	class, text := describe(err)
	a.r.Error(class, text)
	if a.loop.fatal(err) {
		return err
	}
	return nil
}

// fatal tells failures after which no other operation has a chance.
func (l *loop) fatal(err error) bool { return unreachable(err) || ownFailure(err) != nil }

// describe is an operation's failure as it is counted.
func describe(err error) (class, text string) {
	if own := new(opError); errors.As(err, &own) {
		return own.class, own.text
	}
	return classOf(err), textOf(err)
}
