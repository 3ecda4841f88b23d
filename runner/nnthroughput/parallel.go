package nnthroughput

import (
	"context"
	"sync"
	"sync/atomic"
)

// parallel calls do for each i below n, from at most the given number of goroutines, whose number, from 0, is worker. The
// first error ends the others' context and is returned.
func parallel(parent context.Context, workers, n int, do func(ctx context.Context, worker, i int) error) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	var next atomic.Int64
	var wait sync.WaitGroup
	for worker := range min(workers, n) {
		wait.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := do(ctx, worker, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	wait.Wait()
	return context.Cause(ctx)
}
