package admin_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/hbase/admin"
	"github.com/hadoop-bench/operator/runner/hbase/rpc"
	"github.com/hadoop-bench/operator/runner/hbase/wire"
)

// sent keeps the request of one method.
type sent struct {
	*fakeCluster
	method string
	param  []byte
}

func (s *sent) Do(ctx context.Context, call *rpc.Call) error {
	if call.Method == s.method {
		s.param = append([]byte(nil), call.Param...)
	}
	return s.fakeCluster.Do(ctx, call)
}

func pair(name, value string) *wire.BytesBytesPair {
	return wire.BytesBytesPair_builder{First: []byte(name), Second: []byte(value)}.Build()
}

// described is a table with a field that is not known here.
func described(pairs ...*wire.BytesBytesPair) *wire.TableSchema {
	name := wire.TableName_builder{Namespace: []byte("default"), Qualifier: []byte("t")}.Build()
	s := wire.TableSchema_builder{TableName: name, Attributes: pairs}.Build()
	s.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 99, protowire.VarintType), 7))
	return s
}

// TestSetValues: the descriptor goes back with some attributes changed, and its regions are to stay open.
func TestSetValues(t *testing.T) {
	f := newFake(t, region("a", "a:1", "", ""))
	f.on("GetTableDescriptors", wire.GetTableDescriptorsResponse_builder{TableSchema: []*wire.TableSchema{
		described(pair("OWNER", "bob"), pair("state", "old")),
	}}.Build())
	f.on("ModifyTable", wire.EnableTableResponse_builder{ProcId: proto.Uint64(5)}.Build())
	f.on("getProcedureResult", wire.GetProcedureResultResponse_builder{State: wire.GetProcedureResultResponse_FINISHED.Enum()}.Build())
	s := &sent{fakeCluster: f, method: "ModifyTable"}
	a := admin.New(s, admin.Options{Clock: &fakeClock{}, Nonce: func() uint64 { return 3 }})
	if err := a.SetValues(t.Context(), "t", map[string]string{"state": "new", "more": "x"}); err != nil {
		t.Fatal(err)
	}
	fields := map[protowire.Number]any{}
	for rest := s.param; len(rest) > 0; {
		number, kind, n := protowire.ConsumeTag(rest)
		rest = rest[n:]
		if kind == protowire.VarintType {
			v, n := protowire.ConsumeVarint(rest)
			fields[number], rest = v, rest[n:]
			continue
		}
		text, n := protowire.ConsumeBytes(rest)
		fields[number], rest = string(text), rest[n:]
	}
	name, _ := proto.Marshal(described().GetTableName())
	schema, _ := proto.Marshal(described(pair("OWNER", "bob"), pair("more", "x"), pair("state", "new")))
	want := map[protowire.Number]any{1: string(name), 2: string(schema), 3: uint64(3), 4: uint64(3), 5: uint64(0)}
	if diff := cmp.Diff(want, fields); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	if f.count("getProcedureResult") != 1 || f.count("GetRegionInfo") != 1 {
		t.Errorf("calls %v", f.calls)
	}
	f.on("GetTableDescriptors", &wire.GetTableDescriptorsResponse{})
	if err := a.SetValues(t.Context(), "t", nil); !errors.Is(err, hbase.ErrTableNotFound) {
		t.Errorf("without the table: %v", err)
	}
}

func TestNamespaceExists(t *testing.T) {
	f := newFake(t)
	a, _ := newAdmin(f)
	f.on("GetNamespaceDescriptor", &wire.EnableTableResponse{})
	if found, err := a.NamespaceExists(t.Context(), "n"); err != nil || !found {
		t.Errorf("found %v, error %v", found, err)
	}
	f.on("GetNamespaceDescriptor", exception("NamespaceNotFoundException"))
	if found, err := a.NamespaceExists(t.Context(), "n"); err != nil || found {
		t.Errorf("one that is not there: found %v, error %v", found, err)
	}
	f.on("GetNamespaceDescriptor", exception("security.AccessDeniedException"))
	if _, err := a.NamespaceExists(t.Context(), "n"); !rpc.Is(err, "AccessDeniedException") {
		t.Errorf("not to be seen: error %v", err)
	}
}
