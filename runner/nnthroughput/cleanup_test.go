package nnthroughput_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/hadoop/namenode"
	"github.com/hadoop-bench/operator/runner/hadoop/rpc"
	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/nnthroughput"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// made is what a run may have left, with markers to be added.
func made() []string {
	return []string{
		base + "/create/ThroughputBenchDir0/ThroughputBench0", base + "/open.2.1/ThroughputBenchDir0/ThroughputBench0",
		base + "/rename.1.2.warmup/f", base + "/mkdirs.2.1.1/ThroughputBenchDir0/", base + "/_hadoopbench-clock." + testUID + ".create.0",
	}
}

func TestCleanup(t *testing.T) {
	const foreign = base + "/notes.txt"
	other := strings.Replace(marker, testUID, otherUID, 1)
	tests := map[string]struct {
		step   string
		ops    []string
		paths  []string
		want   []string // files in the end
		reason string   // of the refusal
		done   int64    // deletions
		left   string
	}{
		"everything":                       {plan.StepCleanup, nil, append(made(), marker, madeNote), nil, "", 5, ""},
		"the marker alone":                 {plan.StepCleanup, nil, []string{marker, madeNote}, nil, "", 0, ""},
		"nothing":                          {plan.StepCleanup, nil, nil, nil, "", 0, ""},
		"another run's":                    {plan.StepCleanup, nil, []string{base + "/create/f", other}, []string{other, base + "/create/f"}, "", 0, base + "/create"},
		"no marker":                        {plan.StepCleanup, nil, []string{base + "/create/f"}, []string{base + "/create/f"}, "", 0, base + "/create"},
		"something of others":              {plan.StepCleanup, nil, append(made(), marker, foreign, base+"/create.old/f"), []string{base + "/create.old/f", foreign}, "", 5, base + "/create.old " + foreign},
		"clean at the end":                 {plan.OpClean, []string{plan.OpCreate, plan.OpClean}, append(made(), marker, madeNote), nil, "", 5, ""},
		"clean in the middle":              {plan.OpClean, []string{plan.OpCreate, plan.OpClean, plan.OpOpen}, append(made(), marker), []string{marker}, "", 5, ""},
		"clean for the second time":        {plan.OpClean, []string{plan.OpClean}, nil, nil, "", 0, ""},
		"clean of what is somebody else's": {plan.OpClean, []string{plan.OpClean}, []string{base + "/create/f", other}, []string{other, base + "/create/f"}, steps.ReasonNotOurs, 0, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := newInspection(t, operations(tt.ops...), tt.paths...)
			b.env.Plan.Identity.Step = tt.step
			err := b.run(t)
			if tt.reason != "" {
				wantFailure(t, err, report.ExitTarget, tt.reason, "has no marker of this run")
			} else if err != nil {
				t.Errorf("Run: %v", err)
			}
			if diff := cmp.Diff(tt.want, b.nn.files("")); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			if b.body.Operations != tt.done || b.body.Facts["left"] != tt.left {
				t.Errorf("%d deletions, left %q; want %d, %q", b.body.Operations, b.body.Facts["left"], tt.done, tt.left)
			}
			if len(tt.want) == 0 && len(b.nn.dirs("")) > 1 { // the root
				t.Errorf("directories are left: %v", b.nn.dirs(""))
			}
		})
	}
}

// TestCleanupLeavesWhatOthersMade: directories that were there before the run stay, however empty they are.
func TestCleanupLeavesWhatOthersMade(t *testing.T) {
	dirs := []string{"/", "/nnThroughputBenchmark", "/nnThroughputBenchmark/ns", base}
	for name, tt := range map[string]struct {
		notes []string
		want  []string
	}{
		"none was made":     {nil, dirs},
		"one was made":      {[]string{base + "/_hadoopbench-made.1"}, dirs[:3]},
		"two were made":     {[]string{base + "/_hadoopbench-made.2"}, dirs[:2]},
		"a note of nothing": {[]string{base + "/_hadoopbench-made.x"}, dirs},
	} {
		t.Run(name, func(t *testing.T) {
			b := newInspection(t, operations(), append(tt.notes, marker, base+"/create/f")...)
			b.env.Plan.Identity.Step = plan.StepCleanup
			b.mustRun(t)
			if diff := cmp.Diff(tt.want, b.nn.dirs("")); diff != "" {
				t.Errorf("directories (-want +got):\n%s", diff)
			}
		})
	}
}

// TestErratumE7CleanHonoursTheDirectory: upstream's clean deletes its default directory, whatever it was told. This is
// row 3 of the known bugs, too.
func TestErratumE7CleanHonoursTheDirectory(t *testing.T) {
	const kept = "/nnThroughputBenchmark/others/create/f"
	name := strings.TrimPrefix(marker, base)
	b := newInspection(t, func(n *plan.NNThroughput) {
		n.BaseDirs, n.Operations = []string{"/a/x", "/b/x"}, []string{plan.OpClean}
	}, kept, "/a/x"+name, "/a/x/create/f", "/b/x"+name, "/b/x/create/f", "/b/y")
	b.env.Plan.Identity.Step = plan.OpClean
	b.mustRun(t)
	if diff := cmp.Diff([]string{"/b/y", kept}, b.nn.files("")); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// TestCleanupStopped: what a stop leaves, the next cleanup understands.
func TestCleanupStopped(t *testing.T) {
	b := newInspection(t, func(n *plan.NNThroughput) { n.ManageSafeMode = true }, append(made(), marker, safeModeNote)...)
	b.env.Plan.Identity.Step = plan.StepCleanup
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := &measure.Stopped{Reason: "Suspended"}
	b.nn.fail = func(call, _ string) error {
		if call == "delete" {
			cancel(stopped)
		}
		return nil
	}
	if err := nnthroughput.Run(ctx, b.env, &b.body); !errors.Is(err, stopped) {
		t.Errorf("Run: %v, want the order to stop", err)
	}
	if files := b.nn.files(""); len(files) < 3 || b.nn.safeMode {
		t.Errorf("files %v, safe mode %v", files, b.nn.safeMode)
	}
	b.nn.fail = nil
	b.mustRun(t)
	if files := b.nn.files(""); len(files) > 0 || !b.nn.safeMode {
		t.Errorf("files %v, safe mode %v", files, b.nn.safeMode)
	}
}

// TestCleanupOfLargeTrees: the NameNode goes on deleting when the call for it is given up.
func TestCleanupOfLargeTrees(t *testing.T) {
	const tree = base + "/create"
	late := &rpc.LostError{Address: "nn1:8020", Method: "delete", Timeout: true, Err: errors.New("no answer within 1m0s")}
	gaveUp := &namenode.UnreachableError{Method: "delete", Attempts: 2, Answers: []namenode.Answer{
		{Address: "nn1:8020", Err: late}, {Address: "nn2:8020", Err: remoteError("ipc.StandbyException", "standby")},
	}}
	down := &namenode.UnreachableError{Method: "delete", Attempts: 2, Answers: []namenode.Answer{{Address: "nn1:8020", Err: errors.New("connection refused")}}}
	tests := map[string]struct {
		answers []error // to the calls about the tree, in order; after them all is well
		gone    int     // before this answer the tree is gone; 0: the calls delete it
		reason  string
		calls   []string
	}{
		"gone when looked at":      {[]error{gaveUp}, 1, "", []string{"delete", "getFileInfo"}},
		"gone after some time":     {[]error{gaveUp, gaveUp, gaveUp}, 3, "", []string{"delete", "getFileInfo", "getFileInfo", "getFileInfo"}},
		"still there and deleted":  {[]error{gaveUp, nil, gaveUp}, 0, "", []string{"delete", "getFileInfo", "delete", "getFileInfo", "delete"}},
		"down":                     {[]error{down}, 0, steps.ReasonNameNodeUnreachable, []string{"delete"}},
		"down while it is deleted": {[]error{gaveUp, down}, 0, steps.ReasonNameNodeUnreachable, []string{"delete", "getFileInfo"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := newInspection(t, operations(plan.OpCreate), tree+"/ThroughputBenchDir0/ThroughputBench0", marker)
			b.env.Plan.Identity.Step = plan.StepCleanup
			var calls []string
			b.nn.fail = func(call, path string) error {
				if path != tree {
					return nil
				}
				calls = append(calls, call)
				n := len(calls) - 1
				if tt.gone > 0 && n == tt.gone {
					b.nn.drop(tree)
				}
				if n < len(tt.answers) {
					return tt.answers[n]
				}
				return nil
			}
			err := b.run(t)
			if tt.reason != "" {
				wantFailure(t, err, report.ExitTarget, tt.reason, "delete "+tree)
			} else if files := b.nn.files(""); err != nil || len(files) > 0 {
				t.Errorf("Run: %v, files %v", err, files)
			}
			if diff := cmp.Diff(tt.calls, calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCleanupOfLargeTreesEnds: only the step's own deadline ends the waiting.
func TestCleanupOfLargeTreesEnds(t *testing.T) {
	b := newInspection(t, operations(plan.OpCreate), base+"/create/f", marker)
	b.env.Plan.Identity.Step = plan.StepCleanup
	ctx, cancel := context.WithCancelCause(t.Context())
	calls := 0
	b.nn.fail = func(call, path string) error {
		if path != base+"/create" {
			return nil
		}
		if calls++; calls == 100 {
			cancel(measure.ErrDeadline)
		}
		return &namenode.UnreachableError{Answers: []namenode.Answer{{Address: "nn:8020", Err: &rpc.LostError{Timeout: true, Err: errors.New("no answer")}}}}
	}
	if err := nnthroughput.Run(ctx, b.env, &b.body); !errors.Is(err, measure.ErrDeadline) || calls != 100 {
		t.Errorf("Run: %v after %d calls, want the deadline after 100", err, calls)
	}
	if diff := cmp.Diff([]string{marker, base + "/create/f"}, b.nn.files("")); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// TestCleanupStoppedAtTheEnd: once the marker goes, safe mode is entered again whatever happens.
func TestCleanupStoppedAtTheEnd(t *testing.T) {
	b := newInspection(t, func(n *plan.NNThroughput) { n.ManageSafeMode = true }, marker, safeModeNote)
	b.env.Plan.Identity.Step = plan.StepCleanup
	ctx, cancel := context.WithCancelCause(t.Context())
	b.nn.fail = func(call, path string) error {
		if call == "delete" && path == marker {
			cancel(&measure.Stopped{Reason: "Suspended"})
		}
		return nil
	}
	if err := nnthroughput.Run(ctx, b.env, &b.body); err != nil {
		t.Errorf("Run: %v", err)
	}
	if !b.nn.safeMode {
		t.Error("safe mode was not entered again")
	}
}

func TestIsAttempt(t *testing.T) {
	for name, want := range map[string]bool{
		"create": true, "blockReport": true, "open.2.1": true, "open.2.1.warmup": true, "create.warmup": true, "rename.3.1.2": true,
		"": false, "clean": false, "created": false, "create.": false, "create.1": false, "create.01.2": false, "create.0.1": false,
		"create.1.2.3.4": false, "create.x.1": false, "create.-1.1": false, "replication": false, ".warmup": false, "create.warmup.warmup": false,
	} {
		if got := nnthroughput.IsAttempt(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}
