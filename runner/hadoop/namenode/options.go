package namenode

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/hadoop-bench/operator/runner/hadoop/rpc"
	"github.com/hadoop-bench/operator/runner/measure"
)

// A Caller makes single calls, without repeating them. *rpc.Client is one; its errors are those of package rpc.
type Caller interface {
	Do(ctx context.Context, call *rpc.Call) error
	NewCallID() int32
	Close() error
}

// Options of a [Client]. The zero value of a field means the default that is said beside it.
type Options struct {
	// Addresses are host:port of the NameNode, or of all NameNodes of the name service. Needed.
	Addresses []string
	// RPC says how to connect and who acts.
	RPC rpc.Options
	// Failover bounds how a call is repeated.
	Failover Failover
	// Clock is waited by between attempts. Default: the machine's.
	Clock measure.Clock
	// Random spreads the waits of many threads: uniform in [0, 1), from any goroutine. Default: math/rand/v2.
	Random func() float64
	// Log is told of changes of the NameNode. Default: nothing is logged.
	Log *slog.Logger
	// OnFailover is called, if set, each time that another NameNode than before answers, by the goroutine whose call it
	// answered first after that call had failed. While no NameNode is active, nothing is called.
	OnFailover func(from, to string)
	// Caller makes the calls. Default: a client made with RPC.
	Caller Caller
}

// Failover bounds how a call is repeated that got no answer, or the answer that another NameNode or a later time would
// suit. The first repetition comes at once; before repetition n+1 a time of BaseSleep·2ⁿ, at most MaxSleep, times a random
// factor from 0.5 to 1.5, is waited, as Hadoop's clients do; a wait ends at once when another thread's call was answered.
// A repeated call keeps its id, so that the NameNode answers what it has carried out already as it did the first time.
type Failover struct {
	// MaxAttempts is how often a call turns to another NameNode, or to the same one where there is one only, before it
	// is given up. Default: 15.
	MaxAttempts int
	// MaxRetries is how often a call is repeated at a NameNode that asks for patience. Default: 10.
	MaxRetries int
	// BaseSleep and MaxSleep bound the waits. Defaults: 500 ms and 15 s.
	BaseSleep, MaxSleep time.Duration
	// Deadline is how long after its first failure a call is not repeated any more. The attempt then under way still
	// has the time that RPC.DialTimeout and RPC.CallTimeout give it. Default: 3 min; with one NameNode only, 10 s, which
	// is how long Hadoop's clients try to connect to it.
	Deadline time.Duration
}

// Limits that stand where none is given; all but the deadlines are Hadoop's.
const (
	defaultMaxAttempts    = 15
	defaultMaxRetries     = 10
	defaultBaseSleep      = 500 * time.Millisecond
	defaultMaxSleep       = 15 * time.Second
	defaultDeadline       = 3 * time.Minute
	defaultDeadlineSingle = 10 * time.Second
)

// complete fills in what is not given.
func (o Options) complete() (Options, error) {
	if len(o.Addresses) == 0 {
		return o, errors.New("connect to HDFS: no address of a NameNode is given")
	}
	o.Addresses = slices.Clone(o.Addresses)
	f := &o.Failover
	orDefault(&f.MaxAttempts, defaultMaxAttempts)
	orDefault(&f.MaxRetries, defaultMaxRetries)
	orDefault(&f.BaseSleep, defaultBaseSleep)
	orDefault(&f.MaxSleep, defaultMaxSleep)
	if len(o.Addresses) == 1 {
		orDefault(&f.Deadline, defaultDeadlineSingle)
	}
	orDefault(&f.Deadline, defaultDeadline)
	if o.Clock == nil {
		o.Clock = measure.System()
	}
	if o.Random == nil {
		o.Random = rand.Float64
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Caller == nil {
		client, err := rpc.New(o.RPC)
		if err != nil {
			return o, err
		}
		o.Caller = client
	}
	return o, nil
}

func orDefault[T int | time.Duration](value *T, fallback T) {
	if *value <= 0 {
		*value = fallback
	}
}
