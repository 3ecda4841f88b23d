package rpc

import (
	"errors"
	"io"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hadoop-bench/operator/runner/internal/transport"
)

// A connKey says which connection a call uses.
type connKey struct {
	address, protocol string
	index             int
}

// A conn is an open connection.
type conn struct {
	client *Client
	key    connKey
	net    net.Conn
	frames *transport.FrameReader
	sink   io.Writer // net, or what seals for it

	mu      sync.Mutex
	pending map[int32]*waiting
	free    []*waiting // entries to use again
	out     []byte     // frames that the writer has not taken yet
	writing bool       // the writer is at work and will look at out again
	dead    error      // why the connection ended

	wake   chan struct{} // one element when the writer shall look at out
	closed chan struct{}
	ticks  atomic.Int64 // housekeeping rounds so far
	heard  atomic.Int64 // round in which bytes came last
	served atomic.Bool  // a call was answered, so the server has accepted the connection
}

// waiting is a call id in use. Answers may be owed for more than one sending of it: to a call that was given up and was
// then repeated.
type waiting struct {
	call *Call // nil if nobody waits any more
	owed int   // answers that will come
}

var (
	errDead      = errors.New("the connection ended before the call was sent")
	errDuplicate = errors.New("the call's id is that of a call in flight on the same connection")
)

// start begins to serve. first is sent together with the first call.
func (c *conn) start(first []byte) {
	c.out = append(c.out, first...)
	c.frames.OnRead = func() { c.heard.Store(c.ticks.Load()) }
	go c.write()
	go c.read()
	go c.keepHouse()
}

// submit registers the call and hands its frame to the writer. errDead and errDuplicate mean that it did not.
func (c *conn) submit(call *Call) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead != nil {
		return errDead
	}
	w := c.pending[call.ID]
	switch {
	case w == nil:
		w = c.newWaiting()
		c.pending[call.ID] = w
	case w.call != nil:
		return errDuplicate
	}
	w.call = call
	w.owed++
	call.conn = c
	call.expires = c.ticks.Load() + c.client.callTicks
	c.out = append(c.out, call.frame...)
	c.wakeWriter()
	return nil
}

func (c *conn) newWaiting() *waiting {
	if n := len(c.free); n > 0 {
		w := c.free[n-1]
		c.free = c.free[:n-1]
		return w
	}
	return new(waiting)
}

// wakeWriter is called with mu held.
func (c *conn) wakeWriter() {
	if !c.writing {
		c.writing = true
		c.wake <- struct{}{}
	}
}

// claim takes the call that a response is for. known is false if no answer was owed; call is nil if nobody waits for it.
func (c *conn) claim(id int32) (call *Call, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.pending[id]
	if w == nil {
		return nil, false
	}
	call, w.call = w.call, nil
	if w.owed--; w.owed == 0 {
		delete(c.pending, id)
		c.free = append(c.free, w)
	}
	return call, true
}

// abandon stops waiting for a call; false means that its outcome is there or about to be.
func (c *conn) abandon(call *Call) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.pending[call.ID]
	if w == nil || w.call != call {
		return false
	}
	w.call = nil
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
	var calls []*Call
	for _, w := range c.pending {
		if w.call != nil {
			calls = append(calls, w.call)
			w.call = nil
		}
	}
	c.mu.Unlock()
	close(c.closed)
	_ = c.net.Close()
	for _, call := range calls {
		call.finish(nil, c.lost(call, cause))
	}
}

// lost is the error of a call that was in flight when the connection ended. A server that refuses the connection as such
// (its context) does so in answer to the first call, and then nothing was executed.
func (c *conn) lost(call *Call, cause error) error {
	var refused *RemoteError
	if errors.As(cause, &refused) && !c.served.Load() {
		return &ConnectError{Address: c.key.address, Err: cause}
	}
	return &LostError{Address: c.key.address, Method: call.Method, Err: cause}
}

// keepHouse ends calls that take too long and shows signs of life.
func (c *conn) keepHouse() {
	ticker := time.NewTicker(c.client.tick)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-c.closed:
			return
		}
		now := c.ticks.Add(1)
		for _, call := range c.expired(now) {
			call.finish(nil, &LostError{Address: c.key.address, Method: call.Method, Timeout: true, Err: errTimeout(c.client.o.CallTimeout)})
		}
		if now-c.heard.Load() >= c.client.pingTicks {
			c.heard.Store(now)
			c.ping()
		}
	}
}

// expired takes the calls whose time is over.
func (c *conn) expired(now int64) []*Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	var calls []*Call
	for _, w := range c.pending {
		if w.call != nil && w.call.expires <= now {
			calls = append(calls, w.call)
			w.call = nil
		}
	}
	return calls
}

func (c *conn) ping() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead == nil {
		c.out = append(c.out, c.client.pingFrame...)
		c.wakeWriter()
	}
}
