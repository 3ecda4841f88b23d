package nnthroughput_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
)

const firstFile = "/ThroughputBenchDir0/ThroughputBench0"

// withoutClock leaves out how the clock is read and what is looked at before.
func withoutClock(calls []string) []string {
	return slices.DeleteFunc(calls, func(c string) bool {
		return strings.Contains(c, "_hadoopbench-clock") || strings.HasPrefix(c, "getListing "+base)
	})
}

// What one file of each operation puts onto the wire, in the order in which the original tool does, less what it does to
// safe mode, to other directories and at the end.
func TestCallsOfOneFile(t *testing.T) {
	options := "overwrite=true replication=3 blockSize=134217728 permission=777"
	made := func(op string) []string {
		return []string{
			"create " + base + "/" + op + firstFile + " client=create-client-0 " + options,
			"complete " + base + "/" + op + firstFile + " client=create-client-0 last=false fileId=0",
		}
	}
	at := func(op string) string { return base + "/" + op + firstFile }
	for name, tc := range map[string]struct {
		op     string
		change func(*plan.NNThroughput)
		want   []string
	}{
		"create":       {plan.OpCreate, nil, []string{"create " + at("create") + " client=create-client-0 " + options}},
		"create close": {plan.OpCreate, func(n *plan.NNThroughput) { n.Close = true }, made("create")},
		"mkdirs":       {plan.OpMkdirs, nil, []string{"mkdirs " + at("mkdirs") + " permission=777 createParent=true"}},
		"open":         {plan.OpOpen, nil, append(made("open"), "getBlockLocations "+at("open")+" offset=0 length=134217728")},
		"delete":       {plan.OpDelete, nil, append(made("delete"), "delete "+at("delete")+" recursive=false")},
		"append":       {plan.OpAppend, nil, append(made("append"), "append "+at("append")+" client=TestClient newBlock=false")},
		"fileStatus":   {plan.OpFileStatus, nil, append(made("fileStatus"), "getFileInfo "+at("fileStatus"))},
		"rename":       {plan.OpRename, nil, append(made("rename"), "rename "+at("rename")+" to="+at("rename")+".r")},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlan(tc.op, func(n *plan.NNThroughput) { n.Threads, n.Files, n.Dirs = 1, 1, 1 })
			if tc.change != nil {
				tc.change(p.NNThroughput)
			}
			b := newBench(t, p)
			b.mustRun(t)
			if diff := cmp.Diff(tc.want, withoutClock(b.nn.log())); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if b.body.Operations != 1 || b.body.Planned != 1 || len(b.body.Errors) != 0 || b.body.Due != 0 {
				t.Errorf("%d operations of %d, due %d, errors %v", b.body.Operations, b.body.Planned, b.body.Due, b.body.Errors)
			}
		})
	}
}

// Whatever the number of shards, the files are those of one process, and each is worked on once.
func TestFilesOfShardsAreThoseOfOneProcess(t *testing.T) {
	for _, tc := range []struct {
		op                 string
		ops, threads, dirs int
		perDir, shards     int32
	}{
		{plan.OpCreate, 100, 7, 1, 4, 3},
		{plan.OpMkdirs, 61, 5, 1, 2, 5},
		{plan.OpRename, 41, 8, 1, 3, 4},
		{plan.OpFileStatus, 33, 6, 1, 100, 2},
		{plan.OpOpen, 2, 3, 1, 4, 3},
		{plan.OpCreate, 50, 7, 3, 4, 2},
	} {
		t.Run(fmt.Sprint(tc), func(t *testing.T) {
			work := func(shards int32) (files, dirs []string, operations int64) {
				var nn *fakeNameNode
				for index := range shards {
					p := newPlan(tc.op, func(n *plan.NNThroughput) {
						n.Files, n.Dirs, n.Threads, n.FilesPerDir, n.DirsPerDir = int64(tc.ops), int64(tc.ops), int32(tc.threads), tc.perDir, tc.perDir
						for i := 1; i < tc.dirs; i++ {
							n.BaseDirs = append(n.BaseDirs, fmt.Sprintf("/other%d", i))
						}
					})
					p.Shards = shards
					b := newBench(t, p)
					if b.env.Index = index; nn != nil {
						b.nn = nn
					}
					nn = b.nn
					b.mustRun(t)
					operations += b.body.Operations
				}
				return nn.files(""), nn.dirs(""), operations
			}
			oneFiles, oneDirs, _ := work(1)
			files, dirs, operations := work(tc.shards)
			if diff := cmp.Diff(oneFiles, files); diff != "" {
				t.Errorf("files (-one process +shards):\n%s", diff)
			}
			if diff := cmp.Diff(oneDirs, dirs); diff != "" {
				t.Errorf("directories (-one process +shards):\n%s", diff)
			}
			if operations != int64(tc.ops) {
				t.Errorf("%d operations, want %d", operations, tc.ops)
			}
		})
	}
}

// Thread t works in base directory t mod n, and rename stays within its own.
func TestSeveralBaseDirs(t *testing.T) {
	b := newBench(t, newPlan(plan.OpRename, func(n *plan.NNThroughput) {
		n.BaseDirs, n.Threads, n.Files = []string{base, "/two"}, 3, 3
	}), "/two/_hadoopbench-run."+testUID+".ns.run")
	b.mustRun(t)
	want := []string{
		"rename " + base + "/rename/ThroughputBenchDir0/ThroughputBench0 to=" + base + "/rename/ThroughputBenchDir0/ThroughputBench0.r",
		"rename " + base + "/rename/ThroughputBenchDir0/ThroughputBench2 to=" + base + "/rename/ThroughputBenchDir0/ThroughputBench2.r",
		"rename /two/rename/ThroughputBenchDir0/ThroughputBench1 to=/two/rename/ThroughputBenchDir0/ThroughputBench1.r",
	}
	got := b.nn.log("rename ")
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A later attempt works in a directory of its own, and the first shard clears what is the run's own and is left.
func TestAttemptsDoNotMeet(t *testing.T) {
	left := []string{base + "/rename" + firstFile + ".r", base + "/create" + firstFile, base + "/rename.2.2.warmup/x", base + "/_hadoopbench-safemode"}
	id := report.Identity{RunUID: testUID, Execution: 1, Step: plan.OpRename, Repeat: 2, Attempt: 2}
	kept := []string{base + "/_hadoopbench-safemode", marker}
	moved := base + "/rename.2.2" + firstFile + ".r"
	for name, tc := range map[string]struct {
		index  int32
		change func(*plan.NNThroughput)
		want   []string
	}{
		"first shard":  {0, nil, append(slices.Clone(kept), base+"/rename.2.2.warmup/x", moved)},
		"keep results": {0, func(n *plan.NNThroughput) { n.KeepResults = true }, append(slices.Concat(kept, left[:3]), moved)},
		"other shard":  {1, nil, slices.Concat(kept, left[:3])},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlan(plan.OpRename, func(n *plan.NNThroughput) { n.Threads, n.Files = 2, 1 })
			p.Identity, p.Shards = id, 2
			if tc.change != nil {
				tc.change(p.NNThroughput)
			}
			b := newBench(t, p, left...)
			b.env.Index = tc.index
			b.mustRun(t)
			slices.Sort(tc.want)
			if diff := cmp.Diff(tc.want, b.nn.files(base)); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNothingIsClearedWithoutTheMarker(t *testing.T) {
	b := newBench(t, newPlan(plan.OpCreate), base+"/theirs")
	b.nn.mu.Lock()
	delete(b.nn.entries, marker)
	b.nn.mu.Unlock()
	b.mustRun(t)
	if !slices.Contains(b.nn.files(base), base+"/theirs") {
		t.Errorf("somebody's file is gone")
	}
}

// existing makes the files that an earlier create left in a directory.
func existing(dir string, n int) []string {
	var paths []string
	for i := range n {
		paths = append(paths, dir+fmt.Sprintf("/ThroughputBenchDir%d/ThroughputBench%d", i/4, i))
	}
	return paths
}

// With useExisting nothing is created or moved: every shard works where the files lie.
func TestUseExisting(t *testing.T) {
	for name, tc := range map[string]struct {
		op, dir string
		also    string
	}{
		"create's":      {plan.OpOpen, "/create", ""},
		"its own":       {plan.OpFileStatus, "/fileStatus", base + "/create/other"},
		"to be deleted": {plan.OpDelete, "/create", ""},
	} {
		t.Run(name, func(t *testing.T) {
			paths := existing(base+tc.dir, 10)
			if tc.also != "" {
				paths = append(paths, tc.also)
			}
			b := newBench(t, newPlan(tc.op, func(n *plan.NNThroughput) { n.UseExisting = true }), paths...)
			b.mustRun(t)
			if b.body.Operations != 10 || len(b.body.Errors) > 0 {
				t.Errorf("%d operations, errors %v", b.body.Operations, b.body.Errors)
			}
			if got := withoutClock(b.nn.log("create", "complete", "rename", "mkdirs")); len(got) > 0 {
				t.Errorf("calls %v", got)
			}
		})
	}
}

// Reading what others wrote needs no right to write beside it: the report then has no clock.
func TestUseExistingWithoutTheRightToWrite(t *testing.T) {
	b := newBench(t, newPlan(plan.OpOpen, func(n *plan.NNThroughput) { n.UseExisting = true }), existing(base+"/create", 10)...)
	b.nn.fail = func(call, path string) error {
		if call == "create" {
			return remoteError("security.AccessControlException", "Permission denied: user=tester, access=WRITE")
		}
		return nil
	}
	b.mustRun(t)
	if b.body.Clock != nil || b.body.Operations != 10 {
		t.Errorf("clock %v, %d operations", b.body.Clock, b.body.Operations)
	}
}
