package namenode_test

import (
	"context"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/hadoop-bench/operator/runner/hadoop/namenode"
	"github.com/hadoop-bench/operator/runner/hadoop/rpc"
	"github.com/hadoop-bench/operator/runner/hadoop/rpctest"
	"github.com/hadoop-bench/operator/runner/hadoop/wire"
)

// nullServer answers every call at once, as if it succeeded.
func nullServer(tb testing.TB) *rpctest.Server {
	tb.Helper()
	status := &wire.HdfsFileStatusProto{}
	status.SetFileType(wire.HdfsFileStatusProto_IS_FILE)
	status.SetPath([]byte{})
	status.SetLength(0)
	status.SetOwner("alice")
	status.SetModificationTime(1700000000000)
	status.SetBlockReplication(3)
	status.SetBlocksize(134217728)
	status.SetFileId(16386)
	status.SetChildrenNum(0)
	info, locations, ok := &wire.GetFileInfoResponseProto{}, &wire.GetBlockLocationsResponseProto{}, &wire.DeleteResponseProto{}
	info.SetFs(status)
	located := &wire.LocatedBlocksProto{}
	located.SetFileLength(0)
	locations.SetLocations(located)
	ok.SetResult(true)
	answers := map[string][]byte{}
	for method, m := range map[string]proto.Message{
		"getHAServiceState": active(), "getFileInfo": info, "create": info, "getBlockLocations": locations, "delete": ok, "rename": ok,
		"mkdirs": ok, "complete": ok, "append": &wire.AppendResponseProto{},
	} {
		encoded, err := proto.Marshal(m)
		if err != nil {
			tb.Fatal(err)
		}
		answers[method] = encoded
	}
	return rpctest.Start(tb, rpctest.Options{Handler: func(method string, _ []byte) ([]byte, error) { return answers[method], nil }})
}

// timed are the calls that operations are measured by.
func timed() map[string]func(context.Context, *namenode.Worker) error {
	o := namenode.CreateOptions{Client: "create-client-0", Overwrite: true, Replication: 3, BlockSize: 134217728, Permission: 0o777}
	return map[string]func(context.Context, *namenode.Worker) error{
		"getFileInfo": func(ctx context.Context, w *namenode.Worker) error {
			_, _, err := w.GetFileInfo(ctx, "/b/f")
			return err
		},
		"getBlockLocations": func(ctx context.Context, w *namenode.Worker) error {
			_, err := w.GetBlockLocations(ctx, "/b/f", 0, 1)
			return err
		},
		"mkdirs": func(ctx context.Context, w *namenode.Worker) error {
			_, err := w.Mkdirs(ctx, "/b/d", 0o777, true)
			return err
		},
		"create": func(ctx context.Context, w *namenode.Worker) error { _, err := w.Create(ctx, "/b/f", o); return err },
		"complete": func(ctx context.Context, w *namenode.Worker) error {
			_, err := w.Complete(ctx, "/b/f", "c", nil, 0)
			return err
		},
		"delete": func(ctx context.Context, w *namenode.Worker) error {
			_, err := w.Delete(ctx, "/b/f", false)
			return err
		},
		"rename": func(ctx context.Context, w *namenode.Worker) error {
			_, err := w.Rename(ctx, "/b/f", "/b/g")
			return err
		},
		"append": func(ctx context.Context, w *namenode.Worker) error { return w.Append(ctx, "/b/f", "TestClient", false) },
	}
}

// discard is a Caller that answers nothing and succeeds, so that what is left is this package's own work and encoding.
type discard struct{ buffer []byte }

func (d *discard) Do(_ context.Context, call *rpc.Call) (err error) {
	if state, ok := call.Response.(*wire.HAServiceStateResponseProto); ok {
		state.SetState(wire.HAServiceStateProto_ACTIVE)
	}
	d.buffer, err = proto.MarshalOptions{}.MarshalAppend(d.buffer[:0], call.Request)
	return err
}
func (*discard) NewCallID() int32 { return 1 }
func (*discard) Close() error     { return nil }

// TestAllocations: what a call leaves behind before it is sent: the headers of the strings it sends, 16 bytes each.
func TestAllocations(t *testing.T) {
	client, err := namenode.Connect(t.Context(), namenode.Options{Addresses: []string{"a"}, Caller: &discard{}})
	if err != nil {
		t.Fatal(err)
	}
	w := client.Worker(0)
	strings := map[string]float64{"create": 2, "append": 2, "rename": 2, "complete": 2}
	for name, call := range timed() {
		t.Run(name, func(t *testing.T) {
			want := max(strings[name], 1)
			if got := testing.AllocsPerRun(100, func() { _ = call(t.Context(), w) }); got != want {
				t.Errorf("%v allocations, want %v", got, want)
			}
		})
	}
}

// BenchmarkCalls makes calls one after the other over one connection to a server in the same process, whose own work and
// allocations are counted too.
func BenchmarkCalls(b *testing.B) {
	server := nullServer(b)
	client, err := namenode.Connect(b.Context(), namenode.Options{Addresses: []string{server.Address()}, RPC: rpc.Options{User: "alice"}})
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	w := client.Worker(0)
	for name, call := range timed() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := call(b.Context(), w); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkAnswer decodes what getFileInfo answers and makes a status of it.
func BenchmarkAnswer(b *testing.B) {
	client, err := namenode.Connect(b.Context(), namenode.Options{Addresses: []string{"a"}, Caller: &canned{}})
	if err != nil {
		b.Fatal(err)
	}
	w := client.Worker(0)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok, err := w.GetFileInfo(b.Context(), "/b/f"); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}

// canned decodes the same file status each time.
type canned struct{ discard }

func (c *canned) Do(ctx context.Context, call *rpc.Call) error {
	if call.Method != "getFileInfo" {
		return c.discard.Do(ctx, call)
	}
	return proto.UnmarshalOptions{DiscardUnknown: true}.Unmarshal([]byte(
		"\x0a\x2f\x08\x02\x12\x00\x18\x00\x22\x03\x08\xa4\x03\x2a\x05alice\x32\x05users\x38\x80\xd0\x95\xff\xbc\x31\x40\x00\x50\x03\x58\x80\x80\x80\x40\x68\x82\x80\x01\x70\x00"), call.Response)
}
