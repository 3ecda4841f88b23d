package rpc

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// A slot holds the connection of a key, or the attempt to open it.
type slot struct {
	client *Client
	key    connKey

	mu      sync.Mutex
	conn    *conn
	attempt *attempt // nil unless under way
}

// An attempt to open a connection, which all callers that need it wait for.
type attempt struct {
	done chan struct{} // closed when the fields below are set
	conn *conn
	err  error
}

// connection returns a living connection.
func (c *Client) connection(ctx context.Context, key connKey) (*conn, error) {
	a, conn := c.slot(key).get()
	if conn != nil {
		return conn, nil
	}
	select {
	case <-a.done:
		return a.conn, a.err
	case <-ctx.Done():
		return nil, fmt.Errorf("connect to %s: %w", key.address, context.Cause(ctx))
	}
}

func (c *Client) slot(key connKey) *slot {
	c.mu.RLock()
	s := c.slots[key]
	c.mu.RUnlock()
	if s != nil {
		return s
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.slots[key] == nil {
		c.slots[key] = &slot{client: c, key: key}
	}
	return c.slots[key]
}

// get returns the connection if it lives, else the attempt to open one.
func (s *slot) get() (*attempt, *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil && !s.conn.isDead() {
		return nil, s.conn
	}
	if s.attempt == nil {
		s.attempt = &attempt{done: make(chan struct{})}
		go s.open(s.attempt)
	}
	return s.attempt, nil
}

// open makes the attempt.
func (s *slot) open(a *attempt) {
	ctx, cancel := context.WithTimeoutCause(s.client.running, s.client.o.DialTimeout,
		fmt.Errorf("no connection within %v", s.client.o.DialTimeout))
	defer cancel()
	conn, err := s.client.dial(ctx, s.key)
	if err != nil {
		a.err = &ConnectError{Address: s.key.address, Err: err}
	}
	a.conn = conn
	s.mu.Lock()
	s.conn, s.attempt = conn, nil
	s.mu.Unlock()
	// Close may have looked at the slot before the connection was there.
	if conn != nil && s.client.running.Err() != nil {
		conn.fail(errClosed)
	}
	close(a.done)
}

func (s *slot) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil {
		s.conn.fail(errClosed)
	}
}

func (c *conn) isDead() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dead != nil
}

// dial opens and authenticates a connection and begins to serve it.
func (c *Client) dial(ctx context.Context, key connKey) (*conn, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	nc, err := c.o.Dial(ctx, "tcp", key.address)
	if err != nil {
		return nil, causeOf(ctx, err)
	}
	conn, err := c.open(ctx, nc, key)
	if err != nil {
		_ = nc.Close()
		return nil, causeOf(ctx, err)
	}
	return conn, nil
}

// causeOf is why ctx ended, if that is why something failed, else err.
func causeOf(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%w (%v)", context.Cause(ctx), err)
	}
	return err
}

func (c *Client) open(ctx context.Context, nc net.Conn, key connKey) (*conn, error) {
	conn := &conn{
		client: c, key: key, net: nc, sink: nc, frames: newFrameReader(nc, c.o.MaxFrame),
		pending: map[int32]*waiting{}, wake: make(chan struct{}, 1), closed: make(chan struct{}),
	}
	first := connectionHeader(authNone)
	if c.o.Kerberos != nil {
		if err := c.authenticate(ctx, conn); err != nil {
			return nil, err
		}
		first = nil
	}
	conn.start(append(first, c.contextFrame(key.protocol)...))
	return conn, nil
}

// authenticate leaves the connection's source and sink such that they seal if that was agreed on.
func (c *Client) authenticate(ctx context.Context, conn *conn) error {
	stop := context.AfterFunc(ctx, func() { _ = conn.net.SetDeadline(time.Unix(1, 0)) })
	sealer, err := c.handshake(ctx, conn)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil || sealer == nil {
		return err
	}
	conn.sink = &sealedWriter{to: conn.net, seal: sealer}
	conn.frames = newFrameReader(&sealedReader{from: conn.frames, seal: sealer}, c.o.MaxFrame)
	return nil
}

// Authentication protocols of the connection header.
const (
	authNone = 0
	authSASL = 0xDF
)

// connectionHeader is what a connection begins with: magic, version, service class, authentication protocol.
func connectionHeader(auth byte) []byte { return []byte{'h', 'r', 'p', 'c', 9, 0, auth} }

// Field numbers of IpcConnectionContextProto and UserInformationProto.
const (
	contextUser     = 2
	contextProtocol = 3
	effectiveUser   = 1
)

// contextFrame says who calls which protocol.
func (c *Client) contextFrame(protocol string) []byte {
	var user, context []byte
	user = protowire.AppendTag(user, effectiveUser, protowire.BytesType)
	user = protowire.AppendString(user, c.user)
	context = protowire.AppendTag(context, contextUser, protowire.BytesType)
	context = protowire.AppendBytes(context, user)
	context = protowire.AppendTag(context, contextProtocol, protowire.BytesType)
	context = protowire.AppendString(context, protocol)
	return controlFrame(contextCallID, c.clientID, protowire.AppendBytes(nil, context))
}

// controlFrame is a frame that is no call.
func controlFrame(callID int32, clientID, delimitedBody []byte) []byte {
	h := requestHeader{callID: callID, retry: controlRetry, clientID: clientID}
	b := h.appendDelimited(make([]byte, frameLength))
	b = append(b, delimitedBody...)
	binary.BigEndian.PutUint32(b, uint32(len(b)-frameLength))
	return b
}
