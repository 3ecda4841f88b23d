package dfsio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

const (
	// maxAnswer bounds one answer of a NameNode, in bytes: Hadoop's own ipc.maximum.response.length.
	maxAnswer = 128 << 20
	// retryTimeout bounds how long one call is asked again.
	retryTimeout = time.Minute
	// Pauses between repetitions start short, so that a block or a close takes little longer than it must, and end with
	// what Java's client begins with.
	retryFirst   = 2 * time.Millisecond
	retryLongest = 400 * time.Millisecond
)

// A retryConn is a connection to a NameNode that repeats a request when the answer is "not yet": addBlock and complete
// are to be asked again while DataNodes have not reported the file's last block but one, or its last. Java's client does
// that. The HDFS library leaves it to its caller, but forgets the file's last block with the first try: a second
// addBlock is refused then, and a second complete waits for ever if the first came too early to commit that block. So
// the same bytes go out again below the library, which sees only the answer that counts. Both calls may be repeated
// (they are marked idempotent in Hadoop). It relies on the library's having one call under way on a connection, and on
// its writing each request in one piece.
type retryConn struct {
	net.Conn
	now  func() time.Time
	wait func(time.Duration) error

	request []byte // the last one written
	answer  []byte // what the library has not read yet
}

func (c *retryConn) Write(b []byte) (int, error) {
	c.request = append(c.request[:0], b...)
	return c.Conn.Write(b)
}

func (c *retryConn) Read(b []byte) (int, error) {
	if len(c.answer) == 0 {
		var err error
		if c.answer, err = c.next(); err != nil {
			return 0, err
		}
	}
	n := copy(b, c.answer)
	c.answer = c.answer[n:]
	return n, nil
}

// next reads one whole answer, and repeats the request as long as the answer is "not yet".
func (c *retryConn) next() ([]byte, error) {
	began := c.now()
	for pause := retryFirst; ; pause = min(2*pause, retryLongest) {
		answer, err := readAnswer(c.Conn)
		if err != nil {
			return nil, err
		}
		if !notYet(c.request, answer) || c.now().Sub(began) > retryTimeout {
			return answer, nil
		}
		if err := c.wait(pause); err != nil {
			return nil, err
		}
		if _, err := c.Conn.Write(c.request); err != nil {
			return nil, err
		}
	}
}

// notYet tells whether an answer wants the call to be repeated: an exception of addBlock, a result of complete.
func notYet(request, answer []byte) bool {
	_, header := messages(request)
	exceptionHeader, result := messages(answer)
	exception, _ := field(exceptionHeader, 4)
	switch method, _ := field(header, 1); method {
	case "addBlock":
		return strings.HasSuffix(exception, "NotReplicatedYetException")
	case "complete":
		_, complete := field(result, 1)
		return exception == "" && len(result) > 0 && complete == 0
	}
	return false
}

// readAnswer reads a length and as many bytes; the length stays in front.
func readAnswer(r io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(head[:])
	if length > maxAnswer {
		return nil, fmt.Errorf("an answer that begins with %q is not a NameNode's", head)
	}
	answer := make([]byte, len(head)+int(length))
	copy(answer, head[:])
	if _, err := io.ReadFull(r, answer[len(head):]); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return answer, nil
}

// messages returns the first two messages of a packet of Hadoop RPC, which is a length and then messages, each with its
// length in front. A request begins with RpcRequestHeaderProto and RequestHeaderProto, whose field 1 is the method's
// name; an answer with RpcResponseHeaderProto, whose field 4 is an exception's class, and the result. What is not there
// or cannot be read is nil.
func messages(packet []byte) (first, second []byte) {
	if len(packet) < 4 {
		return nil, nil
	}
	first, n := protowire.ConsumeBytes(packet[4:])
	if n < 0 {
		return nil, nil
	}
	second, n = protowire.ConsumeBytes(packet[4+n:])
	if n < 0 {
		return first, nil
	}
	return first, second
}

// field is a field of a message: its text or its number, whichever it has; nothing if it is not there.
func field(message []byte, number protowire.Number) (text string, value uint64) {
	for len(message) > 0 {
		found, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			break
		}
		message = message[n:]
		if n = protowire.ConsumeFieldValue(found, kind, message); n < 0 {
			break
		}
		switch {
		case found == number && kind == protowire.BytesType:
			b, _ := protowire.ConsumeBytes(message)
			return string(b), 0
		case found == number && kind == protowire.VarintType:
			value, _ = protowire.ConsumeVarint(message)
			return "", value
		}
		message = message[n:]
	}
	return "", 0
}
