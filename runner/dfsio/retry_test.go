package dfsio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
)

// packet puts a length in front of messages that have theirs.
func packet(messages ...[]byte) []byte {
	var body []byte
	for _, m := range messages {
		body = protowire.AppendBytes(body, m)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

// textField is a message's field with a text, after a number in field 2.
func textField(number protowire.Number, text string) []byte {
	b := protowire.AppendVarint(protowire.AppendTag(nil, 2, protowire.VarintType), 7)
	return protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), text)
}

func call(method string) []byte {
	return packet(textField(9, "client"), textField(1, method), []byte("argument"))
}

func answer(exception string) []byte { return packet(textField(4, exception)) }

var good = packet(textField(8, "x"), []byte("a block"))

// scriptConn answers each request it gets with the next packet.
type scriptConn struct {
	net.Conn
	answers  [][]byte
	unread   bytes.Buffer
	requests [][]byte
	failAt   int // the request whose writing fails, from 1
}

func (c *scriptConn) Write(b []byte) (int, error) {
	c.requests = append(c.requests, bytes.Clone(b))
	if len(c.requests) == c.failAt {
		return 0, net.ErrClosed
	}
	if len(c.answers) > 0 {
		c.unread.Write(c.answers[0])
		c.answers = c.answers[1:]
	}
	return len(b), nil
}

func (c *scriptConn) Read(b []byte) (int, error) { return c.unread.Read(b) }

func TestRetryConn(t *testing.T) {
	wait := answer("org.apache.hadoop.hdfs.server.namenode.NotReplicatedYetException")
	other := answer("java.io.IOException")
	add, create, complete := call("addBlock"), call("create"), call("complete")
	no, yes := packet(textField(8, "x"), varint(nil, 1, 0)), packet(textField(8, "x"), varint(nil, 1, 1))
	ms := func(n ...int) (d []time.Duration) {
		for _, n := range n {
			d = append(d, time.Duration(n)*time.Millisecond)
		}
		return d
	}
	tests := map[string]struct {
		request  []byte
		answers  [][]byte
		want     []byte
		requests int
		waits    []time.Duration
	}{
		"a good answer":              {add, [][]byte{good}, good, 1, nil},
		"wait, wait, a good answer":  {add, [][]byte{wait, wait, good}, good, 3, ms(2, 4)},
		"wait, another exception":    {add, [][]byte{wait, other}, other, 2, ms(2)},
		"another exception":          {add, [][]byte{other, good}, other, 1, nil},
		"another call":               {create, [][]byte{wait, good}, wait, 1, nil},
		"pauses grow to a bound":     {add, [][]byte{wait, wait, wait, wait, wait, wait, wait, wait, wait, wait, good}, good, 11, ms(2, 4, 8, 16, 32, 64, 128, 256, 400, 400)},
		"complete":                   {complete, [][]byte{yes}, yes, 1, nil},
		"not complete, complete":     {complete, [][]byte{no, no, yes}, yes, 3, ms(2, 4)},
		"complete, an exception":     {complete, [][]byte{no, other}, other, 2, ms(2)},
		"complete, a cut answer":     {complete, [][]byte{packet(textField(8, "x"))}, packet(textField(8, "x")), 1, nil},
		"false of another call":      {create, [][]byte{no, yes}, no, 1, nil},
		"an answer that is no proto": {add, [][]byte{packet([]byte{0xff})}, packet([]byte{0xff}), 1, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var waits []time.Duration
			now := time.Unix(0, 0)
			script := &scriptConn{answers: tt.answers}
			c := &retryConn{
				Conn: script, now: func() time.Time { return now },
				wait: func(d time.Duration) error { waits = append(waits, d); now = now.Add(d); return nil },
			}
			if _, err := c.Write(tt.request); err != nil {
				t.Fatal(err)
			}
			got := make([]byte, len(tt.want))
			if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, tt.want) {
				t.Errorf("read %q, %v, want %q", got, err, tt.want)
			}
			if diff := cmp.Diff(tt.waits, waits); diff != "" {
				t.Errorf("waits (-want +got):\n%s", diff)
			}
			if len(script.requests) != tt.requests {
				t.Errorf("%d requests, want %d", len(script.requests), tt.requests)
			}
			for _, r := range script.requests {
				if !bytes.Equal(r, tt.request) {
					t.Errorf("request %q differs from %q", r, tt.request)
				}
			}
		})
	}
}

// TestRetryConnGivesUp hands the exception over once a minute has passed.
func TestRetryConnGivesUp(t *testing.T) {
	wait := answer("x.NotReplicatedYetException")
	script := &scriptConn{}
	for range 1000 {
		script.answers = append(script.answers, wait)
	}
	now := time.Unix(0, 0)
	c := &retryConn{Conn: script, now: func() time.Time { return now }, wait: func(d time.Duration) error { now = now.Add(d); return nil }}
	if _, err := c.Write(call("addBlock")); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(wait))
	if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, wait) {
		t.Errorf("read %q, %v, want the exception", got, err)
	}
	if passed := now.Sub(time.Unix(0, 0)); passed <= retryTimeout || passed > retryTimeout+time.Second {
		t.Errorf("gave up after %s", passed)
	}
}

func TestRetryConnErrors(t *testing.T) {
	wait := answer("x.NotReplicatedYetException")
	stopped := errors.New("stopped")
	tests := map[string]struct {
		script *scriptConn
		wait   error
		want   error
		text   string
	}{
		"closed":            {&scriptConn{}, nil, io.EOF, ""},
		"cut":               {&scriptConn{answers: [][]byte{good[:7]}}, nil, io.ErrUnexpectedEOF, ""},
		"cut after length":  {&scriptConn{answers: [][]byte{good[:4]}}, nil, io.ErrUnexpectedEOF, ""},
		"cut in the length": {&scriptConn{answers: [][]byte{good[:2]}}, nil, io.ErrUnexpectedEOF, ""},
		"a web server":      {&scriptConn{answers: [][]byte{[]byte("HTTP/1.1 400 Bad Request")}}, nil, nil, `an answer that begins with "HTTP" is not a NameNode's`},
		"stopped":           {&scriptConn{answers: [][]byte{wait, good}}, stopped, stopped, ""},
		"lost in between":   {&scriptConn{answers: [][]byte{wait, good}, failAt: 2}, nil, net.ErrClosed, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := &retryConn{Conn: tt.script, now: time.Now, wait: func(time.Duration) error { return tt.wait }}
			if _, err := c.Write(call("addBlock")); err != nil {
				t.Fatal(err)
			}
			_, err := c.Read(make([]byte, 1))
			if tt.want != nil && !errors.Is(err, tt.want) || err == nil || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("Read: %v, want %v %s", err, tt.want, tt.text)
			}
		})
	}
}

// FuzzRPC feeds arbitrary bytes to what looks into requests and answers.
func FuzzRPC(f *testing.F) {
	f.Add(call("addBlock"))
	f.Add(answer("x.NotReplicatedYetException"))
	f.Add(good)
	f.Add([]byte("HTTP/1.1 400"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_ = notYet(data, data)
		_ = notYet(call("addBlock"), data)
		_ = notYet(call("complete"), data)
		packet, err := readAnswer(io.LimitReader(bytes.NewReader(data), 1<<20))
		if err == nil && !bytes.HasPrefix(data, packet) {
			t.Errorf("answer %q is not what came", packet)
		}
	})
}
