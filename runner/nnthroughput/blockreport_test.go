package nnthroughput_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/hadoop/namenode"
	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/nnthroughput"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

func TestShareOf(t *testing.T) {
	tests := map[string]struct {
		dataNodes, blocksPerReport, blocksPerFile, replication, shards, index int32
		want                                                                  [5]int64 // DataNodes, files, replication
	}{
		"upstream's defaults":         {10, 100, 10, 3, 1, 0, [5]int64{0, 10, 0, 34, 3}},
		"one DataNode":                {1, 100, 10, 3, 1, 0, [5]int64{0, 1, 0, 10, 1}},
		"two shards, first":           {10, 100, 10, 3, 2, 0, [5]int64{0, 5, 0, 17, 3}},
		"two shards, second":          {10, 100, 10, 3, 2, 1, [5]int64{5, 10, 17, 34, 3}},
		"three shards, first":         {10, 100, 10, 3, 3, 0, [5]int64{0, 3, 0, 10, 3}},
		"three shards, second":        {10, 100, 10, 3, 3, 1, [5]int64{3, 6, 10, 20, 3}},
		"three shards, third":         {10, 100, 10, 3, 3, 2, [5]int64{6, 10, 20, 34, 3}},
		"fewer DataNodes than copies": {5, 100, 10, 3, 2, 1, [5]int64{2, 5, 10, 25, 2}},
		"one DataNode each":           {10, 100, 10, 3, 10, 9, [5]int64{9, 10, 90, 100, 1}},
		"large":                       {32766, 1 << 30, 1, 3, 2, 1, [5]int64{16383, 32766, 5863704100864, 11727408201728, 3}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := nnthroughput.ShareOf(tt.dataNodes, tt.blocksPerReport, tt.blocksPerFile, tt.replication, tt.shards, tt.index)
			if got != tt.want {
				t.Errorf("share %v, want %v", got, tt.want)
			}
		})
	}
}

func TestReplicas(t *testing.T) {
	got := nnthroughput.Replicas([]namenode.Block{{ID: 1073741825, GenerationStamp: 1001}, {ID: 1073741826, GenerationStamp: 1002, NumBytes: 5}}, 5)
	want := []namenode.Replica{{ID: 1073741825, GenerationStamp: 1001}, {ID: 1073741826, GenerationStamp: 1002, NumBytes: 5}, {ID: 3}, {ID: 2}, {ID: 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("replicas (-want +got):\n%s", diff)
	}
}

func TestRunLength(t *testing.T) {
	many := make([]int, 1000)
	for i := range many {
		many[i] = i
	}
	tests := map[string]struct {
		numbers []int
		want    string
	}{
		"none":          {nil, ""},
		"one":           {[]int{7}, "7"},
		"all different": {[]int{1, 2, 3}, "1,2,3"},
		"all equal":     {[]int{100, 100, 100}, "100*3"},
		"upstream's":    {[]int{100, 100, 95, 100}, "100*2,95,100"},
		"too long":      {many, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := nnthroughput.RunLength(tt.numbers); got != tt.want {
				t.Errorf("text %q, want %q", got, tt.want)
			}
		})
	}
}

func TestActiveSide(t *testing.T) {
	tests := map[string]struct {
		states []string
		want   int
	}{
		"alone":                  {[]string{"ACTIVE"}, 0},
		"alone and old":          {[]string{""}, 0},
		"alone and standing by":  {[]string{"STANDBY"}, -1},
		"second":                 {[]string{"STANDBY", "ACTIVE"}, 1},
		"none":                   {[]string{"STANDBY", "OBSERVER"}, -1},
		"two that do not say so": {[]string{"", ""}, -1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var spaces []namenode.Namespace
			for _, s := range tt.states {
				spaces = append(spaces, namenode.Namespace{State: s})
			}
			if got := nnthroughput.ActiveSide(spaces); got != tt.want {
				t.Errorf("side %d, want %d", got, tt.want)
			}
		})
	}
}

// reportPlan is a plan for a shard of blockReport.
func reportPlan(shards int32, change ...func(*plan.NNThroughput)) *plan.Plan {
	p := newPlan(plan.OpBlockReport, append([]func(*plan.NNThroughput){func(n *plan.NNThroughput) {
		n.Operations = []string{plan.OpBlockReport}
		n.DataNodes, n.Reports, n.BlocksPerReport, n.BlocksPerFile = 10, 30, 100, 10
		n.BlockSize = 16
	}}, change...)...)
	p.Shards = shards
	return p
}

// TestBlockReport carries out both shards of a run, one after the other, and looks at what the NameNode learned: each
// DataNode its own share of reports, all of the same length, of blocks that were put there.
func TestBlockReport(t *testing.T) {
	side := newFakeSide("ACTIVE")
	var files, facts []string
	for index := range int32(2) {
		b, n := newReportBench(t, reportPlan(2), fmt.Sprintf("198.51.100.%d", index+1), side)
		b.env.Index = index
		n.last = uint64(1000 * index)
		var listed []*fakeListed
		n.fail = func(call, _ string) error {
			if call == "getDatanodeReport" && listed == nil && len(side.live()) > 5*int(index) {
				for _, d := range side.live() {
					if d.IP == n.ip {
						listed = append(listed, side.nodes[d.UUID])
					}
				}
			}
			return nil
		}
		b.mustRun(t)
		if b.body.Operations != 15 || b.body.Planned != 15 || b.body.Latency.Count() != 15 || len(b.body.Errors) > 0 {
			t.Errorf("shard %d: %d of %d reports, errors %v", index, b.body.Operations, b.body.Planned, b.body.Errors)
		}
		if len(listed) != 5 {
			t.Fatalf("shard %d registered %d DataNodes, want 5", index, len(listed))
		}
		for i, d := range listed {
			if want := uint32(5*index) + uint32(i) + 1; d.TransferPort != want {
				t.Errorf("port %d, want %d", d.TransferPort, want)
			}
			checkReports(t, d)
		}
		files = append(files, n.files(base+"/blockReport")...)
		facts = append(facts, b.body.Facts[report.FactBlocksPerDataNode])
		checkTakenBack(t, side)
	}
	if diff := cmp.Diff(reportFiles(34), files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"100*5", "100*3,85,86"}, facts); diff != "" {
		t.Errorf("real blocks (-want +got):\n%s", diff)
	}
}

// reportFiles are the names of the first n files of blockReport, sorted within each shard's half.
func reportFiles(n int) []string {
	var list []string
	for half := range 2 {
		var names []string
		for i := n * half / 2; i < n*(half+1)/2; i++ {
			names = append(names, fmt.Sprintf("%s/blockReport/ThroughputBenchDir0/ThroughputBench%d", base, i))
		}
		slices.Sort(names)
		list = append(list, names...)
	}
	return list
}

// checkReports wants an empty report and three full ones of blocks that the DataNode received.
func checkReports(t *testing.T, d *fakeListed) {
	t.Helper()
	if len(d.reports) != 4 || d.reports[0].Blocks != 0 {
		t.Fatalf("DataNode at port %d: %d reports, the first of %d blocks; want four, the first empty", d.TransferPort, len(d.reports), d.reports[0].Blocks)
	}
	for _, r := range d.reports[1:] {
		ids := decodeReport(t, r)
		if len(ids) != 100 {
			t.Errorf("report of %d blocks, want 100", len(ids))
		}
		for i, id := range ids {
			if !d.received[uint64(id)] && id != int64(100-i) {
				t.Errorf("block %d in slot %d was never received", id, i)
			}
		}
	}
}

// checkTakenBack wants at most one fake DataNode listed, under the run's common UUID and out of placement.
func checkTakenBack(t *testing.T, side *fakeSide) {
	t.Helper()
	fake := 0
	for _, n := range side.nodes {
		if !strings.HasPrefix(n.Host, "hadoopbench-fake-") {
			continue
		}
		if fake++; n.UUID != nnthroughput.CommonUUID(testUID) || n.placeable {
			t.Errorf("DataNode %s at port %d is still there", n.UUID, n.TransferPort)
		}
	}
	if fake != 1 {
		t.Errorf("%d fake DataNodes are listed, want one", fake)
	}
}

// TestErratumE3DefaultBlockSize: upstream's fake DataNodes have 100 MiB, too little for one block of the default size.
func TestErratumE3DefaultBlockSize(t *testing.T) {
	b, _ := newReportBench(t, reportPlan(1, func(n *plan.NNThroughput) { n.BlockSize = 0 }), "198.51.100.1", newFakeSide("ACTIVE"))
	b.mustRun(t)
	tests := map[string]struct {
		blockSize int64
		blocks    int32
		want      uint64
	}{
		"small":   {16, 100, 100 << 20},
		"default": {128 << 20, 100, 2 * 100 * 128 << 20},
		"many":    {128 << 20, 1 << 30, 1 << 49},
		"huge":    {1 << 60, 100, (1<<63 - 1) / 64 * 64},
	}
	for name, tt := range tests {
		if got := nnthroughput.FakeCapacity(tt.blockSize, tt.blocks); got != tt.want {
			t.Errorf("%s: capacity %d, want %d", name, got, tt.want)
		}
	}
}

// TestErratumE11FakeDataNodesStay: upstream's stay registered. Ours are taken back after success, failure and a stop.
func TestErratumE11FakeDataNodesStay(t *testing.T) {
	boom := errors.New("boom")
	stopped := &measure.Stopped{Reason: "Suspended"}
	tests := map[string]struct {
		fail func(n *placingNameNode, stop func()) // prepares what goes wrong
		want error
	}{
		"success":                      {func(*placingNameNode, func()) {}, nil},
		"a file cannot be created":     {func(n *placingNameNode, _ func()) { n.fail = failOn("create", boom) }, boom},
		"a block cannot be added":      {func(n *placingNameNode, _ func()) { n.fail = failOn("addBlock", boom) }, boom},
		"a registration has no answer": {func(n *placingNameNode, _ func()) { n.sides[0].fail = failOnPort("registerDatanode", 7, boom) }, boom},
		"a first report fails":         {func(n *placingNameNode, _ func()) { n.sides[0].fail = failOnPort("blockReport", 3, boom) }, boom},
		"stopped in set-up": {func(n *placingNameNode, stop func()) {
			n.fail = func(call, _ string) error {
				if call == "addBlock" {
					stop()
				}
				return nil
			}
		}, stopped},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			side := newFakeSide("ACTIVE")
			b, n := newReportBench(t, reportPlan(1), "198.51.100.1", side)
			ctx, cancel := context.WithCancelCause(t.Context())
			tt.fail(n, func() { cancel(stopped) })
			if err := nnthroughput.Run(ctx, b.env, &b.body); !errors.Is(err, tt.want) {
				t.Errorf("Run: %v, want %v", err, tt.want)
			}
			checkTakenBack(t, side)
		})
	}
}

// failOn makes the calls of a method on the run's own attempt fail.
func failOn(method string, err error) func(call, path string) error {
	return func(call, path string) error {
		if call == method && strings.Contains(path, "/ThroughputBench") {
			return err
		}
		return nil
	}
}

// failOnPort makes a method fail once for one DataNode, after it was carried out or not.
func failOnPort(method string, port uint32, err error) func(string, namenode.Registration) error {
	var done atomic.Bool
	return func(call string, r namenode.Registration) error {
		if call == method && r.TransferPort == port && !done.Swap(true) {
			return err
		}
		return nil
	}
}

// TestErratumE12ForeignDataNodes: upstream tells its DataNodes from others by host name and port, and so takes others'
// blocks for its own. This is row 6 of the known bugs, too.
func TestErratumE12ForeignDataNodes(t *testing.T) {
	side := newFakeSide("ACTIVE")
	side.addReal("real-1", "worker-1", "203.0.113.5", 3)                        // a port that a fake one has, too
	side.addReal("fake-of-others", "hadoopbench-fake-4.ns.b", "203.0.113.6", 5) // of another run on another host
	b, n := newReportBench(t, reportPlan(1), "198.51.100.1", side)
	n.misplace = 3 // whatever is excluded
	b.mustRun(t)
	if len(n.abandoned) == 0 {
		t.Error("no block was given back, though three were put anywhere")
	}
	for _, d := range []string{"real-1", "fake-of-others"} {
		if listed := side.nodes[d]; listed == nil || len(listed.received) > 0 || len(listed.reports) > 0 {
			t.Errorf("DataNode %s is gone, or something was reported for it", d)
		}
	}
}

// TestKnownBug2OrdinaryUser: upstream needs a superuser, not only for safe mode. Who may not list the DataNodes learns
// from misplaced blocks which are not his.
func TestKnownBug2OrdinaryUser(t *testing.T) {
	side := newFakeSide("ACTIVE")
	for i := range 100 {
		side.addReal(fmt.Sprintf("real-%d", i), "worker", fmt.Sprintf("203.0.113.%d", i), 9866)
	}
	b, n := newReportBench(t, reportPlan(1), "198.51.100.1", side)
	n.fail = func(call, _ string) error {
		if call == "getDatanodeReport" {
			return remoteError("security.AccessControlException", "Access denied for user tester. Superuser privilege is required for operation datanodeReport")
		}
		return nil
	}
	b.mustRun(t)
	for _, d := range side.live() {
		if listed := side.nodes[d.UUID]; strings.HasPrefix(d.UUID, "real-") && len(listed.received) > 0 {
			t.Errorf("DataNode %s was said to have %d blocks", d.UUID, len(listed.received))
		}
	}
	if calls := n.log("setSafeMode"); len(calls) > 0 {
		t.Errorf("safe mode was asked for: %v", calls)
	}
	checkTakenBack(t, side)
}

// TestBlockReportEvictsNobody: a fake DataNode would take the place of a real one with the same address.
func TestBlockReportEvictsNobody(t *testing.T) {
	side := newFakeSide("ACTIVE")
	side.addReal("real-1", "worker-1", "127.0.0.1", 4)
	b, _ := newReportBench(t, reportPlan(1), "127.0.0.1", side)
	wantFailure(t, b.run(t), report.ExitTarget, steps.ReasonDataNodeRefused, "DataNode worker-1 (127.0.0.1:4) would be replaced")
	if side.count("registerDatanode") > 0 {
		t.Error("a DataNode was registered all the same")
	}
}

// TestBlockReportMisplacedForEver: a NameNode that never heeds the exclusions ends the step.
func TestBlockReportMisplacedForEver(t *testing.T) {
	side := newFakeSide("ACTIVE")
	for i := range 200 {
		side.addReal(fmt.Sprintf("real-%d", i), "worker", fmt.Sprintf("203.0.113.%d", i), 9866)
	}
	b, n := newReportBench(t, reportPlan(1), "198.51.100.1", side)
	n.misplace = 1 << 30
	wantFailure(t, b.run(t), report.ExitBenchmark, steps.ReasonIOError, "chose DataNodes that were to be excluded")
	checkTakenBack(t, side)
}

// TestKnownBug1HA: upstream cannot work with a name service of two NameNodes. DataNodes report to both; the reports that
// are measured go to the active one.
func TestKnownBug1HA(t *testing.T) {
	standby, active := newFakeSide("STANDBY"), newFakeSide("ACTIVE")
	b, n := newReportBench(t, reportPlan(1), "198.51.100.1", standby, active)
	n.active = 1
	b.mustRun(t)
	if got, want := standby.count("blockReport"), 10; got != want {
		t.Errorf("%d reports to the standby, want the %d first ones", got, want)
	}
	if got, want := active.count("blockReport"), 10+30; got != want {
		t.Errorf("%d reports to the active NameNode, want %d", got, want)
	}
	if s, a := standby.count("blockReceivedAndDeleted"), active.count("blockReceivedAndDeleted"); s != a || a == 0 {
		t.Errorf("%d blocks received by the standby's account, %d by the active one's", s, a)
	}
	checkTakenBack(t, standby)
	checkTakenBack(t, active)
}

// TestBlockReportFailover: what was reported to a NameNode that became a standby is no result.
func TestBlockReportFailover(t *testing.T) {
	one, two := newFakeSide("ACTIVE"), newFakeSide("STANDBY")
	b, _ := newReportBench(t, reportPlan(1), "198.51.100.1", one, two)
	one.fail = func(call string, _ namenode.Registration) error {
		if call == "blockReport" && one.count("blockReport") >= 20 { // threads may pass 20 together
			one.mu.Lock()
			one.space.State = "STANDBY"
			one.mu.Unlock()
		}
		return nil
	}
	wantFailure(t, b.run(t), report.ExitTarget, steps.ReasonNoActiveNameNode, "did not stay active: it is STANDBY now")
	checkTakenBack(t, one)
	checkTakenBack(t, two)
}

// TestBlockReportStandbyDies: a standby that is gone at the end is no reason to lose the measurement.
func TestBlockReportStandbyDies(t *testing.T) {
	standby, active := newFakeSide("STANDBY"), newFakeSide("ACTIVE")
	b, n := newReportBench(t, reportPlan(1), "198.51.100.1", standby, active)
	n.active = 1
	active.fail = func(call string, _ namenode.Registration) error {
		if call == "blockReport" && active.count("blockReport") == 20 {
			standby.fail = func(string, namenode.Registration) error {
				return &namenode.UnreachableError{Method: "registerDatanode"}
			}
		}
		return nil
	}
	b.mustRun(t)
	checkTakenBack(t, active)
}

// TestBlockReportWithoutActive: nothing is registered if there is nobody to measure.
func TestBlockReportWithoutActive(t *testing.T) {
	one, two := newFakeSide("STANDBY"), newFakeSide("STANDBY")
	b, _ := newReportBench(t, reportPlan(1), "198.51.100.1", one, two)
	wantFailure(t, b.run(t), report.ExitTarget, steps.ReasonNoActiveNameNode, "none of the 2 NameNodes")
	if one.count("registerDatanode")+two.count("registerDatanode") > 0 {
		t.Error("a DataNode was registered all the same")
	}
}

// TestBlockReportOneNameNodeDown: the one that is there is enough.
func TestBlockReportOneNameNodeDown(t *testing.T) {
	down, active := newFakeSide(""), newFakeSide("ACTIVE")
	down.fail = func(string, namenode.Registration) error { return &namenode.UnreachableError{Method: "versionRequest"} }
	b, n := newReportBench(t, reportPlan(1), "198.51.100.1", down, active)
	n.active = 1
	b.mustRun(t)
	checkTakenBack(t, active)
	if got := down.count("registerDatanode"); got > 0 {
		t.Errorf("%d registrations with a NameNode that is down", got)
	}
}

// TestBlockReportRefused translates the refusals a NameNode has for fake DataNodes.
func TestBlockReportRefused(t *testing.T) {
	tests := map[string]struct {
		err    error
		remedy string
	}{
		"address without a name": {remoteError("hdfs.server.protocol.DisallowedDatanodeException", "Datanode denied communication with namenode because hostname cannot be resolved (ip=198.51.100.1, hostname=198.51.100.1)"), "dfs.namenode.datanode.registration.ip-hostname-check"},
		"service authorization":  {remoteError("security.authorize.AuthorizationException", "User alice is not authorized for protocol interface DatanodeProtocol: this service is only accessible by dn/host"), "security.datanode.protocol.acl"},
		"too old":                {remoteError("hdfs.server.common.IncorrectVersionException", "The reported DataNode version is too low"), "dfs.namenode.min.supported.datanode.version"},
	}
	for name, tt := range tests {
		for _, step := range []string{plan.StepPreflight, plan.OpBlockReport} {
			t.Run(name+" in "+step, func(t *testing.T) {
				side := newFakeSide("ACTIVE")
				side.fail = func(call string, _ namenode.Registration) error {
					if call == "registerDatanode" {
						return tt.err
					}
					return nil
				}
				p := reportPlan(1)
				p.Identity.Step = step
				b, _ := newReportBench(t, p, "198.51.100.1", side)
				err := b.run(t)
				wantFailure(t, err, report.ExitTarget, steps.ReasonDataNodeRefused, "the NameNode refuses a fake DataNode: ")
				if own := new(steps.Error); errors.As(err, &own) && !strings.Contains(own.Failure.Remedy, tt.remedy) {
					t.Errorf("remedy %q, want %q in it", own.Failure.Remedy, tt.remedy)
				}
			})
		}
	}
}

// tickClock lets a test decide when the keep-alive's minutes have passed.
type tickClock struct {
	*stepClock
	tick chan struct{}
}

func (c *tickClock) Wait(ctx context.Context, d time.Duration) error {
	if d != nnthroughput.KeepAliveInterval {
		return c.stepClock.Wait(ctx, d)
	}
	select {
	case <-c.tick:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// TestBlockReportKeepAlive: DataNodes stay alive, and a NameNode that forgot one gets to know it again.
func TestBlockReportKeepAlive(t *testing.T) {
	side := newFakeSide("ACTIVE")
	b, n := newReportBench(t, reportPlan(1), "198.51.100.1", side)
	clock := &tickClock{stepClock: b.clock, tick: make(chan struct{})}
	b.env.Clock, b.env.Gate.Clock = clock, clock
	forgotten, once := "", atomic.Bool{}
	n.fail = func(call, _ string) error {
		if call == "addBlock" && !once.Swap(true) {
			forgotten = side.live()[4].UUID
			side.mu.Lock()
			delete(side.nodes, forgotten)
			side.mu.Unlock()
			clock.tick <- struct{}{}
			clock.tick <- struct{}{} // taken only once the first round is over
		}
		return nil
	}
	b.mustRun(t)
	if got := side.count("sendHeartbeat"); got < 21 {
		t.Errorf("%d heartbeats, want 10 at first, 10 after a minute and one of the forgotten DataNode", got)
	}
	// Once each, once more for the forgotten one, and ten times to take them back.
	if got := side.count("registerDatanode"); got != 21 {
		t.Errorf("%d registrations, want 21", got)
	}
	checkTakenBack(t, side)
}
