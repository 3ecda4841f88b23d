package nnthroughput_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/hadoop/conf"
	"github.com/hadoop-bench/operator/runner/nnthroughput"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// The tests of this file are named by the defects of the original tool that this one is free of. Those of the command line
// and of fake DataNodes are with these.

// E1: -appendNewBlk never takes effect.
func TestDefectE1AppendNewBlk(t *testing.T) {
	b := newBench(t, oneThread(plan.OpAppend, 1, func(n *plan.NNThroughput) { n.AppendNewBlk = true }))
	b.mustRun(t)
	want := []string{"append " + base + "/append" + firstFile + " client=TestClient newBlock=true"}
	if diff := cmp.Diff(want, b.nn.log("append")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// E4: any failure of an operation stops its thread, and the program waits for ever for what it did not do. E18: a failure
// loses all results and leaves the exit code at 0. Here failures are counted by class and the others go on.
func TestDefectE4FailuresAreCounted(t *testing.T) {
	for name, tc := range map[string]struct {
		op, call string
		err      error
		answer   bool
		want     report.ErrorCount
	}{
		"create refused": {
			plan.OpCreate, "create", remoteError("hdfs.protocol.NSQuotaExceededException", "The NameSpace quota is exceeded"), false,
			report.ErrorCount{Class: "NSQuotaExceededException", Count: 3, First: "The NameSpace quota is exceeded"},
		},
		"complete refused": {
			plan.OpCreate, "complete", remoteError("hdfs.server.namenode.LeaseExpiredException", "No lease"), false,
			report.ErrorCount{Class: "LeaseExpiredException", Count: 3, First: "No lease"},
		},
		"append refused": {
			plan.OpAppend, "append", remoteError("ipc.RetriableException", "not now"), false,
			report.ErrorCount{Class: "RetriableException", Count: 3, First: "not now"},
		},
		// The original tool takes these for done.
		"mkdirs answers false": {plan.OpMkdirs, "mkdirs", nil, true, report.ErrorCount{Class: "ReturnedFalse", Count: 3, First: "mkdirs of " + base}},
		"delete answers false": {plan.OpDelete, "delete", nil, true, report.ErrorCount{Class: "ReturnedFalse", Count: 3, First: "delete of " + base}},
		"rename answers false": {plan.OpRename, "rename", nil, true, report.ErrorCount{Class: "ReturnedFalse", Count: 3, First: "rename of " + base}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, newPlan(tc.op, func(n *plan.NNThroughput) { n.Close = true }))
			third := func(call, path string) bool {
				return call == tc.call && strings.HasPrefix(path, base+"/"+tc.op) && slices.Contains([]byte("147"), path[len(path)-1])
			}
			b.nn.fail = func(call, path string) error {
				if third(call, path) {
					return tc.err
				}
				return nil
			}
			if tc.answer {
				b.nn.answerFalse = third
			}
			b.mustRun(t)
			if b.body.Operations != 7 || len(b.body.Errors) != 1 {
				t.Fatalf("%d operations, errors %v", b.body.Operations, b.body.Errors)
			}
			got := b.body.Errors[0]
			if got.Class != tc.want.Class || got.Count != tc.want.Count || !strings.Contains(got.First, tc.want.First) {
				t.Errorf("errors %+v, want %+v", got, tc.want)
			}
		})
	}
}

// E4, E18: if nothing succeeds, that is a failure with the first error's text.
func TestDefectE4EveryOperationFailed(t *testing.T) {
	b := newBench(t, newPlan(plan.OpFileStatus))
	b.nn.fail = func(call, path string) error {
		if call == "getFileInfo" {
			return remoteError("security.AccessControlException", "Permission denied: user=tester, access=EXECUTE")
		}
		return nil
	}
	wantFailure(t, b.run(t), report.ExitBenchmark, steps.ReasonEveryOperation, "none of 10 operations succeeded; the first failed with AccessControlException: ")
	if len(b.body.Errors) != 1 || b.body.Errors[0].Count != 10 {
		t.Errorf("errors %v", b.body.Errors)
	}
}

// A file that is not there is a failure of open and fileStatus.
func TestMissingFilesAreFailures(t *testing.T) {
	for _, op := range []string{plan.OpOpen, plan.OpFileStatus} {
		t.Run(op, func(t *testing.T) {
			paths := slices.DeleteFunc(existing(base+"/create", 10), func(p string) bool { return strings.HasSuffix(p, "5") })
			b := newBench(t, newPlan(op, func(n *plan.NNThroughput) { n.UseExisting, n.Threads = true, 1 }), paths...)
			b.mustRun(t)
			want := []report.ErrorCount{{
				Class: "FileNotFoundException", Count: 1,
				First: "File does not exist: " + base + "/create/ThroughputBenchDir1/ThroughputBench5",
			}}
			if diff := cmp.Diff(want, b.body.Errors); diff != "" || b.body.Operations != 9 {
				t.Errorf("%d operations, errors (-want +got):\n%s", b.body.Operations, diff)
			}
		})
	}
}

// E5: whole milliseconds make 0 of an operation that takes less.
func TestDefectE5Nanoseconds(t *testing.T) {
	b := newBench(t, oneThread(plan.OpFileStatus, 3))
	b.env.Clock = finer{b.clock}
	b.mustRun(t)
	if l := b.body.Latency; l.Sum() != 3*1234 {
		t.Errorf("sum of three latencies %d ns, want 3 times 1234", l.Sum())
	}
}

// finer is a clock that moves on by 1234 ns each time it is read.
type finer struct{ *stepClock }

func (c finer) Now() time.Time {
	c.advance(1234)
	return c.peek()
}

// E6: the time of a thread's last operation can be missing from the sum.
func TestDefectE6EveryTimeCounts(t *testing.T) {
	b := newBench(t, newPlan(plan.OpFileStatus, func(n *plan.NNThroughput) { n.Threads, n.Files = 16, 400 }))
	b.mustRun(t)
	if n := b.body.Latency.Count(); n != 400 || b.body.Series.Total() != 400 || b.body.Operations != 400 {
		t.Errorf("%d latencies, %d in the series, %d operations", n, b.body.Series.Total(), b.body.Operations)
	}
}

// E8: safe mode is left before each operation, and entered and the namespace saved after the last. Row 2 of the known
// complaints: that needs a superuser. E14: and versionRequest is asked for by operations that never use its answer.
func TestDefectE8SafeModeIsNotTouched(t *testing.T) {
	for _, op := range measuredOperations()[:7] {
		for _, keep := range []bool{false, true} {
			b := newBench(t, newPlan(op, func(n *plan.NNThroughput) { n.KeepResults = keep }))
			b.mustRun(t)
			if got := b.nn.log("setSafeMode", "saveNamespace", "versionRequest", "refresh"); len(got) > 0 {
				t.Errorf("%s, keepResults %v: %v", op, keep, got)
			}
		}
	}
}

// E10: what an earlier run left in <base>/<op> makes the tool work on wrong files, and leaks others. Row 3: so do clients
// that share a directory.
func TestDefectE10StaleDirectories(t *testing.T) {
	p := newPlan(plan.OpOpen)
	p.Identity.Attempt = 2
	b := newBench(t, p, base+"/open/stale", base+"/create/stale")
	b.mustRun(t)
	if b.body.Operations != 10 || len(b.body.Errors) > 0 {
		t.Errorf("%d operations, errors %v", b.body.Operations, b.body.Errors)
	}
	if got := b.nn.files(base); len(got) != 11 || !strings.HasPrefix(got[1], base+"/open.1.2/") {
		t.Errorf("files %v, want the marker and ten of this attempt", got)
	}
}

// E13: one connection for all threads, and a set-up that is not told of. Connections are the target's matter; it learns
// how many threads there are.
func TestDefectE13SetUpIsToldApart(t *testing.T) {
	b := newBench(t, newPlan(plan.OpOpen, func(n *plan.NNThroughput) { n.Threads = 7 }))
	threads := 0
	connect := b.env.Connect
	b.env.Connect = func(ctx context.Context, env *nnthroughput.Env, n int) (nnthroughput.Target, error) {
		threads = n
		return connect(ctx, env, n)
	}
	b.nn.fail = func(call, _ string) error {
		if call == "complete" {
			b.clock.advance(time.Second)
		}
		return nil
	}
	b.mustRun(t)
	if threads != 7 || b.body.SetUp < 10_000_000 || b.body.End-b.body.Start > 1_000_000 {
		t.Errorf("%d threads, set-up %d µs, measurement %d µs", threads, b.body.SetUp, b.body.End-b.body.Start)
	}
}

// E15: -useExisting with more files than exist never ends.
func TestDefectE15MoreFilesThanExist(t *testing.T) {
	for name, tc := range map[string]struct {
		paths []string
		want  string
	}{
		"too few":   {existing(base+"/create", 9), "/ThroughputBench9 is no file, though 10 files with filesPerDir 4 are to exist"},
		"none":      {nil, "neither " + base + "/open nor " + base + "/create is a directory"},
		"a file":    {[]string{base + "/create"}, "is a directory"},
		"other set": {[]string{base + "/create/ThroughputBenchDir0/x"}, "is no file"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, newPlan(plan.OpOpen, func(n *plan.NNThroughput) { n.UseExisting = true }), tc.paths...)
			wantFailure(t, b.run(t), report.ExitTarget, steps.ReasonDataMissing, tc.want)
			if b.body.Start != 0 {
				t.Error("something was measured")
			}
		})
	}
}

// More threads than files: those without any have nothing to look for.
func TestExistingFilesForMoreThreads(t *testing.T) {
	b := newBench(t, newPlan(plan.OpOpen, func(n *plan.NNThroughput) { n.UseExisting, n.Threads = true, 13 }), existing(base+"/create", 10)...)
	b.mustRun(t)
	if b.body.Operations != 10 {
		t.Errorf("%d operations, want 10", b.body.Operations)
	}
}

// E16: -threads 0 prints the time since 1970 as the elapsed time.
func TestDefectE16NoThreads(t *testing.T) {
	b := newBench(t, newPlan(plan.OpCreate, func(n *plan.NNThroughput) { n.Threads = 0 }))
	wantFailure(t, b.run(t), report.ExitPlan, steps.ReasonPlanInvalid, "threads 0: not between 1 and 1000000")
}

// E17: -replication does not reach the files.
func TestDefectE17Replication(t *testing.T) {
	b := newBench(t, oneThread(plan.OpCreate, 1, func(n *plan.NNThroughput) { n.Replication, n.BlockSize = 2, 1048576 }))
	b.mustRun(t)
	if got := b.nn.log("create " + base + "/create/"); len(got) != 1 || !strings.Contains(got[0], " replication=2 blockSize=1048576 ") {
		t.Errorf("calls %v", got)
	}
}

// Row 4: a block size with a unit in the configuration is no number to the tool. Row 5: and where it comes from is unclear.
func TestDefectBlockSizeWithUnit(t *testing.T) {
	b := newBench(t, oneThread(plan.OpCreate, 1))
	c, err := conf.Load(nil, conf.Options{Overrides: map[string]string{"dfs.blocksize": "1m", "dfs.replication": "5"}})
	if err != nil {
		t.Fatal(err)
	}
	b.env.Conf = c
	b.mustRun(t)
	if got := b.nn.log("create " + base + "/create/"); len(got) != 1 || !strings.Contains(got[0], " replication=5 blockSize=1048576 ") {
		t.Errorf("calls %v", got)
	}
}

// Row 7: more names than the tree has end in an array's bounds.
func TestDefectTooManyNames(t *testing.T) {
	for name, tc := range map[string]struct {
		p    *plan.Plan
		want string
	}{
		"create":    {newPlan(plan.OpCreate, func(n *plan.NNThroughput) { n.Files, n.FilesPerDir = 20, 1 }), "files 20: with filesPerDir 1 there are names for 19; raise filesPerDir"},
		"mkdirs":    {newPlan(plan.OpMkdirs, func(n *plan.NNThroughput) { n.Dirs = 2_097_149 }), "dirs 2097149: with dirsPerDir 2 there are names for 2097148; raise dirsPerDir"},
		"preflight": {newPlan(plan.StepPreflight, func(n *plan.NNThroughput) { n.Files, n.FilesPerDir = 20, 1 }), "files 20: with filesPerDir 1"},
	} {
		t.Run(name, func(t *testing.T) {
			wantFailure(t, newBench(t, tc.p).run(t), report.ExitPlan, steps.ReasonPlanInvalid, tc.want)
		})
	}
}

func TestRunRefusesPlans(t *testing.T) {
	for name, tc := range map[string]struct {
		step   string
		change func(*plan.Plan)
		want   string
	}{
		"no part of it":              {plan.OpCreate, func(p *plan.Plan) { p.NNThroughput = nil }, "nnThroughput is missing"},
		"other engine":               {plan.OpCreate, func(p *plan.Plan) { p.NNThroughput.Engine = "Upstream" }, `engine "Upstream"`},
		"no uid":                     {plan.OpCreate, func(p *plan.Plan) { p.Identity.RunUID = "" }, `uid ""`},
		"no base":                    {plan.OpCreate, func(p *plan.Plan) { p.NNThroughput.BaseDirs = nil }, "0 base directories"},
		"relative base":              {plan.OpCreate, func(p *plan.Plan) { p.NNThroughput.BaseDirs = []string{"x"} }, `baseDirName "x": write an absolute path`},
		"root":                       {plan.OpCreate, func(p *plan.Plan) { p.NNThroughput.BaseDirs = []string{"/"} }, "belongs to everybody"},
		"base twice":                 {plan.OpCreate, func(p *plan.Plan) { p.NNThroughput.BaseDirs = []string{"/a", "/a"} }, "choose one outside /a"},
		"base within another":        {plan.OpCreate, func(p *plan.Plan) { p.NNThroughput.BaseDirs = []string{"/a/b", "/a"} }, "choose one outside /a: threads in the two would meet"},
		"replication":                {plan.OpReplication, func(*plan.Plan) {}, `step "replication": only engine Upstream can do it`},
		"unknown step":               {"truncate", func(*plan.Plan) {}, `step "truncate": not known`},
		"unknown operation":          {plan.OpCreate, func(p *plan.Plan) { p.NNThroughput.Operations = []string{"all"} }, `operation "all": not known`},
		"more shards":                {plan.OpCreate, func(p *plan.Plan) { p.Shards = 4 }, "4 shards for 3 threads"},
		"more shards than dataNodes": {plan.OpBlockReport, func(p *plan.Plan) { p.Shards = 4 }, "4 shards for 3 dataNodes"},
		"two clean":                  {plan.OpClean, func(p *plan.Plan) { p.Shards = 2 }, "2 shards: step clean is done by one"},
		"fake DataNodes":             {plan.OpBlockReport, func(p *plan.Plan) { p.NNThroughput.AllowFakeDataNodes = false }, "allowFakeDataNodes must be set"},
		"no files":                   {plan.OpOpen, func(p *plan.Plan) { p.NNThroughput.Files = 0 }, "files 0: operation open needs at least 1"},
		"no dirsPerDir":              {plan.OpMkdirs, func(p *plan.Plan) { p.NNThroughput.DirsPerDir = 0 }, "dirsPerDir 0"},
		"no reports":                 {plan.OpBlockReport, func(p *plan.Plan) { p.NNThroughput.Reports = 0 }, "reports 0"},
		"too many dataNodes":         {plan.OpBlockReport, func(p *plan.Plan) { p.NNThroughput.DataNodes = 32767 }, "dataNodes 32767: not between 0 and 32766"},
		"delete for a while":         {plan.OpDelete, func(p *plan.Plan) { p.NNThroughput.DurationMillis = 1 }, "operation delete consumes its files"},
		"no connection":              {plan.OpCreate, func(p *plan.Plan) { p.NNThroughput.Connections = 0 }, "connections 0"},
		"negative rate":              {plan.OpCreate, func(p *plan.Plan) { p.NNThroughput.RateMilli = -1 }, "rateMilli -1"},
		"negative block size":        {plan.OpCreate, func(p *plan.Plan) { p.NNThroughput.BlockSize = -1 }, "blockSize -1"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlan(tc.step)
			tc.change(p)
			b := newBench(t, p)
			wantFailure(t, b.run(t), report.ExitPlan, steps.ReasonPlanInvalid, tc.want)
			if len(b.nn.log()) > 0 {
				t.Errorf("calls %v", b.nn.log())
			}
		})
	}
	p := newPlan(plan.OpCreate)
	b := newBench(t, p)
	b.env.Index = 1
	wantFailure(t, b.run(t), report.ExitPlan, steps.ReasonPlanInvalid, fmt.Sprintf("index 1: not between 0 and %d", p.Shards-1))
}
