package admin_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/hbase/admin"
	"github.com/hadoop-bench/operator/runner/hbase/rpc"
	"github.com/hadoop-bench/operator/runner/hbase/wire"
)

// A fakeCluster answers like a master at m:1 and RegionServers at a:1 and b:1. Answers are by "method" or "method region",
// the latter with the region's encoded name.
type fakeCluster struct {
	t *testing.T

	mu      sync.Mutex
	regions []hbase.LocatedRegion
	answers map[string][]answer // taken one after the other; the last one stays
	calls   []string            // "method address region", in order
	changed func(call string)   // called after each call, with the lock
}

// An answer is a message or an error.
type answer struct {
	message proto.Message
	err     error
}

func newFake(t *testing.T, regions ...hbase.LocatedRegion) *fakeCluster {
	f := &fakeCluster{t: t, regions: regions, answers: map[string][]answer{}, changed: func(string) {}}
	f.on("GetClusterStatus", status("2.6.4"))
	f.on("GetRegionInfo", info(wire.GetRegionInfoResponse_NONE))
	f.on("GetStoreFile", files(1))
	f.on("FlushRegion", wire.FlushRegionResponse_builder{LastFlushTime: proto.Uint64(1)}.Build())
	f.on("CompactRegion", &wire.CompactRegionResponse{})
	return f
}

// on sets the answers to calls of a method: messages or errors.
func (f *fakeCluster) on(method string, answers ...any) {
	f.answers[method] = nil
	for _, a := range answers {
		switch a := a.(type) {
		case proto.Message:
			f.answers[method] = append(f.answers[method], answer{message: a})
		case error:
			f.answers[method] = append(f.answers[method], answer{err: a})
		}
	}
}

func (f *fakeCluster) Master(context.Context) (string, error) { return "m:1", nil }

func (f *fakeCluster) Regions(context.Context, string) ([]hbase.LocatedRegion, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.regions) == 0 {
		return nil, fmt.Errorf("list regions: %w", hbase.ErrTableNotFound)
	}
	return slices.Clone(f.regions), nil
}

// regionRequest is what requests about a region have in common.
type regionRequest interface {
	proto.Message
	GetRegion() *wire.RegionSpecifier
}

func requestOf(method string) proto.Message {
	switch method {
	case "GetRegionInfo":
		return &wire.GetRegionInfoRequest{}
	case "GetStoreFile":
		return &wire.GetStoreFileRequest{}
	case "FlushRegion":
		return &wire.FlushRegionRequest{}
	case "CompactRegion":
		return &wire.CompactRegionRequest{}
	case "MoveRegion":
		return &wire.MoveRegionRequest{}
	}
	return nil
}

func (f *fakeCluster) Do(ctx context.Context, call *rpc.Call) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if ctx.Err() != nil {
		return &rpc.LostError{Address: call.Address, Method: call.Method, Err: context.Cause(ctx)}
	}
	key, record := call.Method, call.Method+" "+call.Address
	if request, ok := requestOf(call.Method).(regionRequest); ok {
		if err := proto.Unmarshal(call.Param, request); err != nil {
			f.t.Errorf("%s: %v", call.Method, err)
		}
		encoded := encodedName(string(request.GetRegion().GetValue()))
		record += " " + encoded
		if _, ok := f.answers[key+" "+encoded]; ok {
			key += " " + encoded
		}
	}
	f.calls = append(f.calls, record)
	defer f.changed(record)
	answers := f.answers[key]
	if len(answers) == 0 {
		return &rpc.RemoteError{Class: "org.apache.hadoop.hbase.DoNotRetryIOException", Message: "no answer to " + key}
	}
	if len(answers) > 1 {
		f.answers[key] = answers[1:]
	}
	if answers[0].err != nil {
		return answers[0].err
	}
	body, err := proto.Marshal(answers[0].message)
	call.Body = body
	return err
}

// count says how many calls of a method were made.
func (f *fakeCluster) count(method string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, call := range f.calls {
		if len(call) >= len(method) && call[:len(method)] == method {
			n++
		}
	}
	return n
}

// region makes one whose encoded name is 32 times a letter.
func region(letter, server, start, end string) hbase.LocatedRegion {
	encoded := encodedFrom(letter)
	return hbase.LocatedRegion{
		Name: []byte("t," + start + ",1700000000000." + encoded + "."), Encoded: encoded, Table: "t",
		Start: []byte(start), End: []byte(end), Server: server, StartCode: 7,
	}
}

func encodedFrom(letter string) string {
	var name []byte
	for range 32 {
		name = append(name, letter...)
	}
	return string(name)
}

// encodedName of a full name or of itself.
func encodedName(name string) string {
	if len(name) > 33 {
		return name[len(name)-33 : len(name)-1]
	}
	return name
}

func exception(class string) error {
	return &rpc.RemoteError{Class: "org.apache.hadoop.hbase." + class, Message: "the server says so"}
}

var errLost = &rpc.LostError{Address: "m:1", Method: "any", Err: errors.New("reset")}

func info(state wire.GetRegionInfoResponse_CompactionState) *wire.GetRegionInfoResponse {
	name := wire.TableName_builder{Namespace: []byte("default"), Qualifier: []byte("t")}.Build()
	return wire.GetRegionInfoResponse_builder{
		RegionInfo: wire.RegionInfo_builder{RegionId: proto.Uint64(1), TableName: name}.Build(), CompactionState: &state,
	}.Build()
}

func files(n int) *wire.GetStoreFileResponse {
	return wire.GetStoreFileResponse_builder{StoreFile: make([]string, n)}.Build()
}

func serverName(host string, port uint32) *wire.ServerName {
	return wire.ServerName_builder{HostName: &host, Port: &port, StartCode: proto.Uint64(7)}.Build()
}

// status has servers a:1 with a web server at a:2, and b:1.
func status(version string, moving ...*wire.RegionInTransition) *wire.GetClusterStatusResponse {
	load := wire.RegionLoad_builder{
		RegionSpecifier: wire.RegionSpecifier_builder{
			Type: wire.RegionSpecifier_REGION_NAME.Enum(), Value: region("a", "a:1", "", "").Name,
		}.Build(),
		StorefileSize_MB: proto.Uint32(12),
	}.Build()
	live := func(host string, load *wire.ServerLoad) *wire.LiveServerInfo {
		return wire.LiveServerInfo_builder{Server: serverName(host, 1), ServerLoad: load}.Build()
	}
	return wire.GetClusterStatusResponse_builder{ClusterStatus: wire.ClusterStatus_builder{
		HbaseVersion: wire.HBaseVersionFileContent_builder{Version: &version}.Build(),
		Master:       serverName("m", 1),
		LiveServers: []*wire.LiveServerInfo{
			live("b", &wire.ServerLoad{}),
			live("a", wire.ServerLoad_builder{
				RegionLoads: []*wire.RegionLoad{load}, InfoServerPort: proto.Uint32(2), UsedHeap_MB: proto.Uint32(30),
				MaxHeap_MB: proto.Uint32(300), NumberOfRequests: proto.Uint64(5),
			}.Build()),
		},
		RegionsInTransition: moving, BalancerOn: proto.Bool(true),
	}.Build()}.Build()
}

// fakeClock moves when somebody waits.
type fakeClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) Wait(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(max(0, d))
	return context.Cause(ctx)
}

func newAdmin(f *fakeCluster) (*admin.Admin, *fakeClock) {
	clock := &fakeClock{now: time.Unix(1_800_000_000, 0)}
	nonce := uint64(0)
	return admin.New(f, admin.Options{Clock: clock, Nonce: func() uint64 { nonce++; return nonce }}), clock
}
