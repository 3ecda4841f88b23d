package rpc

import (
	"encoding/binary"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/hadoop-bench/operator/runner/internal/transport"
)

// A Call is one request and its response. It is used by one goroutine and may be used again after Do returned, with other
// values, or with the same ID and Retry one greater to repeat the call. It must not be copied.
type Call struct {
	Address    string // host:port
	Protocol   string // full Java name of the protocol's interface
	Method     string
	Connection int // which of Options.Connections, taken modulo their number
	ID         int32
	Retry      int32
	Request    proto.Message
	Response   proto.Message // is reset and filled

	conn    *conn  // where it was sent last
	frame   []byte // what is sent
	target  target // the method's part of the frame, encoded
	expires int64  // tick of conn at which it has taken too long

	done  chan struct{} // one element when the fields below are set
	reply []byte        // the response's message
	err   error
}

// A target is RequestHeaderProto behind its length, kept while method and protocol stay the same.
type target struct {
	method, protocol string
	encoded          []byte
}

// Field numbers and version of RequestHeaderProto.
const (
	targetMethod    = 1
	targetProtocol  = 2
	targetVersion   = 3
	protocolVersion = 1
)

func (t *target) set(method, protocol string) {
	if t.encoded != nil && t.method == method && t.protocol == protocol {
		return
	}
	var b []byte
	b = protowire.AppendTag(b, targetMethod, protowire.BytesType)
	b = protowire.AppendString(b, method)
	b = protowire.AppendTag(b, targetProtocol, protowire.BytesType)
	b = protowire.AppendString(b, protocol)
	b = protowire.AppendTag(b, targetVersion, protowire.VarintType)
	b = protowire.AppendVarint(b, protocolVersion)
	*t = target{method: method, protocol: protocol, encoded: protowire.AppendBytes(nil, b)}
}

// encode makes the frame.
func (c *Call) encode(h requestHeader, limit int) error {
	c.target.set(c.Method, c.Protocol)
	h.callID, h.retry = c.ID, c.Retry
	size := proto.Size(c.Request)
	if size > limit {
		return &TooLargeError{Method: c.Method, Size: size, Limit: limit}
	}
	if cap(c.frame) > transport.KeptBuffer {
		c.frame = nil
	}
	b := append(c.frame[:0], 0, 0, 0, 0)
	b = h.appendDelimited(b)
	b = append(b, c.target.encoded...)
	b = protowire.AppendVarint(b, uint64(size))
	b, err := proto.MarshalOptions{UseCachedSize: true}.MarshalAppend(b, c.Request)
	if err != nil {
		return fmt.Errorf("encode the request of %s: %w", c.Method, err)
	}
	if n := len(b) - transport.LengthSize; n > limit {
		return &TooLargeError{Method: c.Method, Size: n, Limit: limit}
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)-transport.LengthSize))
	c.frame = b
	return nil
}

// finish gives the call its outcome and wakes its caller. The call must have been taken out of conn.pending.
func (c *Call) finish(reply []byte, err error) {
	if cap(c.reply) > transport.KeptBuffer {
		c.reply = nil
	}
	c.reply, c.err = append(c.reply[:0], reply...), err
	c.done <- struct{}{}
}

// result decodes the response.
func (c *Call) result() error {
	if c.err != nil {
		return c.err
	}
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(c.reply, c.Response); err != nil {
		return &LostError{Address: c.Address, Method: c.Method, Err: fmt.Errorf("decode the response: %w", err)}
	}
	return nil
}
