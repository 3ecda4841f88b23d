package transport

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// A Conn is an open connection that may end by itself.
type Conn interface {
	comparable
	// Dead says whether it ended.
	Dead() bool
	// Fail ends it and all calls on it for a reason. Only the first one counts.
	Fail(cause error)
}

// A Pool holds one connection for each key. It is opened by the first who needs it, for all who need it meanwhile, and
// opened anew for the next one after it ended.
type Pool[K comparable, C Conn] struct {
	dial    func(context.Context, K) (C, error)
	timeout time.Duration
	running context.Context // until Close
	stop    context.CancelCauseFunc

	mu    sync.RWMutex
	slots map[K]*slot[K, C]
}

// NewPool makes a pool of connections that dial opens and begins to serve, each within timeout. dial returns the zero
// connection with an error.
func NewPool[K comparable, C Conn](timeout time.Duration, dial func(context.Context, K) (C, error)) *Pool[K, C] {
	p := &Pool[K, C]{dial: dial, timeout: timeout, slots: map[K]*slot[K, C]{}}
	p.running, p.stop = context.WithCancelCause(context.Background())
	return p
}

// Get returns the key's connection, which lives or did so a moment ago. Its error is dial's, or wraps the cause that
// ended ctx.
func (p *Pool[K, C]) Get(ctx context.Context, key K) (C, error) {
	a, conn := p.slot(key).get()
	if a == nil {
		return conn, nil
	}
	select {
	case <-a.done:
		return a.conn, a.err
	case <-ctx.Done():
		return conn, fmt.Errorf("wait for a connection: %w", context.Cause(ctx))
	}
}

// Close ends all connections, and the attempts to open one.
func (p *Pool[K, C]) Close(cause error) {
	p.stop(cause)
	p.mu.RLock()
	defer p.mu.RUnlock()
	for _, s := range p.slots {
		s.close(cause)
	}
}

func (p *Pool[K, C]) slot(key K) *slot[K, C] {
	p.mu.RLock()
	s := p.slots[key]
	p.mu.RUnlock()
	if s != nil {
		return s
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.slots[key] == nil {
		p.slots[key] = &slot[K, C]{pool: p, key: key}
	}
	return p.slots[key]
}

// A slot holds the connection of a key, or the attempt to open it.
type slot[K comparable, C Conn] struct {
	pool *Pool[K, C]
	key  K

	mu      sync.Mutex
	conn    C           // the zero value: none
	attempt *attempt[C] // nil unless under way
}

// An attempt to open a connection, which all callers that need it wait for.
type attempt[C Conn] struct {
	done chan struct{} // closed when the fields below are set
	conn C
	err  error
}

// get returns the connection if it lives, else the attempt to open one.
func (s *slot[K, C]) get() (*attempt[C], C) {
	var none C
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != none && !s.conn.Dead() {
		return nil, s.conn
	}
	if s.attempt == nil {
		s.attempt = &attempt[C]{done: make(chan struct{})}
		go s.open(s.attempt)
	}
	return s.attempt, none
}

// open makes the attempt.
func (s *slot[K, C]) open(a *attempt[C]) {
	ctx, cancel := context.WithTimeoutCause(s.pool.running, s.pool.timeout, fmt.Errorf("no connection within %v", s.pool.timeout))
	defer cancel()
	var none C
	conn, err := s.pool.dial(ctx, s.key)
	a.conn, a.err = conn, err
	s.mu.Lock()
	s.conn, s.attempt = conn, nil
	s.mu.Unlock()
	// Close may have looked at the slot before the connection was there.
	if conn != none && s.pool.running.Err() != nil {
		conn.Fail(context.Cause(s.pool.running))
	}
	close(a.done)
}

func (s *slot[K, C]) close(cause error) {
	var none C
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != none {
		s.conn.Fail(cause)
	}
}
