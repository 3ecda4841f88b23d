package ycsb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/report"
)

const (
	// DefaultGrace is how long operations under way may take to end after the time is over, or after a stop.
	DefaultGrace = 5 * time.Second
	// cutOff is how long they may take to end once their context has.
	cutOff = 500 * time.Millisecond
	// opening is how many sessions are opened at a time.
	opening = 16
	// defaultDelta0 is the width of the finest bucket of a rate series.
	defaultDelta0 = time.Second
)

// A Run carries out the load or the run phase of a workload with a number of threads, and measures it. Fields that are not
// said to be optional must be set. A Run is used once.
type Run struct {
	Workload *Workload
	DB       DB
	Clock    measure.Clock
	Log      *slog.Logger
	// Threads is how many there are; they are no more than there are operations, if these have a bound.
	Threads int
	// Operations is how many operations are carried out; 0 means until MaxTime is over or the context ends, or a load's keys.
	Operations int64
	// Rate is when operations begin, all threads together; nil means as soon as the one before has ended.
	Rate *measure.Rate
	// MaxTime ends the measurement; 0 means never.
	MaxTime time.Duration
	// Warmup is what is carried out before the measurement; a load has none.
	Warmup Warmup
	// Gate is called when all is prepared, and returns the instant at which to begin when it has come; nil means at once.
	Gate func(ctx context.Context) (time.Time, error)
	// Texts is what is kept for YCSB's reports; nil means nothing.
	Texts *TextOptions
	// Delta0 is the width of the finest bucket of the rate series, 0 one second; Offset is the target's clock minus this one.
	Delta0, Offset time.Duration
	// Grace is how long operations under way may take to end when the time is over; 0 means DefaultGrace.
	Grace time.Duration
	// OnError, if set, is called with the first error of each class, by another goroutine than the threads'.
	OnError func(m Metric, class, text string)
	// OnStatus, if set, is called when the measurement begins, every StatusInterval from then on, and at the end. Summaries are
	// those of Texts.
	OnStatus       func(report.YCSBStatus)
	StatusInterval time.Duration
	// Logs, if set, gets the HDR histograms of Texts at every status; without OnStatus at the end.
	Logs *HDRLogs

	lanes  []*lane
	keep   keep
	pacer  *measure.Pacer // of the measurement; nil: as fast as it goes
	warm   *measure.Pacer // of the warm-up
	end    time.Time      // of the measurement; zero: none
	origin time.Time      // begin of the measurement
	stop   atomic.Bool    // threads are to end

	measure chan struct{} // closed when what the measurement needs is set, so that it may begin
	sealing sync.Mutex    // of sealed, and of what measure tells of
	sealed  bool          // it is too late to begin

	waits   context.Context // of threads, for the time of something
	calls   context.Context // of operations
	warming sync.WaitGroup  // threads at a warm-up of a number of operations
	all     sync.WaitGroup

	timeUp  atomic.Bool // MaxTime ended the measurement
	stopped time.Time   // when it ended by that, or by the context
}

// Warmup is how long, or how many operations, the threads work before they are measured. The operations are those of the
// workload: a record that the warm-up inserts is one that the measurement reads. At most one of the fields is above 0.
type Warmup struct {
	Duration   time.Duration
	Operations int64
}

func (w Warmup) none() bool { return w == Warmup{} }

// ErrNotOpen says that a thread could not be connected to the database, so that nothing was measured.
var ErrNotOpen = errors.New("a session of the database could not be opened")

// Do opens all sessions, carries the workload out and returns what was measured. Once the threads have begun, it always
// returns a result; if the context ends before the work does, with its cause in Result.Cause.
// Operations that hang are waited for no longer than Grace when the time is over; their goroutines are left alone, and the
// sessions they use must not be used again. Errors: ErrNotOpen with the reason, the gate's error, the context's cause.
func (r *Run) Do(ctx context.Context) (*Result, error) {
	if err := r.prepare(); err != nil {
		return nil, err
	}
	if err := r.open(ctx); err != nil {
		return nil, err
	}
	var endWaits, cutCalls context.CancelFunc
	r.waits, endWaits = context.WithCancel(context.WithoutCancel(ctx))
	defer endWaits()
	r.calls, cutCalls = context.WithCancel(context.WithoutCancel(ctx))
	defer cutCalls()
	start, err := r.gate(ctx)
	if err != nil {
		r.closeAll(ctx)
		return nil, err
	}
	errorsTold, statusTold := r.tellErrors(), r.tellStatus()
	finished := r.launch(start)
	cause := r.await(ctx, finished)
	r.stop.Store(true)
	endWaits()
	r.finish(finished, cutCalls)
	result, err := r.result(cause)
	statusTold()
	errorsTold()
	return result, err
}

// prepare makes the threads.
func (r *Run) prepare() error {
	c := r.Workload.config
	if r.Operations > 0 {
		r.Threads = int(min(int64(r.Threads), r.Operations))
	}
	if r.Threads < 1 {
		return fmt.Errorf("run with %d threads: there must be one at least", r.Threads)
	}
	if !c.DoTransactions && !r.Warmup.none() {
		r.Log.Warn("There is no warm-up: what a load inserts is there once only")
		r.Warmup = Warmup{}
	}
	if r.Grace == 0 {
		r.Grace = DefaultGrace
	}
	if r.Delta0 == 0 {
		r.Delta0 = defaultDelta0
	}
	r.keep = keep{delta0: r.Delta0, offset: r.Offset, paced: r.Rate != nil, texts: r.Texts, first: make(chan firstError, 64)}
	r.measure = make(chan struct{})
	expected := r.expected()
	for i := range r.Threads {
		r.lanes = append(r.lanes, &lane{
			run: r, index: i, thread: r.Workload.Thread(i), recorder: newThreadRecorder(&r.keep, expected),
			share: share(r.Operations, i, r.Threads), warmShare: share(r.Warmup.Operations, i, r.Threads),
		})
	}
	return nil
}

// share is how many of all operations a thread carries out: the first ones get what does not divide.
func share(operations int64, thread, threads int) int64 {
	n := operations / int64(threads)
	if int64(thread) < operations%int64(threads) {
		n++
	}
	return n
}

// expected are the metrics that the workload has.
func (r *Run) expected() (expected []Metric) {
	c := r.Workload.config
	add := func(is bool, of ...Metric) {
		if is {
			expected = append(expected, of...)
		}
	}
	add(true, MetricCleanup)
	add(!c.DoTransactions, MetricInsert)
	if !c.DoTransactions {
		return expected
	}
	add(c.ReadProportion+c.ReadModifyWriteProportion > 0, MetricRead)
	add(c.UpdateProportion+c.ReadModifyWriteProportion > 0, MetricUpdate)
	add(c.InsertProportion > 0, MetricInsert)
	add(c.ScanProportion > 0, MetricScan, MetricScanPerRecord)
	add(c.ReadModifyWriteProportion > 0, MetricReadModifyWrite)
	add(c.DataIntegrity, MetricVerify)
	return expected
}

// open opens the sessions of all threads. If one fails, those that are open are closed.
func (r *Run) open(ctx context.Context) error {
	opened, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	slots := make(chan struct{}, opening)
	for _, a := range r.lanes {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			if opened.Err() != nil {
				return
			}
			session, err := r.DB.Session(opened)
			if err != nil {
				cancel(fmt.Errorf("%w: %w", ErrNotOpen, err))
				return
			}
			a.session = session
		})
	}
	all.Wait()
	if opened.Err() == nil {
		return nil
	}
	r.closeAll(ctx)
	return context.Cause(opened)
}

// closeAll closes sessions with which nothing was done.
func (r *Run) closeAll(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.Grace)
	defer cancel()
	for _, a := range r.lanes {
		if a.session == nil {
			continue
		}
		if _, err := a.session.Close(ctx); err != nil {
			r.Log.Warn("Closing a session failed", "thread", a.index, "error", err)
		}
	}
}

func (r *Run) gate(ctx context.Context) (time.Time, error) {
	if r.Gate == nil {
		return r.Clock.Now(), context.Cause(ctx)
	}
	start, err := r.Gate(ctx)
	if err != nil {
		return time.Time{}, fmt.Errorf("wait for the start: %w", err)
	}
	return start, nil
}

// launch lets all threads work from an instant on. finished is closed when all have ended.
func (r *Run) launch(start time.Time) (finished <-chan struct{}) {
	r.warm = r.newPacer(start)
	counted := r.Warmup.Operations > 0
	if counted {
		r.warming.Add(len(r.lanes))
	} else {
		r.begin(start.Add(r.Warmup.Duration))
	}
	for _, a := range r.lanes {
		r.all.Go(a.work)
	}
	done := make(chan struct{})
	go func() {
		if counted {
			r.warming.Wait()
			r.begin(r.Clock.Now())
		}
		r.all.Wait()
		close(done)
	}()
	return done
}

// begin lets the measurement begin at an instant, unless the run has ended or is to end.
func (r *Run) begin(origin time.Time) {
	r.sealing.Lock()
	defer r.sealing.Unlock()
	if r.sealed || r.stop.Load() {
		return
	}
	r.origin, r.keep.origin = origin, origin
	if r.MaxTime > 0 {
		r.end = origin.Add(r.MaxTime)
	}
	r.pacer = r.newPacer(origin)
	for _, a := range r.lanes {
		a.recorder.begin()
	}
	close(r.measure)
}

// seal keeps the measurement from beginning, and tells whether it has begun.
func (r *Run) seal() (begun bool) {
	r.sealing.Lock()
	defer r.sealing.Unlock()
	r.sealed = true
	return !r.origin.IsZero()
}

// await waits for the end of all threads, of the time, or of the context, whose cause it returns.
func (r *Run) await(ctx context.Context, finished <-chan struct{}) error {
	timeUp := make(chan struct{})
	go func() {
		select {
		case <-r.measure:
		case <-r.waits.Done():
			return
		}
		if !r.end.IsZero() && r.Clock.Wait(r.waits, r.end.Sub(r.Clock.Now())) == nil {
			close(timeUp)
		}
	}()
	var cause error
	select {
	case <-finished:
		return nil
	case <-timeUp:
		r.timeUp.Store(true)
	case <-ctx.Done():
		cause = context.Cause(ctx)
	}
	r.stopped = r.Clock.Now()
	return cause
}

// finish waits for the threads, which were told to stop, and cuts off what hangs.
func (r *Run) finish(finished <-chan struct{}, cutCalls func()) {
	if r.within(r.Grace, finished) {
		return
	}
	cutCalls()
	r.within(cutOff, finished)
}

// within waits for the threads and tells whether they have ended in time.
func (r *Run) within(limit time.Duration, finished <-chan struct{}) bool {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-finished:
			cancel()
		case <-ctx.Done():
		}
	}()
	_ = r.Clock.Wait(ctx, limit)
	select {
	case <-finished:
		return true
	default:
		return false
	}
}

// newPacer is the schedule from an instant on; nil without one. Its phase follows from the seed and the shard, so that
// shards do not beat in time.
func (r *Run) newPacer(origin time.Time) *measure.Pacer {
	if r.Rate == nil {
		return nil
	}
	c := r.Workload.config
	return measure.NewPacer(origin, *r.Rate, rand.New(rand.NewPCG(c.Seed, math.MaxUint64-uint64(c.Shard))).Uint64())
}

// tellErrors calls OnError for each class until the returned function is called.
func (r *Run) tellErrors() (stop func()) {
	ended, told := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(told)
		known := map[string]bool{}
		tell := func(e firstError) {
			if !known[e.class] && r.OnError != nil {
				known[e.class] = true
				r.OnError(e.metric, e.class, e.text)
			}
		}
		for {
			select {
			case e := <-r.keep.first:
				tell(e)
			case <-ended:
				for len(r.keep.first) > 0 {
					tell(<-r.keep.first)
				}
				return
			}
		}
	}()
	return func() {
		close(ended)
		<-told
	}
}
