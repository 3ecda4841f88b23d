package nnthroughput

import (
	"context"
	"errors"

	"github.com/hadoop-bench/operator/runner/plan"
)

// An operation is one of NNThroughputBenchmark's, as one shard carries it out. Its methods are called in this order:
// setUp; worker for each thread of the shard; takeDown. takeDown is called whenever setUp was, also if that failed.
type operation interface {
	// setUp makes what the operation works on, before the start order. It is timed as a whole and part of no rate.
	setUp(ctx context.Context) error
	// worker is what thread i of the shard does, from 0.
	worker(i int) worker
	// takeDown undoes what others than this run would notice. Its context lives for takeDownTimeout, whatever became of
	// the measurement's.
	takeDown(ctx context.Context) error
}

// A worker is one thread of an operation. One goroutine uses it. prepare, do and after belong together: only do is timed,
// all three are part of the elapsed time.
type worker interface {
	// prepare makes the names of an item.
	prepare(it item) error
	// do is the timed call. An *opError says that the NameNode answered, but that the operation failed all the same.
	do(ctx context.Context) error
	// after is what follows a do that succeeded, untimed. Its error makes the operation a failed one.
	after(ctx context.Context) error
	// warmUp carries out the operation once on names of warm-up, unmeasured; k counts this thread's from 0. errNoMore ends
	// this thread's warm-up.
	warmUp(ctx context.Context, k int64) error
}

// errNoMore says that there is nothing for a thread to warm up with.
var errNoMore = errors.New("no more names of warm-up")

// item is one of the benchmark's operations.
type item struct {
	number int64 // global: what the file's name ends in
	owner  int64 // global number of the thread whose item it is: it decides the base directory, or the DataNode
}

// newOperation is the operation that the plan's step measures; Validate lets no other through.
func (s *step) newOperation() operation {
	if s.env.Plan.Identity.Step == plan.OpBlockReport {
		return newBlockReport(s)
	}
	return newFileOperation(s)
}

// An opError is a failure that the NameNode tells by its answer, not by an exception.
type opError struct {
	class, text string
}

func (e *opError) Error() string { return e.text }

// returnedFalse is the failure of a call whose answer was false. The original tool counts such a call as done.
func returnedFalse(call string) error {
	return &opError{class: "ReturnedFalse", text: call + " returned false"}
}

// fileNotFound is the failure of a question about a path that does not exist.
func fileNotFound(path string) error {
	return &opError{class: "FileNotFoundException", text: "File does not exist: " + path}
}
