package rpc

import (
	"errors"
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
	*transport.Link // its Mu guards what is kept of calls

	client *Client
	key    connKey
	frames *transport.FrameReader

	pending map[int32]*waiting
	free    []*waiting // entries to use again

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
	c.Out = append(c.Out, first...)
	c.frames.OnRead = func() { c.heard.Store(c.ticks.Load()) }
	go c.Serve(c.Fail)
	go c.read()
	go c.keepHouse()
}

// submit registers the call and hands its frame to the writer. errDead and errDuplicate mean that it did not.
func (c *conn) submit(call *Call) error {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	if c.Cause != nil {
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
	c.Out = append(c.Out, call.frame...)
	c.Wake()
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

// claim takes the call that a response is for. known is false if no answer was owed; call is nil if nobody waits for it.
func (c *conn) claim(id int32) (call *Call, known bool) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
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
	c.Mu.Lock()
	defer c.Mu.Unlock()
	w := c.pending[call.ID]
	if w == nil || w.call != call {
		return false
	}
	w.call = nil
	return true
}

// Fail ends the connection and all calls on it. Only the first cause counts.
func (c *conn) Fail(cause error) {
	var calls []*Call
	c.End(cause, func() {
		for _, w := range c.pending {
			if w.call != nil {
				calls = append(calls, w.call)
				w.call = nil
			}
		}
	})
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
		case <-c.Closed:
			return
		}
		now := c.ticks.Add(1)
		for _, call := range c.expired(now) {
			call.finish(nil, transport.NoAnswer(c.key.address, call.Method, c.client.o.CallTimeout))
		}
		if now-c.heard.Load() >= c.client.pingTicks {
			c.heard.Store(now)
			c.ping()
		}
	}
}

// expired takes the calls whose time is over.
func (c *conn) expired(now int64) []*Call {
	c.Mu.Lock()
	defer c.Mu.Unlock()
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
	c.Mu.Lock()
	defer c.Mu.Unlock()
	if c.Cause == nil {
		c.Out = append(c.Out, c.client.pingFrame...)
		c.Wake()
	}
}
