package rpc

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"runtime"
	"sync"
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
	client *Client
	key    connKey
	net    net.Conn
	frames *transport.FrameReader
	sink   io.Writer // net, or what seals for it
	opened time.Time // when its time began

	mu      sync.Mutex
	pending map[uint32]*Call // by id, those that somebody waits for
	issued  uint64           // ids given out
	now     int64            // nanoseconds since opened, as of the housekeeper's last round
	tick    time.Duration    // between rounds
	out     []byte           // frames that the writer has not taken yet
	header  []byte           // scratch
	writing bool             // the writer is at work and will look at out again
	dead    error            // why the connection ended

	wake   chan struct{} // one element when the writer shall look at out
	faster chan struct{} // one element when tick became shorter
	closed chan struct{}
	served atomic.Bool // a call was answered, so the server has accepted the connection
}

// newConn makes a connection that is not served yet.
func newConn(c *Client, key connKey, nc net.Conn) *conn {
	return &conn{
		client: c, key: key, net: nc, sink: nc, frames: transport.NewFrameReader(nc, c.o.MaxFrame, ""), opened: time.Now(),
		pending: map[uint32]*Call{}, tick: tickFor(c.o.CallTimeout),
		wake: make(chan struct{}, 1), faster: make(chan struct{}, 1), closed: make(chan struct{}),
	}
}

// tickFor is how often to look for calls with this timeout that took too long.
func tickFor(timeout time.Duration) time.Duration { return max(timeout/16, time.Millisecond) }

// start begins to serve. first is sent together with the first call.
func (c *conn) start(first []byte) {
	c.out = append(c.out, first...)
	go c.write()
	go c.read()
	go c.keepHouse(c.tick)
}

// submit registers the call and hands its frame to the writer; false means that the connection has ended.
func (c *conn) submit(call *Call, timeout time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead != nil {
		return false
	}
	call.conn, call.id, call.timeout, call.expires = c, c.newID(), timeout, c.expiry(timeout)
	c.pending[call.id] = call
	c.out, c.header = call.appendFrame(c.out, c.header)
	if !c.writing {
		c.writing = true
		c.wake <- struct{}{}
	}
	return true
}

// newID is called with mu held.
func (c *conn) newID() uint32 {
	for {
		id := uint32(c.issued & math.MaxInt32)
		c.issued++
		if c.pending[id] == nil {
			return id
		}
	}
}

// expiry is when a call that is sent now has taken too long. It is called with mu held.
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
	c.mu.Lock()
	defer c.mu.Unlock()
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
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending[call.id] != call {
		return false
	}
	delete(c.pending, call.id)
	return true
}

// write sends what callers hand over, with one system call for all that are ready.
func (c *conn) write() {
	var buf []byte
	for {
		select {
		case <-c.wake:
		case <-c.closed:
			return
		}
		for {
			// Callers that can run now get their turn first: after a batch of answers most of them make their next call.
			runtime.Gosched()
			c.mu.Lock()
			if cap(buf) > transport.KeptBuffer {
				buf = nil
			}
			buf, c.out = c.out, buf[:0]
			c.writing = len(buf) > 0
			c.mu.Unlock()
			if len(buf) == 0 {
				break
			}
			if err := c.send(buf); err != nil {
				c.failUnlessRead(err)
				return
			}
		}
	}
}

// send writes b. A server that takes no bytes for as long as a call may take is as good as dead.
func (c *conn) send(b []byte) error {
	if err := c.net.SetWriteDeadline(time.Now().Add(c.client.o.CallTimeout)); err != nil {
		return err
	}
	_, err := c.sink.Write(b)
	return err
}

// readGrace is how long a server's last words may take to be read after a write failed.
const readGrace = 100 * time.Millisecond

// failUnlessRead ends the connection after a failed write. A server that refuses us says why and closes the connection, so
// the reader may be about to find a better cause.
func (c *conn) failUnlessRead(cause error) {
	select {
	case <-c.closed:
	case <-time.After(readGrace):
		c.Fail(cause)
	}
}

// Dead says whether the connection ended.
func (c *conn) Dead() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dead != nil
}

// Fail ends the connection and all calls on it. Only the first cause counts.
func (c *conn) Fail(cause error) {
	c.mu.Lock()
	if c.dead != nil {
		c.mu.Unlock()
		return
	}
	c.dead = cause
	calls := make([]*Call, 0, len(c.pending))
	for _, call := range c.pending {
		calls = append(calls, call)
	}
	clear(c.pending)
	c.mu.Unlock()
	close(c.closed)
	_ = c.net.Close()
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
		case <-c.closed:
			return
		}
		for _, call := range c.expired(int64(time.Since(c.opened))) {
			call.fail(&LostError{Address: c.key.address, Method: call.Method, Timeout: true, Err: errTimeout(call.timeout)})
		}
	}
}

func (c *conn) period() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tick
}

// expired takes the calls whose time is over.
func (c *conn) expired(now int64) []*Call {
	c.mu.Lock()
	defer c.mu.Unlock()
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
