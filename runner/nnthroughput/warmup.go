package nnthroughput

import (
	"context"
	"math"
)

// warmUp carries out the operation on names below the attempt's warm-up directory, which belong to this thread alone.
// Operations that read cycle through the files that set-up made; what an operation consumes is made just before it. The
// names of a small tree come again after a while; what fails for that is of no interest.
func (w *fileWorker) warmUp(ctx context.Context, k int64) error {
	number, ok := w.warmUpNumber(k)
	if !ok {
		return errNoMore
	}
	dir := w.o.dir(w.thread) + warmUpSuffix
	if w.o.existing() {
		dir = w.o.dir(w.thread)
	}
	path := w.warm.at(dir, number)
	if consumes(w.o.op) {
		maker := fileMaker{step: w.o.step, nn: w.nn, client: "create-client-warmup"}
		if err := maker.make(ctx, path); err != nil {
			return err
		}
	}
	w.use(path)
	if err := w.do(ctx); err != nil {
		return err
	}
	return w.after(ctx)
}

// warmUpNumber is the number of the k-th name of this thread's warm-up; false if it has none.
func (w *fileWorker) warmUpNumber(k int64) (int64, bool) {
	if reads(w.o.op) {
		first, count := w.o.work.share(w.thread)
		count = min(count, warmUpFiles)
		if count == 0 {
			return 0, false
		}
		return first + k%count, true
	}
	total := w.o.work.total
	if k > (math.MaxInt64-w.thread)/total {
		return 0, false
	}
	return (w.thread + k*total) % w.capacity, true
}

// warmsUp tells whether a warm-up of this step can be had: existing files that an operation consumes have no spare ones.
func (s *step) warmsUp() bool {
	return s.nnt.WarmupMillis > 0 && !(s.existing() && consumes(s.env.Plan.Identity.Step))
}
