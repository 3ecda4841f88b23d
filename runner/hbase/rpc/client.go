package rpc

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/hadoop-bench/operator/runner/internal/transport"
)

// A Client makes calls. It may be used concurrently.
type Client struct {
	o     Options
	user  string
	pool  *transport.Pool[connKey, *conn]
	calls sync.Pool // of *invocation
}

var errClosed = errors.New("the client is closed")

// New makes a client. It does no I/O.
func New(o Options) (*Client, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	c := &Client{o: o, user: o.User, calls: sync.Pool{New: func() any { return new(invocation) }}}
	if o.Kerberos != nil {
		c.user = o.Kerberos.Principal()
	}
	c.pool = transport.NewPool(o.DialTimeout, c.dial)
	return c, nil
}

// Close ends all connections. Calls in flight end with a [LostError], later ones with a [ConnectError].
func (c *Client) Close() error {
	c.pool.Close(errClosed)
	return nil
}

// Do makes a call and waits for its answer. Errors: [*RemoteError] is the server's answer; [*ConnectError] and
// [*TooLargeError] say that nothing was executed; [*LostError] says that it may have been. If ctx ends before anything
// was sent, the error wraps its cause alone.
func (c *Client) Do(ctx context.Context, call *Call) error {
	call.Body, call.Answer = nil, nil
	if ctx.Err() != nil {
		return fmt.Errorf("call %s: %w", call.Method, context.Cause(ctx))
	}
	if n := call.size(); n > c.o.MaxFrame {
		return &TooLargeError{Method: call.Method, Size: n, Limit: c.o.MaxFrame}
	}
	if call.done == nil {
		call.done = make(chan struct{}, 1)
	}
	conn, err := c.send(ctx, call)
	if err != nil {
		return err
	}
	select {
	case <-call.done:
		return call.err
	case <-ctx.Done():
	}
	if conn.abandon(call) {
		return &LostError{Address: call.Address, Method: call.Method, Err: context.Cause(ctx)}
	}
	<-call.done
	return call.err
}

// sendAttempts is how often a call looks for a connection if the one it found ends before it took the call.
const sendAttempts = 3

// send hands the call to a connection, which it opens if there is none.
func (c *Client) send(ctx context.Context, call *Call) (*conn, error) {
	timeout := min(orDefault(call.Timeout, c.o.CallTimeout), maxTimeout)
	key := connKey{address: call.Address, service: call.Service, index: c.index(call.Connection)}
	if last := call.conn; last != nil && last.client == c && last.key == key && last.submit(call, timeout) {
		return last, nil
	}
	for range sendAttempts {
		conn, err := c.pool.Get(ctx, key)
		if err != nil {
			return nil, err
		}
		if conn.submit(call, timeout) {
			return conn, nil
		}
	}
	return nil, &ConnectError{Address: call.Address, Err: errors.New("the connection ended before the call was sent")}
}

// index is i modulo the number of connections, never negative.
func (c *Client) index(i int) int {
	n := c.o.Connections
	return (i%n + n) % n
}

// An invocation is a call with messages.
type invocation struct {
	call  Call
	param []byte
}

// Invoke makes a call whose request and response are messages; the response is reset and filled. timeout 0 means
// Options.CallTimeout. Errors are those of [Client.Do].
func (c *Client) Invoke(ctx context.Context, address string, service Service, method string, request, response proto.Message, timeout time.Duration) error {
	v := c.calls.Get().(*invocation)
	defer c.calls.Put(v)
	if cap(v.param) > transport.KeptBuffer {
		v.param = nil
	}
	param, err := proto.MarshalOptions{}.MarshalAppend(v.param[:0], request)
	if err != nil {
		return fmt.Errorf("encode the request of %s: %w", method, err)
	}
	v.param = param
	v.call.Address, v.call.Service, v.call.Method = address, service, method
	v.call.Param, v.call.Timeout = param, timeout
	if err := c.Do(ctx, &v.call); err != nil {
		return err
	}
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(v.call.Body, response); err != nil {
		return &LostError{Address: address, Method: method, Err: fmt.Errorf("decode the response: %w", err)}
	}
	return nil
}
