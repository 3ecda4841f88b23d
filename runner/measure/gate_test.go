package measure_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/plan"
)

func newGate(t *testing.T, clock measure.Clock) *measure.Gate {
	dir := t.TempDir()
	return &measure.Gate{
		Clock: clock, Closed: true, Timeout: time.Minute,
		ReadyFile: filepath.Join(dir, "ready"), StartFile: filepath.Join(dir, "start-at"),
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Error(err)
	}
}

func TestGateWait(t *testing.T) {
	format := func(d time.Duration) string { return epoch.Add(d).Format(plan.TimeFormat) }
	tests := map[string]struct {
		orders map[time.Duration]string // texts of the start file over time
		start  time.Duration            // since epoch
		err    string                   // part of the error
	}{
		"order is there":            {map[time.Duration]string{0: format(2 * time.Second)}, 2 * time.Second, ""},
		"order comes later":         {map[time.Duration]string{5 * time.Second: format(7 * time.Second)}, 7 * time.Second, ""},
		"empty first":               {map[time.Duration]string{0: "\n", 3 * time.Second: format(4*time.Second) + "\n"}, 4 * time.Second, ""},
		"to the microsecond":        {map[time.Duration]string{0: format(1500001 * time.Microsecond)}, 1500001 * time.Microsecond, ""},
		"a little late":             {map[time.Duration]string{5 * time.Second: format(4500 * time.Millisecond)}, 4500 * time.Millisecond, ""},
		"too late":                  {map[time.Duration]string{5 * time.Second: format(3 * time.Second)}, 0, "too late"},
		"no order":                  {nil, 0, "no start order came in time: waited 1m0s"},
		"not a time":                {map[time.Duration]string{0: "soon"}, 0, `start order "soon" is not a time`},
		"in two hours":              {map[time.Duration]string{0: format(2 * time.Hour)}, 0, "more than 1h0m0s ahead"},
		"time zone is read as well": {map[time.Duration]string{0: "2026-12-01T12:00:01.000000+02:00"}, time.Second, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			clock := newFakeClock()
			gate := newGate(t, clock)
			for at, text := range tt.orders {
				if at == 0 {
					writeFile(t, gate.StartFile, text)
					continue
				}
				clock.hooks[at] = func() { writeFile(t, gate.StartFile, text) }
			}
			start, err := gate.Wait(t.Context())
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("Wait: %v, want an error with %q", err, tt.err)
				}
				return
			}
			if err != nil || !start.Equal(epoch.Add(tt.start)) {
				t.Fatalf("Wait = %s, %v, want %s", start, err, epoch.Add(tt.start))
			}
			if clock.Now().Before(start) {
				t.Errorf("Wait returned at %s, before the start %s", clock.Now(), start)
			}
		})
	}
}

func TestGateErrorsCanBeTold(t *testing.T) {
	clock := newFakeClock()
	gate := newGate(t, clock)
	if _, err := gate.Wait(t.Context()); !errors.Is(err, measure.ErrGateTimeout) {
		t.Errorf("Wait: %v, want ErrGateTimeout", err)
	}
	writeFile(t, gate.StartFile, epoch.Format(plan.TimeFormat))
	missed := new(measure.GateMissed)
	if _, err := gate.Wait(t.Context()); !errors.As(err, &missed) || !missed.Start.Equal(epoch) {
		t.Errorf("Wait: %v, want GateMissed for %s", err, epoch)
	}
	if err := os.Remove(gate.StartFile); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(gate.StartFile, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := gate.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), "read the start order") {
		t.Errorf("Wait with a directory for a file: %v", err)
	}
}

func TestGateWithoutTimeoutWaitsForTheContext(t *testing.T) {
	clock := newFakeClock()
	gate := newGate(t, clock)
	gate.Timeout = 0
	cause := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	clock.hooks[24*time.Hour] = func() { cancel(cause) }
	// A poll each 20 ms of a day is many; let the clock jump.
	clock.hooks[time.Second] = func() { clock.mu.Lock(); clock.now = clock.now.Add(24 * time.Hour); clock.mu.Unlock() }
	if _, err := gate.Wait(ctx); !errors.Is(err, cause) {
		t.Errorf("Wait: %v, want the cause", err)
	}
}

func TestGateStopsBetweenOrderAndStart(t *testing.T) {
	clock := newFakeClock()
	gate := newGate(t, clock)
	writeFile(t, gate.StartFile, epoch.Add(2*time.Second).Format(plan.TimeFormat))
	cause := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	clock.hooks[time.Second] = func() { cancel(cause) }
	if _, err := gate.Wait(ctx); !errors.Is(err, cause) {
		t.Errorf("Wait: %v, want the cause", err)
	}
}

func TestOpenGate(t *testing.T) {
	clock := newFakeClock()
	gate := newGate(t, clock)
	gate.Closed = false
	if start, err := gate.Wait(t.Context()); err != nil || !start.Equal(epoch) {
		t.Errorf("Wait = %s, %v, want now", start, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := gate.Wait(ctx); err == nil {
		t.Error("Wait with an ended context: no error")
	}
}

func TestGateReady(t *testing.T) {
	gate := newGate(t, newFakeClock())
	if err := gate.Ready(); err != nil {
		t.Fatalf("Ready: %v", err)
	}
	if _, err := os.Stat(gate.ReadyFile); err != nil {
		t.Errorf("no ready file: %v", err)
	}
	gate.ReadyFile = filepath.Join(gate.ReadyFile, "x")
	if err := gate.Ready(); err == nil {
		t.Error("Ready below a file: no error")
	}
}
