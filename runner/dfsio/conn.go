package dfsio

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A dialer makes connections on which nothing waits longer than idle, whose bytes are counted, and which all break when
// its context ends. The HDFS library knows neither contexts nor, for the NameNode, deadlines.
type dialer struct {
	ctx     context.Context // ends connecting and all connections
	net     net.Dialer
	idle    time.Duration
	address func(string) string     // corrects an address; may be nil
	wrap    func(net.Conn) net.Conn // goes around each connection; may be nil

	mu    sync.Mutex
	open  map[*conn]struct{}
	last  string // address connected to last
	ended bool

	received, sent *atomic.Int64
}

// DialContext has the signature that the library wants. The library always passes context.Background().
func (d *dialer) DialContext(_ context.Context, network, address string) (net.Conn, error) {
	if d.address != nil {
		address = d.address(address)
	}
	raw, err := d.net.DialContext(d.ctx, network, address)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	c := &conn{Conn: raw, dialer: d}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended {
		raw.Close()
		return nil, fmt.Errorf("connect: %w", context.Cause(d.ctx))
	}
	d.open[c] = struct{}{}
	d.last = address
	if d.wrap != nil {
		return d.wrap(c), nil
	}
	return c, nil
}

// closeAll breaks every connection and lets no new one come.
func (d *dialer) closeAll() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	for c := range d.open {
		c.Conn.Close()
	}
	clear(d.open)
}

func (d *dialer) lastAddress() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.last
}

// conn is a connection with an idle limit. Deadlines that the library sets are ignored: it would clear ours.
type conn struct {
	net.Conn
	dialer                *dialer
	readLimit, writeLimit time.Time
	first                 atomic.Pointer[error] // what broke the connection
}

// extended returns a new limit if the present one is not fresh, so that not each of the library's small reads has to
// set a timer.
func (c *conn) extended(limit time.Time) (time.Time, bool) {
	now := time.Now()
	if limit.Sub(now) > c.dialer.idle-c.dialer.idle/8 {
		return limit, false
	}
	return now.Add(c.dialer.idle), true
}

func (c *conn) Read(b []byte) (int, error) {
	if limit, changed := c.extended(c.readLimit); changed {
		c.readLimit = limit
		if err := c.Conn.SetReadDeadline(limit); err != nil {
			return 0, c.broken(err)
		}
	}
	n, err := c.Conn.Read(b)
	c.dialer.received.Add(int64(n))
	return n, c.broken(err)
}

func (c *conn) Write(b []byte) (int, error) {
	if limit, changed := c.extended(c.writeLimit); changed {
		c.writeLimit = limit
		if err := c.Conn.SetWriteDeadline(limit); err != nil {
			return 0, c.broken(err)
		}
	}
	n, err := c.Conn.Write(b)
	c.dialer.sent.Add(int64(n))
	return n, c.broken(err)
}

// broken closes the connection after an error. The library goes on using a NameNode connection on which a read failed,
// and would take the late answer of one call for that of the next; once closed, its next write fails and it connects
// anew. What broke the connection is also what later calls say: the one that the library reports is rarely the first.
func (c *conn) broken(err error) error {
	if err == nil {
		return nil
	}
	if c.first.CompareAndSwap(nil, &err) {
		c.Close()
		return err
	}
	if first := *c.first.Load(); errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("connection to %s is lost: %w", c.Conn.RemoteAddr(), first)
	}
	return err
}

func (c *conn) Close() error {
	c.dialer.mu.Lock()
	delete(c.dialer.open, c)
	c.dialer.mu.Unlock()
	return c.Conn.Close()
}

func (c *conn) SetDeadline(time.Time) error      { return nil }
func (c *conn) SetReadDeadline(time.Time) error  { return nil }
func (c *conn) SetWriteDeadline(time.Time) error { return nil }

// joinAddress repairs a DataNode's address that was put together without brackets around an IPv6 host.
func joinAddress(address string) string {
	i := strings.LastIndexByte(address, ':')
	if i < 0 || strings.HasPrefix(address, "[") {
		return address
	}
	return net.JoinHostPort(address[:i], address[i+1:])
}
