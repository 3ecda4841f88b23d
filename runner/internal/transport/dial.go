package transport

import (
	"context"
	"fmt"
	"net"
	"time"
)

// CauseOf is why ctx ended, if it did and something failed with err, else err.
func CauseOf(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%w (%v)", context.Cause(ctx), err)
	}
	return err
}

// Interruptible runs do, whose reads and writes on nc fail when ctx ends. After an error nc is of no use any more.
func Interruptible[T any](ctx context.Context, nc net.Conn, do func() (T, error)) (T, error) {
	stop := context.AfterFunc(ctx, func() { _ = nc.SetDeadline(time.Unix(1, 0)) })
	v, err := do()
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	return v, err
}
