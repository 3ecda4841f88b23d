package dfsio

import (
	"context"
	"time"
)

const progressEvery = 5 * time.Second

// progress logs every few seconds how far the step is, from a goroutine of its own that only reads a counter. The
// returned function ends it and waits for its end.
func (s *step) progress(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		last := int64(0)
		for s.env.Clock.Wait(ctx, progressEvery) == nil {
			done := s.done.Load()
			attrs := []any{"bytes", done, "megabytesPerSecond", int64(float64(done-last)/1e6/progressEvery.Seconds() + 0.5)}
			if total := s.total.Load(); total > 0 {
				attrs = append(attrs, "percent", int64(100*float64(done)/float64(total)))
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
