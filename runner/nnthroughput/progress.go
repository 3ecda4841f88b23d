package nnthroughput

import (
	"context"
	"time"
)

const progressEvery = 5 * time.Second

// far is how far the step is: what is being done, how much of it, and of how much, 0 if that is not known.
func (s *step) far() (phase string, done, planned int64) {
	l := s.running.Load()
	if l == nil {
		return "set-up", s.done.Load(), s.total.Load()
	}
	for _, a := range l.lanes {
		done += a.done.Load()
	}
	return "measurement", done, s.work.planned()
}

// progress logs every few seconds how far the step is, from a goroutine of its own that only reads counters. The returned
// function ends it and waits for its end.
func (s *step) progress(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		lastPhase, last := "", int64(0)
		for s.env.Clock.Wait(ctx, progressEvery) == nil {
			phase, done, planned := s.far()
			begun := phase != lastPhase
			if begun {
				lastPhase, last = phase, 0
			}
			if phase == "set-up" && done == last {
				continue // waiting for the start, or for the NameNode
			}
			attrs := []any{"phase", phase, "done", done}
			if !begun { // else the time since the phase began is not known
				attrs = append(attrs, "operationsPerSecond", int64(float64(done-last)/progressEvery.Seconds()+0.5))
			}
			if planned > 0 {
				attrs = append(attrs, "planned", planned)
			}
			s.env.Log.Info("Progress", attrs...)
			last = done
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}
