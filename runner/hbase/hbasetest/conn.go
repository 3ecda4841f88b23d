package hbasetest

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/hadoop-bench/operator/runner/hbase/wire"
)

const bufferSize = 256 << 10

var errDrop = errors.New("the connection shall be closed")

// A conn serves one connection: one goroutine reads requests and makes answers, another sends them when they are due.
type conn struct {
	server *server
	net    net.Conn
	in     *bufio.Reader
	size   [4]byte // of a frame, as read
	frame  []byte
	header header
	names  map[string]string

	mu    sync.Mutex
	out   []byte // answers that were not sent yet
	due   []due
	ready chan struct{} // one element if out was empty before
	quit  chan struct{}
}

// due says when the answers up to a byte of out are to be sent.
type due struct {
	end int
	at  time.Time
}

// A header is what matters of a RequestHeader.
type header struct {
	id     uint64
	method string
	cells  int
}

func newConn(s *server, nc net.Conn) *conn {
	return &conn{
		server: s, net: nc, in: bufio.NewReaderSize(nc, bufferSize), names: map[string]string{},
		ready: make(chan struct{}, 1), quit: make(chan struct{}),
	}
}

func (c *conn) serve() {
	var sender sync.WaitGroup
	sender.Go(c.send)
	defer func() {
		close(c.quit)
		_ = c.net.Close()
		sender.Wait()
	}()
	if c.greet() != nil {
		return
	}
	for {
		frame, err := c.read()
		if err != nil || c.handle(frame) != nil {
			return
		}
	}
}

// greet reads preamble and connection header, and refuses clients that did not say what real servers need.
func (c *conn) greet() error {
	var preamble [6]byte
	if _, err := io.ReadFull(c.in, preamble[:]); err != nil {
		return err
	}
	if string(preamble[:]) != "HBas\x00P" {
		return errDrop
	}
	frame, err := c.read()
	if err != nil {
		return err
	}
	h := new(wire.ConnectionHeader)
	if err := proto.Unmarshal(frame, h); err != nil {
		return err
	}
	if h.GetUserInfo().GetEffectiveUser() == "" || h.GetServiceName() == "" || h.GetVersionInfo().GetVersionMajor() < 1 ||
		h.GetCellBlockCodecClass() != "org.apache.hadoop.hbase.codec.KeyValueCodec" {
		return errDrop
	}
	return nil
}

// read returns the next frame, valid until the next call.
func (c *conn) read() ([]byte, error) {
	if _, err := io.ReadFull(c.in, c.size[:]); err != nil {
		return nil, err
	}
	n := int(binary.BigEndian.Uint32(c.size[:]))
	if n > cap(c.frame) {
		c.frame = make([]byte, n)
	}
	c.frame = c.frame[:n]
	_, err := io.ReadFull(c.in, c.frame)
	return c.frame, err
}

// handle answers a request.
func (c *conn) handle(frame []byte) error {
	raw, n := protowire.ConsumeBytes(frame)
	if n < 0 {
		return protowire.ParseError(n)
	}
	if err := c.parseHeader(raw); err != nil {
		return err
	}
	param, m := protowire.ConsumeBytes(frame[n:])
	if m < 0 {
		return protowire.ParseError(m)
	}
	cells := frame[n+m:]
	if len(cells) != c.header.cells {
		return errDrop
	}
	if null := &c.server.cluster.null; null.on && (c.header.method == "Get" || c.header.method == "Mutate") {
		body, cells := null.answer(c.header.method)
		c.answer(nil, body, cells)
		return nil
	}
	r, err := c.server.call(c.header.method, param, cells)
	if err != nil {
		return err
	}
	if r != nil {
		c.answer(r.exception, r.body, r.cells)
	}
	return nil
}

func (c *conn) parseHeader(b []byte) error {
	c.header = header{}
	for len(b) > 0 {
		num, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		switch {
		case num == 1 && kind == protowire.VarintType:
			c.header.id, n = protowire.ConsumeVarint(b)
		case num == 3 && kind == protowire.BytesType:
			var name []byte
			name, n = protowire.ConsumeBytes(b)
			c.header.method = c.name(name)
		case num == 5 && kind == protowire.BytesType:
			var meta []byte
			if meta, n = protowire.ConsumeBytes(b); len(meta) > 1 && meta[0] == 1<<3 {
				length, _ := protowire.ConsumeVarint(meta[1:])
				c.header.cells = int(length)
			}
		default:
			n = protowire.ConsumeFieldValue(num, kind, b)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
	}
	return nil
}

func (c *conn) name(b []byte) string {
	if s, ok := c.names[string(b)]; ok {
		return s
	}
	s := string(b)
	c.names[s] = s
	return s
}

// answer queues a response.
func (c *conn) answer(exception, body, cells []byte) {
	cluster := c.server.cluster
	at := time.Now().Add(cluster.o.Delay)
	if until := time.Unix(0, cluster.stalled.Load()); until.After(at) {
		at = until
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	start := len(c.out)
	b := append(c.out, 0, 0, 0, 0)
	var h [64]byte
	head := protowire.AppendVarint(protowire.AppendTag(h[:0], 1, protowire.VarintType), c.header.id)
	if exception != nil {
		head = protowire.AppendBytes(protowire.AppendTag(head, 2, protowire.BytesType), exception)
	}
	if len(cells) > 0 {
		var meta [16]byte
		m := protowire.AppendVarint(protowire.AppendTag(meta[:0], 1, protowire.VarintType), uint64(len(cells)))
		head = protowire.AppendBytes(protowire.AppendTag(head, 3, protowire.BytesType), m)
	}
	b = protowire.AppendBytes(b, head)
	if exception == nil {
		b = append(protowire.AppendBytes(b, body), cells...)
	}
	binary.BigEndian.PutUint32(b[start:], uint32(len(b)-start-4))
	c.out = b
	c.due = append(c.due, due{end: len(b), at: at})
	select {
	case c.ready <- struct{}{}:
	default:
	}
}

// send sends answers when they are due, those that are due together with one system call.
func (c *conn) send() {
	var out []byte
	var dues []due
	ctx := context.Background()
	for {
		select {
		case <-c.ready:
		case <-c.quit:
			return
		}
		c.mu.Lock()
		out, c.out = c.out, out[:0]
		dues, c.due = c.due, dues[:0]
		c.mu.Unlock()
		sent := 0
		for i, d := range dues {
			if wait := time.Until(d.at); wait > 0 {
				if c.write(out[sent:ends(dues[:i])]) != nil {
					return
				}
				sent = ends(dues[:i])
				_ = c.server.cluster.clock.Wait(ctx, wait)
			}
		}
		if c.write(out[sent:]) != nil {
			return
		}
	}
}

func ends(dues []due) int {
	if len(dues) == 0 {
		return 0
	}
	return dues[len(dues)-1].end
}

func (c *conn) write(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	_, err := c.net.Write(b)
	return err
}
