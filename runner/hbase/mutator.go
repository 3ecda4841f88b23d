package hbase

import (
	"context"
	"fmt"
)

// A Mutator collects mutations and sends them together once they fill its buffer, while the next ones are collected in a
// second buffer. It belongs to its session, whose own operations do not see what is still collected. Flushes follow one
// another, so mutations of one row are carried out in the order of Add.
type Mutator struct {
	session *Session
	sender  *Session // carries out flushes
	limit   int      // bytes of a buffer

	filling  *collected
	sending  *collected              // belongs to the flush that is under way; else empty
	underWay int                     // mutations in it
	ended    chan *FlushError        // nil if no flush is under way
	stop     context.CancelCauseFunc // ends the one that is
}

// collected is mutations, with the caller's number of each.
type collected struct {
	batch batch
	ops   []int64
}

// Mutator makes one whose two buffers take size bytes each; 0 means Options.WriteBuffer.
func (s *Session) Mutator(size int64) *Mutator {
	if size <= 0 {
		size = s.client.o.WriteBuffer
	}
	return &Mutator{session: s, sender: s.companion(), limit: int(size), filling: new(collected), sending: new(collected)}
}

// A FlushError says which mutations of a flush failed, or of two that followed one another.
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

// Add takes a copy of a mutation. If that fills the buffer it has a flush begin, which goes on in the background; if the
// one before is still under way it waits for that one's end first. The error is what is known by then of earlier flushes: a
// [*FlushError] that names by op, a number of the caller's choice, what failed. The mutation itself is collected all the
// same, unless it could never be sent, which a [*RowError] says. If ctx ends while Add waits, the flush under way is ended.
func (m *Mutator) Add(ctx context.Context, op int64, mutation *Mutation) error {
	if err := mutation.check(m.session.client.o.MaxCell); err != nil {
		return err
	}
	m.filling.batch.addMutation(m.session.tableOf(mutation.Table), mutation)
	m.filling.ops = append(m.filling.ops, op)
	if len(m.filling.batch.bytes) < m.limit {
		return m.poll().orNil()
	}
	failed := m.await(ctx)
	m.start(ctx)
	return failed.orNil()
}

// Buffered is how many mutations were added whose outcome was not told yet.
func (m *Mutator) Buffered() int { return len(m.filling.ops) + m.underWay }

// Flush sends what was collected and waits for all answers, also those to a flush that is under way; each flush takes
// CallTime.Operation at most. Nothing is buffered then, also if mutations failed, which a [*FlushError] tells. Whoever adds
// mutations must call it at the end.
func (m *Mutator) Flush(ctx context.Context) error {
	earlier := m.await(ctx)
	return earlier.and(m.filling.send(ctx, m.sender)).orNil()
}

// start has what was collected be sent in the background, where no other flush may be under way. The flush does not end with
// ctx, which may be that of a single Add, but with whoever waits for it.
func (m *Mutator) start(ctx context.Context) {
	m.filling, m.sending = m.sending, m.filling
	flush, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	if ctx.Err() != nil {
		stop(context.Cause(ctx))
	}
	ended, sending := make(chan *FlushError, 1), m.sending
	m.ended, m.stop, m.underWay = ended, stop, len(sending.ops)
	go func() { ended <- sending.send(flush, m.sender) }()
}

// poll is what a flush that has ended since the last look met.
func (m *Mutator) poll() *FlushError {
	if m.ended == nil {
		return nil
	}
	select {
	case failed := <-m.ended:
		m.forget()
		return failed
	default:
		return nil
	}
}

// await waits for the flush that is under way, if there is one, and ends it when ctx ends.
func (m *Mutator) await(ctx context.Context) *FlushError {
	if m.ended == nil {
		return nil
	}
	defer m.forget()
	select {
	case failed := <-m.ended:
		return failed
	case <-ctx.Done():
		m.stop(context.Cause(ctx))
	}
	return <-m.ended
}

// forget takes note that no flush is under way.
func (m *Mutator) forget() {
	m.stop(nil)
	m.ended, m.stop, m.underWay = nil, nil, 0
}

// send carries out what was collected, of which nothing is left then. It returns nil if nothing failed.
func (c *collected) send(ctx context.Context, s *Session) *FlushError {
	if len(c.ops) == 0 {
		return nil
	}
	s.run(ctx, &c.batch)
	e := &FlushError{Sent: len(c.ops)}
	for i := range c.batch.items {
		if err := c.batch.items[i].err; err != nil {
			e.Failed = append(e.Failed, FailedMutation{Op: c.ops[i], Err: err})
		}
	}
	c.batch.reset()
	c.ops = c.ops[:0]
	if len(e.Failed) == 0 {
		return nil
	}
	return e
}

// and is both flushes' failures together.
func (e *FlushError) and(later *FlushError) *FlushError {
	switch {
	case e == nil:
		return later
	case later == nil:
		return e
	}
	return &FlushError{Sent: e.Sent + later.Sent, Failed: append(e.Failed, later.Failed...)}
}

// orNil is the error, which is nil if e is.
func (e *FlushError) orNil() error {
	if e == nil {
		return nil
	}
	return e
}
