package rpc_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/hadoop/rpc"
	"github.com/hadoop-bench/operator/runner/hadoop/rpctest"
)

func TestServersException(t *testing.T) {
	tests := map[string]struct {
		want        rpc.RemoteError
		text        string
		connections int // after another call
	}{
		"fail": {
			rpc.RemoteError{Class: "org.apache.hadoop.ipc.Outer$StandbyException", Message: "not active\n\tat somewhere", Code: 1},
			"StandbyException: not active", 1,
		},
		"break": {
			rpc.RemoteError{Class: "org.apache.hadoop.ipc.RpcServerException", Message: "broken", Code: 10, Fatal: true},
			"RpcServerException: broken", 2,
		},
	}
	for method, tc := range tests {
		t.Run(method, func(t *testing.T) {
			s := rpctest.Start(t, rpctest.Options{Handler: echo})
			c := newClient(t, rpc.Options{})
			call := newCall(c, s, "/")
			call.Method = method
			err := c.Do(deadline(t), call)
			var remote *rpc.RemoteError
			if !errors.As(err, &remote) {
				t.Fatalf("got %v", err)
			}
			if diff := cmp.Diff(tc.want, *remote); diff != "" {
				t.Error(diff)
			}
			if err.Error() != tc.text || !rpc.Is(err, remote.Simple()) || !rpc.Is(err, tc.want.Class) || rpc.Is(err, "Exception") {
				t.Errorf("got %v, simple name %s", err, remote.Simple())
			}
			eventually(t, c, s)
			if got := s.Connections(); got != tc.connections {
				t.Errorf("%d connections, want %d", got, tc.connections)
			}
		})
	}
}

// eventually makes a call that must succeed, if need be after calls that find the connection just ending.
func eventually(t *testing.T, c *rpc.Client, s *rpctest.Server) {
	t.Helper()
	var err error
	for range 10 {
		var lost *rpc.LostError
		if err = get(t, c, s, "/again"); !errors.As(err, &lost) {
			break
		}
	}
	if err != nil {
		t.Errorf("call again: %v", err)
	}
}

func TestBrokenConnectionLosesAllCalls(t *testing.T) {
	frame := func(b string) []byte { return append([]byte{0, 0, 0, byte(len(b))}, b...) }
	tests := map[string]struct {
		faults rpctest.Faults
		want   string
	}{
		"closed":              {rpctest.Faults{DropAt: 2}, "the server closed the connection"},
		"another call's id":   {rpctest.Faults{WrongID: 100}, "which is not in flight"},
		"a web server":        {rpctest.Faults{Raw: []byte("HTTP/1.1 404")}, "the server speaks HTTP: this is a web address, not that of its RPC server"},
		"a frame too large":   {rpctest.Faults{Raw: []byte{0x7f, 0, 0, 0, 1}}, "the server sent a frame of 2130706432 bytes, the limit (ipc.maximum.response.length) is 1048576"},
		"a negative length":   {rpctest.Faults{Raw: []byte{0xff, 0, 0, 0, 1}}, "the server sent a frame of -16777216 bytes"},
		"no header":           {rpctest.Faults{Raw: frame("\x05\x08")}, "read a response's header"},
		"header without id":   {rpctest.Faults{Raw: frame("\x02\x10\x00\x00")}, "lacks its call id or status"},
		"message cut short":   {rpctest.Faults{Raw: frame("\x04\x08\x00\x10\x00\x05\x01")}, "read a response's message"},
		"bytes after message": {rpctest.Faults{Raw: frame("\x04\x08\x00\x10\x00\x00\x01")}, "1 bytes behind its message"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			release := make(chan struct{})
			tc.faults.Held = map[string]<-chan struct{}{"held": release}
			arrived := make(chan struct{}, 2)
			s := rpctest.Start(t, rpctest.Options{Handler: echo, Faults: tc.faults, Observe: func(rpctest.Request) { arrived <- struct{}{} }})
			t.Cleanup(func() { close(release) })
			c := newClient(t, rpc.Options{MaxFrame: 1 << 20})
			first := make(chan error, 1)
			go func() {
				call := newCall(c, s, "/held")
				call.Method = "held"
				first <- c.Do(deadline(t), call)
			}()
			<-arrived
			errs := []error{get(t, c, s, "/second"), <-first}
			for i, err := range errs {
				var lost *rpc.LostError
				if !errors.As(err, &lost) || lost.Timeout || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("call %d: got %v, want %q", i, err, tc.want)
				}
			}
		})
	}
}

func TestCallTakesTooLong(t *testing.T) {
	release := make(chan struct{})
	s := rpctest.Start(t, rpctest.Options{Handler: echo, Faults: rpctest.Faults{Held: map[string]<-chan struct{}{"held": release}}})
	c := newClient(t, rpc.Options{CallTimeout: 20 * time.Millisecond})
	held := newCall(c, s, "/")
	held.Method = "held"
	for retry := range int32(2) {
		held.Retry = retry // the second attempt shares the first one's id, whose answer is still owed
		err := c.Do(deadline(t), held)
		var lost *rpc.LostError
		if !errors.As(err, &lost) || !lost.Timeout || !strings.Contains(err.Error(), "held to "+s.Address()+" has no answer and may have been executed: no answer within 20ms") {
			t.Fatalf("got %v", err)
		}
	}
	close(release)
	// The late answers arrive among those of the next calls and disturb nobody.
	for range 20 {
		var lost *rpc.LostError
		if err := get(t, c, s, "/after"); err != nil && (!errors.As(err, &lost) || !lost.Timeout) {
			t.Fatal(err)
		}
	}
	if got := s.Connections(); got != 1 {
		t.Errorf("%d connections, want 1: the connection lives on", got)
	}
}

func TestContextEndsInFlight(t *testing.T) {
	release, arrived := make(chan struct{}), make(chan struct{}, 1)
	s := rpctest.Start(t, rpctest.Options{
		Handler: echo, Faults: rpctest.Faults{Held: map[string]<-chan struct{}{"held": release}},
		Observe: func(r rpctest.Request) {
			if r.Method == "held" {
				arrived <- struct{}{}
			}
		},
	})
	c := newClient(t, rpc.Options{})
	cause := errors.New("the run was stopped")
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() { <-arrived; cancel(cause) }()
	held := newCall(c, s, "/")
	held.Method = "held"
	err := c.Do(ctx, held)
	var lost *rpc.LostError
	if !errors.As(err, &lost) || !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
	close(release)
	mustGet(t, c, s, "/after")
	if got := s.Connections(); got != 1 {
		t.Errorf("%d connections, want 1", got)
	}
}

func TestOneIDCannotBeUsedTwiceAtOnce(t *testing.T) {
	release, arrived := make(chan struct{}), make(chan struct{}, 2)
	s := rpctest.Start(t, rpctest.Options{
		Handler: echo, Observe: func(rpctest.Request) { arrived <- struct{}{} },
		Faults: rpctest.Faults{Held: map[string]<-chan struct{}{"held": release}},
	})
	c := newClient(t, rpc.Options{})
	held := newCall(c, s, "/")
	held.Method = "held"
	outcome := make(chan error, 1)
	go func() { outcome <- c.Do(deadline(t), held) }()
	<-arrived
	twin := newCall(c, s, "/")
	twin.ID = held.ID
	if err := c.Do(deadline(t), twin); err == nil || !strings.Contains(err.Error(), "that of a call in flight") {
		t.Errorf("got %v", err)
	}
	close(release)
	if err := <-outcome; err != nil {
		t.Error(err)
	}
}

func TestNoConnection(t *testing.T) {
	refused := &rpctest.Exception{Class: "org.apache.hadoop.security.authorize.AuthorizationException", Message: "not you", Code: 15, Fatal: true}
	tests := map[string]struct {
		server  rpctest.Options
		options rpc.Options
		closed  bool
		want    string
	}{
		"dialing fails": {
			options: rpc.Options{Dial: func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no such host") }},
			want:    "no such host",
		},
		"dialing takes too long": {
			options: rpc.Options{
				DialTimeout: time.Millisecond,
				Dial:        func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() },
			},
			want: "no connection within 1ms (context deadline exceeded)",
		},
		"the connection is refused": {
			server: rpctest.Options{Handler: echo, Faults: rpctest.Faults{RefuseContext: refused}},
			want:   "the server refused the connection: AuthorizationException: not you",
		},
		"the client is closed": {closed: true, want: "the client is closed"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := rpctest.Start(t, tc.server)
			c := newClient(t, tc.options)
			if tc.closed {
				_ = c.Close()
			}
			err := c.Do(deadline(t), newCall(c, s, "/"))
			var none *rpc.ConnectError
			if !errors.As(err, &none) || err.Error() != "connect to "+s.Address()+": "+tc.want {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestCloseEndsCalls(t *testing.T) {
	release, arrived := make(chan struct{}), make(chan struct{}, 1)
	s := rpctest.Start(t, rpctest.Options{
		Handler: echo, Observe: func(rpctest.Request) { arrived <- struct{}{} },
		Faults: rpctest.Faults{Held: map[string]<-chan struct{}{"getFileInfo": release}},
	})
	t.Cleanup(func() { close(release) })
	c := newClient(t, rpc.Options{})
	go func() { <-arrived; _ = c.Close() }()
	var lost *rpc.LostError
	if err := get(t, c, s, "/"); !errors.As(err, &lost) || !strings.Contains(err.Error(), "the client is closed") {
		t.Errorf("got %v", err)
	}
}

func TestTooLargeRequestIsNotSent(t *testing.T) {
	s := rpctest.Start(t, rpctest.Options{Handler: echo})
	c := newClient(t, rpc.Options{MaxFrame: 200})
	mustGet(t, c, s, "/short")
	for name, length := range map[string]int{"message": 300, "message and header": 190} {
		t.Run(name, func(t *testing.T) {
			err := get(t, c, s, "/"+strings.Repeat("x", length))
			var large *rpc.TooLargeError
			if !errors.As(err, &large) || large.Method != "getFileInfo" || large.Size <= length || large.Limit != 200 {
				t.Errorf("got %v", err)
			}
		})
	}
	mustGet(t, c, s, "/short")
}

func TestSilentConnectionIsPinged(t *testing.T) {
	pinged := make(chan struct{}, 100)
	s := rpctest.Start(t, rpctest.Options{Handler: echo, Pinged: func() { pinged <- struct{}{} }})
	c := newClient(t, rpc.Options{PingInterval: 10 * time.Millisecond})
	mustGet(t, c, s, "/")
	<-pinged
	<-pinged
	mustGet(t, c, s, "/")
	if got := s.Connections(); got != 1 {
		t.Errorf("%d connections, want 1", got)
	}
}

func TestConnectionLostWhileIdleIsReplaced(t *testing.T) {
	s := rpctest.Start(t, rpctest.Options{Handler: echo})
	c := newClient(t, rpc.Options{})
	call := newCall(c, s, "/")
	if err := c.Do(deadline(t), call); err != nil {
		t.Fatal(err)
	}
	s.DropAll()
	eventually(t, c, s)
	if got := s.Connections(); got != 2 {
		t.Errorf("%d connections, want 2", got)
	}
}
