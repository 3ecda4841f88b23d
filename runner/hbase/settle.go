package hbase

import (
	"context"
	"errors"
	"time"
)

// settle decides about what failed, and waits if it is to be tried again. It says whether anything waits.
func (s *Session) settle(ctx context.Context, b *batch) bool {
	now := s.client.o.Clock.Now()
	var pause time.Duration
	failures, waits := false, false
	learned := map[failure]step{}
	for i := range b.items {
		it := &b.items[i]
		if it.state != waiting {
			continue
		}
		if it.err == nil {
			waits = true // left for the next request
			continue
		}
		what := giveUp
		if ctx.Err() == nil {
			what = s.learnOnce(learned, failure{it.region, it.err})
		}
		retry, wanted := s.judgeItem(b, it, what, now)
		if retry {
			pause, waits, failures = max(pause, wanted), true, true
		}
	}
	if !failures {
		return waits
	}
	b.repeatLater()
	s.client.retries.Add(1)
	s.trial.failures++
	if err := s.client.o.Clock.Wait(ctx, pause); err != nil {
		s.abandon(b, err)
		return false
	}
	return true
}

// A failure is what a region or a whole server answered, which many items share.
type failure struct {
	region *region
	err    error
}

// learnOnce is Client.learn for the first item with a failure.
func (s *Session) learnOnce(learned map[failure]step, f failure) step {
	what, known := learned[f]
	if !known {
		what = s.client.learn(f.region, f.err)
		learned[f] = what
	}
	return what
}

// judgeItem says whether an item that failed is tried again and after which pause. If not it has failed for good.
func (s *Session) judgeItem(b *batch, it *item, what step, now time.Time) (retry bool, pause time.Duration) {
	it.failures++
	calls := s.client.o.Calls
	pause = pauseAfter(what, it.failures, calls.Pause, s.random.Float64())
	t := trial{began: s.trial.began, failures: it.failures}
	if what != giveUp && t.allows(calls, now, pause) {
		return true, pause
	}
	s.failItem(b, it, now, it.err)
	return false, 0
}

// failItem makes an item's error.
func (s *Session) failItem(b *batch, it *item, now time.Time, err error) {
	t := trial{
		operation: "put", table: it.table.name, family: []byte(it.family), row: b.row(it), began: s.trial.began, failures: it.failures,
		met: []Failures{{Class: classOf(err), Count: it.failures}},
	}
	switch {
	case it.get != nil:
		t.operation = "get"
	case it.remove:
		t.operation = "delete"
	}
	if it.region != nil {
		t.server = it.region.Server
	}
	it.state, it.err = failed, t.fail(now, err)
}

// abandon fails all that waits.
func (s *Session) abandon(b *batch, cause error) {
	now := s.client.o.Clock.Now()
	for i := range b.items {
		if it := &b.items[i]; it.state == waiting {
			s.failItem(b, it, now, errors.Join(cause, it.err))
		}
	}
}

// repeatLater makes the done mutations wait again that lie behind a waiting one of the same row.
func (b *batch) repeatLater() {
	type rowOf struct {
		table *table
		row   string
	}
	waits := map[rowOf]bool{}
	for i := range b.items {
		it := &b.items[i]
		if it.get != nil || it.state == failed {
			continue
		}
		key := rowOf{it.table, string(b.row(it))}
		if it.state == waiting {
			waits[key] = true
		} else if waits[key] {
			it.state, it.err = waiting, nil
		}
	}
}
