package upstream_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
	"github.com/hadoop-bench/operator/runner/upstream"
)

// realHadoops are the installations that HADOOPBENCH_TEST_HADOOP_HOME names, with colons between them.
func realHadoops(t *testing.T) []string {
	t.Helper()
	homes := filepath.SplitList(os.Getenv("HADOOPBENCH_TEST_HADOOP_HOME"))
	if len(homes) == 0 {
		t.Skip("HADOOPBENCH_TEST_HADOOP_HOME is not set to a Hadoop release")
	}
	return homes
}

// realHadoop is the first installation, with the Java of this machine.
func realHadoop(t *testing.T) *hadoop {
	t.Helper()
	return hadoopAt(t, realHadoops(t)[0])
}

func hadoopAt(t *testing.T, home string) *hadoop {
	t.Helper()
	env := map[string]string{"HADOOP_HOME": home, "HADOOP_HEAPSIZE_MAX": "400m", "HADOOP_OPTS": "-Djdk.net.hosts.file=" + hostsFile(t)}
	for _, name := range []string{"JAVA_HOME", "PATH"} {
		if value, ok := os.LookupEnv(name); ok {
			env[name] = value
		}
	}
	return &hadoop{t: t, home: home, work: t.TempDir(), env: env}
}

// hostsFile has the host's own name, for which a JVM else waits until servers that cannot be reached have not answered.
func hostsFile(t *testing.T) string {
	t.Helper()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(file, []byte("127.0.0.1 localhost\n127.0.0.1 "+host+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestReal: operations of the real class of each release in a NameNode of its own. blockReport and replication show that
// small blocks are asked for, without which they fail.
func TestReal(t *testing.T) {
	for i, home := range realHadoops(t) {
		operations := map[string]int64{plan.OpFileStatus: 300, plan.OpBlockReport: 12, plan.OpReplication: -1}
		if i > 0 && os.Getenv("HADOOPBENCH_LONG") != "1" {
			delete(operations, plan.OpBlockReport)
		}
		t.Run(hadoopAt(t, home).version(), func(t *testing.T) { testReal(t, home, operations) })
	}
}

func testReal(t *testing.T, home string, operations map[string]int64) {
	for step, operations := range operations {
		t.Run(step, func(t *testing.T) {
			h := hadoopAt(t, home)
			p := newPlan(step)
			p.NNThroughput.Files, p.NNThroughput.Reports = 300, 12
			if version := h.version(); strings.HasPrefix(version, "3.3.") {
				p.NNThroughput.BaseDirs = []string{upstream.DefaultBase}
			}
			body, err := h.run(t.Context(), p)
			if err != nil {
				t.Fatalf("Run: %v", err)
			}
			if operations >= 0 && body.Operations != operations || body.Start == 0 || body.End < body.Start {
				t.Errorf("body %+v", body)
			}
			if step != plan.OpFileStatus && body.Facts[report.FactBlocksPerDataNode] == "" {
				t.Errorf("facts %v", body.Facts)
			}
			if step == plan.OpReplication && body.Facts["requiredOperations"] == "" {
				t.Errorf("facts %v", body.Facts)
			}
			t.Logf("%d operations in %d ms, facts %v", body.Operations, (body.End-body.Start)/1000, body.Facts)
		})
	}
}

// TestRealRemote: the real class against the NameNode that HADOOPBENCH_TEST_FS names leaves nothing behind.
func TestRealRemote(t *testing.T) {
	h := realHadoop(t)
	fs := os.Getenv("HADOOPBENCH_TEST_FS")
	if fs == "" {
		t.Skip("HADOOPBENCH_TEST_FS is not set to the URI of an HDFS")
	}
	for _, step := range []string{plan.StepPreflight, plan.OpOpen, plan.StepCleanup} {
		p := newPlan(step)
		p.Target.User = "root" // who started the NameNode, and so may write at the top
		p.Target.FS, p.NNThroughput.BaseDirs = fs, []string{"/hadoopbench-upstream-test"}
		body, err := h.run(t.Context(), p)
		if err != nil {
			t.Fatalf("step %s: %v", step, err)
		}
		if body.Facts["left"] != "" || step == plan.OpOpen && body.Operations != 10 {
			t.Errorf("step %s: body %+v", step, body)
		}
	}
}

// version is that of the archives.
func (h *hadoop) version() string {
	names, _ := filepath.Glob(filepath.Join(h.home, "share/hadoop/hdfs/hadoop-hdfs-3*-tests.jar"))
	if len(names) == 0 {
		return ""
	}
	return strings.TrimSuffix(strings.TrimPrefix(filepath.Base(names[0]), "hadoop-hdfs-"), "-tests.jar")
}

// TestRealHang: the real class, left to itself, would spin for ever here, since its files are not what it takes them for.
func TestRealHang(t *testing.T) {
	h := realHadoop(t)
	p := newPlan(plan.OpOpen)
	// The NameNode refuses the nested create, and each thread ends with an exception.
	p.Target.Properties = map[string]string{"dfs.namenode.fs-limits.max-component-length": "17"}
	if strings.HasPrefix(h.version(), "3.3.") {
		p.NNThroughput.BaseDirs = []string{upstream.DefaultBase}
	}
	_, err := h.run(t.Context(), p)
	own := new(steps.Error)
	if !errors.As(err, &own) || own.Failure.Reason != steps.ReasonUpstreamFailed || !strings.Contains(own.Failure.Message, "StatsDaemon") {
		t.Errorf("error %v", err)
	}
}
