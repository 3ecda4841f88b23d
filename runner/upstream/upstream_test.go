package upstream_test

import (
	"archive/zip"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/hadoop/conf"
	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
	"github.com/hadoop-bench/operator/runner/upstream"
)

// knownOptions are those of the class in 3.5.0.
func knownOptions() []string {
	return strings.Fields("-keepResults -nonSuperUser -logLevel -UGCacheRefreshCount -threads -files -filesPerDir -dirs -dirsPerDir " +
		"-blockSize -close -useExisting -appendNewBlk -datanodes -reports -blocksPerReport -blocksPerFile -nodesToDecommission " +
		"-nodeReplicationLimit -totalBlocks -replication -baseDirName")
}

// testdata/open.txt has the lines of NNThroughputBenchmark 3.5.0's report with figures of this test's own.

// hadoop is an installation in a test: archives with a class that knows some options, and a Java that is a script.
type hadoop struct {
	t    *testing.T
	home string
	work string
	env  map[string]string
}

func newHadoop(t *testing.T, version string, options ...string) *hadoop {
	t.Helper()
	h := &hadoop{t: t, home: t.TempDir(), work: t.TempDir()}
	java, err := filepath.Abs("testdata/java")
	if err != nil {
		t.Fatal(err)
	}
	h.env = map[string]string{"HADOOP_HOME": h.home, "JAVA_HOME": filepath.Join(h.home, "jre")}
	h.mkdir("jre/bin")
	if err := os.Symlink(java, filepath.Join(h.home, "jre/bin/java")); err != nil {
		t.Fatal(err)
	}
	var class strings.Builder
	for _, option := range options {
		class.WriteByte(1)
		class.Write(binary.BigEndian.AppendUint16(nil, uint16(len(option))))
		class.WriteString(option)
	}
	h.archive("share/hadoop/hdfs/hadoop-hdfs-client-"+version+"-tests.jar", "x", "x")
	h.archive("share/hadoop/hdfs/hadoop-hdfs-"+version+"-tests.jar",
		"org/apache/hadoop/hdfs/server/namenode/NNThroughputBenchmark$CreateFileStats.class", class.String())
	h.archive("share/hadoop/common/hadoop-common-"+version+"-tests.jar", "x", "x")
	reportFile, err := filepath.Abs("testdata/open.txt")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("FAKE_JAVA", "")
	t.Setenv("FAKE_JAVA_REPORT", reportFile)
	t.Setenv("FAKE_JAVA_CALLS", filepath.Join(h.home, "calls"))
	return h
}

func (h *hadoop) mkdir(dir string) {
	h.t.Helper()
	if err := os.MkdirAll(filepath.Join(h.home, dir), 0o755); err != nil {
		h.t.Fatal(err)
	}
}

func (h *hadoop) archive(path, name, content string) {
	h.t.Helper()
	h.mkdir(filepath.Dir(path))
	file, err := os.Create(filepath.Join(h.home, path))
	if err != nil {
		h.t.Fatal(err)
	}
	defer file.Close()
	zipped := zip.NewWriter(file)
	w, err := zipped.Create(name)
	if err != nil {
		h.t.Fatal(err)
	}
	if _, err := io.WriteString(w, content); err != nil {
		h.t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		h.t.Fatal(err)
	}
}

func (h *hadoop) lookupEnv(name string) (string, bool) {
	value, ok := h.env[name]
	return value, ok
}

// calls are the command lines of Java, without its place in this test's directories.
func (h *hadoop) calls() []string {
	h.t.Helper()
	text, err := os.ReadFile(filepath.Join(h.home, "calls"))
	if err != nil {
		h.t.Fatal(err)
	}
	text = []byte(strings.NewReplacer(h.home, "HOME", filepath.Join(h.work, "nnthroughput"), "WORK").Replace(string(text)))
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// stepEnv is what a step gets, with a log that is thrown away.
func (h *hadoop) stepEnv(p *plan.Plan) *steps.Env {
	h.t.Helper()
	c, err := conf.Load(nil, conf.Options{Overrides: p.Target.Properties})
	if err != nil {
		h.t.Fatal(err)
	}
	return &steps.Env{
		Plan: p, Conf: c, User: orDefault(p.Target.User, "alice"), Clock: measure.System(), Log: slog.New(slog.DiscardHandler), LookupEnv: h.lookupEnv,
		Gate: &measure.Gate{Clock: measure.System(), ReadyFile: filepath.Join(h.work, "ready")},
	}
}

func (h *hadoop) run(ctx context.Context, p *plan.Plan) (*report.Body, error) {
	h.t.Helper()
	body := &report.Body{}
	r := upstream.Runner{WorkDir: h.work, ConfDir: "/etc/mounted"}
	return body, r.Run(ctx, h.stepEnv(p), body)
}

func newPlan(step string) *plan.Plan {
	return &plan.Plan{
		Version: plan.Version, Run: "ns/run", Shards: 1,
		Identity: report.Identity{RunUID: "uid-1", Execution: 1, Step: step, Repeat: 1, Attempt: 1},
		NNThroughput: &plan.NNThroughput{
			Engine: plan.EngineUpstream, Operations: []string{plan.OpOpen}, BaseDirs: []string{"/b"}, Threads: 3, Connections: 1,
			Files: 10, FilesPerDir: 4, Dirs: 12, DirsPerDir: 2, DataNodes: 5, Reports: 30, BlocksPerReport: 100, BlocksPerFile: 10,
			NodesToDecommission: 1, NodeReplicationLimit: 100, TotalBlocks: 50, LogLevel: "ERROR",
		},
	}
}

// TestOperation: the namespace is formatted, the class is run with the plan's options, and its report is the body.
func TestOperation(t *testing.T) {
	h := newHadoop(t, "3.5.0", knownOptions()...)
	h.env["HADOOP_HEAPSIZE_MAX"], h.env["HADOOP_OPTS"] = "700", "-Dx=1 -Dy=2"
	before := time.Now().UnixMicro()
	body, err := h.run(t.Context(), newPlan(plan.OpOpen))
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	java := "-Xmx700m -Dx=1 -Dy=2 -Djava.net.preferIPv4Stack=true -Dhadoop.home.dir=HOME -Dhadoop.log.dir=WORK/logs -Djava.io.tmpdir=WORK/tmp " +
		"-Dlog4j.configuration=file:WORK/conf/log4j.properties -cp WORK/conf:/etc/mounted:HOME/etc/hadoop"
	for _, dir := range []string{"common", "common/lib", "hdfs", "hdfs/lib", "mapreduce", "yarn", "tools/lib"} {
		java += ":HOME/share/hadoop/" + dir + "/*"
	}
	local := " -fs file:/// -D dfs.namenode.edits.dir=file://WORK/name -D dfs.namenode.name.dir=file://WORK/name -D hadoop.tmp.dir=WORK/tmp"
	var opens string
	for _, name := range []string{
		"java.base/java.lang", "java.base/java.util", "java.base/java.nio", "java.base/java.net", "java.base/sun.nio.ch",
		"java.security.jgss/sun.security.krb5",
	} {
		opens += "--add-opens=" + name + "=ALL-UNNAMED "
	}
	want := []string{
		"user=alice " + opens + java + " org.apache.hadoop.hdfs.server.namenode.NameNode" + local + " -format -force -nonInteractive",
		"user=alice " + opens + java + " org.apache.hadoop.hdfs.server.namenode.NNThroughputBenchmark" + local +
			" -op open -threads 3 -files 10 -filesPerDir 4 -baseDirName /b -logLevel ERROR",
	}
	if diff := cmp.Diff(want, h.calls()); diff != "" {
		t.Errorf("command lines (-want +got):\n%s", diff)
	}
	if body.Start < before || body.End-body.Start != 20_000 || body.Prepared < before || body.Prepared > body.Start || body.SetUp <= 0 {
		t.Errorf("times %+v", body)
	}
	if body.Operations != 10 || body.Planned != 10 {
		t.Errorf("%d operations, %d planned", body.Operations, body.Planned)
	}
	facts := map[string]string{"hadoopVersion": "3.5.0", "javaVersion": "17.0.15", "averageMillis": "3"}
	if diff := cmp.Diff(facts, body.Facts); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}

// TestFailures: whatever goes wrong, it is a failure with the tool's own words, at once, and never a result.
func TestFailures(t *testing.T) {
	tests := map[string]struct{ mode, message string }{
		"a thread fails": {"hangs", "a thread of operation open failed, for which the class would have waited for ever, so it was killed: " +
			"StatsDaemon 1 failed: java.io.FileNotFoundException: File does not exist: /b/open/ThroughputBenchDir0/ThroughputBench3"},
		"a thread fails unexpectedly":   {"spins", `killed: Exception in thread "StatsDaemon-1" java.lang.NullPointerException`},
		"a thread fails without a word": {"halfFailed", "killed: StatsDaemon 1 failed:"},
		"formatting fails":              {"format", "formatting the NameNode's directory ended with exit code 1: Exception in thread \"main\" java.io.IOException: Cannot create directory"},
		"it throws":                     {"throws", "the class ended with exit code 1: Exception in thread \"main\" java.io.IOException: /b/open does not exist."},
		"it does not know an option":    {"usage", "the class ended with exit code 255: Usage: NNThroughputBenchmark"},
		"it ends without a report":      {"silent", "the class ended without a report of operation open: no report of NNThroughputBenchmark; its last words: "},
		"it reports another operation":  {"other", "the class ended without a report of operation open: there is one of create"},
		"it reports twice":              {"twice", "the class ended without a report of operation open: there are 2 reports"},
		"it is killed after its report": {"killed", "the class ended with exit code -1"},
		"it fails after its report":     {"late", "the class ended with exit code 3: "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHadoop(t, "3.5.0", knownOptions()...)
			t.Setenv("FAKE_JAVA", tt.mode)
			body, err := h.run(t.Context(), newPlan(plan.OpOpen))
			own := new(steps.Error)
			if !errors.As(err, &own) || own.Exit != report.ExitBenchmark || own.Failure.Reason != steps.ReasonUpstreamFailed {
				t.Fatalf("error %v", err)
			}
			if !strings.Contains(own.Failure.Message, tt.message) {
				t.Errorf("message %q, want %q", own.Failure.Message, tt.message)
			}
			if body.Start != 0 || body.Operations != 0 {
				t.Errorf("figures of a failure: %+v", body)
			}
		})
	}
}

// TestStop: an order to stop ends the class and what it started.
func TestStop(t *testing.T) {
	h := newHadoop(t, "3.5.0", knownOptions()...)
	t.Setenv("FAKE_JAVA", "forever")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		for measure.System().Wait(ctx, 5*time.Millisecond) == nil {
			if _, err := os.Stat(filepath.Join(h.home, "calls.forever")); err == nil {
				cancel(&measure.Stopped{Reason: "Suspended"})
			}
		}
	}()
	_, err := h.run(ctx, newPlan(plan.OpOpen))
	if stopped := new(measure.Stopped); !errors.As(err, &stopped) {
		t.Errorf("error %v, want the order", err)
	}
}

func orDefault(s, def string) string {
	if s == "" {
		return def
	}
	return s
}
