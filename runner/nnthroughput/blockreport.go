package nnthroughput

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/hadoop-bench/operator/runner/hadoop/namenode"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// reportClient is upstream's holder of the leases on the files whose blocks are reported.
const reportClient = "blockReport-client-7"

// reportWriters bounds how many files are made at once.
const reportWriters = 16

// blockReport is the operation of this name: fake DataNodes send the NameNode full reports of blocks that files placed on
// them.
type blockReport struct {
	*step
	share reportShare
	fleet *fleet // nil before it is mustered

	stopBeating func() // ends the heartbeats and waits for that
}

func newBlockReport(s *step) operation {
	return &blockReport{
		step: s, share: shareOf(s.nnt, s.settings.replication, s.env.Plan.Shards, s.env.Index), stopBeating: func() {},
	}
}

// setUp registers the shard's DataNodes, makes its files and encodes its reports.
func (b *blockReport) setUp(ctx context.Context) error {
	var err error
	if b.fleet, err = b.muster(ctx); err != nil {
		return err
	}
	if err := b.fleet.refuseEvictions(ctx, b.control(), b.share); err != nil {
		return b.refused("look for DataNodes at this address", err)
	}
	if err := b.fleet.register(ctx); err != nil {
		return b.refusedNode(err)
	}
	beating, stop := context.WithCancel(ctx)
	var wait sync.WaitGroup
	wait.Go(func() { b.fleet.keepAlive(beating) })
	b.stopBeating = func() { stop(); wait.Wait() }
	if err := b.makeFiles(ctx); err != nil {
		return err
	}
	counts := make([]int, len(b.fleet.nodes))
	for i, n := range b.fleet.nodes {
		counts[i] = n.encode(b.nnt.BlocksPerReport)
	}
	b.fact(report.FactBlocksPerDataNode, runLength(counts))
	return nil
}

// encode makes the DataNode's report and returns how many of its blocks are real.
func (n *fakeNode) encode(slots int32) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.report = namenode.EncodeReport(replicas(n.blocks, slots))
	return len(n.blocks)
}

// muster makes the shard's fleet, with nothing registered yet.
func (b *blockReport) muster(ctx context.Context) (*fleet, error) {
	f, err := b.newFleet(ctx)
	if err != nil {
		return nil, err
	}
	for index := b.share.first; index < b.share.end; index++ {
		n, err := newFakeNode(index, f.run, b.env.Random, len(f.sides))
		if err != nil {
			return nil, err
		}
		f.nodes = append(f.nodes, n)
		f.byUUID[n.self.UUID] = n
	}
	return f, nil
}

// newFleet makes a fleet without DataNodes for those NameNodes of the name service that answer.
func (s *step) newFleet(ctx context.Context) (*fleet, error) {
	f := &fleet{
		byUUID: map[string]*fakeNode{}, common: commonUUID(s.env.Plan.Identity.RunUID), run: s.env.Plan.Run,
		capacity: fakeCapacity(s.settings.blockSize, s.nnt.BlocksPerReport), clock: s.env.Clock, log: s.env.Log,
	}
	sides := s.target.DataNodeSides()
	spaces, failed := make([]namenode.Namespace, len(sides)), make([]error, len(sides))
	var wait sync.WaitGroup
	for i, side := range sides {
		wait.Go(func() { spaces[i], failed[i] = side.Version(ctx) })
	}
	wait.Wait()
	for i, err := range failed {
		switch {
		case err == nil:
			f.sides, f.spaces = append(f.sides, sides[i]), append(f.spaces, spaces[i])
		case unreachable(err) && ctx.Err() == nil:
			s.env.Log.Warn("A NameNode is left out: it does not answer", "error", err)
		default:
			return nil, s.refusedNode(err)
		}
	}
	if len(f.sides) == 0 {
		return nil, s.refused("ask the NameNodes for their versions as a DataNode does", errors.Join(failed...))
	}
	if f.active = activeSide(f.spaces); f.active < 0 {
		return nil, steps.Fail(report.ExitTarget, steps.ReasonNoActiveNameNode, "make a NameNode active (hdfs haadmin)",
			"none of the %d NameNodes that answered says that it is active", len(f.sides))
	}
	return f, nil
}

// refuseEvictions fails if a real DataNode has an address that one of the shard's fake ones will have. Only superusers can
// know; a pod with an address of its own has none beside it anyway.
func (f *fleet) refuseEvictions(ctx context.Context, nn NameNode, share reportShare) error {
	live, err := nn.DataNodeReport(ctx, namenode.ReportLive)
	if err != nil && classOf(err) == classAccess {
		f.log.Warn("Nobody looked whether a real DataNode has this address: the user may not list DataNodes")
		return nil
	}
	if err != nil {
		return err
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		return fmt.Errorf("list own addresses: %w", err)
	}
	ips := make([]string, 0, len(own))
	for _, a := range own {
		if n, ok := a.(*net.IPNet); ok {
			ips = append(ips, n.IP.String())
		}
	}
	return refuseEviction(live, ips, share.first, share.end)
}

// refusedNode turns what a NameNode says to a fake DataNode into a failure.
func (s *step) refusedNode(err error) error {
	class, text := classOf(err), textOf(err)
	remedy := ""
	switch class {
	case classDisallowed:
		remedy = "let the pods' addresses in: dfs.namenode.datanode.registration.ip-hostname-check=false if they have no names, and dfs.hosts if it lists hosts"
	case classAuthorization, classAccess:
		remedy = "act as the DataNodes' principal (spec.target.kerberos), or let the user in: security.datanode.protocol.acl"
	case classVersion:
		remedy = "see dfs.namenode.min.supported.datanode.version on the NameNode"
	default:
		return s.refused("register a fake DataNode", err)
	}
	return &steps.Error{Exit: report.ExitTarget, Cause: err, Failure: report.Failure{
		Reason: steps.ReasonDataNodeRefused, Message: "the NameNode refuses a fake DataNode: " + text, Remedy: remedy,
	}}
}

// makeFiles makes the shard's files, several at a time.
func (b *blockReport) makeFiles(ctx context.Context) error {
	files := int(b.share.endFile - b.share.firstFile)
	b.total.Store(int64(files) * int64(b.nnt.BlocksPerFile))
	placer := &placer{step: b.step, fleet: b.fleet, share: b.share, known: map[string]bool{}}
	if _, err := placer.relist(ctx, b.control()); err != nil {
		return err
	}
	names := tree{perDir: reportFilesPerDir}
	return parallel(ctx, reportWriters, files, func(ctx context.Context, worker, i int) error {
		number := b.share.firstFile + int64(i)
		return placer.file(ctx, b.thread(worker), names.path(b.dir(number), number))
	})
}

// worker i is the shard's DataNode i.
func (b *blockReport) worker(i int) worker {
	return &reporter{b: b, own: i, side: b.fleet.sides[b.fleet.active]}
}

// takeDown makes the NameNodes forget the shard's DataNodes.
func (b *blockReport) takeDown(ctx context.Context) error {
	b.stopBeating()
	if b.fleet == nil {
		return nil
	}
	stayed := b.fleet.checkActive(ctx)
	if err := b.fleet.takeBack(ctx); err != nil {
		return b.refused("take the fake DataNodes back, which stay listed until they expire", err)
	}
	return stayed
}

// checkActive fails if the NameNode that was measured is not the active one any more: a standby takes reports, too, but
// its speed is not what was asked for.
func (f *fleet) checkActive(ctx context.Context) error {
	space, err := f.sides[f.active].Version(ctx)
	if err != nil || space.State == f.spaces[f.active].State {
		return nil // taking back fails in the same way
	}
	return steps.Fail(report.ExitTarget, steps.ReasonNoActiveNameNode, "measure again while no failover is under way",
		"the NameNode that got the block reports did not stay active: it is %s now", space.State)
}

// reporter sends the reports of one thread's DataNodes: its own, or, where a rate paces, whose turn it is.
type reporter struct {
	b    *blockReport
	own  int // DataNode of the shard
	side DataNodeSide

	storage string // of the DataNode whose turn it is
	as      namenode.Registration
	sent    namenode.EncodedReport
}

func (r *reporter) prepare(it item) error {
	r.use(int(it.owner - r.b.share.first))
	return nil
}

func (r *reporter) use(i int) {
	n := r.b.fleet.nodes[i]
	n.mu.Lock()
	defer n.mu.Unlock()
	r.storage, r.as, r.sent = n.storage, n.registered[r.b.fleet.active], n.report
}

func (r *reporter) do(ctx context.Context) error {
	return r.side.BlockReport(ctx, r.as, r.storage, r.sent)
}

// warmUp sends the thread's own report, which changes nothing.
func (r *reporter) warmUp(ctx context.Context, _ int64) error {
	r.use(r.own)
	return r.do(ctx)
}

func (r *reporter) after(context.Context) error { return nil }
