package hbase

import (
	"context"
	"fmt"
)

// A Mutator collects mutations and sends them together once they fill its buffer. It belongs to its session, whose own
// operations do not see what is still collected. Mutations of one row are carried out in the order of Add.
type Mutator struct {
	session *Session
	batch   batch
	ops     []int64 // the caller's number of each item
	limit   int
}

// Mutator makes one with a buffer of size bytes; 0 means Options.WriteBuffer.
func (s *Session) Mutator(size int64) *Mutator {
	if size <= 0 {
		size = s.client.o.WriteBuffer
	}
	return &Mutator{session: s, limit: int(size)}
}

// A FlushError says which of the mutations that were sent together failed.
type FlushError struct {
	Sent   int // in all
	Failed []FailedMutation
}

// A FailedMutation is a mutation that failed for good.
type FailedMutation struct {
	Op  int64 // the number that it was added with
	Err error
}

// Error says how many failed, and the first cause.
func (e *FlushError) Error() string {
	return fmt.Sprintf("%d of %d buffered mutations failed, the first one: %v", len(e.Failed), e.Sent, e.Failed[0].Err)
}

// Unwrap returns the errors of all that failed.
func (e *FlushError) Unwrap() []error {
	all := make([]error, len(e.Failed))
	for i, f := range e.Failed {
		all[i] = f.Err
	}
	return all
}

// ErrorClass is that of the first that failed.
func (e *FlushError) ErrorClass() string { return classOf(e.Failed[0].Err) }

// Add takes a copy of a mutation, and flushes if that fills the buffer: then the error is that of Flush, and names by op, a
// number of the caller's choice, what failed. A mutation that could never be sent is refused by a [*RowError] and is not
// collected.
func (m *Mutator) Add(ctx context.Context, op int64, mutation *Mutation) error {
	if err := mutation.check(m.session.client.o.MaxCell); err != nil {
		return err
	}
	m.batch.addMutation(m.session.tableOf(mutation.Table), mutation)
	m.ops = append(m.ops, op)
	if len(m.batch.bytes) < m.limit {
		return nil
	}
	return m.Flush(ctx)
}

// Buffered is how many mutations wait to be sent.
func (m *Mutator) Buffered() int { return len(m.ops) }

// Flush sends what was collected and waits for the answers, for CallTime.Operation at most. The buffer is empty then, also
// if mutations failed, which a [*FlushError] tells.
func (m *Mutator) Flush(ctx context.Context) error {
	if len(m.ops) == 0 {
		return nil
	}
	m.session.run(ctx, &m.batch)
	e := &FlushError{Sent: len(m.ops)}
	for i := range m.batch.items {
		if err := m.batch.items[i].err; err != nil {
			e.Failed = append(e.Failed, FailedMutation{Op: m.ops[i], Err: err})
		}
	}
	m.batch.reset()
	m.ops = m.ops[:0]
	if len(e.Failed) > 0 {
		return e
	}
	return nil
}
