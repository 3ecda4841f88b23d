package rpc_test

import (
	"context"
	"errors"
	"maps"
	"math"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/hadoop-bench/operator/runner/hbase/rpc"
	"github.com/hadoop-bench/operator/runner/hbase/wire"
)

// method makes a call of another method.
func method(address, name string) *rpc.Call {
	call := newCall(address, "param")
	call.Method = name
	return call
}

func TestExceptionLeavesTheConnection(t *testing.T) {
	address := serve(t, nil, echo)
	c := newClient(t, rpc.Options{})
	call := method(address, "Fail")
	for range 2 {
		err := c.Do(deadline(t), call)
		if !rpc.Is(err, "NotServingRegionException") || err.Error() != "NotServingRegionException: it is not here" {
			t.Errorf("got %v", err)
		}
		if call.Body != nil || call.Answer != nil {
			t.Errorf("a failed call has the answer %q %q", call.Body, call.Answer)
		}
		call.Method = "Get"
		mustDo(t, c, call)
		call.Method = "Fail"
	}
	if got := who(t, c, *newCall(address, "")); !strings.Contains(got, "connection 0") {
		t.Errorf("after exceptions: %s", got)
	}
}

func TestEveryFieldOfAnException(t *testing.T) {
	address := serve(t, nil, func(p *peer) {
		r, _ := p.next()
		p.fail(r.header.GetCallId(), wire.ExceptionResponse_builder{
			ExceptionClassName: proto.String("a.B"), StackTrace: proto.String("a.B: c"), Hostname: proto.String("host"), Port: proto.Int32(16020),
			DoNotRetry: proto.Bool(true), ServerOverloaded: proto.Bool(true),
		}.Build())
		p.readAll()
	})
	err := newClient(t, rpc.Options{}).Do(deadline(t), newCall(address, ""))
	var got *rpc.RemoteError
	if !errors.As(err, &got) {
		t.Fatalf("got %v", err)
	}
	want := &rpc.RemoteError{Class: "a.B", Message: "c", Host: "host", Port: 16020, DoNotRetry: true, Overloaded: true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// outcome is what kind of error a call ended with.
func outcome(err error) string {
	var lost *rpc.LostError
	var connect *rpc.ConnectError
	switch {
	case errors.As(err, &connect):
		return "not executed"
	case errors.As(err, &lost) && lost.Timeout:
		return "too long"
	case errors.As(err, &lost):
		return "lost"
	}
	return "other"
}

// A breakage is what a server does to a connection with a call in flight, and what that call ends with.
type breakage struct {
	do      func(*peer)
	outcome string
	want    string
}

// raw sends bytes in place of an answer.
func raw(b string) func(*peer) {
	return func(p *peer) {
		_, _ = p.next()
		p.write([]byte(b))
		p.readAll()
	}
}

// breakages are those whose frames can be read.
func breakages() map[string]breakage {
	return map[string]breakage{
		"closed at once": {func(*peer) {}, "lost", "(it does so too if it has no ClientService)"},
		"closed instead of an answer": {func(p *peer) {
			r, _ := p.next()
			p.answer(r, "param", "")
			_, _ = p.next()
		}, "lost", "the server closed the connection"},
		"refused": {func(p *peer) {
			p.fail(math.MaxUint32, exception("org.apache.hadoop.hbase.ipc.FatalConnectionException", "no"))
			p.readAll()
		}, "not executed", "the server ended the connection: FatalConnectionException: no"},
		"ended after an answer": {func(p *peer) {
			r, _ := p.next()
			p.answer(r, "param", "")
			_, _ = p.next()
			p.fail(math.MaxUint32, exception("org.apache.hadoop.hbase.ipc.FatalConnectionException", "no more"))
			p.readAll()
		}, "lost", "the server ended the connection: FatalConnectionException: no more"},
		"ended without a reason": {func(p *peer) {
			_, _ = p.next()
			p.send(wire.ResponseHeader_builder{CallId: proto.Uint32(math.MaxUint32)}.Build(), []byte{0})
			p.readAll()
		}, "lost", "the server ended the connection without saying why"},
		"an answer to no call": {func(p *peer) {
			_, _ = p.next()
			p.send(wire.ResponseHeader_builder{CallId: proto.Uint32(77)}.Build(), []byte{0})
			p.readAll()
		}, "lost", "the server answered call 77, which was not made"},
		"fewer cells than said": {func(p *peer) {
			r, _ := p.next()
			meta := wire.CellBlockMeta_builder{Length: proto.Uint32(5)}.Build()
			p.send(wire.ResponseHeader_builder{CallId: proto.Uint32(r.header.GetCallId()), CellBlockMeta: meta}.Build(), []byte{0, 1, 2})
			p.readAll()
		}, "lost", "a response has 2 bytes behind its message, its header says 5"},
	}
}

// unreadable are those whose frames cannot be read.
func unreadable() map[string]breakage {
	return map[string]breakage{
		"bytes behind the message":  {raw("\x00\x00\x00\x05\x02\x08\x00\x00x"), "lost", "a response has 1 bytes behind its message, its header says 0"},
		"no call id":                {raw("\x00\x00\x00\x02\x00\x00"), "lost", "a response's header lacks its call id"},
		"no message":                {raw("\x00\x00\x00\x03\x02\x08\x00"), "lost", "read a response's message: unexpected EOF"},
		"no header":                 {raw("\x00\x00\x00\x01\x05"), "lost", "read a response's header: unexpected EOF"},
		"a header that is none":     {raw("\x00\x00\x00\x03\x02\x08\xff"), "lost", "read field 1 of a response's header"},
		"an exception that is none": {raw("\x00\x00\x00\x07\x06\x08\x00\x12\x02\x0a\x09"), "lost", "read a response's exception"},
		"a web server":              {raw("HTTP/1.1 400 Bad Request"), "lost", "this is a web address"},
		"a frame that is too long":  {raw("\x10\x00\x00\x01"), "lost", "the server sent a frame of 268435457 bytes, the limit is 268435456"},
		"half a frame": {func(p *peer) {
			_, _ = p.next()
			p.write([]byte{0, 0})
		}, "lost", "unexpected EOF"},
	}
}

// TestBrokenConnections: what a server may do to a connection with a call in flight, and that the next call has another
// connection. The server echoes on every connection but the first.
func TestBrokenConnections(t *testing.T) {
	tests := breakages()
	maps.Copy(tests, unreadable())
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			address := serve(t, nil, func(p *peer) {
				if p.number == 0 {
					tt.do(p)
					return
				}
				echo(p)
			})
			c := newClient(t, rpc.Options{})
			call := newCall(address, "param")
			var err error
			for err == nil {
				err = do(t, c, call)
			}
			if got := outcome(err); got != tt.outcome || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %q: %v; want %q: %s", got, err, tt.outcome, tt.want)
			}
			mustDo(t, c, call)
		})
	}
}

func TestTimeouts(t *testing.T) {
	address := serve(t, nil, func(p *peer) {
		r, ok := p.next()
		for ok {
			late := r
			if r.header.GetMethodName() == "Late" {
				if r, ok = p.next(); !ok {
					return
				}
				p.answer(late, "late", "") // after the client gave up and made another call
			}
			p.answer(r, r.param, "")
			r, ok = p.next()
		}
	})
	tests := map[string]struct{ call, own time.Duration }{
		"the client's":                     {20 * time.Millisecond, 0},
		"the call's, shorter":              {time.Hour, 20 * time.Millisecond},
		"the call's, longer":               {30 * time.Millisecond, 60 * time.Millisecond},
		"the call's, much shorter":         {time.Hour, time.Microsecond},
		"the call's, as long":              {20 * time.Millisecond, 20 * time.Millisecond},
		"the call's, where a tick is long": {time.Hour, 100 * time.Millisecond},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, rpc.Options{CallTimeout: tt.call})
			call := method(address, "Late")
			call.Timeout = tt.own
			start := time.Now()
			err := c.Do(deadline(t), call)
			took := time.Since(start)
			var lost *rpc.LostError
			limit := tt.call
			if tt.own > 0 {
				limit = tt.own
			}
			if !errors.As(err, &lost) || !lost.Timeout || !strings.Contains(err.Error(), "no answer within "+limit.String()) {
				t.Fatalf("got %v", err)
			}
			if took < limit {
				t.Errorf("gave up after %v, before the limit of %v", took, limit)
			}
			// The connection lives on, and the late answer is nobody's.
			call.Method, call.Timeout = "Get", 20*time.Second
			mustDo(t, c, call)
		})
	}
}

func TestContexts(t *testing.T) {
	address := serve(t, nil, echo)
	c := newClient(t, rpc.Options{})
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errTest)
	if err := c.Do(ctx, newCall(address, "")); !errors.Is(err, errTest) || outcome(err) != "other" {
		t.Errorf("with a context that had ended: %v", err)
	}
	ctx, cancel = context.WithCancelCause(t.Context())
	time.AfterFunc(10*time.Millisecond, func() { cancel(errTest) })
	if err := c.Do(ctx, method(address, "Hold")); !errors.Is(err, errTest) || outcome(err) != "lost" {
		t.Errorf("with a context that ended in flight: %v", err)
	}
	mustDo(t, c, newCall(address, "after"))
	if got := who(t, c, *newCall(address, "")); !strings.Contains(got, "connection 0") {
		t.Errorf("after that: %s", got)
	}
}

// blocked is a dialer that ends with its context only.
func blocked(ctx context.Context, _, _ string) (net.Conn, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestNoConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	unused := l.Addr().String()
	_ = l.Close()
	err = newClient(t, rpc.Options{}).Do(deadline(t), newCall(unused, ""))
	if outcome(err) != "not executed" || !strings.Contains(err.Error(), "connect to "+unused) {
		t.Errorf("where nobody listens: %v", err)
	}
	c := newClient(t, rpc.Options{Dial: blocked, DialTimeout: 20 * time.Millisecond})
	if err := c.Do(deadline(t), newCall(unused, "")); outcome(err) != "not executed" || !strings.Contains(err.Error(), "no connection within 20ms") {
		t.Errorf("where nobody answers: %v", err)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Millisecond, errTest)
	defer cancel()
	c = newClient(t, rpc.Options{Dial: blocked})
	if err := c.Do(ctx, newCall(unused, "")); !errors.Is(err, errTest) || outcome(err) != "other" {
		t.Errorf("where the caller waits no longer: %v", err)
	}
}

func TestTooLarge(t *testing.T) {
	address := serve(t, nil, echo)
	c := newClient(t, rpc.Options{MaxFrame: 1000})
	var tooLarge *rpc.TooLargeError
	call := newCall(address, strings.Repeat("a", 500))
	call.Cells = make([]byte, 600)
	if err := c.Do(deadline(t), call); !errors.As(err, &tooLarge) || tooLarge.Limit != 1000 || tooLarge.Size < 1100 ||
		!strings.Contains(err.Error(), "the limit (hbase.ipc.max.request.size) is 1000") {
		t.Errorf("got %v", err)
	}
	call.Cells = call.Cells[:300]
	mustDo(t, c, call)
}

// TestServerThatTakesNothing: what it does not read fills the buffers of both sides, so that the writer waits.
func TestServerThatTakesNothing(t *testing.T) {
	ended := make(chan struct{})
	address := serve(t, nil, func(*peer) { <-ended })
	defer close(ended)
	call := newCall(address, "")
	call.Cells, call.Timeout = make([]byte, 64<<20), time.Minute
	err := newClient(t, rpc.Options{CallTimeout: 50 * time.Millisecond}).Do(deadline(t), call)
	if outcome(err) != "lost" || !strings.Contains(err.Error(), "i/o timeout") {
		t.Errorf("got %v", err)
	}
}

func TestClose(t *testing.T) {
	held := make(chan struct{})
	address := serve(t, nil, func(p *peer) {
		_, _ = p.next()
		close(held)
		p.readAll()
	})
	c := newClient(t, rpc.Options{})
	done := make(chan error, 1)
	go func() { done <- c.Do(context.Background(), method(address, "Hold")) }()
	<-held
	_ = c.Close()
	if err := <-done; outcome(err) != "lost" || !strings.Contains(err.Error(), "the client is closed") {
		t.Errorf("a call in flight: %v", err)
	}
	if err := c.Do(deadline(t), newCall(address, "")); outcome(err) != "not executed" || !strings.Contains(err.Error(), "the client is closed") {
		t.Errorf("a call afterwards: %v", err)
	}
}
