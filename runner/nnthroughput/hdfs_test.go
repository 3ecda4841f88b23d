package nnthroughput_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/hadoop/conf"
	"github.com/hadoop-bench/operator/runner/hadoop/namenode"
	"github.com/hadoop-bench/operator/runner/hadoop/rpc"
	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/nnthroughput"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

const otherUID = "99999999-2222-3333-4444-555555555555"

// A real HDFS for these tests, with simple authentication and nobody else working on it: hdfs://host:port, and the
// NameNode's web address.
const (
	hdfsEnv = "HADOOPBENCH_TEST_HDFS"
	httpEnv = "HADOOPBENCH_TEST_HTTP"
)

// cluster is a real HDFS, and a directory of this test in it.
type cluster struct {
	t    *testing.T
	uri  string
	web  string
	base string
	nn   *namenode.Worker // the test's own eyes, as superuser
}

func realHDFS(t *testing.T) *cluster {
	c := &cluster{
		t: t, uri: os.Getenv(hdfsEnv), web: os.Getenv(httpEnv),
		base: fmt.Sprintf("/nnThroughputBenchmark/%s/%d", path.Base(t.Name()), time.Now().UnixNano()),
	}
	if c.uri == "" || c.web == "" {
		t.Skipf("%s or %s is not set", hdfsEnv, httpEnv)
	}
	client, err := namenode.Connect(t.Context(), namenode.Options{
		Addresses: []string{strings.TrimPrefix(c.uri, "hdfs://")}, RPC: rpc.Options{User: superuser()},
	})
	if err != nil {
		t.Fatalf("Connect: %v", err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	c.nn = client.Worker(0)
	return c
}

// superuser is who started the NameNode; "root" unless the environment says otherwise.
func superuser() string {
	if user := os.Getenv("HADOOP_USER_NAME"); user != "" {
		return user
	}
	return "root"
}

// plan is that of a step of a run on two shards, of 40 files by six threads.
func (c *cluster) plan(step string, change ...func(*plan.NNThroughput)) *plan.Plan {
	p := newPlan(step, append([]func(*plan.NNThroughput){func(n *plan.NNThroughput) {
		n.Operations = []string{plan.OpCreate}
		n.BaseDirs, n.Threads, n.Files, n.Dirs, n.Connections = []string{c.base}, 6, 40, 30, 2
		n.BlockSize, n.Replication, n.Close = 1<<20, 2, true
		n.DataNodes, n.Reports, n.BlocksPerReport, n.BlocksPerFile = 5, 17, 40, 7
		n.HTTP = []string{c.web}
	}}, change...)...)
	p.Target.FS = c.uri
	if step != plan.StepPreflight && step != plan.StepCleanup && step != plan.OpClean {
		p.Shards = 2
	}
	return p
}

// run runs all shards of a step at once.
func (c *cluster) run(p *plan.Plan, change ...func(*nnthroughput.Env)) ([]report.Body, error) {
	c.t.Helper()
	configuration, err := conf.Load(nil, conf.Options{})
	if err != nil {
		c.t.Fatal(err)
	}
	bodies, failed := make([]report.Body, p.Shards), make([]error, p.Shards)
	var wait sync.WaitGroup
	for i := range bodies {
		env := &nnthroughput.Env{Env: steps.Env{
			Plan: p, Index: int32(i), Conf: configuration, User: superuser(), Clock: measure.System(), Self: measure.Self{Root: os.DirFS("/")},
			Gate:      &measure.Gate{Clock: measure.System(), ReadyFile: filepath.Join(c.t.TempDir(), strconv.Itoa(i))},
			Log:       slog.New(slog.NewTextHandler(c.t.Output(), nil)),
			LookupEnv: func(string) (string, bool) { return "", false },
		}}
		for _, ch := range change {
			ch(env)
		}
		wait.Go(func() { failed[i] = nnthroughput.Run(c.t.Context(), env, &bodies[i]) })
	}
	wait.Wait()
	return bodies, errors.Join(failed...)
}

func (c *cluster) mustRun(p *plan.Plan) []report.Body {
	c.t.Helper()
	bodies, err := c.run(p)
	if err != nil {
		c.t.Fatalf("step %s: %v", p.Identity.Step, err)
	}
	return bodies
}

// counts are the NameNode's own counts of calls.
func (c *cluster) counts() map[string]int64 {
	c.t.Helper()
	response, err := http.Get(c.web + "/jmx?qry=Hadoop:service=NameNode,name=RpcDetailedActivityForPort*")
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct{ Beans []map[string]any }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		c.t.Fatal(err)
	}
	counts := map[string]int64{}
	for _, bean := range answer.Beans {
		for name, value := range bean {
			if call, found := strings.CutSuffix(name, "NumOps"); found {
				counts[call] += int64(value.(float64))
			}
		}
	}
	return counts
}

// wantCalls waits until the NameNode's metrics, which lag behind, show what is wanted over the counts before.
func (c *cluster) wantCalls(before, want map[string]int64) {
	c.t.Helper()
	var got map[string]int64
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		now := c.counts()
		got = map[string]int64{}
		for call := range want {
			got[call] = now[call] - before[call]
		}
		if maps.Equal(got, want) {
			return
		}
	}
	c.t.Errorf("calls by the NameNode's own count (-want +got):\n%s", cmp.Diff(want, got))
}

// settled are the counts once they do not change any more.
func (c *cluster) settled() map[string]int64 {
	c.t.Helper()
	last := c.counts()
	for range 100 {
		time.Sleep(250 * time.Millisecond) // more than two periods of the metrics
		now := c.counts()
		same := true
		for _, call := range []string{"Create", "Complete", "Mkdirs", "Delete", "Append", "Rename", "GetBlockLocations", "GetFileInfo", "AddBlock", "BlockReport"} {
			same = same && now[call] == last[call]
		}
		if same {
			return now
		}
		last = now
	}
	c.t.Fatal("somebody else works on this NameNode")
	return nil
}

// tree lists what lies below a directory: directories, which are those with a slash at the end, and files.
func (c *cluster) tree(dir string) []string {
	c.t.Helper()
	entries, _, err := c.nn.List(c.t.Context(), dir)
	if err != nil {
		c.t.Fatalf("List: %v", err)
	}
	var list []string
	for _, e := range entries {
		name := path.Join(dir, e.Path)
		if e.Dir {
			list = append(list, name+"/")
			list = append(list, c.tree(name)...)
		} else {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

func (c *cluster) gone(name string) {
	c.t.Helper()
	if _, found, err := c.nn.GetFileInfo(c.t.Context(), name); found || err != nil {
		c.t.Errorf("%s is still there (%v)", name, err)
	}
}

// upstreamTree is what upstream's tool makes of n files, four in a directory, with a suffix to each name, or of
// directories, two in a directory.
func upstreamTree(dir string, n, perDir int, suffix string) []string {
	var list []string
	digits := []int{-1}
	at := dir
	for i := range n {
		if i%perDir == 0 {
			k := len(digits) - 1
			for ; k >= 0 && digits[k] == perDir-1; k-- {
				digits[k] = 0
			}
			if k >= 0 {
				digits[k]++
			} else {
				digits = append(digits, 0)
			}
			at = dir
			for _, d := range digits {
				at += fmt.Sprintf("/ThroughputBenchDir%d", d)
				list = append(list, at+"/")
			}
		}
		list = append(list, fmt.Sprintf("%s/ThroughputBench%d%s", at, i, suffix))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// TestHDFSEveryOperation runs each operation on two shards and compares with the NameNode's own counts and names. Each
// shard reads the clock with five files that it creates, and one that it deletes.
func TestHDFSEveryOperation(t *testing.T) {
	c := realHDFS(t)
	all := []string{
		plan.OpCreate, plan.OpMkdirs, plan.OpOpen, plan.OpDelete, plan.OpAppend, plan.OpFileStatus, plan.OpRename, plan.OpBlockReport,
	}
	facts := c.mustRun(c.plan(plan.StepPreflight, func(n *plan.NNThroughput) { n.Operations = all }))[0].Facts
	for fact, want := range map[string]string{"fs": c.uri, "blockSize": "1048576", "replication": "2", "user": superuser(), "files": "0"} {
		if facts[fact] != want {
			t.Errorf("fact %s is %q, want %q", fact, facts[fact], want)
		}
	}
	for _, fact := range []string{"nameNode", "nameNodeVersion", "blockPool", "liveDataNodes", "capacityBytes", "remainingBytes", "calls.before.Create", "calls.before.BlockReport"} {
		if facts[fact] == "" || strings.Contains(facts[fact], "un") {
			t.Errorf("fact %s is %q", fact, facts[fact])
		}
	}
	files, renamed := upstreamTree("", 40, 4, ""), upstreamTree("", 40, 4, ".r")
	empty := slices.DeleteFunc(slices.Clone(files), func(name string) bool { return !strings.HasSuffix(name, "/") })
	tests := []struct {
		op    string
		done  int64
		calls map[string]int64
		names []string
	}{
		{plan.OpCreate, 40, map[string]int64{"Create": 40 + 10, "Complete": 40, "Delete": 2}, files},
		{plan.OpMkdirs, 30, map[string]int64{"Mkdirs": 30, "Create": 10}, asDirs(upstreamTree("", 30, 2, ""))},
		{plan.OpOpen, 40, map[string]int64{"GetBlockLocations": 40, "Create": 50, "Complete": 40}, files},
		{plan.OpDelete, 40, map[string]int64{"Delete": 40 + 2 + 1, "Create": 50}, empty},
		{plan.OpAppend, 40, map[string]int64{"Append": 40, "Create": 50}, files},
		{plan.OpFileStatus, 40, map[string]int64{"GetFileInfo": 40, "Create": 50}, files},
		{plan.OpRename, 40, map[string]int64{"Rename": 40, "Create": 50}, renamed},
		// 5 DataNodes of 40 blocks, twice each: 100 blocks in 15 files of 7; each DataNode begins with an empty report.
		{plan.OpBlockReport, 17, map[string]int64{"BlockReport": 17 + 5, "Create": 15 + 10}, upstreamTree("", 15, 100, "")},
	}
	connecting := int64(0) // questions that are part of connecting, which may count as an operation's
	for _, tt := range tests {
		t.Run(tt.op, func(t *testing.T) {
			before := c.settled()
			if tt.op == plan.OpFileStatus {
				tt.calls["GetFileInfo"] += connecting
			}
			bodies := c.mustRun(c.plan(tt.op, func(n *plan.NNThroughput) { n.Operations = all }))
			var done int64
			for _, b := range bodies {
				done += b.Operations
				if b.Planned != b.Operations || b.Latency.Count() != b.Operations || len(b.Errors) > 0 || b.Clock == nil {
					t.Errorf("%d of %d operations, %d latencies, errors %v, clock %v", b.Operations, b.Planned, b.Latency.Count(), b.Errors, b.Clock)
				}
			}
			if done != tt.done {
				t.Errorf("%d operations, want %d", done, tt.done)
			}
			c.wantCalls(before, tt.calls)
			if tt.op == plan.OpCreate {
				connecting = c.counts()["GetFileInfo"] - before["GetFileInfo"]
			}
			var want []string
			for _, name := range tt.names {
				want = append(want, c.base+"/"+tt.op+name)
			}
			if diff := cmp.Diff(want, c.tree(c.base+"/"+tt.op)); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
		})
	}
	c.wantNoFakeDataNode()
	after := c.mustRun(c.plan(plan.StepCleanup, func(n *plan.NNThroughput) { n.Operations = all }))[0].Facts
	if after["calls.after.Rename"] == "" || after["left"] != "" {
		t.Errorf("facts %v", after)
	}
	c.gone(c.base)
	c.mustRun(c.plan(plan.StepCleanup)) // nothing left to do
}

// asDirs makes each file a directory.
func asDirs(names []string) []string {
	for i, name := range names {
		names[i] = strings.TrimSuffix(name, "/") + "/"
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// wantNoFakeDataNode wants at most one fake DataNode among the live ones, and none that blocks are put on.
func (c *cluster) wantNoFakeDataNode() {
	c.t.Helper()
	live, err := c.nn.DataNodeReport(c.t.Context(), namenode.ReportLive)
	if err != nil {
		c.t.Fatal(err)
	}
	var fake, real []namenode.DataNode
	for _, d := range live {
		if strings.HasPrefix(d.Host, "hadoopbench-fake-") {
			fake = append(fake, d)
		} else {
			real = append(real, d)
		}
	}
	if len(fake) > 1 || len(fake) == 1 && fake[0].UUID != nnthroughput.CommonUUID(testUID) {
		c.t.Errorf("fake DataNodes are still there: %v", fake)
	}
	file := c.base + "/placement"
	if _, err := c.nn.Create(c.t.Context(), file, namenode.CreateOptions{Client: "test", Replication: 1, BlockSize: 1 << 20, Permission: 0o644}); err != nil {
		c.t.Fatal(err)
	}
	located, err := c.nn.AddBlock(c.t.Context(), file, "test", nil, real, 0)
	if err == nil || !strings.Contains(err.Error(), "could only be written to 0 of") {
		c.t.Errorf("AddBlock without the real DataNodes: %v, %v; want that there is none", located, err)
	}
	if _, err := c.nn.Delete(c.t.Context(), file, false); err != nil {
		c.t.Error(err)
	}
}

// TestHDFSRefuses checks the answers of a real NameNode. Nothing is left behind.
func TestHDFSRefuses(t *testing.T) {
	c := realHDFS(t)
	if ok, err := c.nn.Mkdirs(t.Context(), c.base, 0o755, true); err != nil || !ok {
		t.Fatal(err)
	}
	tests := map[string]struct {
		change func(*plan.Plan)
		user   string
		exit   int
		reason string
		text   string
	}{
		"no right to write":  {func(*plan.Plan) {}, "nobody-here", report.ExitTarget, steps.ReasonPermissionDenied, `as user "nobody-here"`},
		"nor with DataNodes": {func(p *plan.Plan) { p.NNThroughput.Operations = []string{plan.OpBlockReport} }, "nobody-here", report.ExitTarget, steps.ReasonPermissionDenied, "nobody-here"},
		"too many replicas":  {func(p *plan.Plan) { p.NNThroughput.Replication = 513 }, "", report.ExitPlan, steps.ReasonReplicationInvalid, "512"},
		"blocks too small":   {func(p *plan.Plan) { p.NNThroughput.BlockSize = 15 }, "", report.ExitPlan, steps.ReasonBlockSizeInvalid, "less than configured minimum value"},
		"no set": {func(p *plan.Plan) {
			p.NNThroughput.UseExisting, p.NNThroughput.Operations = true, []string{plan.OpOpen}
		}, "", report.ExitTarget, steps.ReasonDataMissing, c.base + " holds neither open nor create"},
		"fake DataNodes": {func(p *plan.Plan) {
			p.NNThroughput.AllowFakeDataNodes = false
			p.NNThroughput.Operations = []string{plan.OpBlockReport}
		}, "", report.ExitPlan, steps.ReasonDataNodeRefused, "allowFakeDataNodes"},
		"a port of no service":   {func(p *plan.Plan) { p.Target.FS = "hdfs://127.0.0.1:1" }, "", report.ExitTarget, steps.ReasonNameNodeUnreachable, "127.0.0.1:1: connect: "},
		"an unknown host":        {func(p *plan.Plan) { p.Target.FS = "hdfs://namenode.invalid" }, "", report.ExitTarget, steps.ReasonUnknownHost, "namenode.invalid:8020: look up host"},
		"a port of another kind": {func(p *plan.Plan) { p.Target.FS = "hdfs://" + strings.TrimPrefix(c.web, "http://") }, "", report.ExitTarget, steps.ReasonNameNodeUnreachable, "getHAServiceState"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := c.plan(plan.StepPreflight, func(n *plan.NNThroughput) { n.Operations = []string{plan.OpCreate} })
			tt.change(p)
			_, err := c.run(p, func(env *nnthroughput.Env) {
				if tt.user != "" {
					env.User = tt.user
				}
			})
			wantFailure(t, err, tt.exit, tt.reason, tt.text)
			if names := c.tree(c.base); len(names) > 0 {
				t.Errorf("left behind: %v", names)
			}
		})
	}
	if _, err := c.nn.Delete(t.Context(), c.base, false); err != nil {
		t.Error(err)
	}
}

// TestHDFSOrdinaryUser: who is no superuser can do everything but manage safe mode.
func TestHDFSOrdinaryUser(t *testing.T) {
	c := realHDFS(t)
	open := c.base
	if ok, err := c.nn.Mkdirs(t.Context(), open, 0o777, true); err != nil || !ok {
		t.Fatal(err)
	}
	c.base += "/own"
	ordinary := func(env *nnthroughput.Env) { env.User = "alice" }
	both := func(n *plan.NNThroughput) { n.Operations = []string{plan.OpRename, plan.OpBlockReport} }
	for _, step := range []string{plan.StepPreflight, plan.OpRename, plan.OpBlockReport, plan.StepCleanup} {
		bodies, err := c.run(c.plan(step, both), ordinary)
		if err != nil {
			t.Fatalf("step %s: %v", step, err)
		}
		if live := bodies[0].Facts["liveDataNodes"]; step == plan.StepPreflight && live != "unknown (not permitted)" {
			t.Errorf("fact liveDataNodes is %q", live)
		}
	}
	c.gone(c.base)
	if _, err := c.nn.Delete(t.Context(), open, false); err != nil {
		t.Error(err)
	}
}

// TestHDFSSafeMode: safe mode is left as it was found, and left alone unless the run may manage it.
func TestHDFSSafeMode(t *testing.T) {
	c := realHDFS(t)
	set := func(action namenode.SafeModeAction) bool {
		t.Helper()
		on, err := c.nn.SetSafeMode(context.WithoutCancel(t.Context()), action, true)
		if err != nil {
			t.Fatal(err)
		}
		return on
	}
	set(namenode.SafeModeEnter)
	defer set(namenode.SafeModeLeave)
	_, err := c.run(c.plan(plan.StepPreflight))
	wantFailure(t, err, report.ExitTarget, steps.ReasonSafeMode, "the NameNode is in safe mode")
	managed := func(n *plan.NNThroughput) { n.ManageSafeMode, n.Operations = true, []string{plan.OpCreate} }
	c.mustRun(c.plan(plan.StepPreflight, managed))
	c.mustRun(c.plan(plan.OpCreate, managed))
	c.mustRun(c.plan(plan.StepCleanup, managed))
	if !set(namenode.SafeModeGet) {
		t.Error("safe mode was not entered again")
	}
	c.gone(c.base)
}

// TestHDFSUseExisting: one set serves several runs, and is left as it was.
func TestHDFSUseExisting(t *testing.T) {
	c := realHDFS(t)
	maker := func(p *plan.Plan) *plan.Plan { p.Identity.RunUID, p.Run = otherUID, "ns/maker"; return p }
	c.mustRun(maker(c.plan(plan.StepPreflight)))
	c.mustRun(maker(c.plan(plan.OpCreate)))
	set := c.tree(c.base)
	existing := func(n *plan.NNThroughput) {
		n.UseExisting, n.Operations = true, []string{plan.OpOpen, plan.OpFileStatus}
	}
	for _, step := range []string{plan.StepPreflight, plan.OpOpen, plan.OpFileStatus, plan.StepCleanup} {
		c.mustRun(c.plan(step, existing))
		if diff := cmp.Diff(set, c.tree(c.base)); diff != "" {
			t.Errorf("set after %s (-want +got):\n%s", step, diff)
		}
	}
	_, err := c.run(c.plan(plan.StepPreflight, existing, func(n *plan.NNThroughput) { n.Files = 41 }))
	wantFailure(t, err, report.ExitTarget, steps.ReasonDataMissing, "ThroughputBench40 is no file, though 41 files")
	_, err = c.run(c.plan(plan.StepPreflight, func(n *plan.NNThroughput) { n.Operations = []string{plan.OpOpen} }))
	wantFailure(t, err, report.ExitTarget, steps.ReasonLeftoversFound, "run ns/maker (UID "+otherUID+")")
	c.mustRun(maker(c.plan(plan.StepCleanup)))
	c.gone(c.base)
}
