package rpc_test

// A server whose answers each test writes itself. It reads and writes messages by their generated code, not by this
// package's.

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"

	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/proto"

	"github.com/hadoop-bench/operator/runner/hadoop/rpctest"
	"github.com/hadoop-bench/operator/runner/hadoop/sasl"
	"github.com/hadoop-bench/operator/runner/hbase/wire"
)

// A peer is the server's side of a connection.
type peer struct {
	number   int // of the connection, from 0
	net      net.Conn
	in       *bufio.Reader
	header   *wire.ConnectionHeader
	sealed   *rpctest.Acceptance // nil: frames are not sealed
	unsealed bytes.Buffer
}

// A request is a call as it came.
type request struct {
	header *wire.RequestHeader
	param  string
	cells  string
}

// serve starts a server that is closed when the test ends. It hands each connection to handle once its header was read,
// and closes it when handle returns. authenticate is the server's part of the SASL conversation; nil without one.
func serve(t testing.TB, authenticate func(*peer) error, handle func(*peer)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for _, nc := range open {
			_ = nc.Close()
		}
		mu.Unlock()
		wait.Wait()
	})
	wait.Go(func() {
		for number := 0; ; number++ {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, nc)
			mu.Unlock()
			wait.Go(func() {
				defer func() { _ = nc.Close() }()
				p := &peer{number: number, net: nc, in: bufio.NewReader(nc)}
				if p.greet(authenticate) == nil {
					handle(p)
				}
			})
		}
	})
	return l.Addr().String()
}

// greet reads what a connection begins with.
func (p *peer) greet(authenticate func(*peer) error) error {
	b := make([]byte, 6)
	if _, err := io.ReadFull(p.in, b); err != nil {
		return err
	}
	if authenticate != nil {
		if err := authenticate(p); err != nil {
			return err
		}
	}
	header, err := p.frame()
	if err != nil {
		return err
	}
	p.header = new(wire.ConnectionHeader)
	return proto.Unmarshal(header, p.header)
}

// accepting leads the SASL conversation as the acceptor says.
func accepting(a *rpctest.Acceptor) func(*peer) error {
	return func(p *peer) error { return p.converse(a.Accept()) }
}

func (p *peer) converse(a *rpctest.Acceptance) error {
	for {
		token, err := p.block()
		if err != nil {
			return err
		}
		reply, done, err := a.Step(token)
		if err != nil {
			p.refuse("javax.security.sasl.SaslException", err.Error())
			return err
		}
		if done {
			break
		}
		p.write(append(make([]byte, 4), counted(reply)...))
	}
	if a.Chosen() != sasl.Authentication {
		p.sealed = a
	}
	return nil
}

// refuse ends a SASL conversation with an exception.
func (p *peer) refuse(class, message string) {
	p.write(bytes.Join([][]byte{{0, 0, 0, 1}, counted([]byte(class)), counted([]byte(message))}, nil))
}

// counted is b behind its length.
func counted(b []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
}

// block reads bytes behind their length.
func (p *peer) block() ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(p.in, size[:]); err != nil {
		return nil, err
	}
	b := make([]byte, binary.BigEndian.Uint32(size[:]))
	_, err := io.ReadFull(p.in, b)
	return b, err
}

// frame reads a frame, out of sealed tokens if that was agreed on.
func (p *peer) frame() ([]byte, error) {
	if p.sealed == nil {
		return p.block()
	}
	for {
		b := p.unsealed.Bytes()
		if len(b) >= 4 && len(b) >= 4+int(binary.BigEndian.Uint32(b)) {
			return bytes.Clone(p.unsealed.Next(4 + int(binary.BigEndian.Uint32(b)))[4:]), nil
		}
		token, err := p.block()
		if err != nil {
			return nil, err
		}
		plain, err := p.sealed.Unwrap(token)
		if err != nil {
			return nil, err
		}
		p.unsealed.Write(plain)
	}
}

// write sends bytes as they are. The client may be gone, which the next read tells.
func (p *peer) write(b []byte) { _, _ = p.net.Write(b) }

// next reads a call; false means that the client ended the connection.
func (p *peer) next() (request, bool) {
	frame, err := p.frame()
	if err != nil {
		return request{}, false
	}
	r := request{header: new(wire.RequestHeader)}
	from := bytes.NewReader(frame)
	if err := protodelim.UnmarshalFrom(from, r.header); err != nil {
		return r, false
	}
	size, err := binary.ReadUvarint(from)
	if err != nil {
		return r, false
	}
	param := make([]byte, size)
	if _, err := io.ReadFull(from, param); err != nil {
		return r, false
	}
	cells, err := io.ReadAll(from)
	r.param, r.cells = string(param), string(cells)
	return r, err == nil
}

// answer sends a response.
func (p *peer) answer(r request, body, cells string) {
	h := &wire.ResponseHeader{}
	h.SetCallId(r.header.GetCallId())
	if cells != "" {
		h.SetCellBlockMeta(wire.CellBlockMeta_builder{Length: proto.Uint32(uint32(len(cells)))}.Build())
	}
	message := append(binary.AppendUvarint(nil, uint64(len(body))), body...)
	p.send(h, append(message, cells...))
}

// fail sends an exception.
func (p *peer) fail(id uint32, e *wire.ExceptionResponse) {
	p.send(wire.ResponseHeader_builder{CallId: proto.Uint32(id), Exception: e}.Build(), nil)
}

func (p *peer) send(h *wire.ResponseHeader, rest []byte) {
	var b bytes.Buffer
	if _, err := protodelim.MarshalTo(&b, h); err != nil {
		return
	}
	frame := counted(append(b.Bytes(), rest...))
	if p.sealed != nil {
		token, err := p.sealed.Wrap(frame)
		if err != nil {
			return
		}
		frame = counted(token)
	}
	p.write(frame)
}

// exception is what servers answer with.
func exception(class, trace string) *wire.ExceptionResponse {
	return wire.ExceptionResponse_builder{ExceptionClassName: proto.String(class), StackTrace: proto.String(trace)}.Build()
}

// echo answers each call with its parameter and its cells, and the methods that say so with something else.
func echo(p *peer) {
	for {
		r, ok := p.next()
		if !ok {
			return
		}
		switch r.header.GetMethodName() {
		case "Hold":
		case "Fail":
			p.fail(r.header.GetCallId(), exception("org.apache.hadoop.hbase.NotServingRegionException",
				"org.apache.hadoop.hbase.NotServingRegionException: it is not here\n\tat somewhere"))
		case "Drop":
			return
		case "Who":
			p.answer(r, fmt.Sprintf("%s on connection %d for %s", p.header.GetUserInfo().GetEffectiveUser(), p.number, p.header.GetServiceName()), "")
		default:
			p.answer(r, r.param, r.cells)
		}
	}
}

// readAll reads what the client sends until it closes the connection.
func (p *peer) readAll() {
	for {
		if _, ok := p.next(); !ok {
			return
		}
	}
}

var errTest = errors.New("the test's own error")
