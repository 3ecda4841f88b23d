package nnthroughput

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// defaultSeries is δ0 if the plan names none.
const defaultSeries = time.Second

// measured sets an operation up, waits at the gate, measures, and takes down, and fills the report's body whatever
// happens.
func (s *step) measured(ctx context.Context, op operation) (err error) {
	s.body.Planned = s.work.planned()
	stopProgress := s.progress(ctx)
	defer stopProgress()
	defer func() {
		if undo := s.takeDown(ctx, op); undo != nil {
			s.env.Log.Error("Taking down failed", "error", undo)
			if err == nil {
				err = undo
			}
		}
	}()
	began := s.env.Clock.Now()
	err = s.prepare(ctx, op)
	s.body.SetUp = s.env.Clock.Now().Sub(began).Microseconds()
	if err != nil {
		return err
	}
	phase, err := s.drawPhase()
	if err != nil {
		return err
	}
	l := s.newLoop(ctx, op)
	defer l.release()
	l.phase = phase
	s.body.Prepared = s.env.Clock.Now().UnixMicro()
	start, err := s.gate(ctx)
	if err != nil {
		l.abandon(err)
		return err
	}
	return s.measure(ctx, l, start)
}

// takeDown undoes what the operation did to others, with time of its own.
func (s *step) takeDown(ctx context.Context, op operation) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), takeDownTimeout)
	defer cancel()
	return op.takeDown(ctx)
}

func (s *step) gate(ctx context.Context) (time.Time, error) {
	if err := s.env.Gate.Ready(); err != nil {
		return time.Time{}, err
	}
	s.env.Log.Info("Prepared, waiting for the start")
	start, err := s.env.Gate.Wait(ctx)
	if err != nil {
		return time.Time{}, fmt.Errorf("wait for the start: %w", err)
	}
	return start, nil
}

// windowsFrom are the instants that follow from the start.
func (s *step) windowsFrom(start time.Time) windows {
	w := windows{origin: start}
	if s.warmsUp() {
		w.origin = start.Add(time.Duration(s.nnt.WarmupMillis) * time.Millisecond)
	} else if s.nnt.WarmupMillis > 0 {
		s.env.Log.Warn("There is no warm-up: what the operation consumes is there once only")
	}
	if s.nnt.DurationMillis > 0 {
		w.end = w.origin.Add(time.Duration(s.nnt.DurationMillis) * time.Millisecond)
	}
	return w
}

// newPacer is the schedule of the shard's part of the rate from an instant on; nil without one.
func (s *step) newPacer(origin time.Time, phase uint64) *measure.Pacer {
	if s.nnt.RateMilli == 0 {
		return nil
	}
	return measure.NewPacer(origin, measure.Rate{
		Milli: s.nnt.RateMilli, Part: int64(s.work.own()), Whole: s.work.total,
	}, phase)
}

// drawPhase draws where in its first interval the shard's schedule begins, so that shards do not beat in time.
func (s *step) drawPhase() (uint64, error) {
	var random [8]byte
	if _, err := io.ReadFull(s.env.Random, random[:]); err != nil {
		return 0, fmt.Errorf("draw the schedule's phase: %w", err)
	}
	return binary.LittleEndian.Uint64(random[:]), nil
}

// measure runs the loop from a start on and reports it.
func (s *step) measure(ctx context.Context, l *loop, start time.Time) error {
	w := s.windowsFrom(start)
	s.running.Store(l)
	tellFailovers := s.watchFailovers()
	l.run(w, s.newPacer(start, l.phase), s.newPacer(w.origin, l.phase))
	tellFailovers()
	after, err := s.env.Self.Read()
	if err = errors.Join(l.before.err, err); err != nil {
		s.env.Log.Warn("The client's own use is not known", "error", err)
	} else if l.before.taken.Load() {
		s.body.Client = s.env.Self.Between(l.before.Usage, after)
	}
	total := s.recorder()
	total.Begin(w.origin)
	for _, a := range l.lanes {
		if err := total.Add(a.r); err != nil {
			return fmt.Errorf("add up the threads: %w", err)
		}
	}
	total.Fill(s.body)
	s.spanOf(l, total)
	s.body.Due = l.due()
	s.env.Log.Info("Measured", "startOrder", w.origin.UTC(), "lateMicros", s.body.Start-w.origin.UnixMicro(), "operations", s.body.Operations)
	return s.verdict(ctx, l)
}

// watchFailovers returns what notes as a fact how often another NameNode became the active one since then: the figures of
// such a measurement hold a pause that is not the NameNode's speed. Without a failover there is no such fact.
func (s *step) watchFailovers() (tell func()) {
	service, ok := s.target.(interface {
		Failovers() int64
		Address() string
	})
	if !ok {
		return func() {}
	}
	before := service.Failovers()
	return func() {
		if n := service.Failovers() - before; n > 0 {
			s.fact(report.FactFailovers, fmt.Sprintf("%d (the last to %s)", n, service.Address()))
		}
	}
}

// recorder makes the recorder of one thread, whose origin is not known yet.
func (s *step) recorder() *measure.Recorder {
	delta := time.Duration(s.env.Plan.SeriesMicros) * time.Microsecond
	if delta == 0 {
		delta = defaultSeries
	}
	var offset time.Duration
	if s.body.Clock != nil {
		offset = time.Duration(s.body.Clock.OffsetMicros) * time.Microsecond
	}
	r := measure.NewRecorder(time.Time{}, delta, offset)
	if s.nnt.RateMilli > 0 {
		r.KeepIntended()
	}
	return r
}

// spanOf reports when the first operation began and the last one ended. Where a rate says when operations begin, waiting
// for the first one's time is part of the measurement, and so is what is left of a duration after the last one.
func (s *step) spanOf(l *loop, r *measure.Recorder) {
	var began, first, last time.Time
	earlier := func(a, b time.Time) bool { return !a.IsZero() && (b.IsZero() || a.Before(b)) }
	for _, a := range l.lanes {
		if earlier(a.began, began) {
			began = a.began
		}
		if earlier(a.first, first) {
			first = a.first
		}
		if a.last.After(last) {
			last = a.last
		}
	}
	if first.IsZero() {
		return
	}
	if l.pacer != nil {
		first = began
	}
	if end := l.windows.end; l.ctx.Err() == nil && end.After(last) {
		last = end
	}
	s.body.Start, s.body.End = r.Micros(first), r.Micros(last)
}

// due is how many operations the rate wanted to begin: until the end of a duration or, where a number ends the
// measurement, until the last one began. A shard that is late has fewer by then. 0 without a rate.
func (l *loop) due() int64 {
	if l.pacer == nil {
		return 0
	}
	now := l.step.env.Clock.Now()
	switch end := l.windows.end; {
	case l.ctx.Err() != nil && (end.IsZero() || now.Before(end)): // stopped
		return l.pacer.Due(now)
	case !end.IsZero():
		return l.pacer.Due(end.Add(-1))
	}
	var last time.Time
	for _, a := range l.lanes {
		if a.lastBegan.After(last) {
			last = a.lastBegan
		}
	}
	if last.IsZero() {
		return 0
	}
	return l.pacer.Due(last)
}

// verdict is how the measurement ended.
func (s *step) verdict(ctx context.Context, l *loop) error {
	if ctx.Err() != nil && !l.finished() {
		return context.Cause(ctx)
	}
	if err := l.failure(); err != nil && ctx.Err() == nil {
		if own := ownFailure(err); own != nil {
			return own
		}
		return s.refused("reach the NameNode", err)
	}
	if s.body.Operations > 0 || len(s.body.Errors) == 0 {
		return nil
	}
	return s.everyOperation(l)
}

// finished tells whether every planned operation was tried: a stop order that comes then comes too late.
func (l *loop) finished() bool {
	if l.step.work.mode != counted {
		return false
	}
	tried := int64(0)
	for _, a := range l.lanes {
		tried += a.done.Load()
	}
	return tried == l.step.work.planned()
}

// everyOperation is the failure of a shard none of whose operations succeeded.
func (s *step) everyOperation(l *loop) error {
	count := int64(0)
	for _, e := range s.body.Errors {
		count += e.Count
	}
	for _, a := range l.lanes {
		if a.firstErr == nil {
			continue
		}
		class, text := describe(a.firstErr)
		remedy := "look into the NameNode's log at that time"
		if own := ownFailure(s.refused(s.env.Plan.Identity.Step, a.firstErr)); own != nil && own.Failure.Remedy != "" {
			remedy = own.Failure.Remedy
		}
		return &steps.Error{Exit: report.ExitBenchmark, Cause: a.firstErr, Failure: report.Failure{
			Reason:  steps.ReasonEveryOperation,
			Message: fmt.Sprintf("none of %d operations succeeded; the first failed with %s: %s", count, class, text),
			Remedy:  remedy,
		}}
	}
	return nil
}
