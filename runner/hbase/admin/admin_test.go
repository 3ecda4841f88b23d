package admin_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/hbase/admin"
	"github.com/hadoop-bench/operator/runner/hbase/rpc"
	"github.com/hadoop-bench/operator/runner/hbase/wire"
)

func procedure(state wire.GetProcedureResultResponse_State) *wire.GetProcedureResultResponse {
	return wire.GetProcedureResultResponse_builder{State: &state}.Build()
}

func failedProcedure(class, message string) *wire.GetProcedureResultResponse {
	return wire.GetProcedureResultResponse_builder{
		State: wire.GetProcedureResultResponse_FINISHED.Enum(),
		Exception: wire.ForeignExceptionMessage_builder{
			GenericException: wire.GenericExceptionMessage_builder{ClassName: &class, Message: &message}.Build(),
		}.Build(),
	}.Build()
}

const running, finished = wire.GetProcedureResultResponse_RUNNING, wire.GetProcedureResultResponse_FINISHED

var twoRegions = []hbase.LocatedRegion{region("a", "a:1", "", "m"), region("b", "b:1", "m", "")}

func TestCreateTableWaits(t *testing.T) {
	f := newFake(t)
	// The master is taking over, then answers; its answer is lost once, and the request comes again.
	f.on("CreateTable", exception("PleaseHoldException"), errLost, wire.CreateTableResponse_builder{ProcId: proto.Uint64(5)}.Build())
	f.on("getProcedureResult", procedure(running), procedure(running), procedure(finished))
	f.on("GetRegionInfo "+encodedFrom("b"), exception("NotServingRegionException"), info(wire.GetRegionInfoResponse_NONE))
	looks := 0
	f.changed = func(call string) {
		if strings.HasPrefix(call, "getProcedureResult") {
			looks++
			f.regions = twoRegions[:min(1, looks-1)] // hbase:meta fills up
		}
		if strings.HasPrefix(call, "getProcedureResult") && looks == 3 {
			offline := twoRegions[1]
			offline.Server = ""
			f.regions = []hbase.LocatedRegion{twoRegions[0], offline}
		}
		if strings.HasPrefix(call, "GetRegionInfo a:1") {
			f.regions = twoRegions
		}
	}
	a, _ := newAdmin(f)
	err := a.CreateTable(t.Context(), admin.Table{Name: "t", Families: []admin.Family{{Name: "f"}}, SplitKeys: [][]byte{[]byte("m")}})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"CreateTable m:1", "CreateTable m:1", "CreateTable m:1",
		"getProcedureResult m:1", "getProcedureResult m:1", "getProcedureResult m:1",
	}
	if diff := cmp.Diff(want, f.calls[:len(want)]); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if got := f.count("GetRegionInfo b:1"); got != 2 {
		t.Errorf("the second region was asked %d times, want 2", got)
	}
}

func TestErrors(t *testing.T) {
	table := admin.Table{Name: "t", Families: []admin.Family{{Name: "f"}}}
	create := func(ctx context.Context, a *admin.Admin) error { return a.CreateTable(ctx, table) }
	tests := []struct {
		name       string
		set        func(f *fakeCluster)
		act        func(ctx context.Context, a *admin.Admin) error
		want       string
		wantRemedy string
		is         error
	}{
		{
			name: "the table exists", act: create,
			set:        func(f *fakeCluster) { f.on("CreateTable", exception("TableExistsException")) },
			want:       "create table t: the table exists: TableExistsException: the server says so",
			wantRemedy: "choose another table name, or drop the table first", is: admin.ErrTableExists,
		},
		{
			name: "the table exists, as the procedure finds", act: create,
			set: func(f *fakeCluster) {
				f.on("CreateTable", wire.CreateTableResponse_builder{ProcId: proto.Uint64(5)}.Build())
				f.on("getProcedureResult", procedure(running), failedProcedure("org.apache.hadoop.hbase.TableExistsException", "t"))
			},
			want:       "create table t: the table exists: TableExistsException: t",
			wantRemedy: "choose another table name, or drop the table first", is: admin.ErrTableExists,
		},
		{
			name: "no namespace", act: create,
			set:        func(f *fakeCluster) { f.on("CreateTable", exception("NamespaceNotFoundException")) },
			want:       "create table t: NamespaceNotFoundException: the server says so",
			wantRemedy: "create the namespace, such as with create_namespace in the HBase shell, or correct its name",
		},
		{
			name:       "delete what is not there",
			act:        func(ctx context.Context, a *admin.Admin) error { return a.Delete(ctx, "t") },
			set:        func(f *fakeCluster) { f.on("DisableTable", exception("TableNotFoundException")) },
			want:       "delete table t: " + hbase.ErrTableNotFound.Error() + ": TableNotFoundException: the server says so",
			wantRemedy: "create the table, or correct its name", is: hbase.ErrTableNotFound,
		},
		{
			name:       "flush what is not there",
			act:        func(ctx context.Context, a *admin.Admin) error { return a.Flush(ctx, "t") },
			want:       "flush table t: " + hbase.ErrTableNotFound.Error(),
			wantRemedy: "create the table, or correct its name", is: hbase.ErrTableNotFound,
		},
		{
			name: "describe what is not there",
			act: func(ctx context.Context, a *admin.Admin) error {
				_, err := a.Descriptor(ctx, "t")
				return err
			},
			set:        func(f *fakeCluster) { f.on("GetTableDescriptors", &wire.GetTableDescriptorsResponse{}) },
			want:       "describe table t: " + hbase.ErrTableNotFound.Error(),
			wantRemedy: "create the table, or correct its name", is: hbase.ErrTableNotFound,
		},
		{
			name: "not allowed",
			act:  func(ctx context.Context, a *admin.Admin) error { return a.MajorCompact(ctx, "t") },
			set: func(f *fakeCluster) {
				f.regions = twoRegions
				f.on("CompactRegion", exception("security.AccessDeniedException"))
			},
			want:       "compact table t: region aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: AccessDeniedException: the server says so",
			wantRemedy: "grant the user the right to create and administer the table",
		},
		{
			name: "a table without a family", act: func(ctx context.Context, a *admin.Admin) error {
				return a.CreateTable(ctx, admin.Table{Name: "t"})
			},
			want: "create table t: a table needs a column family",
		},
		{
			name: "a key outside of the region",
			act: func(ctx context.Context, a *admin.Admin) error {
				return a.Split(ctx, twoRegions[0], []byte("m"))
			},
			want: `split region aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa at "m": the key is not inside the region, which begins with "" and ends before "m"`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := newFake(t)
			if test.set != nil {
				test.set(f)
			}
			if strings.HasPrefix(test.name, "not allowed") {
				f.regions = f.regions[:1]
			}
			a, _ := newAdmin(f)
			err := test.act(t.Context(), a)
			var typed *admin.Error
			if !errors.As(err, &typed) {
				t.Fatalf("error %v, want an *admin.Error", err)
			}
			if err.Error() != test.want {
				t.Errorf("error %q\n want %q", err, test.want)
			}
			if typed.Remedy != test.wantRemedy {
				t.Errorf("remedy %q, want %q", typed.Remedy, test.wantRemedy)
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("error %v is not %v", err, test.is)
			}
		})
	}
}

func TestDeadline(t *testing.T) {
	f := newFake(t)
	f.on("CreateTable", exception("PleaseHoldException"))
	ctx, cancel := context.WithCancelCause(t.Context())
	f.changed = func(string) {
		if len(f.calls) == 4 {
			cancel(context.DeadlineExceeded)
		}
	}
	a, _ := newAdmin(f)
	err := a.CreateTable(ctx, admin.Table{Name: "t", Families: []admin.Family{{Name: "f"}}})
	want := "create table t: context deadline exceeded, waiting: PleaseHoldException: the server says so"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestTableOnTheWire(t *testing.T) {
	f := newFake(t, region("a", "a:1", "", ""))
	f.on("CreateTable", &wire.CreateTableResponse{})
	var sent wire.CreateTableRequest
	a := admin.New(spy{f, func(call *rpc.Call) {
		if call.Method == "CreateTable" {
			if err := proto.Unmarshal(call.Param, &sent); err != nil {
				t.Error(err)
			}
		}
	}}, admin.Options{})
	table := admin.Table{
		Name: "ns:t", Values: map[string]string{"MEMSTORE_FLUSHSIZE": "1000", "hbase.hstore.blockingStoreFiles": "100"},
		Families: []admin.Family{
			{Name: "f"},
			{
				Name: "g", MaxVersions: 3, BlockSize: 8192, Compression: "snappy", DataBlockEncoding: "FAST_DIFF",
				BloomFilter: "ROW", TTL: time.Hour, Values: map[string]string{"IN_MEMORY": "true"},
			},
		},
	}
	if err := a.CreateTable(t.Context(), table); err != nil {
		t.Fatal(err)
	}
	f.on("GetTableDescriptors", wire.GetTableDescriptorsResponse_builder{TableSchema: []*wire.TableSchema{sent.GetTableSchema()}}.Build())
	got, err := a.Descriptor(t.Context(), "ns:t")
	if err != nil {
		t.Fatal(err)
	}
	want := table
	want.Families = []admin.Family{
		{Name: "f", MaxVersions: 1, Values: map[string]string{}}, // always sent: HBase 1 fails without
		table.Families[1],
	}
	want.Families[1].Compression = "SNAPPY"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the table as sent (-want +got):\n%s", diff)
	}
	if sent.GetNonce() == 0 || sent.GetNonceGroup() == 0 {
		t.Error("the request has no nonce")
	}
}

// spy looks at calls.
type spy struct {
	*fakeCluster
	look func(*rpc.Call)
}

func (s spy) Do(ctx context.Context, call *rpc.Call) error {
	s.look(call)
	return s.fakeCluster.Do(ctx, call)
}

func TestTableRefused(t *testing.T) {
	family := []admin.Family{{Name: "f"}}
	tests := []struct {
		name  string
		table admin.Table
		want  string
	}{
		{"no name", admin.Table{Families: family}, `table ""`},
		{"a space", admin.Table{Name: "a b", Families: family}, `table "a b"`},
		{"two colons", admin.Table{Name: "a:b:c", Families: family}, `table "a:b:c"`},
		{"a family twice", admin.Table{Name: "t", Families: []admin.Family{{Name: "f"}, {Name: "f"}}}, "named twice"},
		{"a family with a colon", admin.Table{Name: "t", Families: []admin.Family{{Name: "f:q"}}}, `column family "f:q"`},
		{"part of a second", admin.Table{Name: "t", Families: []admin.Family{{Name: "f", TTL: time.Millisecond}}}, "whole seconds"},
		{"negative versions", admin.Table{Name: "t", Families: []admin.Family{{Name: "f", MaxVersions: -1}}}, "none may be negative"},
		{"split keys in disorder", admin.Table{Name: "t", Families: family, SplitKeys: [][]byte{[]byte("b"), []byte("b")}}, "split key 2"},
		{"an empty split key", admin.Table{Name: "t", Families: family, SplitKeys: [][]byte{nil}}, "split key 1 is empty"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := newFake(t)
			a, _ := newAdmin(f)
			err := a.CreateTable(t.Context(), test.table)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
			if len(f.calls) > 0 {
				t.Errorf("calls were made: %q", f.calls)
			}
		})
	}
}

func TestDelete(t *testing.T) {
	f := newFake(t, twoRegions...)
	f.on("DisableTable", wire.DisableTableResponse_builder{ProcId: proto.Uint64(5)}.Build())
	f.on("DeleteTable", wire.DeleteTableResponse_builder{ProcId: proto.Uint64(6)}.Build())
	f.on("getProcedureResult", procedure(running), procedure(finished), procedure(running), procedure(finished))
	f.changed = func(string) {
		if len(f.calls) == 6 {
			f.regions = nil
		}
	}
	a, _ := newAdmin(f)
	if err := a.Delete(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"DisableTable m:1", "getProcedureResult m:1", "getProcedureResult m:1",
		"DeleteTable m:1", "getProcedureResult m:1", "getProcedureResult m:1",
	}
	if diff := cmp.Diff(want, f.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestEnableAndDisableTwice(t *testing.T) {
	f := newFake(t, twoRegions...)
	f.on("DisableTable", exception("TableNotEnabledException"))
	f.on("EnableTable", exception("TableNotDisabledException"))
	a, _ := newAdmin(f)
	if err := a.Disable(t.Context(), "t"); err != nil {
		t.Errorf("disable a disabled table: %v", err)
	}
	if err := a.Enable(t.Context(), "t"); err != nil {
		t.Errorf("enable an enabled table: %v", err)
	}
}

// TestFlushFollowsRegions has a region move while the table is flushed: each region is flushed once.
func TestFlushFollowsRegions(t *testing.T) {
	f := newFake(t, twoRegions...)
	flushed := wire.FlushRegionResponse_builder{LastFlushTime: proto.Uint64(1)}.Build()
	f.on("FlushRegion "+encodedFrom("b"), exception("exceptions.RegionMovedException"), &rpc.ConnectError{Address: "b:1", Err: errors.New("refused")}, flushed)
	f.changed = func(call string) {
		if strings.HasPrefix(call, "FlushRegion b:1") {
			f.regions = []hbase.LocatedRegion{twoRegions[0], region("b", "a:1", "m", "")}
		}
	}
	a, _ := newAdmin(f)
	if err := a.Flush(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	if got := f.count("FlushRegion a:1 " + encodedFrom("a")); got != 1 {
		t.Errorf("the region that stayed was flushed %d times, want once", got)
	}
	if got := f.count("FlushRegion a:1 " + encodedFrom("b")); got != 2 {
		t.Errorf("the region that moved was tried %d times at its new server, want 2", got)
	}
}
