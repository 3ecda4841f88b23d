package controllers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
)

// nntEdit edits the spec of an NNThroughputRun.
type nntEdit = func(*v1alpha1.NNThroughputRunSpec)

func doing(ops ...v1alpha1.NNThroughputOperation) nntEdit {
	return func(s *v1alpha1.NNThroughputRunSpec) { s.Operations = ops }
}

// upstreamRun makes the run one that the original tool can carry out, on a cluster or in its own process.
func upstreamRun(fs string) nntEdit {
	return func(s *v1alpha1.NNThroughputRunSpec) {
		s.Engine, s.Shards, s.PodTemplate, s.Target.FS = v1alpha1.EngineUpstream, nil, &v1alpha1.PodTemplate{Image: "hadoop"}, fs
	}
}

func nntRun(edits ...nntEdit) *v1alpha1.NNThroughputRun {
	return newNNThroughputRun(func(r *v1alpha1.NNThroughputRun) {
		for _, edit := range edits {
			edit(&r.Spec)
		}
	})
}

func TestNNThroughputSteps(t *testing.T) {
	steps := func(edits ...nntEdit) []string {
		var out []string
		for _, s := range stepsOf(NNThroughput{}, nntRun(edits...)) {
			line := s.String() + " on " + string(rune('0'+s.Shards))
			if s.Gated {
				line += ", gated"
			}
			out = append(out, line)
		}
		return out
	}
	wantSlice(t, "steps", []string{
		"preflight on 1", "create, repeat 1 on 2, gated", "create, repeat 2 on 2, gated", "blockReport, repeat 1 on 2, gated", "blockReport, repeat 2 on 2, gated",
		"clean on 1", "cleanup on 1",
	}, steps(doing("create", "blockReport", "clean"), func(s *v1alpha1.NNThroughputRunSpec) { s.Repeats = ptr(int32(2)) }))
	wantSlice(t, "steps of the original tool", []string{"preflight on 1", "replication, repeat 1 on 1", "cleanup on 1"}, steps(doing("replication"), upstreamRun("file:///")))
}

func TestNNThroughputOptions(t *testing.T) {
	defaults := map[string]string{
		"repeats": "1", "repeatOrder": "PerStep", "minDuration": "5s", "startDeadline": "5m0s", "shardFailurePolicy": "Fail", "successCriteria": "Completed",
		"keepResults": "false", "engine": "Native", "client": "Native", "warmup": "0s", "target.fs": "hdfs://namenode:8020",
		"operations": "create,open", "threads": "3", "shards": "2", "connectionsPerShard": "1", "files": "10", "filesPerDir": "4", "dirs": "10", "dirsPerDir": "2",
		"close": "false", "useExisting": "false", "appendNewBlk": "false", "datanodes": "10", "reports": "30", "blocksPerReport": "100", "blocksPerFile": "10",
		"nodesToDecommission": "1", "nodeReplicationLimit": "100", "totalBlocks": "100", "ugCacheRefreshCount": "0", "nonSuperUser": "true",
		"manageSafeMode": "false", "allowFakeDataNodes": "false", "baseDirName": "/nnThroughputBenchmark/bench/nightly",
	}
	if diff := cmp.Diff(defaults, options(NNThroughput{}, nntRun())); diff != "" {
		t.Errorf("options of a short spec (-want +got):\n%s", diff)
	}
	run := nntRun(upstreamRun("file:///"), doing("all"), func(s *v1alpha1.NNThroughputRunSpec) {
		s.Rate, s.Duration, s.BlockSize, s.Replication, s.BaseDirNames = "1.5", duration(time.Minute), "1k", ptr(int32(2)), []string{"/a", "/b"}
	})
	got := options(NNThroughput{}, run)
	for k, want := range map[string]string{
		"engine": "Upstream", "client": "", "logLevel": "ERROR", "rate": "1.5", "duration": "1m0s", "blockSize": "1024", "replication": "2",
		"baseDirName": "", "baseDirNames": "/a,/b", "operations": "create,mkdirs,open,delete,append,fileStatus,rename,blockReport,replication",
	} {
		if got[k] != want {
			t.Errorf("option %s is %q, want %q", k, got[k], want)
		}
	}
}

func TestNNThroughputText(t *testing.T) {
	in := report.MergeInput{Expected: 1, Reports: []*report.Report{operationsReport(testID(), 0, testNow)}}
	stats := "# operations: 1024\nElapsed Time: 10000\n Ops per sec: 102.4\nAverage Time: 9\n"
	tests := map[string]struct {
		step  Step
		edits []nntEdit
		facts map[string]string
		want  string
	}{
		"create": {
			Step{Name: "create", Repeat: 1},
			nil, nil,
			"\n--- create inputs ---\nbaseDir = /nnThroughputBenchmark/bench/nightly/create\nnrFiles = 10\nnrThreads = 3\nnrFilesPerDir = 4\n--- create stats  ---\n" + stats,
		},
		"mkdirs again in two places": {
			Step{Name: "mkdirs", Repeat: 2},
			[]nntEdit{func(s *v1alpha1.NNThroughputRunSpec) { s.BaseDirNames = []string{"/a", "/b"} }},
			nil,
			"\n--- mkdirs inputs ---\nbaseDir = /a/mkdirs.2.1,/b/mkdirs.2.1\nnrDirs = 10\nnrThreads = 3\nnrDirsPerDir = 2\n--- mkdirs stats  ---\n" + stats,
		},
		"blockReport": {
			Step{Name: "blockReport", Repeat: 1},
			nil,
			map[string]string{report.FactBlocksPerDataNode: "100*9,95"},
			"\n--- blockReport inputs ---\nbaseDir = /nnThroughputBenchmark/bench/nightly/blockReport\nreports = 30\ndatanodes = 10 (100, 100, 100, 100, 100, 100, 100, 100, 100, 95)\n" +
				"blocksPerReport = 100\nblocksPerFile = 10\n--- blockReport stats  ---\n" + stats,
		},
		"replication": {
			Step{Name: "replication", Repeat: 2},
			[]nntEdit{upstreamRun("file:///")},
			map[string]string{"averageMillis": "3", "requiredOperations": "6", "decommissionedBlocks": "30", "pendingReplications": "20", report.FactBlocksPerDataNode: "30*10"},
			"\n--- replication inputs ---\nbaseDir = /nnThroughputBenchmark/bench/nightly/replication\nnumOpsRequired = 6\ndatanodes = 10 (30, 30, 30, 30, 30, 30, 30, 30, 30, 30)\n" +
				"decommissioned datanodes = 1\ndatanode replication limit = 100\ntotal blocks = 100\n--- replication stats  ---\n" +
				strings.Replace(stats, "Average Time: 9", "Average Time: 3", 1) + "decommissioned blocks = 30\npending replications = 20\nreplications per sec: 2.0\n",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in.Reports[0].Body.Facts = tc.facts
			m, err := report.Merge(in)
			if err != nil {
				t.Fatal(err)
			}
			got, err := NNThroughput{}.Text(nntRun(tc.edits...), tc.step, in, m)
			if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
				t.Errorf("text (-want +got), error %v:\n%s", err, diff)
			}
		})
	}
}

// TestNNThroughputLife: the same reconciler carries out the other kind.
func TestNNThroughputLife(t *testing.T) {
	w := worldOf(t, NNThroughput{}, nntRun(doing("create", "open", "clean"), func(s *v1alpha1.NNThroughputRunSpec) { s.Repeats = ptr(int32(2)) }), operationsReport)
	w.kubelet = func(j *simJob, p *corev1.Pod) bool {
		if j.id.Step != plan.StepCleanup || len(p.Status.ContainerStatuses) == 0 {
			return false
		}
		r := auxReport(j.id, 0)
		r.Body.Facts = map[string]string{"calls.after.Create": "7", "nameNode": "elsewhere"}
		w.end(p, r)
		return true
	}
	w.finish()
	wantSlice(t, "rows", []string{
		"preflight/1/1 Done 1 of 1", "create/1/1 Done 2 of 2", "create/2/1 Done 2 of 2", "open/1/1 Done 2 of 2", "open/2/1 Done 2 of 2", "clean/1/1 Done 1 of 1", "cleanup/1/1 Done 1 of 1",
	}, rowsOf(w.st))
	if got := verdicts(w.st); got[v1alpha1.ConditionSucceeded] != "True Succeeded" || got[v1alpha1.ConditionValid] != "True MeasuredProperly" {
		t.Errorf("conditions %v", got)
	}
	if want := "create 204.8 ops/s (n=2, CV 0.0 %), open 204.8 ops/s (n=2, CV 0.0 %)"; w.st.Summary != want {
		t.Errorf("summary %q, want %q", w.st.Summary, want)
	}
	facts := map[string]string{"nameNode": "namenode:8020", "calls.after.Create": "7"}
	if diff := cmp.Diff(facts, w.st.Environment.Facts); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	if r := w.st.Steps[1].Result; r.Headline != report.FigureOps || r.Operations != 2048 || r.SetUpMicros != 2_000_000 || r.Bytes != 0 {
		t.Errorf("result %+v", r)
	}
	if got := strings.Count(w.document.Text(), "--- create stats  ---"); got != 2 {
		t.Errorf("the tool's text has create %d times:\n%s", got, w.document.Text())
	}
}

// TestUpstreamLife: the original tool waits at no gate, and its clock needs no comparison.
func TestUpstreamLife(t *testing.T) {
	w := worldOf(t, NNThroughput{}, nntRun(doing("replication"), upstreamRun("file:///")), operationsReport)
	w.kubelet = func(j *simJob, p *corev1.Pod) bool {
		if j.id.Step != plan.OpReplication || len(p.Status.ContainerStatuses) == 0 {
			return false
		}
		r := operationsReport(j.id, 0, w.now.Add(-10*time.Second))
		r.Body.Clock, r.Body.Latency, r.Body.Series = nil, nil, nil
		w.end(p, r)
		return true
	}
	w.finish()
	wantSlice(t, "rows", []string{"preflight/1/1 Done 1 of 1", "replication/1/1 Done 1 of 1", "cleanup/1/1 Done 1 of 1"}, rowsOf(w.st))
	if got := verdicts(w.st); got[v1alpha1.ConditionValid] != "True MeasuredProperly" {
		t.Errorf("conditions %v: %+v", got, w.st.Steps[1].Result)
	}
}

// TestFactsWith: facts of later steps join those of preflight, which stay as they are.
func TestFactsWith(t *testing.T) {
	told := func(facts ...map[string]string) []shard {
		out := []shard{{}} // one without a report
		for _, f := range facts {
			out = append(out, shard{report: &report.Report{Body: report.Body{Facts: f}}})
		}
		return out
	}
	before := map[string]string{"nameNode": "nn", "blocksPerDataNode": "1"}
	tests := map[string]struct {
		facts  map[string]string
		step   Step
		shards []shard
		want   map[string]string
	}{
		"preflight":          {nil, Step{Name: "preflight"}, told(map[string]string{"nameNode": "nn"}), map[string]string{"nameNode": "nn"}},
		"cleanup":            {before, Step{Name: "cleanup"}, told(map[string]string{"left": "a", "nameNode": "other"}), map[string]string{"nameNode": "nn", "blocksPerDataNode": "1", "left": "a"}},
		"cleanup alone":      {nil, Step{Name: "cleanup"}, told(map[string]string{"left": "a"}), map[string]string{"left": "a"}},
		"blocks":             {before, Step{Name: "blockReport", Measured: true}, told(map[string]string{"blocksPerDataNode": "100*4"}, map[string]string{"blocksPerDataNode": "100*3,95", "x": "y"}), map[string]string{"nameNode": "nn", "blocksPerDataNode": "100*4,100*3,95"}},
		"other measurements": {before, Step{Name: "create", Measured: true}, told(map[string]string{"x": "y"}), before},
		"failovers": {
			map[string]string{"failovers": "open, repeat 1, shard 0: 1 (the last to a:1)"},
			Step{Name: "open", Repeat: 2, Measured: true},
			told(map[string]string{"failovers": "2 (the last to b:2)"}),
			map[string]string{"failovers": "open, repeat 1, shard 0: 1 (the last to a:1); open, repeat 2, shard 0: 2 (the last to b:2)"},
		},
		"many shards": {nil, Step{Name: "blockReport", Measured: true}, told(map[string]string{"blocksPerDataNode": strings.Repeat("7", 600)}), map[string]string{"blocksPerDataNode": strings.Repeat("7", 509) + "..."}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, factsWith(tc.facts, tc.step, tc.shards)); diff != "" {
				t.Errorf("facts (-want +got):\n%s", diff)
			}
			if len(before) != 2 {
				t.Errorf("the facts before were changed: %v", before)
			}
		})
	}
}

// TestSamplesAreCarriedOut: what is given to people to begin with is not refused.
func TestSamplesAreCarriedOut(t *testing.T) {
	files, err := filepath.Glob("../config/samples/*run*.yaml")
	if err != nil || len(files) < 2 {
		t.Fatalf("samples %v, error %v", files, err)
	}
	for _, file := range files {
		doc, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var kind metav1.TypeMeta
		if err := yaml.Unmarshal(doc, &kind); err != nil {
			t.Fatal(err)
		}
		for _, b := range Benchmarks() {
			run := b.New()
			if b.Kind() != kind.Kind {
				continue
			}
			if err := yaml.UnmarshalStrict(doc, run); err != nil {
				t.Errorf("%s: %v", file, err)
			}
			for _, p := range check(b, run) {
				t.Errorf("%s: %s", file, p.Message)
			}
		}
	}
}

func TestNNThroughputOfAnotherKind(t *testing.T) {
	if got := nntSpec(newRun()); got == nil || len(got.Operations) != 0 {
		t.Errorf("spec %+v", got)
	}
	if got := dfsioSpec(nntRun()); got == nil || len(got.Tests) != 0 {
		t.Errorf("spec %+v", got)
	}
}
