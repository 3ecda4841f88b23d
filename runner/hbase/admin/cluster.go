package admin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/hbase/rpc"
	"github.com/hadoop-bench/operator/runner/hbase/wire"
)

// A Server is a RegionServer that lives, as the master knows it.
type Server struct {
	Host      string
	Port      int
	StartCode int64  // milliseconds since the epoch at which it started
	Web       string // host:port of its web server; empty where it has none
	Regions   int
	Requests  int64 // per second, as it reported last
	HeapMB    int64 // used, in MiB
	MaxHeapMB int64
	StoreMB   int64 // MiB of the store files of its regions
}

// Address is host:port.
func (s Server) Address() string { return net.JoinHostPort(s.Host, strconv.Itoa(s.Port)) }

// Name is host,port,startcode, as HBase writes it.
func (s Server) Name() string { return fmt.Sprintf("%s,%d,%d", s.Host, s.Port, s.StartCode) }

// A Status is what the master knows of its cluster.
type Status struct {
	Version      string // of the master
	ClusterID    string
	Master       string   // host:port
	Servers      []Server // that live, by name
	Dead         int      // RegionServers that the master remembers as dead
	InTransition []Transition
	BalancerOn   bool
	sizes        map[string]int64 // MiB of store files by region name
}

// A Transition is a region that is being opened, closed, moved or split.
type Transition struct {
	Table   string
	Encoded string
	State   string // such as OPENING, FAILED_OPEN
}

// Status asks the master about its cluster.
func (a *Admin) Status(ctx context.Context) (Status, error) {
	ctx, cancel := a.bounded(ctx)
	defer cancel()
	status, err := a.status(ctx)
	return status, fail("ask for the cluster's status", "", err)
}

// ClusterVersion returns the master's version, such as 2.6.4.
func (a *Admin) ClusterVersion(ctx context.Context) (string, error) {
	status, err := a.Status(ctx)
	return status.Version, err
}

// Servers returns the RegionServers that live.
func (a *Admin) Servers(ctx context.Context) ([]Server, error) {
	status, err := a.Status(ctx)
	return status.Servers, err
}

// RegionsInTransition returns the regions in transition of a table, or of all with an empty name.
func (a *Admin) RegionsInTransition(ctx context.Context, table string) ([]Transition, error) {
	status, err := a.Status(ctx)
	return status.inTransition(table), err
}

func (s Status) inTransition(table string) []Transition {
	if namespace, name, err := splitName(table); err == nil {
		table = joinName(namespace, name)
	}
	return slices.DeleteFunc(slices.Clone(s.InTransition), func(t Transition) bool { return table != "" && t.Table != table })
}

func (a *Admin) status(ctx context.Context) (Status, error) {
	response := &wire.GetClusterStatusResponse{}
	request := wire.GetClusterStatusRequest_builder{Options: []wire.Option{
		wire.Option_HBASE_VERSION, wire.Option_CLUSTER_ID, wire.Option_LIVE_SERVERS, wire.Option_DEAD_SERVERS,
		wire.Option_MASTER, wire.Option_REGIONS_IN_TRANSITION, wire.Option_BALANCER_ON,
	}}.Build()
	if err := a.master(ctx, "GetClusterStatus", request, response); err != nil {
		return Status{}, err
	}
	return statusOf(response.GetClusterStatus()), nil
}

func statusOf(s *wire.ClusterStatus) Status {
	status := Status{
		Version: s.GetHbaseVersion().GetVersion(), ClusterID: s.GetClusterId().GetClusterId(),
		Dead: len(s.GetDeadServers()), BalancerOn: s.GetBalancerOn(), sizes: map[string]int64{},
	}
	if m := s.GetMaster(); m != nil {
		status.Master = net.JoinHostPort(m.GetHostName(), strconv.Itoa(int(m.GetPort())))
	}
	for _, live := range s.GetLiveServers() {
		name, load := live.GetServer(), live.GetServerLoad()
		server := Server{
			Host: name.GetHostName(), Port: int(name.GetPort()), StartCode: int64(name.GetStartCode()),
			Regions: len(load.GetRegionLoads()), Requests: int64(load.GetNumberOfRequests()),
			HeapMB: int64(load.GetUsedHeap_MB()), MaxHeapMB: int64(load.GetMaxHeap_MB()),
		}
		if port := load.GetInfoServerPort(); port > 0 && port < 1<<16 {
			server.Web = net.JoinHostPort(server.Host, strconv.Itoa(int(port)))
		}
		for _, region := range load.GetRegionLoads() {
			size := int64(region.GetStorefileSize_MB())
			status.sizes[string(region.GetRegionSpecifier().GetValue())] = size
			server.StoreMB += size
		}
		status.Servers = append(status.Servers, server)
	}
	slices.SortFunc(status.Servers, func(a, b Server) int { return strings.Compare(a.Name(), b.Name()) })
	for _, moving := range s.GetRegionsInTransition() {
		table := moving.GetRegionState().GetRegionInfo().GetTableName()
		status.InTransition = append(status.InTransition, Transition{
			Table:   joinName(string(table.GetNamespace()), string(table.GetQualifier())),
			Encoded: encodedOf(moving.GetSpec().GetValue()), State: moving.GetRegionState().GetState().String(),
		})
	}
	return status
}

// encodedOf finds the encoded name in a region's full name, which ends with it between dots. An encoded name alone is
// returned as it is.
func encodedOf(name []byte) string {
	name = bytes.TrimSuffix(name, []byte("."))
	return string(name[bytes.LastIndexByte(name, '.')+1:])
}

// Move moves a region to a server, and waits until it answers there.
func (a *Admin) Move(ctx context.Context, region hbase.LocatedRegion, to Server) error {
	ctx, cancel := a.bounded(ctx)
	defer cancel()
	return fail("move region", region.Encoded+" to "+to.Name(), a.move(ctx, region, to))
}

func (a *Admin) move(ctx context.Context, region hbase.LocatedRegion, to Server) error {
	request := wire.MoveRegionRequest_builder{Region: encodedSpecifier(region.Encoded), DestServerName: to.name()}.Build()
	if err := a.master(ctx, "MoveRegion", request, &wire.MoveRegionResponse{}); err != nil {
		return err
	}
	return a.poll(ctx, func() (bool, string, error) {
		regions, err := a.regions(ctx, region.Table)
		if err != nil {
			return false, "", err
		}
		i := slices.IndexFunc(regions, func(r hbase.LocatedRegion) bool { return r.Encoded == region.Encoded })
		if i < 0 {
			return false, "", errors.New("the region is not in hbase:meta any more: it was split, merged or deleted")
		}
		if regions[i].Server != to.Address() || regions[i].StartCode != to.StartCode {
			return false, fmt.Sprintf("the region is on %q", regions[i].Server), nil
		}
		info := wire.GetRegionInfoRequest_builder{Region: specifier(region.Name)}.Build()
		return true, "", a.server(ctx, to.Address(), "GetRegionInfo", info, &wire.GetRegionInfoResponse{})
	})
}

// Split splits a region at a key, and waits until both daughters answer.
func (a *Admin) Split(ctx context.Context, region hbase.LocatedRegion, key []byte) error {
	ctx, cancel := a.bounded(ctx)
	defer cancel()
	return fail("split region", fmt.Sprintf("%s at %q", region.Encoded, key), a.split(ctx, region, key))
}

func (a *Admin) split(ctx context.Context, region hbase.LocatedRegion, key []byte) error {
	if bytes.Compare(key, region.Start) <= 0 || len(region.End) > 0 && bytes.Compare(key, region.End) >= 0 {
		return fmt.Errorf("the key is not inside the region, which begins with %q and ends before %q", region.Start, region.End)
	}
	status, err := a.status(ctx)
	if err != nil {
		return err
	}
	if strings.HasPrefix(status.Version, "1.") {
		request := wire.SplitRegionRequest_builder{Region: specifier(region.Name), SplitPoint: key}.Build()
		err = a.server(ctx, region.Server, "SplitRegion", request, &wire.SplitRegionResponse{})
	} else {
		err = a.splitByMaster(ctx, region, key)
	}
	if err != nil {
		return err
	}
	return a.poll(ctx, func() (bool, string, error) {
		regions, err := a.regions(ctx, region.Table)
		if err != nil {
			return false, "", err
		}
		first := slices.IndexFunc(regions, func(r hbase.LocatedRegion) bool { return bytes.Equal(r.Start, region.Start) && bytes.Equal(r.End, key) })
		second := slices.IndexFunc(regions, func(r hbase.LocatedRegion) bool { return bytes.Equal(r.Start, key) })
		if first < 0 || second < 0 {
			return false, "the daughters are not in hbase:meta", nil
		}
		daughters := []hbase.LocatedRegion{regions[first], regions[second]}
		failures, err := a.each(ctx, daughters, func(ctx context.Context, r hbase.LocatedRegion) error {
			info := wire.GetRegionInfoRequest_builder{Region: specifier(r.Name)}.Build()
			return a.server(ctx, r.Server, "GetRegionInfo", info, &wire.GetRegionInfoResponse{})
		})
		return len(failures) == 0, waitingFor(failures, len(daughters)), err
	})
}

func (a *Admin) splitByMaster(ctx context.Context, region hbase.LocatedRegion, key []byte) error {
	info, err := regionInfo(region)
	if err != nil {
		return err
	}
	request := wire.SplitTableRegionRequest_builder{
		RegionInfo: info, SplitRow: key, NonceGroup: &a.group, Nonce: proto.Uint64(a.options.Nonce()),
	}.Build()
	response := &wire.SplitTableRegionResponse{}
	if err := a.master(ctx, "SplitRegion", request, response); err != nil {
		return err
	}
	if !response.HasProcId() {
		return nil
	}
	return a.procedure(ctx, response.GetProcId())
}

// regionInfo makes of a region's name what the master knows it by: <table>,<start key>,<id>.<encoded name>.
func regionInfo(region hbase.LocatedRegion) (*wire.RegionInfo, error) {
	name, found := bytes.CutSuffix(region.Name, []byte("."+region.Encoded+"."))
	id, err := strconv.ParseUint(string(name[bytes.LastIndexByte(name, ',')+1:]), 10, 64)
	if err != nil || !found {
		return nil, fmt.Errorf("%q is not a region's name", region.Name)
	}
	table, err := tableName(region.Table)
	if err != nil {
		return nil, err
	}
	return wire.RegionInfo_builder{
		RegionId: &id, TableName: table, StartKey: region.Start, EndKey: region.End,
		Offline: proto.Bool(false), Split: proto.Bool(false), ReplicaId: proto.Int32(0),
	}.Build(), nil
}

// Balancer turns the master's balancer, which moves regions, on or off. It returns what it was before.
func (a *Admin) Balancer(ctx context.Context, on bool) (was bool, err error) {
	ctx, cancel := a.bounded(ctx)
	defer cancel()
	status, err := a.status(ctx)
	if err == nil && status.BalancerOn != on {
		err = a.setBalancer(ctx, on)
	}
	return status.BalancerOn, fail("switch the balancer", "", err)
}

// setBalancer sends SetBalancerRunningRequest{on = 1}, whose answer says nothing new.
func (a *Admin) setBalancer(ctx context.Context, on bool) error {
	param := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), protowire.EncodeBool(on))
	return a.poll(ctx, func() (bool, string, error) {
		address, err := a.cluster.Master(ctx)
		if err != nil {
			return false, err.Error(), nil
		}
		call := rpc.Call{Address: address, Service: rpc.MasterService, Method: "SetBalancerRunning", Param: param, Timeout: a.options.CallTimeout}
		return true, "", a.cluster.Do(ctx, &call)
	})
}
