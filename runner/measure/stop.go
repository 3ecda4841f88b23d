package measure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

const stopPoll = 100 * time.Millisecond

// Stopped is the cause of a context that ended because the shard was told to stop.
type Stopped struct {
	Reason string // the order's reason, or the signal's name
	Signal bool   // true: by a signal, false: by order
}

func (e *Stopped) Error() string {
	if e.Signal {
		return "stopped by signal: " + e.Reason
	}
	return "stopped by order: " + e.Reason
}

// ErrDeadline is the cause of a context that ended because the time for the whole shard was over.
var ErrDeadline = errors.New("time for the shard is over")

// A Stop watches for everything that ends a shard before it is done.
type Stop struct {
	Clock   Clock
	File    string           // holds the reason once a stop is ordered
	Signals <-chan os.Signal // as from signal.Notify
	Timeout time.Duration    // for the whole shard; 0: none
}

// Context returns a context that ends with cause *Stopped or ErrDeadline. The caller must call cancel, which ends the
// watching.
func (s *Stop) Context(parent context.Context) (ctx context.Context, cancel func()) {
	ctx, cancelCause := context.WithCancelCause(parent)
	began := s.Clock.Now()
	go func() {
		select {
		case sig := <-s.Signals:
			cancelCause(&Stopped{Reason: sig.String(), Signal: true})
		case <-ctx.Done():
		}
	}()
	go func() {
		for {
			if reason, _ := readOrder(s.File); reason != "" {
				cancelCause(&Stopped{Reason: reason})
				return
			}
			if s.Timeout > 0 && s.Clock.Now().Sub(began) >= s.Timeout {
				cancelCause(fmt.Errorf("%w: %s", ErrDeadline, s.Timeout))
				return
			}
			if s.Clock.Wait(ctx, stopPoll) != nil {
				return
			}
		}
	}()
	return ctx, func() { cancelCause(context.Canceled) }
}
