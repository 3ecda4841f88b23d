package measure_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/measure"
)

func TestStop(t *testing.T) {
	order := measure.Stopped{Reason: "Suspended"}
	tests := map[string]struct {
		act  func(t *testing.T, s *measure.Stop, signals chan os.Signal)
		want error
		text string
	}{
		"by order": {
			func(t *testing.T, s *measure.Stop, _ chan os.Signal) { writeFile(t, s.File, "Suspended\n") },
			&order, "stopped by order: Suspended",
		},
		"by signal": {
			func(_ *testing.T, _ *measure.Stop, signals chan os.Signal) { signals <- syscall.SIGTERM },
			&measure.Stopped{Reason: "terminated", Signal: true}, "stopped by signal: terminated",
		},
		"by time": {
			func(_ *testing.T, s *measure.Stop, _ chan os.Signal) { s.Timeout = time.Minute },
			measure.ErrDeadline, "time for the shard is over: 1m0s",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			signals := make(chan os.Signal, 1)
			clock := measure.Clock(newFakeClock())
			if name != "by time" {
				clock = measure.System() // the fake one would spin until the signal is taken
			}
			stop := &measure.Stop{Clock: clock, File: filepath.Join(t.TempDir(), "stop"), Signals: signals}
			tt.act(t, stop, signals)
			ctx, cancel := stop.Context(t.Context())
			defer cancel()
			<-ctx.Done()
			err := context.Cause(ctx)
			if err.Error() != tt.text {
				t.Errorf("cause %q, want %q", err, tt.text)
			}
			if want, ok := tt.want.(*measure.Stopped); ok {
				got := new(measure.Stopped)
				if !errors.As(err, &got) || !cmp.Equal(want, got) {
					t.Errorf("cause %#v, want %#v", err, want)
				}
			} else if !errors.Is(err, tt.want) {
				t.Errorf("cause %v, want %v", err, tt.want)
			}
		})
	}
}

func TestStopCancel(t *testing.T) {
	stop := &measure.Stop{Clock: measure.System(), File: filepath.Join(t.TempDir(), "stop")}
	ctx, cancel := stop.Context(t.Context())
	if err := ctx.Err(); err != nil {
		t.Errorf("context ended without a reason: %v", context.Cause(ctx))
	}
	cancel()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cause after cancel: %v", err)
	}
}
