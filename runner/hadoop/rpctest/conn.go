package rpctest

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
)

const buffer = 256 << 10

// Call ids of frames that are no calls.
const (
	contextID = -3
	pingID    = -4
	saslID    = -33
)

var errDrop = errors.New("the connection shall be closed")

// A conn serves one connection: it reads what is there, answers it, and writes when there is nothing to read.
type conn struct {
	server  *Server
	net     net.Conn
	in      *bufio.Reader
	request Request
	names   map[string]string // methods seen, so that their names are allocated once
	calls   int
	frame   []byte
	sasl    *conversation
	held    []answer // for Faults.Reverse

	mu  sync.Mutex // guards what follows against the answers to held methods
	out []byte
}

// An answer waits to be sent.
type answer struct {
	callID   int32
	response []byte
	err      error
}

func newConn(s *Server, nc net.Conn, number int) *conn {
	c := &conn{server: s, net: nc, in: bufio.NewReaderSize(nc, buffer), names: map[string]string{}}
	c.request.Connection = number
	return c
}

func (c *conn) serve() {
	defer c.server.forget(c.net)
	if err := c.greet(); err != nil {
		return
	}
	for {
		if c.in.Buffered() == 0 && c.flush() != nil {
			return
		}
		frame, err := c.read()
		if err == nil {
			err = c.handle(frame)
		}
		if err != nil {
			_ = c.flush()
			return
		}
	}
}

// greet reads the connection's header.
func (c *conn) greet() error {
	var h [7]byte
	if _, err := io.ReadFull(c.in, h[:]); err != nil {
		return err
	}
	if string(h[:5]) != "hrpc\x09" || h[5] != 0 {
		return fmt.Errorf("the connection begins with %x", h)
	}
	if h[6] == 0xDF {
		c.sasl = &conversation{conn: c}
	} else if c.server.o.Kerberos != nil {
		c.answer(-1, nil, &Exception{
			Class:   "org.apache.hadoop.security.AccessControlException",
			Message: "SIMPLE authentication is not enabled.  Available:[KERBEROS]", Code: 15, Fatal: true,
		})
		_ = c.flush()
		return errDrop
	}
	return nil
}

// read returns the next frame. It is valid until the next call.
func (c *conn) read() ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(c.in, size[:]); err != nil {
		return nil, err
	}
	n := int(binary.BigEndian.Uint32(size[:]))
	if n > cap(c.frame) {
		c.frame = make([]byte, n)
	}
	c.frame = c.frame[:n]
	_, err := io.ReadFull(c.in, c.frame)
	return c.frame, err
}

// handle takes a frame.
func (c *conn) handle(frame []byte) error {
	header, n := protowire.ConsumeBytes(frame)
	if n < 0 {
		return protowire.ParseError(n)
	}
	r := &c.request
	r.CallID, r.Retry, r.StateID, r.RouterState = 0, 0, 0, ""
	if err := eachField(header, r.setHeader); err != nil {
		return err
	}
	body := frame[n:]
	switch r.CallID {
	case pingID:
		if c.server.o.Pinged != nil {
			c.server.o.Pinged()
		}
		return nil
	case saslID:
		return c.saslMessage(body)
	case contextID:
		return c.context(body)
	}
	return c.call(body)
}

func (c *conn) saslMessage(body []byte) error {
	message, n := protowire.ConsumeBytes(body)
	if n < 0 || c.sasl == nil {
		return errDrop
	}
	return c.sasl.message(message)
}

// context reads who calls.
func (c *conn) context(body []byte) error {
	message, n := protowire.ConsumeBytes(body)
	if n < 0 {
		return protowire.ParseError(n)
	}
	c.request.ContextFrames++
	err := eachField(message, func(num protowire.Number, _ uint64, b []byte) {
		switch num {
		case 2:
			_ = eachField(b, func(num protowire.Number, _ uint64, b []byte) {
				if num == 1 {
					c.request.User = string(b)
				}
			})
		case 3:
			c.request.Context = string(b)
		}
	})
	if refusal := c.server.o.RefuseContext; err == nil && refusal != nil {
		c.answer(contextID, nil, refusal)
		return errDrop
	}
	return err
}

// call answers a call.
func (c *conn) call(body []byte) error {
	target, n := protowire.ConsumeBytes(body)
	if n < 0 {
		return protowire.ParseError(n)
	}
	r := &c.request
	if err := eachField(target, func(num protowire.Number, _ uint64, b []byte) {
		switch num {
		case 1:
			r.Method = c.name(b)
		case 2:
			r.Protocol = c.name(b)
		}
	}); err != nil {
		return err
	}
	message, m := protowire.ConsumeBytes(body[n:])
	if m < 0 {
		return protowire.ParseError(m)
	}
	if c.server.o.Observe != nil {
		c.server.o.Observe(*r)
	}
	return c.reply(r, message)
}

func (c *conn) name(b []byte) string {
	if s, ok := c.names[string(b)]; ok {
		return s
	}
	s := string(b)
	c.names[s] = s
	return s
}

// reply makes the answer, or the fault that is asked for.
func (c *conn) reply(r *Request, message []byte) error {
	o := &c.server.o
	c.calls++
	if c.calls == o.DropAt {
		return errDrop
	}
	if c.calls == 1 && o.Raw != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.out = append(c.out, o.Raw...)
		return nil
	}
	response, err := o.Handler(r.Method, message)
	id := r.CallID + o.WrongID
	if release := o.Held[r.Method]; release != nil {
		c.server.wait.Add(1)
		go func() {
			defer c.server.wait.Done()
			<-release
			c.answer(id, response, err)
			_ = c.flush()
		}()
		return nil
	}
	if o.Reverse > 0 {
		c.reverse(answer{id, append([]byte(nil), response...), err})
		return nil
	}
	c.answer(id, response, err)
	var e *Exception
	if errors.As(err, &e) && e.Fatal {
		return errDrop
	}
	return nil
}

// reverse sends the answers held back once there are enough.
func (c *conn) reverse(a answer) {
	c.held = append(c.held, a)
	if len(c.held) < c.server.o.Reverse {
		return
	}
	for i := len(c.held) - 1; i >= 0; i-- {
		c.answer(c.held[i].callID, c.held[i].response, c.held[i].err)
	}
	c.held = c.held[:0]
}

// flush sends what is waiting.
func (c *conn) flush() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.out) == 0 {
		return nil
	}
	out := c.out
	if c.sasl != nil {
		var err error
		if out, err = c.sasl.seal(out); err != nil {
			return err
		}
	}
	_, err := c.net.Write(out)
	c.out = c.out[:0]
	return err
}
