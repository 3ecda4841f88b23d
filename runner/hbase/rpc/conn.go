package rpc

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hadoop-bench/operator/runner/internal/transport"
)

// A connKey says which connection a call uses.
type connKey struct {
	address string
	service Service
	index   int
}

// A conn is an open connection.
type conn struct {
	*transport.Link // its Mu guards what is kept of calls

	client *Client
	key    connKey
	frames *transport.FrameReader
	opened time.Time // when its time began

	pending map[uint32]*Call // by id, those that somebody waits for
	issued  uint64           // ids given out
	now     int64            // nanoseconds since opened, as of the housekeeper's last round
	tick    time.Duration    // between rounds
	header  []byte           // scratch

	faster chan struct{} // one element when tick became shorter
	served atomic.Bool   // a call was answered, so the server has accepted the connection
}

// newConn makes a connection that is not served yet.
func newConn(c *Client, key connKey, nc net.Conn) *conn {
	return &conn{
		Link: transport.NewLink(nc, c.o.CallTimeout), client: c, key: key,
		frames: transport.NewFrameReader(nc, c.o.MaxFrame, ""), opened: time.Now(),
		pending: map[uint32]*Call{}, tick: tickFor(c.o.CallTimeout), faster: make(chan struct{}, 1),
	}
}

// tickFor is how often to look for calls with this timeout that took too long.
func tickFor(timeout time.Duration) time.Duration { return max(timeout/16, time.Millisecond) }

// start begins to serve. first is sent together with the first call.
func (c *conn) start(first []byte) {
	c.Out = append(c.Out, first...)
	go c.Serve(c.Fail)
	go c.read()
	go c.keepHouse(c.tick)
}

// submit registers the call and hands its frame to the writer; false means that the connection has ended.
func (c *conn) submit(call *Call, timeout time.Duration) bool {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	if c.Cause != nil {
		return false
	}
	call.conn, call.id, call.timeout, call.expires = c, c.newID(), timeout, c.expiry(timeout)
	c.pending[call.id] = call
	c.Out, c.header = call.appendFrame(c.Out, c.header)
	c.Wake()
	return true
}

// newID is called with Mu held.
func (c *conn) newID() uint32 {
	for {
		id := uint32(c.issued & math.MaxInt32)
		c.issued++
		if c.pending[id] == nil {
			return id
		}
	}
}

// expiry is when a call that is sent now has taken too long. It is called with Mu held.
func (c *conn) expiry(timeout time.Duration) int64 {
	if tick := tickFor(timeout); tick < c.tick {
		c.tick, c.now = tick, int64(time.Since(c.opened))
		select {
		case c.faster <- struct{}{}:
		default: // it is told already
		}
	}
	return c.now + int64(c.tick+timeout) // now may be old by a round
}

// claim takes the call that a response is for. An error means that the id was never given out; nil that nobody waits for
// the answer any more.
func (c *conn) claim(id uint32) (*Call, error) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	call := c.pending[id]
	if call != nil {
		delete(c.pending, id)
	} else if uint64(id) >= c.issued {
		return nil, fmt.Errorf("the server answered call %d, which was not made", int32(id))
	}
	return call, nil
}

// abandon stops waiting for a call; false means that its outcome is there or about to be.
func (c *conn) abandon(call *Call) bool {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	if c.pending[call.id] != call {
		return false
	}
	delete(c.pending, call.id)
	return true
}

// Fail ends the connection and all calls on it. Only the first cause counts.
func (c *conn) Fail(cause error) {
	var calls []*Call
	c.End(cause, func() {
		calls = slices.Collect(maps.Values(c.pending))
		clear(c.pending)
	})
	for _, call := range calls {
		call.fail(c.lost(call, cause))
	}
}

// lost is the error of a call that was in flight when the connection ended. A server that refuses the connection as such
// does so before it answers anything, and then nothing was executed.
func (c *conn) lost(call *Call, cause error) error {
	var refused *RemoteError
	if errors.As(cause, &refused) && !c.served.Load() {
		return &ConnectError{Address: c.key.address, Err: cause}
	}
	return &LostError{Address: c.key.address, Method: call.Method, Err: cause}
}

// keepHouse ends calls that take too long.
func (c *conn) keepHouse(tick time.Duration) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-c.faster:
			ticker.Reset(c.period())
		case <-c.Closed:
			return
		}
		for _, call := range c.expired(int64(time.Since(c.opened))) {
			call.fail(transport.NoAnswer(c.key.address, call.Method, call.timeout))
		}
	}
}

func (c *conn) period() time.Duration {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	return c.tick
}

// expired takes the calls whose time is over.
func (c *conn) expired(now int64) []*Call {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	c.now = max(c.now, now)
	var calls []*Call
	for id, call := range c.pending {
		if call.expires <= now {
			calls = append(calls, call)
			delete(c.pending, id)
		}
	}
	return calls
}
