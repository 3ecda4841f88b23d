package nnthroughput_test

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hadoop-bench/operator/runner/hadoop/namenode"
	"github.com/hadoop-bench/operator/runner/nnthroughput"
	"github.com/hadoop-bench/operator/runner/plan"
)

// fakeSide is one NameNode as DataNodes see it. It keeps DataNodes as HDFS does: one for each UUID, and one for each
// address.
type fakeSide struct {
	space namenode.Namespace
	// fail is asked before each call; an error it returns is the call's. It is called without the lock.
	fail func(call string, r namenode.Registration) error

	mu    sync.Mutex
	nodes map[string]*fakeListed // by UUID
	calls []string               // "<method> <port>"
}

// fakeListed is a DataNode in a NameNode's list.
type fakeListed struct {
	namenode.Registration
	placeable bool
	capacity  uint64
	received  map[uint64]bool // blocks
	reports   []namenode.EncodedReport
}

func newFakeSide(state string) *fakeSide {
	return &fakeSide{
		nodes: map[string]*fakeListed{},
		space: namenode.Namespace{SoftwareVersion: "3.5.0", Pool: "BP-1", CTime: 77, Capabilities: 1, State: state},
	}
}

// addReal lists a DataNode of the cluster's own, with room.
func (s *fakeSide) addReal(uuid, host, ip string, port uint32) {
	s.nodes[uuid] = &fakeListed{
		Registration: namenode.Registration{DataNode: namenode.DataNode{UUID: uuid, Host: host, IP: ip, TransferPort: port}},
		placeable:    true, capacity: 1 << 50,
	}
}

// live lists all DataNodes by port and UUID.
func (s *fakeSide) live() []namenode.DataNode {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []namenode.DataNode
	for _, n := range s.nodes {
		list = append(list, n.DataNode)
	}
	slices.SortFunc(list, func(a, b namenode.DataNode) int {
		return cmp.Or(cmp.Compare(a.TransferPort, b.TransferPort), strings.Compare(a.UUID, b.UUID))
	})
	return list
}

// hasRoom tells whether a block may be put on a DataNode.
func (s *fakeSide) hasRoom(uuid string, blockSize uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.nodes[uuid]
	return n != nil && n.placeable && n.capacity >= blockSize
}

// count is how often a method was called.
func (s *fakeSide) count(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, c := range s.calls {
		if strings.HasPrefix(c, method+" ") {
			n++
		}
	}
	return n
}

// from is the side as a pod with that address sees it.
func (s *fakeSide) from(ip string) nnthroughput.DataNodeSide { return &sideFrom{fakeSide: s, ip: ip} }

type sideFrom struct {
	*fakeSide
	ip string
}

func (s *sideFrom) called(ctx context.Context, method string, r namenode.Registration) error {
	s.mu.Lock()
	s.calls = append(s.calls, fmt.Sprintf("%s %d", method, r.TransferPort))
	s.mu.Unlock()
	if s.fail != nil {
		if err := s.fail(method, r); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// known is the DataNode behind a registration.
func (s *sideFrom) known(r namenode.Registration) (*fakeListed, error) {
	n := s.nodes[r.UUID]
	if n == nil || n.IP != r.IP || n.TransferPort != r.TransferPort {
		return nil, remoteError("hdfs.protocol.UnregisteredNodeException", "Data node is attempting to report storage ID "+r.UUID)
	}
	if r.Namespace.CTime != s.space.CTime {
		return nil, remoteError("hdfs.protocol.UnregisteredNodeException", "Unregistered server")
	}
	return n, nil
}

func (s *sideFrom) Version(ctx context.Context) (namenode.Namespace, error) {
	err := s.called(ctx, "versionRequest", namenode.Registration{})
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.space, err
}

func (s *sideFrom) Register(ctx context.Context, r namenode.Registration) (namenode.Registration, error) {
	if err := s.called(ctx, "registerDatanode", r); err != nil {
		return namenode.Registration{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r.IP = s.ip
	for uuid, n := range s.nodes {
		if uuid != r.UUID && n.IP == r.IP && n.TransferPort == r.TransferPort {
			delete(s.nodes, uuid)
		}
	}
	s.nodes[r.UUID] = &fakeListed{Registration: r, received: map[uint64]bool{}}
	return r, nil
}

func (s *sideFrom) Heartbeat(ctx context.Context, r namenode.Registration, _ string, capacity uint64, _ bool) (bool, error) {
	if err := s.called(ctx, "sendHeartbeat", r); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.known(r)
	if err != nil {
		return s.nodes[r.UUID] == nil, nil
	}
	n.placeable, n.capacity = true, capacity
	return false, nil
}

func (s *sideFrom) BlockReport(ctx context.Context, r namenode.Registration, _ string, report namenode.EncodedReport) error {
	if err := s.called(ctx, "blockReport", r); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.known(r)
	if err == nil {
		n.reports = append(n.reports, report)
	}
	return err
}

func (s *sideFrom) BlockReceived(ctx context.Context, r namenode.Registration, _ string, b namenode.Block) error {
	if err := s.called(ctx, "blockReceivedAndDeleted", r); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.known(r)
	if err == nil {
		n.received[b.ID] = true
	}
	return err
}

func (s *sideFrom) FatalDiskError(ctx context.Context, r namenode.Registration, _ string) error {
	if err := s.called(ctx, "errorReport", r); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.known(r)
	if err == nil {
		n.placeable = false
	}
	return err
}

// placingNameNode is a NameNode that puts blocks on DataNodes by rules of its own.
type placingNameNode struct {
	*fakeNameNode
	sides  []*fakeSide
	active int
	ip     string // of the pod

	mu        sync.Mutex
	created   map[string]namenode.CreateOptions
	last      uint64
	misplace  int             // how many of the next blocks lie on an excluded DataNode
	waited    map[uint64]bool // blocks whose successor was asked for too early once
	abandoned []uint64
}

func (n *placingNameNode) Thread(int) nnthroughput.NameNode { return n }

func (n *placingNameNode) DataNodeSides() []nnthroughput.DataNodeSide {
	var list []nnthroughput.DataNodeSide
	for _, s := range n.sides {
		list = append(list, s.from(n.ip))
	}
	return list
}

func (n *placingNameNode) DataNodeReport(ctx context.Context, kind namenode.DataNodeReport) ([]namenode.DataNode, error) {
	if err := n.called(ctx, "getDatanodeReport", "", "type=%d", kind); err != nil {
		return nil, err
	}
	return n.sides[n.active].live(), nil
}

func (n *placingNameNode) AddBlock(ctx context.Context, p, client string, previous *namenode.Block, exclude []namenode.DataNode, _ uint64) (namenode.LocatedBlock, error) {
	if err := n.called(ctx, "addBlock", p, "client=%s", client); err != nil {
		return namenode.LocatedBlock{}, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if previous != nil && !n.waited[previous.ID] {
		n.waited[previous.ID] = true
		return namenode.LocatedBlock{}, remoteError("hdfs.server.namenode.NotReplicatedYetException", "Not replicated yet: "+p)
	}
	avoid := map[string]bool{}
	if n.misplace > 0 {
		n.misplace--
	} else {
		for _, d := range exclude {
			avoid[d.UUID] = true
		}
	}
	located := namenode.LocatedBlock{Block: namenode.Block{Pool: "BP-1", ID: n.last + 1, GenerationStamp: 1001}}
	file := n.created[p]
	candidates := n.sides[n.active].live()
	for i := range candidates {
		// Each block begins at another DataNode.
		d := candidates[(i+int(n.last))%len(candidates)]
		if !avoid[d.UUID] && n.sides[n.active].hasRoom(d.UUID, uint64(file.BlockSize)) && len(located.Locations) < int(file.Replication) {
			located.Locations = append(located.Locations, d)
			located.Storages = append(located.Storages, "DS-"+d.UUID)
		}
	}
	if len(located.Locations) == 0 {
		return namenode.LocatedBlock{}, remoteError("ipc.RemoteException", "File "+p+" could only be written to 0 of the 1 minReplication nodes.")
	}
	n.last++
	return located, nil
}

func (n *placingNameNode) Create(ctx context.Context, p string, o namenode.CreateOptions) (namenode.FileStatus, error) {
	n.mu.Lock()
	n.created[p] = o
	n.mu.Unlock()
	return n.fakeNameNode.Create(ctx, p, o)
}

func (n *placingNameNode) AbandonBlock(ctx context.Context, p, client string, b namenode.Block, _ uint64) error {
	n.mu.Lock()
	n.abandoned = append(n.abandoned, b.ID)
	n.mu.Unlock()
	return n.called(ctx, "abandonBlock", p, "client=%s", client)
}

// counting is randomness that never repeats itself.
type counting struct {
	mu sync.Mutex
	n  uint64
}

func (c *counting) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range p {
		c.n++
		p[i] = byte(c.n >> (8 * (i % 3)))
	}
	return len(p), nil
}

// newReportBench returns surroundings for a step of a run with blockReport whose pod has that address.
func newReportBench(t *testing.T, p *plan.Plan, ip string, sides ...*fakeSide) (*bench, *placingNameNode) {
	t.Helper()
	b := newBench(t, p)
	n := &placingNameNode{fakeNameNode: b.nn, sides: sides, ip: ip, waited: map[uint64]bool{}, created: map[string]namenode.CreateOptions{}}
	b.env.Random = &counting{}
	b.env.Connect = func(context.Context, *nnthroughput.Env, int) (nnthroughput.Target, error) { return n, nil }
	return b, n
}

// decodeReport returns the ids of a report's entries.
func decodeReport(t *testing.T, r namenode.EncodedReport) []int64 {
	t.Helper()
	var ids []int64
	for rest := r.Buffer; len(rest) > 0; {
		id, n := binary.Varint(rest)
		rest = rest[n:]
		ids = append(ids, id)
		for range 3 {
			_, n := binary.Uvarint(rest)
			rest = rest[n:]
		}
	}
	if uint64(len(ids)) != r.Blocks {
		t.Errorf("report of %d blocks holds %d", r.Blocks, len(ids))
	}
	return ids
}
