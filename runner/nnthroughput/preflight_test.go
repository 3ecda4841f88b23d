package nnthroughput_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/hadoop/namenode"
	"github.com/hadoop-bench/operator/runner/nnthroughput"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

const safeModeNote = base + "/_hadoopbench-safemode"

// newInspection returns surroundings for preflight in which nothing is there but the given paths.
func newInspection(t *testing.T, change func(*plan.NNThroughput), paths ...string) *bench {
	t.Helper()
	b := newBench(t, newPlan(plan.StepPreflight, change))
	b.nn = newFakeNameNode(b.clock, paths...)
	b.env.Connect = func(context.Context, *nnthroughput.Env, int) (nnthroughput.Target, error) { return b.nn, nil }
	return b
}

func operations(ops ...string) func(*plan.NNThroughput) {
	return func(n *plan.NNThroughput) { n.Operations = ops }
}

func useExisting(ops ...string) func(*plan.NNThroughput) {
	return func(n *plan.NNThroughput) { n.Operations, n.UseExisting = ops, true }
}

// set are the first and the last file of a set of ten, by upstream's names.
func set(dir string) []string {
	return []string{dir + "/ThroughputBenchDir0/ThroughputBench0", dir + "/ThroughputBenchDir2/ThroughputBench9"}
}

func TestPreflightFacts(t *testing.T) {
	b := newInspection(t, operations(plan.OpCreate))
	b.nn.live = []namenode.DataNode{{UUID: "a"}, {UUID: "b"}}
	b.mustRun(t)
	want := map[string]string{
		"fs": "hdfs://nn:8020", "nameNode": "nn:8020", "user": "tester", "blockSize": "134217728", "replication": "3", "runner": "v1", "go": "go1",
		"nameNodeVersion": "3.5.0", "blockPool": "BP-1", "liveDataNodes": "2", "capacityBytes": "1099511627776", "remainingBytes": "549755813888", "files": "0",
	}
	if diff := cmp.Diff(want, b.body.Facts); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{madeNote, marker}, b.nn.files("")); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// TestErratumE14VersionRequest: where service authorization is on, ordinary users may not ask for the version, which
// upstream does for every operation.
func TestErratumE14VersionRequest(t *testing.T) {
	b := newInspection(t, operations(plan.OpCreate))
	b.nn.fail = func(call, _ string) error {
		if call == "versionRequest" {
			return remoteError("security.authorize.AuthorizationException", "User tester is not authorized for protocol interface NamenodeProtocol")
		}
		return nil
	}
	b.mustRun(t)
	if got := b.body.Facts["nameNodeVersion"]; got != "unknown (not permitted)" {
		t.Errorf("version %q", got)
	}
}

// TestPreflightBaseDir: whose directory may a run work in?
func TestPreflightBaseDir(t *testing.T) {
	const other = base + "/_hadoopbench-run." + otherUID + ".ns.other"
	tests := map[string]struct {
		change func(*plan.NNThroughput)
		paths  []string
		reason string // of the refusal; empty: it may
		text   string
		claims bool // the marker is there in the end
	}{
		"missing":                             {operations(plan.OpCreate), nil, "", "", true},
		"empty":                               {operations(plan.OpCreate), []string{base + "/"}, "", "", true},
		"our own":                             {operations(plan.OpCreate), []string{marker, base + "/create/f"}, "", "", true},
		"our own trial":                       {operations(plan.OpCreate), []string{base + "/_hadoopbench-trial." + testUID}, "", "", true},
		"another run's":                       {operations(plan.OpCreate), []string{other}, steps.ReasonLeftoversFound, "run ns/other (UID " + otherUID + ")", false},
		"stale, as in erratum E10":            {operations(plan.OpOpen), []string{base + "/open/f", base + "/create/f"}, steps.ReasonBaseDirNotOurs, "2 entries and no marker of a run; they are for example create, open", false},
		"a set to read":                       {useExisting(plan.OpOpen), set(base + "/create"), "", "", false},
		"another run's set to read":           {useExisting(plan.OpOpen), append(set(base+"/create"), other), "", "", false},
		"a set of its own name":               {useExisting(plan.OpRename), set(base + "/rename"), "", "", false},
		"a set that the run makes":            {useExisting(plan.OpCreate, plan.OpOpen), nil, "", "", true},
		"no set, as in erratum E15":           {useExisting(plan.OpOpen), nil, steps.ReasonDataMissing, "holds neither open nor create", false},
		"a smaller set, as in erratum E15":    {useExisting(plan.OpFileStatus), set(base + "/create")[:1], steps.ReasonDataMissing, "ThroughputBench9 is no file, though 10 files", false},
		"a set, and more is made beside it":   {useExisting(plan.OpOpen, plan.OpMkdirs), set(base + "/create"), steps.ReasonBaseDirNotOurs, "1 entries", false},
		"a set, and everything to be deleted": {useExisting(plan.OpOpen, plan.OpClean), set(base + "/create"), steps.ReasonBaseDirNotOurs, "1 entries", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := newInspection(t, tt.change, tt.paths...)
			before := b.nn.files("")
			err := b.run(t)
			if tt.reason != "" {
				wantFailure(t, err, report.ExitTarget, tt.reason, tt.text)
			} else if err != nil {
				t.Errorf("Run: %v", err)
			}
			if got := slices.Contains(b.nn.files(""), marker); got != tt.claims {
				t.Errorf("marker there: %v, want %v", got, tt.claims)
			}
			if !tt.claims && !slices.Equal(before, b.nn.files("")) {
				t.Errorf("files %v became %v", before, b.nn.files(""))
			}
		})
	}
}

// TestPreflightBaseDirIsFile: the client says so by an error.
func TestPreflightBaseDirIsFile(t *testing.T) {
	b := newInspection(t, operations(plan.OpCreate), base)
	b.nn.fail = func(call, path string) error {
		if call == "getListing" {
			return fmt.Errorf("getListing: %s: %w", path, namenode.ErrNotDirectory)
		}
		return nil
	}
	wantFailure(t, b.run(t), report.ExitTarget, steps.ReasonBaseDirNotOurs, base+" is a file")
}

// TestKnownBug3OneDirectory: several clients collide in upstream's one directory. Of two runs that find a directory empty
// at the same time, none works there with the other; and a run with several base directories claims each.
func TestKnownBug3OneDirectory(t *testing.T) {
	const other = base + "/_hadoopbench-run." + otherUID + ".ns.other"
	b := newInspection(t, operations(plan.OpCreate))
	b.nn.fail = func(call, path string) error {
		if call == "complete" && path == marker {
			b.nn.put(other)
		}
		return nil
	}
	wantFailure(t, b.run(t), report.ExitTarget, steps.ReasonLeftoversFound, "run ns/other")
	if diff := cmp.Diff([]string{other}, b.nn.files("")); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}

	b = newInspection(t, func(n *plan.NNThroughput) { n.BaseDirs = []string{"/a/x", "/b/x"} })
	b.mustRun(t)
	name := strings.TrimPrefix(marker, base)
	if diff := cmp.Diff([]string{"/a/x/_hadoopbench-made.2", "/a/x" + name, "/b/x/_hadoopbench-made.2", "/b/x" + name}, b.nn.files("")); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// TestPreflightTrial translates what a NameNode says to a file like the run's. Known bug 5 is the block size, whose limit
// upstream's users met in the middle of a run.
func TestPreflightTrial(t *testing.T) {
	tests := map[string]struct {
		err    error
		exit   int
		reason string
		text   string
	}{
		"known bug 5, block size":       {remoteError("ipc.RemoteException", "Specified block size is less than configured minimum value (dfs.namenode.fs-limits.min-block-size): 16 < 1048576"), report.ExitPlan, steps.ReasonBlockSizeInvalid, "16 < 1048576"},
		"block size, as 3.5.0 says it":  {remoteError("ipc.RemoteException", "Specified block size 16 is less than configured minimum value dfs.namenode.fs-limits.min-block-size=1048576"), report.ExitPlan, steps.ReasonBlockSizeInvalid, "1048576"},
		"replication":                   {remoteError("ipc.RemoteException", "Requested replication factor of 600 exceeds maximum of 512 for /x"), report.ExitPlan, steps.ReasonReplicationInvalid, "maximum of 512"},
		"quota":                         {remoteError("hdfs.protocol.NSQuotaExceededException", "The NameSpace quota (directories and files) of directory /x is exceeded: quota=1 file count=2"), report.ExitTarget, steps.ReasonQuotaExceeded, "quota=1 file count=2"},
		"permission":                    {remoteError("security.AccessControlException", "Permission denied: user=tester, access=WRITE"), report.ExitTarget, steps.ReasonPermissionDenied, `as user "tester"`},
		"safe mode, wrapped":            {remoteError("ipc.RetriableException", "org.apache.hadoop.hdfs.server.namenode.SafeModeException: Cannot create file"), report.ExitTarget, steps.ReasonSafeMode, "Cannot create"},
		"too many files in a directory": {remoteError("hdfs.protocol.FSLimitException$MaxDirectoryItemsExceededException", "The directory item limit of /x is exceeded: limit=1048576 items=1048576"), report.ExitTarget, steps.ReasonQuotaExceeded, "limit=1048576"},
		"something else":                {errors.New("boom"), report.ExitBenchmark, steps.ReasonIOError, "boom"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := newInspection(t, operations(plan.OpCreate))
			b.nn.fail = func(call, path string) error {
				if call == "create" && strings.Contains(path, "-trial.") {
					return tt.err
				}
				return nil
			}
			wantFailure(t, b.run(t), tt.exit, tt.reason, tt.text)
			if files := b.nn.files(""); len(files) > 0 {
				t.Errorf("left behind: %v", files)
			}
		})
	}
}

// TestPreflightTrialIsLikeTheRun: the trial has the run's block size and replication.
func TestPreflightTrialIsLikeTheRun(t *testing.T) {
	b := newInspection(t, func(n *plan.NNThroughput) { n.BlockSize, n.Replication = 512, 7 })
	b.mustRun(t)
	want := []string{fmt.Sprintf("create %s/_hadoopbench-trial.%s client=hadoopbench-control overwrite=true replication=7 blockSize=512 permission=777", base, testUID)}
	if diff := cmp.Diff(want, b.nn.log("create "+base+"/_hadoopbench-trial.")); diff != "" {
		t.Errorf("trial (-want +got):\n%s", diff)
	}
}

func TestPreflightUnreachable(t *testing.T) {
	tests := map[string]struct {
		err    error
		reason string
		text   string
	}{
		"nobody there":   {&namenode.UnreachableError{Method: "getFileInfo", Answers: []namenode.Answer{{Address: "nn:8020", Err: errors.New("connection refused")}}}, steps.ReasonNameNodeUnreachable, "nn:8020: connection refused"},
		"none active":    {&namenode.UnreachableError{Method: "getFileInfo", Answers: []namenode.Answer{{Address: "nn1:8020", Err: errors.New("no route to host")}, {Address: "nn2:8020", Err: &namenode.StateError{State: "STANDBY"}}}}, steps.ReasonNoActiveNameNode, "nn2:8020: the NameNode is not active but STANDBY"},
		"wants Kerberos": {remoteError("security.AccessControlException", "SIMPLE authentication is not enabled.  Available:[TOKEN, KERBEROS]"), steps.ReasonLoginFailed, "SIMPLE authentication is not enabled"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := newInspection(t, operations(plan.OpCreate))
			b.nn.fail = func(string, string) error { return tt.err }
			wantFailure(t, b.run(t), report.ExitTarget, tt.reason, tt.text)
		})
	}
}

// TestPreflightFakeDataNode registers one and leaves nothing but its harmless entry; known bug 6 and erratum E11 are that
// the cluster sees them, so its owner must agree.
func TestPreflightFakeDataNode(t *testing.T) {
	side := newFakeSide("ACTIVE")
	p := reportPlan(1)
	p.Identity.Step = plan.StepPreflight
	b, _ := newReportBench(t, p, "198.51.100.1", side)
	b.mustRun(t)
	if diff := cmp.Diff([]string{"versionRequest 0", "registerDatanode 1", "errorReport 1"}, side.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	checkTakenBack(t, side)

	p.NNThroughput.AllowFakeDataNodes = false
	b, _ = newReportBench(t, p, "198.51.100.1", newFakeSide("ACTIVE"))
	wantFailure(t, b.run(t), report.ExitPlan, steps.ReasonDataNodeRefused, "spec.allowFakeDataNodes is not set")
}

// TestErratumE8SafeMode: upstream always leaves safe mode and sometimes enters it. Ours finds and leaves it as it was.
func TestErratumE8SafeMode(t *testing.T) {
	managed := func(n *plan.NNThroughput) { n.ManageSafeMode = true }
	b := newInspection(t, operations(plan.OpCreate))
	b.nn.safeMode = true
	wantFailure(t, b.run(t), report.ExitTarget, steps.ReasonSafeMode, "the NameNode is in safe mode")
	if !b.nn.safeMode {
		t.Error("safe mode was left without leave")
	}

	b = newInspection(t, managed)
	b.nn.safeMode = true
	b.mustRun(t)
	if diff := cmp.Diff([]string{madeNote, marker, safeModeNote}, b.nn.files("")); b.nn.safeMode || diff != "" {
		t.Errorf("safe mode %v, files (-want +got):\n%s", b.nn.safeMode, diff)
	}
	// A second attempt finds it off and must not forget that it was on.
	again := b.nn
	b = newInspection(t, managed)
	b.env.Connect = func(context.Context, *nnthroughput.Env, int) (nnthroughput.Target, error) { return again, nil }
	b.mustRun(t)

	// The operation clean leaves it to cleanup.
	for _, step := range []string{plan.OpClean, plan.StepCleanup} {
		b.env.Plan = newPlan(step, managed, operations(plan.OpCreate, plan.OpClean))
		b.mustRun(t)
		if want := step == plan.StepCleanup; again.safeMode != want {
			t.Errorf("safe mode %v after %s, want %v", again.safeMode, step, want)
		}
	}
	if files := again.files(""); len(files) > 0 {
		t.Errorf("left behind: %v", files)
	}

	// It was off: nothing is noted, and cleanup does not enter it.
	b = newInspection(t, managed)
	b.mustRun(t)
	if diff := cmp.Diff([]string{"setSafeMode  action=3 checked=true"}, b.nn.log("setSafeMode")); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// TestPreflightUndoesSafeMode: a claim that fails leaves safe mode on.
func TestPreflightUndoesSafeMode(t *testing.T) {
	b := newInspection(t, func(n *plan.NNThroughput) { n.ManageSafeMode = true })
	b.nn.safeMode = true
	b.nn.fail = func(call, path string) error {
		if call == "create" && path == safeModeNote {
			return errors.New("boom")
		}
		return nil
	}
	wantFailure(t, b.run(t), report.ExitBenchmark, steps.ReasonIOError, "boom")
	if files := b.nn.files(""); !b.nn.safeMode || len(files) > 0 {
		t.Errorf("safe mode %v, left behind: %v", b.nn.safeMode, files)
	}
}
