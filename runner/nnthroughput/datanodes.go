package nnthroughput

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hadoop-bench/operator/runner/hadoop/namenode"
	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// What fake DataNodes say of themselves, as upstream's do. Nobody listens on these ports.
const (
	fakeInfoPort   = 9864
	fakeSecurePort = 9865
	fakeIPCPort    = 9867
	// fakeHost begins the host name of each: so whoever looks at the NameNode's list sees what they are.
	fakeHost = "hadoopbench-fake-"
	// fakeIP stands where the NameNode puts the address it sees.
	fakeIP = "0.0.0.0"
	// minCapacity is upstream's capacity of a DataNode, in bytes.
	minCapacity = 100 << 20
	// maxCapacity keeps the sum over ten thousand DataNodes below what the NameNode can count.
	maxCapacity = 1 << 49
)

const (
	// keepAliveInterval is a third as often as real DataNodes send heartbeats. NameNodes take a silent one for dead after
	// 10.5 minutes, or sooner if they are set up so.
	keepAliveInterval = 10 * time.Second
	// fleetWorkers bounds how many DataNodes are registered at once.
	fleetWorkers = 16
)

// A fakeNode is one fake DataNode of a shard.
type fakeNode struct {
	index   int64 // global
	self    namenode.DataNode
	storage string

	mu     sync.Mutex
	blocks []namenode.Block // as many as a report has room for
	report namenode.EncodedReport
	// registered holds, for each NameNode, what goes with each call; the zero value until it answered.
	registered []namenode.Registration
	tried      []bool // registration was asked for, so it may be there
}

// newFakeNode makes DataNode index of a run, unregistered, for a number of NameNodes.
func newFakeNode(index int64, run string, random io.Reader, sides int) (*fakeNode, error) {
	uuid, err := randomUUID(random)
	if err != nil {
		return nil, err
	}
	storage, err := randomUUID(random)
	if err != nil {
		return nil, err
	}
	return &fakeNode{
		index: index, self: fakeDataNode(index, run, uuid), storage: "DS-" + storage,
		registered: make([]namenode.Registration, sides), tried: make([]bool, sides),
	}, nil
}

// fakeDataNode is what DataNode index of a run says of itself.
func fakeDataNode(index int64, run, uuid string) namenode.DataNode {
	return namenode.DataNode{
		IP: fakeIP, Host: fmt.Sprintf("%s%d.%s", fakeHost, index, strings.ReplaceAll(run, "/", ".")), UUID: uuid,
		TransferPort: uint32(index + 1), InfoPort: fakeInfoPort, SecurePort: fakeSecurePort, IPCPort: fakeIPCPort,
	}
}

// randomUUID is a UUID of version 4.
func randomUUID(random io.Reader) (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("make a UUID: %w", err)
	}
	return formatUUID(b, 4), nil
}

// commonUUID is the UUID under which all shards of a run take their fake DataNodes back.
func commonUUID(runUID string) string {
	sum := sha256.Sum256([]byte("hadoopbench.dev fake DataNodes of run " + runUID))
	return formatUUID([16]byte(sum[:16]), 8)
}

func formatUUID(b [16]byte, version byte) string {
	b[6] = b[6]&0x0f | version<<4
	b[8] = b[8]&0x3f | 0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// fakeCapacity is how many bytes a fake DataNode says it has: room for twice the blocks it reports, since the NameNode
// chooses only DataNodes with room for the blocks under way.
func fakeCapacity(blockSize int64, blocks int32) uint64 {
	high, low := bits.Mul64(uint64(blockSize)*2, uint64(blocks))
	if high > 0 || low > maxCapacity {
		// Blocks under way are few, but must have room, however large they are.
		low = max(maxCapacity, min(uint64(blockSize), math.MaxInt64/64)*64)
	}
	return max(minCapacity, low)
}

// fleet is a shard's fake DataNodes, as all NameNodes of the name service see them.
type fleet struct {
	sides    []DataNodeSide
	spaces   []namenode.Namespace // of each side
	active   int                  // side that was the active NameNode at first; reports are measured against it
	nodes    []*fakeNode
	byUUID   map[string]*fakeNode
	common   string // UUID under which they are taken back
	run      string // namespace/name
	capacity uint64
	clock    measure.Clock
	log      *slog.Logger
}

// register registers every DataNode with every NameNode, sends the empty first report, and a heartbeat with its capacity:
// only then the NameNode puts blocks there.
func (f *fleet) register(ctx context.Context) error {
	return parallel(ctx, fleetWorkers, len(f.nodes), func(ctx context.Context, _, i int) error {
		for side := range f.sides {
			if err := f.introduce(ctx, f.nodes[i], side); err != nil {
				return err
			}
		}
		return nil
	})
}

func (f *fleet) introduce(ctx context.Context, n *fakeNode, side int) error {
	n.mu.Lock()
	n.tried[side] = true
	n.mu.Unlock()
	r, err := f.sides[side].Register(ctx, f.registration(n.self, side))
	if err != nil {
		return fmt.Errorf("register: %w", err)
	}
	n.mu.Lock()
	n.registered[side] = r
	known := n.report // empty before its blocks are there
	n.mu.Unlock()
	if err := f.sides[side].BlockReport(ctx, r, n.storage, known); err != nil {
		return fmt.Errorf("send the first block report: %w", err)
	}
	if _, err := f.sides[side].Heartbeat(ctx, r, n.storage, f.capacity, true); err != nil {
		return fmt.Errorf("send the first heartbeat: %w", err)
	}
	return nil
}

// registration is what a DataNode asks a NameNode to be registered with. It carries the NameNode's own versions: its
// creation time, in particular, is asked for by every later call.
func (f *fleet) registration(d namenode.DataNode, side int) namenode.Registration {
	return namenode.Registration{DataNode: d, Namespace: f.spaces[side], SoftwareVersion: f.spaces[side].SoftwareVersion}
}

// at is what a NameNode knows a DataNode by.
func (n *fakeNode) at(side int) namenode.Registration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.registered[side]
}

// keep remembers a block for the report, unless that is full already, as upstream does.
func (n *fakeNode) keep(b namenode.Block, limit int32) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.blocks) < int(limit) {
		n.blocks = append(n.blocks, b)
	}
}

// keepAlive sends heartbeats until the context ends. Each NameNode has a goroutine of its own, so that one that is down
// holds nobody up. A NameNode that has forgotten a DataNode, since it was started anew, gets to know it again.
func (f *fleet) keepAlive(ctx context.Context) {
	var wait sync.WaitGroup
	defer wait.Wait()
	for side := range f.sides {
		wait.Go(func() {
			for f.clock.Wait(ctx, keepAliveInterval) == nil {
				for _, n := range f.nodes {
					if err := f.beat(ctx, n, side); err != nil && ctx.Err() == nil {
						f.log.Warn("Heartbeat of a fake DataNode failed", "dataNode", n.index, "error", err)
					}
				}
			}
		})
	}
}

func (f *fleet) beat(ctx context.Context, n *fakeNode, side int) error {
	again, err := f.sides[side].Heartbeat(ctx, n.at(side), n.storage, f.capacity, false)
	if again && err == nil {
		f.log.Warn("NameNode forgot a fake DataNode", "dataNode", n.index)
		err = f.introduce(ctx, n, side)
	}
	return err
}

// takeBack makes the NameNodes forget the fake DataNodes: one UUID, registered in turn on each of their addresses, takes
// the place of the others, and what remains, one entry, is taken out of placement. It tries everything and returns what
// failed. A NameNode that is down, and was not the active one, has nobody to place blocks for.
func (f *fleet) takeBack(ctx context.Context) error {
	failed := make([]error, len(f.sides))
	var wait sync.WaitGroup
	for side := range f.sides {
		wait.Go(func() {
			err := f.takeBackFrom(ctx, side)
			if err != nil && side != f.active && unreachable(err) {
				f.log.Warn("A NameNode keeps the fake DataNodes until they expire: it does not answer", "error", err)
				err = nil
			}
			failed[side] = err
		})
	}
	wait.Wait()
	return errors.Join(failed...)
}

func (f *fleet) takeBackFrom(ctx context.Context, side int) error {
	var failed []error
	var last *namenode.Registration
	for _, n := range f.nodes {
		n.mu.Lock()
		tried := n.tried[side]
		n.mu.Unlock()
		if !tried {
			continue
		}
		r, err := f.sides[side].Register(ctx, f.registration(fakeDataNode(n.index, f.run, f.common), side))
		if err != nil {
			if failed = append(failed, fmt.Errorf("take back fake DataNode %d: %w", n.index, err)); unreachable(err) || ctx.Err() != nil {
				break
			}
			continue
		}
		last = &r
	}
	if last == nil {
		return errors.Join(failed...)
	}
	err := f.sides[side].FatalDiskError(ctx, *last, "fake DataNode of a benchmark that is over")
	// Another shard may have registered the UUID for itself a moment ago, and reports the error then.
	if err != nil && classOf(err) != classUnregistered {
		failed = append(failed, fmt.Errorf("take fake DataNode %d out of placement: %w", last.TransferPort-1, err))
	}
	return errors.Join(failed...)
}

// evicted is a real DataNode that would lose its registration to one of the fake ones, since it has the same address: IP
// and a transfer port from first+1 to end. Fake ones may be replaced: they are of a run that is over.
func evicted(live []namenode.DataNode, ips []string, first, end int64) (namenode.DataNode, bool) {
	for _, d := range live {
		port := int64(d.TransferPort)
		if port > first && port <= end && slices.Contains(ips, d.IP) && !strings.HasPrefix(d.Host, fakeHost) {
			return d, true
		}
	}
	return namenode.DataNode{}, false
}

// refuseEviction fails if a fake DataNode would take a real one's place.
func refuseEviction(live []namenode.DataNode, ips []string, first, end int64) error {
	d, found := evicted(live, ips, first, end)
	if !found {
		return nil
	}
	return steps.Fail(report.ExitTarget, steps.ReasonDataNodeRefused,
		"lower spec.datanodes below that port, or keep the pods off that node (spec.podTemplate)",
		"DataNode %s (%s:%d) would be replaced by a fake one with the same address and port", d.Host, d.IP, d.TransferPort)
}
