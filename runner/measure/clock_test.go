package measure_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/hadoop-bench/operator/runner/measure"
)

// epoch is when fake clocks start.
var epoch = time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)

// fakeClock moves only when somebody waits, and then calls hooks whose time has come. Waiting for nothing takes a
// microsecond.
type fakeClock struct {
	mu    sync.Mutex
	now   time.Time
	waits []time.Duration
	hooks map[time.Duration]func() // since epoch
}

func newFakeClock() *fakeClock {
	return &fakeClock{now: epoch, hooks: map[time.Duration]func(){}}
}

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) Wait(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	c.waits = append(c.waits, d)
	c.now = c.now.Add(max(d, time.Microsecond))
	var due []func()
	for at, hook := range c.hooks {
		if c.now.Sub(epoch) >= at {
			due = append(due, hook)
			delete(c.hooks, at)
		}
	}
	c.mu.Unlock()
	for _, hook := range due {
		hook()
	}
	return context.Cause(ctx)
}

func TestWaitUntil(t *testing.T) {
	tests := map[string]struct {
		until time.Duration // since epoch
		late  time.Duration // the most it may be past it, by the fake clock
	}{
		"in the past":  {-time.Second, time.Second},
		"now":          {0, 0},
		"very soon":    {10 * time.Microsecond, 0},
		"in a second":  {time.Second, 0},
		"in between ":  {3500 * time.Microsecond, 0},
		"in ten hours": {10 * time.Hour, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			clock := newFakeClock()
			target := epoch.Add(tt.until)
			if err := measure.WaitUntil(t.Context(), clock, target); err != nil {
				t.Fatalf("WaitUntil: %v", err)
			}
			if late := clock.Now().Sub(target); late < 0 || late > tt.late {
				t.Errorf("returned %s after the instant, want 0 to %s", late, tt.late)
			}
		})
	}
}

func TestWaitUntilEndsWithTheContext(t *testing.T) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	clock := newFakeClock()
	clock.hooks[time.Minute] = func() { cancel(cause) }
	if err := measure.WaitUntil(ctx, clock, epoch.Add(2*time.Minute)); !errors.Is(err, cause) {
		t.Errorf("WaitUntil: %v, want the context's cause", err)
	}
	if err := measure.WaitUntil(ctx, clock, epoch); !errors.Is(err, cause) {
		t.Errorf("WaitUntil of a past instant: %v, want the context's cause", err)
	}
}

func TestSystemClock(t *testing.T) {
	clock := measure.System()
	before := clock.Now()
	for _, d := range []time.Duration{-1, 0, time.Millisecond} {
		if err := clock.Wait(t.Context(), d); err != nil {
			t.Errorf("Wait(%s): %v", d, err)
		}
	}
	if passed := clock.Now().Sub(before); passed < time.Millisecond {
		t.Errorf("Wait(1ms) returned after %s", passed)
	}
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	for _, d := range []time.Duration{0, time.Hour} {
		if err := clock.Wait(ctx, d); !errors.Is(err, cause) {
			t.Errorf("Wait(%s) with an ended context: %v, want its cause", d, err)
		}
	}
}
