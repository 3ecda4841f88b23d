package nnthroughput_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/hadoop/namenode"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
)

// nnEnv lists lone NameNodes, without DataNodes and with simple authentication, of each version of Hadoop that is
// supported: "3.3.6=host:port:webport,...".
const nnEnv = "HADOOPBENCH_TEST_NN"

// eachVersion runs a test against the NameNode of each version, as if it were the only one.
func eachVersion(t *testing.T, test func(t *testing.T, version string)) {
	t.Helper()
	list := os.Getenv(nnEnv)
	if list == "" {
		t.Skipf("%s is not set", nnEnv)
	}
	for entry := range strings.SplitSeq(list, ",") {
		version, where, _ := strings.Cut(entry, "=")
		at := strings.Split(where, ":")
		if len(at) != 3 {
			t.Fatalf("%s: %q is not version=host:port:webport", nnEnv, entry)
		}
		t.Run(version, func(t *testing.T) {
			t.Setenv(hdfsEnv, "hdfs://"+at[0]+":"+at[1])
			t.Setenv(httpEnv, "http://"+at[0]+":"+at[2])
			test(t, version)
		})
	}
}

// TestVersionsEveryOperation: every operation does on each version what it does on the HDFS of the other tests, call by
// call, without any real DataNode.
func TestVersionsEveryOperation(t *testing.T) {
	eachVersion(t, func(t *testing.T, _ string) { TestHDFSEveryOperation(t) })
}

// TestVersionsKeepResults: what create leaves is there by the NameNode's own count, and the original tool's report tells of
// as many files.
func TestVersionsKeepResults(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		c := realHDFS(t)
		keep := func(n *plan.NNThroughput) { n.KeepResults = true }
		if got := c.mustRun(c.plan(plan.StepPreflight, keep))[0].Facts["nameNodeVersion"]; got != version {
			t.Errorf("fact nameNodeVersion is %q, want %q", got, version)
		}
		p := c.plan(plan.OpCreate, keep)
		bodies := c.mustRun(p)
		sum, err := c.nn.ContentSummary(t.Context(), c.base+"/create")
		if err != nil {
			t.Fatal(err)
		}
		tree := upstreamTree("", 40, 4, "")
		if want := (namenode.ContentSummary{Files: 40, Directories: uint64(len(tree)-40) + 1}); sum != want {
			t.Errorf("content summary (-want +got):\n%s", cmp.Diff(want, sum))
		}
		wantText(t, p, bodies)
		c.mustRun(c.plan(plan.StepCleanup))
		c.gone(c.base)
	})
}

// wantText writes the original tool's report of a create, and reads it again.
func wantText(t *testing.T, p *plan.Plan, bodies []report.Body) {
	t.Helper()
	in := report.MergeInput{Expected: p.Shards}
	for i, b := range bodies {
		in.Reports = append(in.Reports, &report.Report{
			Envelope: report.Envelope{Version: report.Version, Identity: p.Identity, Index: int32(i), Outcome: report.Complete}, Body: b,
		})
	}
	merged, err := report.Merge(in)
	if err != nil {
		t.Fatal(err)
	}
	n := p.NNThroughput
	inputs := report.NNThroughputInputs{
		BaseDir: n.BaseDirs[0] + "/create", Files: n.Files, Threads: int64(n.Threads), FilesPerDir: int64(n.FilesPerDir),
	}
	want, err := report.NNThroughputOf(plan.OpCreate, inputs, in, merged)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := report.RenderNNThroughput(&text, want); err != nil {
		t.Fatal(err)
	}
	got, err := report.ParseNNThroughput(strings.NewReader(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]report.NNThroughput{want}, got); diff != "" || want.Operations != n.Files {
		t.Errorf("%d operations; report (-want +got):\n%s\n%s", want.Operations, diff, text.String())
	}
}
