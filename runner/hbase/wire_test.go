package hbase_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/hbase/cell"
	"github.com/hadoop-bench/operator/runner/hbase/wire"
)

const name = "t,row,1700000000000.0123456789abcdef0123456789abcdef."

func regionOf(name string) *wire.RegionSpecifier {
	return wire.RegionSpecifier_builder{Type: wire.RegionSpecifier_REGION_NAME.Enum(), Value: []byte(name)}.Build()
}

// sameMessage decodes what was encoded by hand and compares it with what it shall be.
func sameMessage[M proto.Message](t *testing.T, encoded []byte, got, want M) {
	t.Helper()
	if err := proto.Unmarshal(encoded, got); err != nil {
		t.Fatalf("Unmarshal: %v", err)
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("encoded by hand (-want +got):\n%s", diff)
	}
	if unknown := got.ProtoReflect().GetUnknown(); len(unknown) > 0 {
		t.Errorf("unknown fields %x", unknown)
	}
}

func columnOf(family string, qualifiers ...string) []*wire.Column {
	c := wire.Column_builder{Family: []byte(family)}
	for _, q := range qualifiers {
		c.Qualifier = append(c.Qualifier, []byte(q))
	}
	return []*wire.Column{c.Build()}
}

func TestGetRequest(t *testing.T) {
	long := strings.Repeat("r", 300)
	tests := map[string]struct {
		get  hbase.Get
		want wire.Get_builder
	}{
		"whole row":    {hbase.Get{Row: []byte("r")}, wire.Get_builder{Row: []byte("r")}},
		"whole family": {hbase.Get{Row: []byte("r"), Family: []byte("f")}, wire.Get_builder{Row: []byte("r"), Column: columnOf("f")}},
		"columns": {
			hbase.Get{Row: []byte("r"), Family: []byte("f"), Columns: [][]byte{[]byte("a"), []byte("")}},
			wire.Get_builder{Row: []byte("r"), Column: columnOf("f", "a", "")},
		},
		"long row": {hbase.Get{Row: []byte(long), Family: []byte("f")}, wire.Get_builder{Row: []byte(long), Column: columnOf("f")}},
	}
	for label, tt := range tests {
		t.Run(label, func(t *testing.T) {
			sameMessage(t, hbase.GetRequest(hbase.Specifier([]byte(name)), &tt.get), new(wire.GetRequest),
				wire.GetRequest_builder{Region: regionOf(name), Get: tt.want.Build()}.Build())
		})
	}
}

func TestMutateRequest(t *testing.T) {
	tests := map[string]struct {
		mutation hbase.Mutation
		want     wire.MutationProto_builder
	}{
		"put": {
			hbase.Mutation{Row: []byte("r"), Family: []byte("f"), Columns: make([]hbase.Column, 3)},
			wire.MutationProto_builder{MutateType: wire.MutationProto_PUT.Enum(), AssociatedCellCount: proto.Int32(3)},
		},
		"put without a log": {
			hbase.Mutation{Row: []byte("r"), Columns: make([]hbase.Column, 1), Durability: hbase.SkipWAL},
			wire.MutationProto_builder{MutateType: wire.MutationProto_PUT.Enum(), AssociatedCellCount: proto.Int32(1), Durability: wire.MutationProto_SKIP_WAL.Enum()},
		},
		"put to disk": {
			hbase.Mutation{Row: []byte("r"), Columns: make([]hbase.Column, 1), Durability: hbase.FsyncWAL},
			wire.MutationProto_builder{MutateType: wire.MutationProto_PUT.Enum(), AssociatedCellCount: proto.Int32(1), Durability: wire.MutationProto_FSYNC_WAL.Enum()},
		},
		"delete": {
			hbase.Mutation{Row: []byte("r"), Delete: true},
			wire.MutationProto_builder{MutateType: wire.MutationProto_DELETE.Enum(), AssociatedCellCount: proto.Int32(1)},
		},
	}
	for label, tt := range tests {
		t.Run(label, func(t *testing.T) {
			tt.want.Row = []byte("r")
			sameMessage(t, hbase.MutateRequest(hbase.Specifier([]byte(name)), &tt.mutation), new(wire.MutateRequest),
				wire.MutateRequest_builder{Region: regionOf(name), Mutation: tt.want.Build()}.Build())
		})
	}
}

func TestMultiRequest(t *testing.T) {
	param, block := hbase.MultiRequest([]byte(name), []hbase.Action{
		{Mutation: put("a", strings.Repeat("v", 200))},
		{Get: get("b")},
		{Mutation: &hbase.Mutation{Row: []byte("c"), Family: []byte("f"), Delete: true, Durability: hbase.AsyncWAL}},
	})
	sameMessage(t, param, new(wire.MultiRequest), wire.MultiRequest_builder{RegionAction: []*wire.RegionAction{wire.RegionAction_builder{
		Region: regionOf(name),
		Action: []*wire.Action{
			wire.Action_builder{Index: proto.Uint32(0), Mutation: wire.MutationProto_builder{
				Row: []byte("a"), MutateType: wire.MutationProto_PUT.Enum(), AssociatedCellCount: proto.Int32(1),
			}.Build()}.Build(),
			wire.Action_builder{Index: proto.Uint32(1), Get: wire.Get_builder{Row: []byte("b"), Column: columnOf("f")}.Build()}.Build(),
			wire.Action_builder{Index: proto.Uint32(2), Mutation: wire.MutationProto_builder{
				Row: []byte("c"), MutateType: wire.MutationProto_DELETE.Enum(), AssociatedCellCount: proto.Int32(1),
				Durability: wire.MutationProto_ASYNC_WAL.Enum(),
			}.Build()}.Build(),
		},
	}.Build()}}.Build())
	want := []cell.Cell{
		{Row: []byte("a"), Family: []byte("f"), Qualifier: []byte("q"), Timestamp: cell.LatestTimestamp, Type: cell.Put, Value: bytes.Repeat([]byte("v"), 200)},
		{Row: []byte("c"), Family: []byte("f"), Qualifier: []byte{}, Timestamp: cell.LatestTimestamp, Type: cell.DeleteFamily, Value: []byte{}},
	}
	var got []cell.Cell
	reader := cell.NewReader(block)
	for c := (cell.Cell{}); reader.Next(&c); {
		got = append(got, c)
	}
	if diff := cmp.Diff(want, got); diff != "" || reader.Err() != nil {
		t.Errorf("cells, error %v (-want +got):\n%s", reader.Err(), diff)
	}
}

func TestScanRequests(t *testing.T) {
	page, err := proto.Marshal(wire.PageFilter_builder{PageSize: proto.Int64(200)}.Build())
	if err != nil {
		t.Fatal(err)
	}
	spec := hbase.Specifier([]byte(name))
	tests := map[string]struct {
		encoded []byte
		want    wire.ScanRequest_builder
	}{
		"all": {
			hbase.Opening{Specifier: spec, Rows: 100}.Encode(),
			wire.ScanRequest_builder{
				Region: regionOf(name), NumberOfRows: proto.Uint32(100),
				Scan: wire.Scan_builder{MaxResultSize: proto.Uint64(2 << 20), Caching: proto.Uint32(100)}.Build(),
			},
		},
		"some": {
			hbase.Opening{
				Specifier: spec, Start: []byte("a"), Stop: []byte("b"), Family: []byte("f"), Columns: [][]byte{[]byte("q")}, Rows: 50,
				Limit: 200, Page: 200,
			}.Encode(),
			wire.ScanRequest_builder{
				Region: regionOf(name), NumberOfRows: proto.Uint32(50), LimitOfRows: proto.Uint32(200),
				Scan: wire.Scan_builder{
					Column: columnOf("f", "q"), StartRow: []byte("a"), StopRow: []byte("b"),
					Filter:        wire.Filter_builder{Name: proto.String("org.apache.hadoop.hbase.filter.PageFilter"), SerializedFilter: page}.Build(),
					MaxResultSize: proto.Uint64(2 << 20), Caching: proto.Uint32(50),
				}.Build(),
			},
		},
		"location": {
			hbase.Opening{Specifier: spec, Start: []byte("t,r,99999999999999"), Family: []byte("info"), Rows: 1, Limit: 1, Reversed: true, Close: true}.Encode(),
			wire.ScanRequest_builder{
				Region: regionOf(name), NumberOfRows: proto.Uint32(1), LimitOfRows: proto.Uint32(1), CloseScanner: proto.Bool(true),
				Scan: wire.Scan_builder{
					Column: columnOf("info"), StartRow: []byte("t,r,99999999999999"), Reversed: proto.Bool(true),
					MaxResultSize: proto.Uint64(2 << 20), Caching: proto.Uint32(1),
				}.Build(),
			},
		},
		"next": {
			hbase.ScanNext(1<<63, 10, 0, 0),
			wire.ScanRequest_builder{ScannerId: proto.Uint64(1 << 63), NumberOfRows: proto.Uint32(10), NextCallSeq: proto.Uint64(0)},
		},
		"next of some": {
			hbase.ScanNext(7, 10, 12, 3),
			wire.ScanRequest_builder{ScannerId: proto.Uint64(7), NumberOfRows: proto.Uint32(10), NextCallSeq: proto.Uint64(3), LimitOfRows: proto.Uint32(12)},
		},
		"close": {
			hbase.ScanClose(7),
			wire.ScanRequest_builder{ScannerId: proto.Uint64(7), NumberOfRows: proto.Uint32(0), CloseScanner: proto.Bool(true)},
		},
	}
	for label, tt := range tests {
		t.Run(label, func(t *testing.T) { sameMessage(t, tt.encoded, new(wire.ScanRequest), tt.want.Build()) })
	}
}

// TestNested goes over the lengths at which a length takes one more byte.
func TestNested(t *testing.T) {
	for _, n := range []int{0, 1, 127, 128, 16383, 16384, 1 << 21} {
		content := bytes.Repeat([]byte{0xA5}, n)
		want := protowire.AppendBytes(protowire.AppendTag(nil, 3, protowire.BytesType), content)
		if got := hbase.Nested(3, content); !bytes.Equal(got, want) {
			t.Errorf("%d bytes: encoded to %d bytes, want %d", n, len(got), len(want))
		}
	}
}

func marshal(t testing.TB, m proto.Message) []byte {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestParseAnswers(t *testing.T) {
	result := func(n int32) *wire.Result {
		return wire.Result_builder{AssociatedCellCount: proto.Int32(n)}.Build()
	}
	inside := wire.Result_builder{Cell: []*wire.Cell{wire.Cell_builder{Row: []byte("r")}.Build()}}.Build()
	broken := wire.NameBytesPair_builder{Name: proto.String("java.io.IOException"), Value: []byte("java.io.IOException: x")}.Build()
	multi := marshal(t, wire.MultiResponse_builder{RegionActionResult: []*wire.RegionActionResult{
		wire.RegionActionResult_builder{ResultOrException: []*wire.ResultOrException{
			wire.ResultOrException_builder{Index: proto.Uint32(4), Result: result(10)}.Build(),
			wire.ResultOrException_builder{Index: proto.Uint32(0), Exception: broken}.Build(),
		}}.Build(),
		wire.RegionActionResult_builder{Exception: broken}.Build(),
	}}.Build())
	if n, err := hbase.ParseGet(marshal(t, wire.GetResponse_builder{Result: result(3)}.Build())); n != 3 || err != nil {
		t.Errorf("GetResponse: %d cells, %v, want 3", n, err)
	}
	if n, err := hbase.ParseGet(marshal(t, new(wire.GetResponse))); n != 0 || err != nil {
		t.Errorf("empty GetResponse: %d cells, %v, want none", n, err)
	}
	want := []hbase.Outcome{
		{Region: 0, Index: 4, Cells: 10},
		{Region: 0, Index: 0, Class: "java.io.IOException", Trace: "java.io.IOException: x"},
		{Region: 1, Index: -1, Class: "java.io.IOException", Trace: "java.io.IOException: x"},
	}
	if got, err := hbase.ParseMulti(multi); err != nil || !slices.Equal(got, want) {
		t.Errorf("MultiResponse: %v, %v, want %v", got, err, want)
	}
	scan := marshal(t, wire.ScanResponse_builder{
		CellsPerResult: []uint32{10, 2}, ScannerId: proto.Uint64(9), MoreResults: proto.Bool(true), MoreResultsInRegion: proto.Bool(false),
	}.Build())
	cells, id, more, inRegion, err := hbase.ParseScan(scan)
	if !slices.Equal(cells, []int{10, 2}) || id != 9 || !more || inRegion || err != nil {
		t.Errorf("ScanResponse: %v, scanner %d, more %v, in the region %v, %v", cells, id, more, inRegion, err)
	}
	refused := map[string]error{}
	_, refused["cells in a GetResponse"] = hbase.ParseGet(marshal(t, wire.GetResponse_builder{Result: inside}.Build()))
	_, refused["a negative number of cells"] = hbase.ParseGet(marshal(t, wire.GetResponse_builder{Result: result(-1)}.Build()))
	_, _, _, _, refused["results in a ScanResponse"] = hbase.ParseScan(marshal(t, wire.ScanResponse_builder{Results: []*wire.Result{inside}}.Build()))
	_, _, _, _, refused["parts of rows"] = hbase.ParseScan(marshal(t, wire.ScanResponse_builder{PartialFlagPerResult: []bool{false, true}}.Build()))
	_, refused["a cut MultiResponse"] = hbase.ParseMulti(multi[:len(multi)-1])
	for what, err := range refused {
		if !errors.Is(err, hbase.ErrAnswer) {
			t.Errorf("%s: error %v, want one of an unusable answer", what, err)
		}
	}
}

// fuzzAnswer checks that a decoder fails exactly where the generated one does, or refuses more.
func fuzzAnswer[M proto.Message](f *testing.F, seed proto.Message, fresh func() M, parse func([]byte) error, same func(*testing.T, M, []byte)) {
	f.Add(marshal(f, seed))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		err := parse(b)
		m := fresh()
		if generated := proto.Unmarshal(b, m); generated != nil {
			return
		}
		if err == nil {
			same(t, m, b)
		}
	})
}

func FuzzParseGet(f *testing.F) {
	fuzzAnswer(f, wire.GetResponse_builder{Result: wire.Result_builder{AssociatedCellCount: proto.Int32(300)}.Build()}.Build(),
		func() *wire.GetResponse { return new(wire.GetResponse) },
		func(b []byte) error { _, err := hbase.ParseGet(b); return err },
		func(t *testing.T, m *wire.GetResponse, b []byte) {
			if n, _ := hbase.ParseGet(b); n != int(m.GetResult().GetAssociatedCellCount()) && bytes.Count(b, []byte{0x0A}) == 1 {
				t.Errorf("%d cells, the generated decoder says %d", n, m.GetResult().GetAssociatedCellCount())
			}
		})
}

func FuzzParseScan(f *testing.F) {
	fuzzAnswer(f, wire.ScanResponse_builder{
		CellsPerResult: []uint32{1, 200}, ScannerId: proto.Uint64(1 << 60), MoreResults: proto.Bool(false), MoreResultsInRegion: proto.Bool(true),
	}.Build(),
		func() *wire.ScanResponse { return new(wire.ScanResponse) },
		func(b []byte) error { _, _, _, _, err := hbase.ParseScan(b); return err },
		func(t *testing.T, m *wire.ScanResponse, b []byte) {
			cells, id, more, _, _ := hbase.ParseScan(b)
			if len(cells) != len(m.GetCellsPerResult()) || id != m.GetScannerId() || m.HasMoreResults() && more != m.GetMoreResults() {
				t.Errorf("%v, scanner %d, more %v; the generated decoder says %v", cells, id, more, m)
			}
		})
}

func FuzzParseMulti(f *testing.F) {
	fuzzAnswer(f, wire.MultiResponse_builder{RegionActionResult: []*wire.RegionActionResult{wire.RegionActionResult_builder{
		ResultOrException: []*wire.ResultOrException{wire.ResultOrException_builder{Index: proto.Uint32(1), Result: new(wire.Result)}.Build()},
		Exception:         wire.NameBytesPair_builder{Name: proto.String("c")}.Build(),
	}.Build()}}.Build(),
		func() *wire.MultiResponse { return new(wire.MultiResponse) },
		func(b []byte) error { _, err := hbase.ParseMulti(b); return err },
		func(t *testing.T, m *wire.MultiResponse, b []byte) {
			n := 0
			for _, r := range m.GetRegionActionResult() {
				n += len(r.GetResultOrException())
			}
			if all, _ := hbase.ParseMulti(b); len(all) < n {
				t.Errorf("%d outcomes, the generated decoder says %d", len(all), n)
			}
		})
}

func FuzzParseMetaRow(f *testing.F) {
	info := wire.RegionInfo_builder{
		RegionId: proto.Uint64(1), TableName: wire.TableName_builder{Namespace: []byte("default"), Qualifier: []byte("t")}.Build(),
		StartKey: []byte("a"), EndKey: []byte("b"),
	}.Build()
	f.Add([]byte(name), append([]byte("PBUF"), marshal(f, info)...), []byte("127.0.0.1:16020"), []byte("OPEN"))
	f.Add([]byte("."), []byte("PBUF"), []byte(":"), []byte(""))
	f.Fuzz(func(t *testing.T, row, info, server, state []byte) {
		at := func(qualifier string, value []byte) cell.Cell {
			return cell.Cell{Row: row, Family: []byte("info"), Qualifier: []byte(qualifier), Value: value}
		}
		l, open, err := hbase.ParseMetaRow(hbase.Row{at("regioninfo", info), at("server", server), at("serverstartcode", state), at("state", state)})
		if err != nil && !errors.Is(err, hbase.ErrAnswer) {
			t.Errorf("error %v is none of an unusable answer", err)
		}
		if err == nil && (l.Encoded == "" || open && l.Server == "") {
			t.Errorf("a region without a name or a server: %+v", l)
		}
	})
}
