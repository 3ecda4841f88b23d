package nnthroughput_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
		"everything":                       {plan.StepCleanup, nil, append(made(), marker), nil, "", 5, ""},
		"the marker alone":                 {plan.StepCleanup, nil, []string{marker}, nil, "", 0, ""},
		"nothing":                          {plan.StepCleanup, nil, nil, nil, "", 0, ""},
		"another run's":                    {plan.StepCleanup, nil, []string{base + "/create/f", other}, []string{other, base + "/create/f"}, "", 0, ""},
		"no marker":                        {plan.StepCleanup, nil, []string{base + "/create/f"}, []string{base + "/create/f"}, "", 0, ""},
		"something of others":              {plan.StepCleanup, nil, append(made(), marker, foreign, base+"/create.old/f"), []string{base + "/create.old/f", foreign}, "", 5, base + "/create.old " + foreign},
		"clean at the end":                 {plan.OpClean, []string{plan.OpCreate, plan.OpClean}, append(made(), marker), nil, "", 5, ""},
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
