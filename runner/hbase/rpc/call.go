package rpc

import (
	"encoding/binary"
	"math"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hadoop-bench/operator/runner/internal/transport"
)

// callState is what a Call needs while it is under way.
type callState struct {
	conn    *conn // where it was sent last
	id      uint32
	timeout time.Duration
	expires int64 // conn's time, in nanoseconds, at which it has taken too long

	done  chan struct{} // one element when the answer or err is set
	reply []byte        // what Body and Answer lie in
	err   error
}

// size is how many bytes the call's frame has at most, without its length.
func (c *Call) size() int {
	return protowire.SizeBytes(maxHeader+len(c.Method)) + protowire.SizeBytes(len(c.Param)) + len(c.Cells)
}

// appendFrame appends the call's frame, made with header as a scratch buffer, which is returned.
func (c *Call) appendFrame(b, header []byte) (frame, scratch []byte) {
	h := requestHeader{callID: c.id, method: c.Method, cells: len(c.Cells), priority: c.Priority, timeout: millis(c.timeout)}
	header = h.append(header[:0])
	start := len(b)
	b = append(b, 0, 0, 0, 0)
	b = protowire.AppendBytes(b, header)
	b = protowire.AppendBytes(b, c.Param)
	b = append(b, c.Cells...)
	binary.BigEndian.PutUint32(b[start:], uint32(len(b)-start-transport.LengthSize))
	return b, header
}

// maxTimeout is the longest that a header can tell a server, some 24 days.
const maxTimeout = math.MaxInt32 * time.Millisecond

// millis is a timeout in whole milliseconds, at least one, since a server takes 0 for no limit.
func millis(d time.Duration) uint32 { return uint32(max(d.Milliseconds(), 1)) }

// answer gives the call what a response holds and wakes its caller. The call must have been taken out of conn.pending.
func (c *Call) answer(r *response) {
	if cap(c.reply) > transport.KeptBuffer {
		c.reply = nil
	}
	n := len(r.body)
	c.reply = append(append(c.reply[:0], r.body...), r.cells...)
	c.Body, c.Answer = c.reply[:n:n], c.reply[n:]
	c.err = nil
	c.done <- struct{}{}
}

// fail gives the call its error and wakes its caller. The call must have been taken out of conn.pending.
func (c *Call) fail(err error) {
	c.err = err
	c.done <- struct{}{}
}
