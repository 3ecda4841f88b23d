package namenode

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hadoop-bench/operator/runner/hadoop/rpc"
	"github.com/hadoop-bench/operator/runner/hadoop/sasl"
)

// A router sends calls to the active one of some NameNodes and repeats what has to be repeated. All threads share one,
// so that what one of them learns serves the others.
type router struct {
	o         Options // complete
	addresses []string
	open      context.Context // until the client is closed

	// epoch counts changes of the active NameNode, whose index is epoch modulo the number of addresses. A call that
	// failed changes it only if nobody else did since the attempt began: else many threads, failing one after the other,
	// would turn away from the NameNode that the first of them has found.
	epoch atomic.Uint64

	mu       sync.Mutex
	outage   *outage // nil while calls are answered
	answerer string  // the address that answered last, as far as is known
}

// An outage lasts from the first failure until a call is answered again. It ends the waits of all who wait meanwhile.
type outage struct {
	ended context.Context
	end   context.CancelFunc
}

func (r *router) address(epoch uint64) string { return r.addresses[epoch%uint64(len(r.addresses))] }

// active is the address that calls go to now.
func (r *router) active() string { return r.address(r.epoch.Load()) }

// do makes a call, whose message and method are set, and repeats it while that can help. Errors: what the NameNode
// answered, an UnreachableError, or the context's cause; each names the method.
func (r *router) do(ctx context.Context, call *rpc.Call) error {
	epoch := r.epoch.Load()
	call.Address, call.ID, call.Retry = r.address(epoch), r.o.Caller.NewCallID(), 0
	err := r.o.Caller.Do(ctx, call)
	if err == nil {
		return nil
	}
	if judge(err) == final {
		return fmt.Errorf("%s: %w", call.Method, err)
	}
	return r.repeat(ctx, call, epoch, err)
}

// A verdict says what an attempt's failure asks for.
type verdict int

const (
	final     verdict = iota // an answer, or nothing that a repetition could mend
	elsewhere                // another NameNode; the same one where there is no other
	later                    // patience
)

func judge(err error) verdict {
	if err == nil {
		return final
	}
	var remote *rpc.RemoteError
	if errors.As(err, &remote) {
		switch remote.Simple() {
		case "StandbyException", "ObserverRetryOnActiveException":
			return elsewhere
		case "RetriableException":
			return later
		}
		return final
	}
	var login *sasl.LoginError
	if errors.As(err, &login) {
		return final // the same at every address
	}
	var connect *rpc.ConnectError
	var lost *rpc.LostError
	if errors.As(err, &connect) || errors.As(err, &lost) {
		return elsewhere
	}
	return final
}

// isAnswer says whether a NameNode answered, be it with an exception.
func isAnswer(err error) bool {
	remote := new(rpc.RemoteError)
	return err == nil || errors.As(err, &remote)
}

// repeat goes on after the first attempt failed with err in an epoch.
func (r *router) repeat(ctx context.Context, call *rpc.Call, epoch uint64, err error) error {
	t := trial{began: r.o.Clock.Now(), answers: make([]error, len(r.addresses))}
	// Known before each attempt, so that no success of another thread during the attempt is missed.
	outage := r.current()
	for {
		v := judge(err)
		if v == final && t.turns > 0 && isAnswer(err) {
			r.answered(call.Address)
		}
		if err == nil {
			return nil
		}
		if v == final || ctx.Err() != nil || r.open.Err() != nil {
			return fmt.Errorf("%s: %w", call.Method, err)
		}
		t.answers[epoch%uint64(len(r.addresses))] = err
		if v == elsewhere {
			r.epoch.CompareAndSwap(epoch, epoch+1)
		}
		pause, ok := r.next(&t, v)
		if !ok {
			return r.unreachable(call, &t)
		}
		if err := r.wait(ctx, pause, v, outage); err != nil {
			return fmt.Errorf("%s: wait to repeat it: %w", call.Method, err)
		}
		outage, epoch = r.current(), r.epoch.Load()
		call.Address = r.address(epoch)
		call.Retry++
		err = r.o.Caller.Do(ctx, call)
	}
}

// A trial is what happened to one call so far.
type trial struct {
	began        time.Time
	turns, waits int     // repetitions of either kind
	answers      []error // the last of each address; nil where it was not tried
}

// next says how long to wait before the next attempt, and false if there shall be none.
func (r *router) next(t *trial, v verdict) (time.Duration, bool) {
	f, count, limit := r.o.Failover, &t.turns, r.o.Failover.MaxAttempts
	if v == later {
		count, limit = &t.waits, f.MaxRetries
	}
	left := f.Deadline - r.o.Clock.Now().Sub(t.began)
	if *count >= limit || left <= 0 {
		return 0, false
	}
	pause := min(r.pause(*count), left)
	*count++
	return pause, true
}

// pause is how long to wait before repetition n, from 0.
func (r *router) pause(n int) time.Duration {
	if n == 0 {
		return 0
	}
	f := r.o.Failover
	d := math.Min(float64(f.BaseSleep)*math.Pow(2, float64(n)), float64(f.MaxSleep))
	return time.Duration(d * (r.o.Random() + 0.5))
}

// wait returns after d, or when the client is closed; with the context's cause if that ends before. Who waits for a NameNode
// that answers goes on as soon as the outage ends; who was asked for patience does not.
func (r *router) wait(ctx context.Context, d time.Duration, v verdict, o *outage) error {
	if d == 0 {
		return nil
	}
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.open, cancel)()
	if v == elsewhere {
		defer context.AfterFunc(o.ended, cancel)()
	}
	err := r.o.Clock.Wait(waiting, d)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if waiting.Err() != nil {
		return nil
	}
	return err
}

// current is the outage under way; it begins one if there is none.
func (r *router) current() *outage {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.outage == nil {
		ctx, end := context.WithCancel(context.Background())
		r.outage = &outage{ended: ctx, end: end}
	}
	return r.outage
}

// answered ends the outage: the NameNode at address is the active one.
func (r *router) answered(address string) {
	r.mu.Lock()
	if r.outage != nil {
		r.outage.end()
		r.outage = nil
	}
	from := r.answerer
	r.answerer = address
	r.mu.Unlock()
	if from == address {
		return
	}
	r.o.Log.Info("Turned to another NameNode", slog.String("from", from), slog.String("to", address))
	if r.o.OnFailover != nil {
		r.o.OnFailover(from, address)
	}
}

// unreachable gives a call up.
func (r *router) unreachable(call *rpc.Call, t *trial) error {
	e := &UnreachableError{Method: call.Method, Attempts: int(call.Retry) + 1, Took: r.o.Clock.Now().Sub(t.began)}
	for i, err := range t.answers {
		if err != nil {
			e.Answers = append(e.Answers, Answer{Address: r.addresses[i], Err: err})
		}
	}
	return e
}
