package dfsio

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestJoinAddress(t *testing.T) {
	tests := map[string]struct{ address, want string }{
		"IPv4":           {"198.18.0.1:9866", "198.18.0.1:9866"},
		"name":           {"dn.example:9866", "dn.example:9866"},
		"IPv6":           {"fd00::1:9866", "[fd00::1]:9866"},
		"IPv6, brackets": {"[fd00::1]:9866", "[fd00::1]:9866"},
		"IPv6, loopback": {"::1:9866", "[::1]:9866"},
		"no port":        {"host", "host"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := joinAddress(tt.address); got != tt.want {
				t.Errorf("joinAddress(%s) = %s, want %s", tt.address, got, tt.want)
			}
		})
	}
}

// newDialer returns a dialer whose connections may be silent for idle.
func newDialer(ctx context.Context, idle time.Duration) *dialer {
	return &dialer{ctx: ctx, idle: idle, open: map[*conn]struct{}{}, received: new(atomic.Int64), sent: new(atomic.Int64)}
}

// listen serves each connection to a local port with a function.
func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
	return l.Addr().String()
}

func dial(t *testing.T, d *dialer, address string) net.Conn {
	t.Helper()
	c, err := d.DialContext(context.Background(), "tcp", address)
	if err != nil {
		t.Fatalf("DialContext: %v", err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestConnCounts(t *testing.T) {
	address := listen(t, func(c net.Conn) { _, _ = io.Copy(c, c) })
	d := newDialer(t.Context(), time.Minute)
	for range 2 {
		c := dial(t, d, address)
		if _, err := c.Write([]byte("hello")); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, make([]byte, 5)); err != nil {
			t.Fatal(err)
		}
	}
	if d.received.Load() != 10 || d.sent.Load() != 10 {
		t.Errorf("received %d, sent %d, want 10, 10", d.received.Load(), d.sent.Load())
	}
	if d.lastAddress() != address {
		t.Errorf("last address %s, want %s", d.lastAddress(), address)
	}
}

// TestConnIdle: a peer that says nothing ends the read, although the library clears deadlines, and the connection is
// not used again.
func TestConnIdle(t *testing.T) {
	address := listen(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	c := dial(t, newDialer(t.Context(), 20*time.Millisecond), address)
	if err := errors.Join(c.SetDeadline(time.Time{}), c.SetReadDeadline(time.Time{}), c.SetWriteDeadline(time.Time{})); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("Read: %v, want a timeout", err)
	}
	// Whoever comes later hears what happened first.
	_, writeErr := c.Write([]byte("x"))
	_, readErr := c.Read(make([]byte, 1))
	for what, err := range map[string]error{"Write": writeErr, "Read": readErr} {
		if !errors.Is(err, os.ErrDeadlineExceeded) || !strings.Contains(err.Error(), "connection to "+address+" is lost") {
			t.Errorf("%s after a timeout: %v, want the timeout again", what, err)
		}
	}
}

// TestConnLost: a peer that goes away is named in every later error.
func TestConnLost(t *testing.T) {
	address := listen(t, func(net.Conn) {})
	c := dial(t, newDialer(t.Context(), time.Minute), address)
	if _, err := c.Read(make([]byte, 1)); err != io.EOF { //nolint:errorlint // the library compares like this
		t.Errorf("Read: %v, want a plain EOF", err)
	}
	if _, err := c.Write([]byte("x")); !errors.Is(err, io.EOF) || Class(err) != "ConnectionLost" {
		t.Errorf("Write: %v, want what the read saw", err)
	}
}

// TestConnWriteIdle: a peer that takes nothing ends the write.
func TestConnWriteIdle(t *testing.T) {
	release := make(chan struct{})
	address := listen(t, func(net.Conn) { <-release })
	defer close(release)
	c := dial(t, newDialer(t.Context(), 20*time.Millisecond), address)
	var err error
	for err == nil {
		_, err = c.Write(make([]byte, 1<<20))
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("Write: %v, want a timeout", err)
	}
}

// TestConnStaysWithinItsLimit: each byte that comes moves the limit on.
func TestConnStaysWithinItsLimit(t *testing.T) {
	c := &conn{dialer: newDialer(t.Context(), time.Hour)}
	limit, changed := c.extended(time.Time{})
	if !changed || time.Until(limit) <= 0 {
		t.Errorf("first limit %s, changed %v", limit, changed)
	}
	if again, changed := c.extended(limit); changed || !again.Equal(limit) {
		t.Errorf("fresh limit %s became %s", limit, again)
	}
	if later, changed := c.extended(limit.Add(-30 * time.Minute)); !changed || later.Before(limit) {
		t.Errorf("half used limit became %s, changed %v", later, changed)
	}
}

func TestCloseAllBreaksConnections(t *testing.T) {
	address := listen(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	ctx, cancel := context.WithCancelCause(t.Context())
	d := newDialer(ctx, time.Minute)
	c := dial(t, d, address)
	ended := make(chan error, 1)
	go func() {
		_, err := c.Read(make([]byte, 1))
		ended <- err
	}()
	d.closeAll()
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("Read: %v, want a closed connection", err)
	}
	cause := errors.New("enough")
	cancel(cause)
	if _, err := d.DialContext(context.Background(), "tcp", address); err == nil {
		t.Error("DialContext after the end: no error")
	}
	if len(d.open) != 0 {
		t.Errorf("%d connections are kept", len(d.open))
	}
}

// TestDialAfterCloseAll: a connection that is made just as all are closed is closed too.
func TestDialAfterCloseAll(t *testing.T) {
	address := listen(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	d := newDialer(t.Context(), time.Minute)
	d.closeAll()
	if _, err := d.DialContext(context.Background(), "tcp", address); err == nil {
		t.Error("DialContext: no error")
	}
}

func TestDialCorrectsAddresses(t *testing.T) {
	address := listen(t, func(net.Conn) {})
	d := newDialer(t.Context(), time.Minute)
	d.address = func(a string) string {
		if a != "wrong" {
			t.Errorf("asked to correct %q", a)
		}
		return address
	}
	dial(t, d, "wrong")
	if d.lastAddress() != address {
		t.Errorf("connected to %s, want %s", d.lastAddress(), address)
	}
}
