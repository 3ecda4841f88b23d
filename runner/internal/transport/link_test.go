package transport_test

import (
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hadoop-bench/operator/runner/internal/transport"
)

// A sink keeps what each write gave it, and may fail.
type sink struct {
	writes []string
	err    error
}

func (s *sink) Write(b []byte) (int, error) {
	s.writes = append(s.writes, string(b))
	return len(b), s.err
}

// serve starts a link that writes into s. It calls fail as a connection does, by End.
func serve(t *testing.T, s *sink) *transport.Link {
	ours, theirs := net.Pipe()
	t.Cleanup(func() { _ = theirs.Close() })
	l := transport.NewLink(ours, time.Minute)
	l.Sink = s
	go l.Serve(func(cause error) { l.End(cause, func() {}) })
	return l
}

func hand(l *transport.Link, frames ...string) {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	for _, f := range frames {
		l.Out = append(l.Out, f...)
		l.Wake()
	}
}

func TestFramesGoOutTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s sink
		l := serve(t, &s)
		hand(l, "a", "b")
		synctest.Wait()
		hand(l, "c")
		synctest.Wait()
		if len(s.writes) != 2 || s.writes[0] != "ab" || s.writes[1] != "c" {
			t.Errorf("got writes %q, want ab and c", s.writes)
		}
		l.End(io.EOF, func() {})
	})
}

// TestAFailedWriteEndsTheLink: unless the reader finds a better cause meanwhile.
func TestAFailedWriteEndsTheLink(t *testing.T) {
	broken, refused := errors.New("broken pipe"), errors.New("refused")
	for name, tt := range map[string]struct{ read, want error }{
		"nothing is read":         {nil, broken},
		"the server's last words": {refused, refused},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := serve(t, &sink{err: broken})
				hand(l, "a")
				synctest.Wait()
				if l.Dead() {
					t.Error("the link ended before the server's last words could be read")
				}
				if tt.read != nil {
					l.End(tt.read, func() {})
				}
				<-l.Closed
				if !errors.Is(l.Cause, tt.want) || !l.Dead() {
					t.Errorf("got cause %v, want %v", l.Cause, tt.want)
				}
			})
		})
	}
}

func TestALinkEndsOnce(t *testing.T) {
	l := serve(t, &sink{})
	ends := 0
	for _, cause := range []error{io.EOF, io.ErrClosedPipe} {
		l.End(cause, func() { ends++ })
	}
	<-l.Closed
	if _, err := l.Net.Read(make([]byte, 1)); ends != 1 || !errors.Is(l.Cause, io.EOF) || !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("ended %d times for %v, and reading fails with %v", ends, l.Cause, err)
	}
}
