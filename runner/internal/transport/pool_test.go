package transport_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hadoop-bench/operator/runner/internal/transport"
)

// A line is a connection of the tests.
type line struct {
	key    string
	number int32
	failed atomic.Pointer[error]
}

func (l *line) Dead() bool { return l.failed.Load() != nil }

func (l *line) Fail(cause error) { l.failed.CompareAndSwap(nil, &cause) }

var (
	errTest   = errors.New("the test's own error")
	errClosed = errors.New("closed")
)

// A dialer counts connections and holds them up while wait is not nil.
type dialer struct {
	count atomic.Int32
	wait  chan struct{}
	err   error
}

func (d *dialer) dial(ctx context.Context, key string) (*line, error) {
	n := d.count.Add(1)
	if d.wait != nil {
		select {
		case <-d.wait:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	if d.err != nil {
		return nil, d.err
	}
	return &line{key: key, number: n}, nil
}

func newPool(t *testing.T, d *dialer) *transport.Pool[string, *line] {
	p := transport.NewPool(10*time.Second, d.dial)
	t.Cleanup(func() { p.Close(errClosed) })
	return p
}

func TestPoolOpensOnceForAll(t *testing.T) {
	d := &dialer{wait: make(chan struct{})}
	p := newPool(t, d)
	var wait sync.WaitGroup
	got := make([]*line, 10)
	for i := range got {
		wait.Go(func() {
			var err error
			if got[i], err = p.Get(t.Context(), "a"); err != nil {
				t.Error(err)
			}
		})
	}
	close(d.wait)
	wait.Wait()
	for _, l := range got {
		if l == nil || l != got[0] || l.key != "a" {
			t.Errorf("got %v and %v", got[0], l)
		}
	}
	if other, err := p.Get(t.Context(), "b"); err != nil || other == got[0] || d.count.Load() != 2 {
		t.Errorf("got %v and error %v for another key, after %d connections", other, err, d.count.Load())
	}
	got[0].Fail(errTest)
	if next, err := p.Get(t.Context(), "a"); err != nil || next.number != 3 {
		t.Errorf("after it ended: %v, %v", next, err)
	}
}

func TestPoolErrors(t *testing.T) {
	d := &dialer{err: errTest}
	p := newPool(t, d)
	for want := range int32(2) {
		if l, err := p.Get(t.Context(), "a"); !errors.Is(err, errTest) || l != nil || d.count.Load() != want+1 {
			t.Errorf("got %v, %v after %d attempts", l, err, d.count.Load())
		}
	}
	held := newPool(t, &dialer{wait: make(chan struct{})})
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errTest)
	if _, err := held.Get(ctx, "a"); !errors.Is(err, errTest) || !strings.Contains(err.Error(), "wait for a connection") {
		t.Errorf("got %v with a context that ended", err)
	}
	late := transport.NewPool(time.Millisecond, (&dialer{wait: make(chan struct{})}).dial)
	if _, err := late.Get(t.Context(), "a"); err == nil || err.Error() != "no connection within 1ms" {
		t.Errorf("got %v after the time to open one", err)
	}
}

func TestPoolClose(t *testing.T) {
	p := newPool(t, new(dialer))
	l, err := p.Get(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	p.Close(errClosed)
	if cause := l.failed.Load(); cause == nil || !errors.Is(*cause, errClosed) {
		t.Errorf("the connection ended because of %v", cause)
	}
	// A dialer that does not look at its context opens one all the same, and it ends at once.
	if l, err = p.Get(t.Context(), "a"); err != nil || !l.Dead() {
		t.Errorf("got %v, %v after the pool was closed", l, err)
	}
}
