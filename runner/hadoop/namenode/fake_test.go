package namenode_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/hadoop-bench/operator/runner/hadoop/namenode"
	"github.com/hadoop-bench/operator/runner/hadoop/rpc"
	"github.com/hadoop-bench/operator/runner/hadoop/wire"
)

// attempt is one use of the transport.
type attempt struct {
	Address, Protocol, Method string
	Connection                int
	ID, Retry                 int32
}

// transport is a Caller that answers by a function.
type transport struct {
	mu       sync.Mutex
	attempts []attempt
	request  []byte // of the last attempt
	lastID   int32
	answer   func(a attempt) (proto.Message, error)
	decode   func(proto.Message) error // stands in for answer if set
}

func (f *transport) Do(ctx context.Context, call *rpc.Call) error {
	request, err := proto.Marshal(call.Request)
	if err != nil {
		return err
	}
	a := attempt{call.Address, call.Protocol, call.Method, call.Connection, call.ID, call.Retry}
	f.mu.Lock()
	f.attempts, f.request = append(f.attempts, a), request
	f.mu.Unlock()
	if f.decode != nil {
		return f.decode(call.Response)
	}
	answer, err := f.answer(a)
	if err != nil {
		return err
	}
	proto.Reset(call.Response)
	if answer != nil {
		proto.Merge(call.Response, answer)
	}
	return nil
}

func (f *transport) NewCallID() int32 {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lastID++
	return f.lastID
}

func (f *transport) Close() error { return nil }

// since returns the attempts from number n on.
func (f *transport) since(n int) []attempt {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]attempt(nil), f.attempts[n:]...)
}

// clock moves only by being waited for, and keeps what was waited.
type clock struct {
	mu    sync.Mutex
	now   time.Time
	waits []time.Duration
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Wait(ctx context.Context, d time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now, c.waits = c.now.Add(d), append(c.waits, d)
	return nil
}

func active() proto.Message {
	m := &wire.HAServiceStateResponseProto{}
	m.SetState(wire.HAServiceStateProto_ACTIVE)
	return m
}

func inState(state wire.HAServiceStateProto) proto.Message {
	m := &wire.HAServiceStateResponseProto{}
	m.SetState(state)
	return m
}

func remote(class string) error {
	return &rpc.RemoteError{Class: class, Message: "said so\n\tat somewhere", Code: 1}
}

const (
	standbyException   = "org.apache.hadoop.ipc.StandbyException"
	retriableException = "org.apache.hadoop.ipc.RetriableException"
	safeModeException  = "org.apache.hadoop.hdfs.server.namenode.SafeModeException"
)

// connected returns a client whose NameNode "a" is active, and what answers it: then decides over all calls but the first.
func connected(t *testing.T, change func(*namenode.Options), addresses []string, then func(a attempt) (proto.Message, error)) (*namenode.Client, *transport, *clock) {
	t.Helper()
	f, c := &transport{}, &clock{now: time.Unix(1_700_000_000, 123456789)}
	f.answer = func(a attempt) (proto.Message, error) {
		if a.Address == "a" {
			return active(), nil
		}
		return inState(wire.HAServiceStateProto_STANDBY), nil
	}
	o := namenode.Options{Addresses: addresses, Caller: f, Clock: c, Random: func() float64 { return 0.5 }}
	if change != nil {
		change(&o)
	}
	client, err := namenode.Connect(t.Context(), o)
	if err != nil {
		t.Fatalf("Connect: %v", err)
	}
	f.answer = then
	return client, f, c
}
