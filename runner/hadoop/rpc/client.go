package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync/atomic"
	"time"

	"github.com/hadoop-bench/operator/runner/internal/transport"
)

// A Client makes calls. It may be used concurrently.
type Client struct {
	o         Options
	clientID  []byte
	user      string
	pingFrame []byte
	tick      time.Duration // of connections' housekeeping
	callTicks int64         // rounds a call may take
	pingTicks int64         // silent rounds before a ping
	lastCall  atomic.Uint32
	states    stateTracker

	pool *transport.Pool[connKey, *conn]
}

var errClosed = errors.New("the client is closed")

// New makes a client. It does no I/O.
func New(o Options) (*Client, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	if o.ClientID == [16]byte{} {
		if _, err := io.ReadFull(o.Random, o.ClientID[:]); err != nil {
			return nil, fmt.Errorf("make a client id: %w", err)
		}
	}
	c := &Client{o: o, clientID: o.ClientID[:], user: o.User}
	if o.Kerberos != nil {
		c.user = o.Kerberos.Principal()
	}
	c.pingFrame = controlFrame(pingCallID, c.clientID, nil)
	c.tick = max(min(o.CallTimeout, o.PingInterval)/16, time.Millisecond)
	c.callTicks = ticks(o.CallTimeout, c.tick) + 1 // the round that is under way counts for nothing
	c.pingTicks = ticks(o.PingInterval, c.tick)
	c.pool = transport.NewPool(o.DialTimeout, c.dial)
	return c, nil
}

func ticks(d, tick time.Duration) int64 { return int64((d + tick - 1) / tick) }

// Close ends all connections. Calls in flight end with a [LostError], later ones with a [ConnectError].
func (c *Client) Close() error {
	c.pool.Close(errClosed)
	return nil
}

// NewCallID returns the id of a new call, from 0 on. A retry of a call keeps its id.
func (c *Client) NewCallID() int32 { return int32((c.lastCall.Add(1) - 1) & math.MaxInt32) }

// ClientID is the id that servers know the client by.
func (c *Client) ClientID() [16]byte { return c.o.ClientID }

// LastStateID is the largest state id (a NameNode's transaction) that a server answered with; 0 if none did.
func (c *Client) LastStateID() int64 { return c.states.last.Load() }

// Do makes a call and waits for its answer. Errors: [*RemoteError] is the server's answer; [*ConnectError] and
// [*TooLargeError] say that nothing was executed; [*LostError] says that it may have been. If ctx ends before anything
// was sent, the error wraps its cause alone.
func (c *Client) Do(ctx context.Context, call *Call) error {
	if call.Request == nil || call.Response == nil {
		return fmt.Errorf("call %s: it needs both a request and a response to fill", call.Method)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("call %s: %w", call.Method, context.Cause(ctx))
	}
	if call.done == nil {
		call.done = make(chan struct{}, 1)
	}
	if err := call.encode(c.header(), c.o.MaxFrame); err != nil {
		return err
	}
	conn, err := c.send(ctx, call)
	if err != nil {
		return err
	}
	select {
	case <-call.done:
		return call.result()
	case <-ctx.Done():
	}
	if conn.abandon(call) {
		return &LostError{Address: call.Address, Method: call.Method, Err: context.Cause(ctx)}
	}
	<-call.done
	return call.result()
}

// header is what the headers of all calls have in common.
func (c *Client) header() requestHeader {
	h := requestHeader{clientID: c.clientID, callerContext: c.o.CallerContext}
	if c.o.ObserverReads {
		h.stateID, h.routerState = c.states.last.Load(), c.states.routerState()
	}
	return h
}

// sendAttempts is how often a call looks for a connection if the one it found ends before it took the call.
const sendAttempts = 3

// send hands the call to a connection, which it opens if there is none.
func (c *Client) send(ctx context.Context, call *Call) (*conn, error) {
	key := connKey{address: call.Address, protocol: call.Protocol, index: c.index(call.Connection)}
	if call.conn != nil && call.conn.client == c && call.conn.key == key {
		if err := call.conn.submit(call); !errors.Is(err, errDead) {
			return call.conn, err
		}
	}
	err := errDead
	for range sendAttempts {
		conn, dialErr := c.pool.Get(ctx, key)
		if dialErr != nil {
			return nil, dialErr
		}
		if err = conn.submit(call); !errors.Is(err, errDead) {
			return conn, err
		}
	}
	return nil, &ConnectError{Address: call.Address, Err: err}
}

// index is i modulo the number of connections, never negative.
func (c *Client) index(i int) int {
	n := c.o.Connections
	return (i%n + n) % n
}
