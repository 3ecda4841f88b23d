package admin_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/proto"

	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/hbase/admin"
	"github.com/hadoop-bench/operator/runner/hbase/rpc"
	"github.com/hadoop-bench/operator/runner/hbase/wire"
)

// moving is a region of a table in transition.
func moving(namespace, table, letter string, state wire.RegionState_State) *wire.RegionInTransition {
	name := wire.TableName_builder{Namespace: []byte(namespace), Qualifier: []byte(table)}.Build()
	return wire.RegionInTransition_builder{
		Spec: wire.RegionSpecifier_builder{
			Type: wire.RegionSpecifier_REGION_NAME.Enum(), Value: region(letter, "", "", "").Name,
		}.Build(),
		RegionState: wire.RegionState_builder{
			RegionInfo: wire.RegionInfo_builder{RegionId: proto.Uint64(1), TableName: name}.Build(), State: &state,
		}.Build(),
	}.Build()
}

func TestStatus(t *testing.T) {
	f := newFake(t)
	f.on("GetClusterStatus", status("2.5.10-hadoop3",
		moving("default", "t", "a", wire.RegionState_OPENING), moving("ns", "t", "b", wire.RegionState_FAILED_OPEN)))
	a, _ := newAdmin(f)
	got, err := a.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := admin.Status{
		Version: "2.5.10-hadoop3", Master: "m:1", BalancerOn: true,
		Servers: []admin.Server{
			{Host: "a", Port: 1, StartCode: 7, Web: "a:2", Regions: 1, Requests: 5, HeapMB: 30, MaxHeapMB: 300, StoreMB: 12},
			{Host: "b", Port: 1, StartCode: 7},
		},
		InTransition: []admin.Transition{
			{Table: "t", Encoded: encodedFrom("a"), State: "OPENING"},
			{Table: "ns:t", Encoded: encodedFrom("b"), State: "FAILED_OPEN"},
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(admin.Status{})); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	for table, want := range map[string]int{"": 2, "t": 1, "default:t": 1, "ns:t": 1, "u": 0} {
		moving, err := a.RegionsInTransition(t.Context(), table)
		if err != nil || len(moving) != want {
			t.Errorf("regions in transition of table %q: %v, %v; want %d", table, moving, err, want)
		}
	}
}

func TestMove(t *testing.T) {
	f := newFake(t, twoRegions...)
	f.on("MoveRegion", &wire.MoveRegionResponse{})
	f.on("GetRegionInfo", exception("NotServingRegionException"), info(0))
	f.changed = func(call string) {
		if strings.HasPrefix(call, "MoveRegion") {
			f.regions = []hbase.LocatedRegion{region("a", "b:1", "", "m"), twoRegions[1]}
		}
	}
	a, _ := newAdmin(f)
	if err := a.Move(t.Context(), twoRegions[0], admin.Server{Host: "b", Port: 1, StartCode: 7}); err != nil {
		t.Fatal(err)
	}
	want := []string{"MoveRegion m:1 " + encodedFrom("a"), "GetRegionInfo b:1 " + encodedFrom("a"), "GetRegionInfo b:1 " + encodedFrom("a")}
	if diff := cmp.Diff(want, f.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestMoveOfARegionThatGoes(t *testing.T) {
	f := newFake(t, twoRegions...)
	f.on("MoveRegion", &wire.MoveRegionResponse{})
	f.changed = func(string) { f.regions = twoRegions[1:] }
	a, _ := newAdmin(f)
	err := a.Move(t.Context(), twoRegions[0], admin.Server{Host: "b", Port: 1, StartCode: 7})
	if err == nil || !strings.Contains(err.Error(), "not in hbase:meta any more") {
		t.Errorf("error %v, want one that says that the region is gone", err)
	}
}

func TestSplit(t *testing.T) {
	daughters := []hbase.LocatedRegion{region("c", "a:1", "", "g"), region("d", "a:1", "g", "m"), twoRegions[1]}
	tests := []struct {
		name, version, method string
		want                  []string
	}{
		{"by the master", "2.6.4", "SplitRegion", []string{
			"GetClusterStatus m:1", "SplitRegion m:1", "getProcedureResult m:1",
			"GetRegionInfo a:1 " + encodedFrom("c"), "GetRegionInfo a:1 " + encodedFrom("d"),
		}},
		{"by the RegionServer", "1.7.2", "SplitRegion", []string{
			"GetClusterStatus m:1", "SplitRegion a:1",
			"GetRegionInfo a:1 " + encodedFrom("c"), "GetRegionInfo a:1 " + encodedFrom("d"),
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := newFake(t, twoRegions...)
			f.on("GetClusterStatus", status(test.version))
			f.on("SplitRegion", wire.SplitTableRegionResponse_builder{ProcId: proto.Uint64(3)}.Build())
			f.on("getProcedureResult", procedure(finished))
			var sent []byte
			f.changed = func(call string) {
				if strings.HasPrefix(call, "SplitRegion") {
					f.regions = daughters
				}
			}
			a := admin.New(spy{f, func(call *rpc.Call) {
				if call.Method == "SplitRegion" {
					sent = call.Param
				}
			}}, admin.Options{})
			if err := a.Split(t.Context(), twoRegions[0], []byte("g")); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, f.calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			checkSplit(t, strings.HasPrefix(test.version, "1."), sent)
		})
	}
}

func checkSplit(t *testing.T, old bool, sent []byte) {
	t.Helper()
	if old {
		var request wire.SplitRegionRequest
		if err := proto.Unmarshal(sent, &request); err != nil || string(request.GetSplitPoint()) != "g" {
			t.Errorf("request %v, %v; want the key g", &request, err)
		}
		return
	}
	var request wire.SplitTableRegionRequest
	if err := proto.Unmarshal(sent, &request); err != nil {
		t.Fatal(err)
	}
	info := request.GetRegionInfo()
	if info.GetRegionId() != 1700000000000 || string(info.GetEndKey()) != "m" || string(request.GetSplitRow()) != "g" {
		t.Errorf("request %v, want region 1700000000000 up to m, split at g", &request)
	}
}

func TestBalancer(t *testing.T) {
	f := newFake(t)
	f.on("SetBalancerRunning", &wire.IsMasterRunningRequest{})
	var sent []byte
	a := admin.New(spy{f, func(call *rpc.Call) {
		if call.Method == "SetBalancerRunning" {
			sent = call.Param
		}
	}}, admin.Options{})
	if was, err := a.Balancer(t.Context(), true); err != nil || !was || sent != nil {
		t.Errorf("turn on what is on: was %v, error %v, sent %x; want true and no request", was, err, sent)
	}
	was, err := a.Balancer(t.Context(), false)
	if err != nil || !was {
		t.Errorf("turn off: was %v, error %v, want true", was, err)
	}
	if diff := cmp.Diff([]byte{0x08, 0x00}, sent); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}
