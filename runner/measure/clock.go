// Package measure records and paces what a shard measures: per-thread histograms and rate series, the start gate and
// the stop order by which the operator reaches a pod without a network, the offset of the shard's clock, and what
// measuring cost the shard itself. Nothing on the timed path allocates, locks or logs.
package measure

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// A Clock tells the time and waits. Tests use one of their own.
type Clock interface {
	// Now is the time now, with a monotonic reading where there is one.
	Now() time.Time
	// Wait returns nil once d has passed, or the context's cause as soon as the context ends. With d ≤ 0 it only lets
	// others run.
	Wait(ctx context.Context, d time.Duration) error
}

// System is the machine's clock. It waits for short times, up to 2 ms, more precisely than for long ones, and then does not
// look at the context until they are over.
func System() Clock { return &system{} }

// short is up to where the system's clock waits precisely.
const short = 2 * time.Millisecond

type system struct {
	alarms sync.Pool // of *alarm, those that nobody waits for; the garbage collector closes what it drops
}

func (s *system) Now() time.Time { return time.Now() }

func (s *system) Wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		runtime.Gosched()
		return context.Cause(ctx)
	}
	if d <= short && s.sleep(d) {
		return context.Cause(ctx)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// spin is how long before an instant WaitUntil stops relying on timers, which are late by up to a millisecond or two.
const spin = 3 * time.Millisecond

// WaitUntil returns at the instant t, within microseconds on an idle core, or with the context's cause before.
func WaitUntil(ctx context.Context, clock Clock, t time.Time) error {
	for {
		left := t.Sub(clock.Now())
		if left <= 0 {
			return context.Cause(ctx)
		}
		if err := clock.Wait(ctx, max(0, left-spin)); err != nil {
			return err
		}
	}
}
