package transport

import (
	"io"
	"net"
	"runtime"
	"sync"
	"time"
)

// A Link is what every connection has: frames go out together, with one system call for all that are ready, and it ends
// once, for the first cause. A connection embeds it.
type Link struct {
	Net    net.Conn
	Sink   io.Writer     // Net, or what seals for it
	Closed chan struct{} // closed when the connection has ended

	// Mu guards the fields below, and what the connection keeps of its calls: to note a call down and to hand over its frame
	// is one step, and so is to end and to take the calls that are left.
	Mu    sync.Mutex
	Out   []byte // frames that Serve has not taken yet; Wake tells it of them
	Cause error  // why the connection ended; nil: it lives

	timeout time.Duration
	writing bool          // Serve is at work and will look at Out again
	wake    chan struct{} // one element when Serve shall look at Out
}

// NewLink makes a link over nc, which takes the bytes that are given to it within timeout, or is as good as dead.
func NewLink(nc net.Conn, timeout time.Duration) *Link {
	return &Link{Net: nc, Sink: nc, Closed: make(chan struct{}), timeout: timeout, wake: make(chan struct{}, 1)}
}

// Wake has Out sent. It is called with Mu held.
func (l *Link) Wake() {
	if !l.writing {
		l.writing = true
		l.wake <- struct{}{}
	}
}

// Serve sends what callers hand over until the link has ended. It calls fail if that is for a write that failed.
func (l *Link) Serve(fail func(cause error)) {
	var buf []byte
	for {
		select {
		case <-l.wake:
		case <-l.Closed:
			return
		}
		for {
			// Callers that can run now get their turn first: after a batch of answers most of them make their next call.
			runtime.Gosched()
			if buf = l.take(buf); len(buf) == 0 {
				break
			}
			if err := l.send(buf); err != nil {
				l.failUnlessRead(err, fail)
				return
			}
		}
	}
}

// take gives Out away and puts a used buffer in its place.
func (l *Link) take(used []byte) []byte {
	if cap(used) > KeptBuffer {
		used = nil
	}
	l.Mu.Lock()
	defer l.Mu.Unlock()
	taken := l.Out
	l.Out = used[:0]
	l.writing = len(taken) > 0
	return taken
}

func (l *Link) send(b []byte) error {
	if err := l.Net.SetWriteDeadline(time.Now().Add(l.timeout)); err != nil {
		return err
	}
	_, err := l.Sink.Write(b)
	return err
}

// readGrace is how long a server's last words may take to be read after a write failed.
const readGrace = 100 * time.Millisecond

// failUnlessRead calls fail after a failed write. A server that refuses us says why and closes the connection, so the
// reader may be about to find a better cause.
func (l *Link) failUnlessRead(cause error, fail func(error)) {
	select {
	case <-l.Closed:
	case <-time.After(readGrace):
		fail(cause)
	}
}

// Dead says whether the link has ended.
func (l *Link) Dead() bool {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	return l.Cause != nil
}

// End ends the link, unless it has ended already. last is called with Mu held: what the connection keeps is taken there,
// since nothing is added to it any more.
func (l *Link) End(cause error, last func()) {
	l.Mu.Lock()
	if l.Cause != nil {
		l.Mu.Unlock()
		return
	}
	l.Cause = cause
	last()
	l.Mu.Unlock()
	close(l.Closed)
	_ = l.Net.Close()
}
