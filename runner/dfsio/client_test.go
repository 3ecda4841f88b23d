package dfsio

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"net"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hadoop-bench/operator/runner/measure"
)

// nameNode answers Hadoop RPC as a test tells it to. It knows no file system: how a real one behaves is tested with a
// real one.
type nameNode struct {
	address string

	mu    sync.Mutex
	calls []string
}

// reply is the answer to one call: a message, or the class of an exception.
type reply struct {
	message   []byte
	exception string
}

// newNameNode starts a server that answers each call of a method with the next of its replies, the last one for ever.
// A method without replies gets no answer.
func newNameNode(t *testing.T, replies map[string][]reply) *nameNode {
	n := &nameNode{}
	n.address = listen(t, func(c net.Conn) { n.serve(c, replies) })
	return n
}

func (n *nameNode) serve(c net.Conn, replies map[string][]reply) {
	r := bufio.NewReader(c)
	if _, err := r.Discard(7); err != nil { // "hrpc", version, class, authentication
		return
	}
	for {
		request, err := readAnswer(r) // requests are packets like answers
		if err != nil {
			return
		}
		header, size := protowire.ConsumeBytes(request[4:])
		second, _ := protowire.ConsumeBytes(request[4+size:])
		method, _ := field(second, 1)
		if method == "" || callID(header) < 0 {
			continue // the connection's context
		}
		n.mu.Lock()
		list := replies[method]
		if len(list) > 1 {
			replies[method] = list[1:]
		}
		if method != "renewLease" {
			n.calls = append(n.calls, method)
		}
		n.mu.Unlock()
		if len(list) == 0 {
			continue
		}
		if _, err := c.Write(encode(callID(header), list[0])); err != nil {
			return
		}
	}
}

func (n *nameNode) called() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.calls)
}

// callID is field 3 of a request's header.
func callID(header []byte) int64 {
	for len(header) > 0 {
		number, kind, n := protowire.ConsumeTag(header)
		header = header[n:]
		if number == 3 {
			v, _ := protowire.ConsumeVarint(header)
			return protowire.DecodeZigZag(v)
		}
		header = header[protowire.ConsumeFieldValue(number, kind, header):]
	}
	return -1
}

func varint(b []byte, number protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), v)
}

func text(b []byte, number protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), v)
}

func encode(id int64, r reply) []byte {
	header := varint(nil, 1, uint64(id))
	if r.exception == "" {
		return packet(varint(header, 2, 0), r.message)
	}
	header = varint(header, 2, 1)
	header = text(header, 4, []byte(r.exception))
	return packet(text(header, 5, []byte(r.exception+": because\n\tat x")))
}

// status is a HdfsFileStatusProto of a file.
func status(name string, size uint64) []byte {
	b := varint(nil, 1, 2)
	b = text(b, 2, []byte(name))
	b = varint(b, 3, size)
	b = text(b, 4, varint(nil, 1, 0o644))
	b = text(b, 5, []byte("owner"))
	b = text(b, 6, []byte("group"))
	return varint(varint(b, 7, 1796119200123), 8, 0)
}

func found(name string, size uint64) reply { return reply{message: text(nil, 1, status(name, size))} }

func yes() reply { return reply{message: varint(nil, 1, 1)} }
func no() reply  { return reply{message: varint(nil, 1, 0)} }

func connection(address string) Connection {
	return Connection{
		Addresses: []string{address}, User: "tester", DialTimeout: 10 * time.Second, IdleTimeout: time.Minute, Clock: measure.System(),
	}
}

func connectTo(t *testing.T, ctx context.Context, address string) FS {
	t.Helper()
	f, err := Connect(ctx, connection(address))
	if err != nil {
		t.Fatalf("Connect: %v", err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return f
}

func TestClientStat(t *testing.T) {
	n := newNameNode(t, map[string][]reply{"getFileInfo": {
		found("x", 7), {}, {exception: "org.apache.hadoop.security.AccessControlException"}, {exception: "java.io.IOException"},
	}})
	f := connectTo(t, t.Context(), n.address)
	info, err := f.Stat("/d/x")
	if err != nil || info.Name != "x" || info.Size != 7 || info.Dir || info.Encrypted || info.ErasureCoded || info.ModTime.UnixMilli() != 1796119200123 {
		t.Errorf("Stat = %+v, %v", info, err)
	}
	if _, err := f.Stat("/d/x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stat of nothing: %v, want ErrNotExist", err)
	}
	if _, err := f.Stat("/d/x"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("Stat without the right: %v, want ErrPermission", err)
	}
	_, err = f.Stat("/d/x")
	if Class(err) != "IOException" || Text(err) != "getFileInfo: java.io.IOException: because" {
		t.Errorf("Stat with an exception: class %s, text %s", Class(err), Text(err))
	}
	if f.NameNode() != n.address {
		t.Errorf("NameNode = %s, want %s", f.NameNode(), n.address)
	}
	if received, sent := f.Traffic(); received == 0 || sent == 0 {
		t.Errorf("Traffic = %d, %d", received, sent)
	}
}

// TestClientCloseWaits: Close of a file returns when the NameNode says that it is complete.
func TestClientCloseWaits(t *testing.T) {
	n := newNameNode(t, map[string][]reply{"create": {found("x", 0)}, "complete": {no(), no(), no(), yes()}})
	f := connectTo(t, t.Context(), n.address)
	w, err := f.Create("/d/x", 1, 1<<20)
	if err != nil {
		t.Fatalf("Create: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if got := n.called(); !slices.Equal(got, []string{"create", "complete", "complete", "complete", "complete"}) {
		t.Errorf("calls %v", got)
	}
}

// hastyClock makes a minute of each moment of waiting.
type hastyClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *hastyClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *hastyClock) Wait(ctx context.Context, _ time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Minute)
	return context.Cause(ctx)
}

func TestClientCloseGivesUp(t *testing.T) {
	n := newNameNode(t, map[string][]reply{"create": {found("x", 0)}, "complete": {no()}})
	c := connection(n.address)
	c.Clock = &hastyClock{}
	f, err := Connect(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := f.Create("/d/x", 1, 1<<20)
	if err != nil {
		t.Fatalf("Create: %v", err)
	}
	if err := w.Close(); err == nil || Class(err) != "NotReplicatedYetException" {
		t.Errorf("Close: %v, want to give up", err)
	}
}

func TestClientCloseStops(t *testing.T) {
	n := newNameNode(t, map[string][]reply{"create": {found("x", 0)}, "complete": {no()}})
	ctx, cancel := context.WithCancelCause(t.Context())
	f := connectTo(t, ctx, n.address)
	w, err := f.Create("/d/x", 1, 1<<20)
	if err != nil {
		t.Fatalf("Create: %v", err)
	}
	cause := errors.New("stopped")
	cancel(cause)
	if err := w.Close(); !errors.Is(err, cause) {
		t.Errorf("Close: %v, want the cause", err)
	}
}

// TestClientAsksAgainForABlock: a NameNode that wants the last block but one reported first is asked again, and the
// library sees only the answer that counts.
func TestClientAsksAgainForABlock(t *testing.T) {
	wait := reply{exception: "org.apache.hadoop.hdfs.server.namenode.NotReplicatedYetException"}
	n := newNameNode(t, map[string][]reply{"create": {found("x", 0)}, "addBlock": {wait, wait, {exception: "java.io.IOException"}}})
	f := connectTo(t, t.Context(), n.address)
	w, err := f.Create("/d/x", 1, 1<<20)
	if err != nil {
		t.Fatalf("Create: %v", err)
	}
	if _, err := w.Write([]byte("data")); Class(err) != "IOException" {
		t.Errorf("Write: %v, want the third answer", err)
	}
	if got := n.called(); !slices.Equal(got, []string{"create", "addBlock", "addBlock", "addBlock"}) {
		t.Errorf("calls %v", got)
	}
}

// TestClientStops: a call that gets no answer ends with the context, and says why.
func TestClientStops(t *testing.T) {
	n := newNameNode(t, map[string][]reply{})
	ctx, cancel := context.WithCancelCause(t.Context())
	f := connectTo(t, ctx, n.address)
	cause := errors.New("stopped")
	ended := make(chan error, 1)
	go func() {
		_, err := f.Stat("/")
		ended <- err
	}()
	cancel(cause)
	if err := <-ended; !errors.Is(err, cause) {
		t.Errorf("Stat: %v, want the cause", err)
	}
	if err := f.Mkdir("/x"); !errors.Is(err, cause) {
		t.Errorf("Mkdir afterwards: %v, want the cause", err)
	}
}

// TestClientGrace: within the grace after the context's end, calls still work.
func TestClientGrace(t *testing.T) {
	n := newNameNode(t, map[string][]reply{"getFileInfo": {found("x", 7)}})
	ctx, cancel := context.WithCancel(t.Context())
	c := connection(n.address)
	c.Grace = time.Hour
	f, err := Connect(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := f.Stat("/x"); err != nil {
		t.Errorf("Stat: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if _, err := f.Stat("/x"); err == nil {
		t.Error("Stat after Close: no error")
	}
}

func TestClientConnectErrors(t *testing.T) {
	if _, err := Connect(t.Context(), connection("127.0.0.1:1")); Class(err) != "ConnectionRefused" {
		t.Errorf("Connect to nothing: %v, class %s", err, Class(err))
	}
	c := connection("127.0.0.1:1")
	c.User = ""
	if _, err := Connect(t.Context(), c); err == nil {
		t.Error("Connect without a user: no error")
	}
	address := listen(t, func(c net.Conn) {
		_, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n")
		_, _ = io.Copy(io.Discard, c)
	})
	f := connectTo(t, t.Context(), address)
	if _, err := f.Stat("/"); err == nil {
		t.Error("Stat of a web server: no error")
	}
}

// TestClientFailover: of two NameNodes the active one is found.
func TestClientFailover(t *testing.T) {
	standby := newNameNode(t, map[string][]reply{"getFileInfo": {{exception: "org.apache.hadoop.ipc.StandbyException"}}})
	active := newNameNode(t, map[string][]reply{"getFileInfo": {found("x", 7)}})
	c := connection(standby.address)
	c.Addresses = append(c.Addresses, active.address)
	f, err := Connect(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if info, err := f.Stat("/x"); err != nil || info.Size != 7 {
		t.Errorf("Stat = %+v, %v", info, err)
	}
	if f.NameNode() != active.address {
		t.Errorf("NameNode = %s, want %s", f.NameNode(), active.address)
	}
	alone := connectTo(t, t.Context(), standby.address)
	if _, err := alone.Stat("/x"); Class(err) != "StandbyException" {
		t.Errorf("Stat with nobody active: %v, class %s", err, Class(err))
	}
}

func TestClientCalls(t *testing.T) {
	dir := varint(nil, 1, 1)
	dir = append(dir, status("d", 0)[2:]...)
	listing := text(nil, 1, varint(text(text(nil, 1, status("a", 3)), 1, status("b", 4)), 2, 0))
	defaults := varint(varint(varint(varint(varint(nil, 1, 1<<20), 2, 512), 3, 65536), 4, 2), 5, 4096)
	fsStats := stats(1000, 100, 900)
	n := newNameNode(t, map[string][]reply{
		"getFileInfo":       {{message: text(nil, 1, dir)}},
		"getListing":        {{message: listing}},
		"getServerDefaults": {{message: text(nil, 1, defaults)}},
		"getFsStats":        {{message: fsStats}},
		"delete":            {{exception: "org.apache.hadoop.fs.PathIsNotEmptyDirectoryException"}, yes()},
		"create":            {{exception: "org.apache.hadoop.fs.FileAlreadyExistsException"}},
	})
	f := connectTo(t, t.Context(), n.address)
	if info, err := f.Stat("/d"); err != nil || !info.Dir {
		t.Errorf("Stat = %+v, %v, want a directory", info, err)
	}
	if list, err := f.List("/d"); err != nil || len(list) != 2 || list[0].Name != "a" || list[1].Size != 4 {
		t.Errorf("List = %+v, %v", list, err)
	}
	if d, err := f.Defaults(); err != nil || d != (Defaults{BlockSize: 1 << 20, Replication: 2, BytesPerChecksum: 512}) {
		t.Errorf("Defaults = %+v, %v", d, err)
	}
	if s, err := f.Space(); err != nil || s != (Space{Capacity: 1000, Remaining: 900}) {
		t.Errorf("Space = %+v, %v", s, err)
	}
	if err := f.Remove("/d"); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("Remove of a full directory: %v, want ErrNotEmpty", err)
	}
	if err := f.Remove("/d"); err != nil {
		t.Errorf("Remove: %v", err)
	}
	if err := f.Mkdir("/d"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Mkdir of what is there: %v, want ErrExist", err)
	}
	if _, err := f.Open("/d"); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("Open of a directory: %v, want EISDIR", err)
	}
	if _, err := f.Create("/d/x", 1, 1); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Create of what is there: %v, want ErrExist", err)
	}
}

// stats is a GetFsStatsResponseProto, whose first six fields must be there.
func stats(capacity, used, remaining uint64) []byte {
	b := varint(varint(varint(nil, 1, capacity), 2, used), 3, remaining)
	return varint(varint(varint(b, 4, 0), 5, 0), 6, 0)
}

func TestCallID(t *testing.T) {
	header := protowire.AppendVarint(protowire.AppendTag(varint(nil, 1, 2), 3, protowire.VarintType), protowire.EncodeZigZag(-3))
	if got := callID(header); got != -3 {
		t.Errorf("callID = %d, want -3", got)
	}
	if got := binary.BigEndian.Uint32(packet([]byte("x"))); got != 2 {
		t.Errorf("packet of %d bytes, want 2", got)
	}
}
