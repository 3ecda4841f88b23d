package upstream_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hadoop-bench/operator/runner/hadoop/namenode"
	"github.com/hadoop-bench/operator/runner/nnthroughput"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
	"github.com/hadoop-bench/operator/runner/upstream"
)

func TestFind(t *testing.T) {
	tests := map[string]struct {
		change  func(*hadoop)
		message string // empty: found
	}{
		"by JAVA_HOME": {func(*hadoop) {}, ""},
		"by PATH": {func(h *hadoop) {
			delete(h.env, "JAVA_HOME")
			h.env["PATH"] = "relative:" + h.home + ":" + filepath.Join(h.home, "jre/bin")
		}, ""},
		"no HADOOP_HOME":   {func(h *hadoop) { delete(h.env, "HADOOP_HOME") }, "HADOOP_HOME is not set"},
		"no such home":     {func(h *hadoop) { h.env["HADOOP_HOME"] = "/nowhere" }, `HADOOP_HOME "/nowhere": open /nowhere/share/hadoop/hdfs`},
		"no tests of hdfs": {func(h *hadoop) { h.remove("share/hadoop/hdfs/hadoop-hdfs-3.5.0-tests.jar") }, "there is no hadoop-hdfs-<version>-tests.jar"},
		"no tests of common": {
			func(h *hadoop) { h.remove("share/hadoop/common/hadoop-common-3.5.0-tests.jar") }, "there is no hadoop-common-<version>-tests.jar",
		},
		"another archive": {func(h *hadoop) { h.archive("share/hadoop/hdfs/hadoop-hdfs-3.5.0-tests.jar", "x", "x") }, "the class is not in it"},
		"no archive":      {func(h *hadoop) { h.write("share/hadoop/hdfs/hadoop-hdfs-3.5.0-tests.jar", "x") }, "not a valid zip file"},
		"no Java at home": {func(h *hadoop) { h.env["JAVA_HOME"] = "/nowhere" }, `JAVA_HOME "/nowhere"`},
		"no Java":         {func(h *hadoop) { delete(h.env, "JAVA_HOME") }, "neither is JAVA_HOME set nor is there a java in PATH"},
		"Java fails":      {func(h *hadoop) { h.t.Setenv("FAKE_JAVA_VERSION_RC", "1") }, "java -version: exit status 1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHadoop(t, "3.5.0", "-threads")
			tt.change(h)
			in, err := upstream.Find(t.Context(), h.lookupEnv)
			if tt.message == "" {
				if err != nil || in.Version != "3.5.0" || in.JavaVersion != "17.0.15" || !in.Knows("-threads") || in.Knows("-thread") || in.Knows("-files") {
					t.Errorf("installation %+v, error %v", in, err)
				}
				return
			}
			own := new(steps.Error)
			if !errors.As(err, &own) || own.Exit != report.ExitPlan || own.Failure.Reason != steps.ReasonUpstreamFailed || !strings.Contains(own.Failure.Message, tt.message) {
				t.Errorf("error %v, want %q", err, tt.message)
			}
		})
	}
}

func (h *hadoop) remove(path string) {
	h.t.Helper()
	if err := os.Remove(filepath.Join(h.home, path)); err != nil {
		h.t.Fatal(err)
	}
}

func (h *hadoop) write(path, text string) {
	h.t.Helper()
	if err := os.WriteFile(filepath.Join(h.home, path), []byte(text), 0o644); err != nil {
		h.t.Fatal(err)
	}
}

func TestJavaVersion(t *testing.T) {
	tests := map[string]struct {
		output, version string
		major           int
	}{
		"17":      {"openjdk version \"17.0.15\" 2025-04-15\nOpenJDK Runtime Environment\n", "17.0.15", 17},
		"8":       {"java version \"1.8.0_402\"\n", "1.8.0_402", 8},
		"early":   {"Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version \"25-ea\" 2025-09-16\n", "25-ea", 25},
		"nothing": {"no java\n", "", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			version := upstream.JavaVersion(tt.output)
			if major := upstream.JavaMajor(version); version != tt.version || major != tt.major {
				t.Errorf("version %q, major %d, want %q, %d", version, major, tt.version, tt.major)
			}
		})
	}
}

func TestLastWords(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"nothing":                {"", ""},
		"a line":                 {"one\ntwo\n", "two"},
		"an exception":           {"java.io.IOException: no\n\tat a.B.c(B.java:1)\nend", "java.io.IOException: no"},
		"the cause":              {"java.io.IOException: no\n\tat x\nCaused by: java.lang.Error: yes\n\tat y", "Caused by: java.lang.Error: yes"},
		"a place with Exception": {"one\n\tat a.FooException.c(B.java:1)", "at a.FooException.c(B.java:1)"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := upstream.LastWords(tt.text); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// FuzzWatched: whatever is printed, a report is only what follows a report's head, and a failure is only told where one is.
func FuzzWatched(f *testing.F) {
	f.Add("open", "Starting 10 open(s).\n--- open inputs ---\nx")
	f.Add("create", "StatsDaemon 1 failed: \njava.io.IOException: x\n\n--- create inputs ---")
	f.Add("", "Exception in thread \"StatsDaemon-3\" x")
	f.Fuzz(func(t *testing.T, op, text string) {
		started, failed, reported, killed := upstream.Watched(op, strings.Split(text, "\n"))
		if started && !strings.Contains(text, "Starting ") || failed != "" && !strings.Contains(text, "StatsDaemon") {
			t.Errorf("started %v, failed %q", started, failed)
		}
		if reported != "" && !strings.HasPrefix(reported, "--- ") || killed && failed == "" {
			t.Errorf("report %q, killed %v", reported, killed)
		}
	})
}

// nameNode is the part of a target that the steps around the class use.
type nameNode struct {
	nnthroughput.NameNode // nil: nothing else may be asked
	entries               []string
	absent                bool
	err                   error
	deleted               []string
	closed                bool
}

func (n *nameNode) Thread(int) nnthroughput.NameNode           { return n }
func (n *nameNode) DataNodeSides() []nnthroughput.DataNodeSide { return nil }
func (n *nameNode) Close() error                               { n.closed = true; return nil }

func (n *nameNode) List(_ context.Context, dir string) ([]namenode.Entry, bool, error) {
	var entries []namenode.Entry
	for _, name := range n.entries {
		entries = append(entries, namenode.Entry{Path: name, Dir: true})
	}
	return entries, dir == "/b" && !n.absent, n.err
}

func (n *nameNode) Delete(_ context.Context, path string, recursive bool) (bool, error) {
	if recursive {
		return false, errors.New("recursive")
	}
	n.deleted = append(n.deleted, path)
	return true, nil
}

// TestAroundTheOperations: preflight and cleanup look at a remote target by themselves, since the class does not.
func TestAroundTheOperations(t *testing.T) {
	tests := map[string]struct {
		step     string
		fs       string
		nameNode nameNode
		change   func(*plan.NNThroughput)
		reason   string // of the failure; empty: none
		left     string
		deleted  bool
	}{
		"preflight, standalone":                 {step: plan.StepPreflight},
		"preflight, remote, nothing there":      {step: plan.StepPreflight, fs: "hdfs://nn", nameNode: nameNode{absent: true}},
		"preflight, remote, something else":     {step: plan.StepPreflight, fs: "hdfs://nn", nameNode: nameNode{entries: []string{"data"}}},
		"preflight, remote, files of create":    {step: plan.StepPreflight, fs: "hdfs://nn", nameNode: nameNode{entries: []string{"create"}}, reason: steps.ReasonLeftoversFound},
		"preflight, remote, of the operation":   {step: plan.StepPreflight, fs: "hdfs://nn", nameNode: nameNode{entries: []string{"open"}}, reason: steps.ReasonLeftoversFound},
		"preflight, remote, wanted to be there": {step: plan.StepPreflight, fs: "hdfs://nn", nameNode: nameNode{entries: []string{"create"}}, change: func(n *plan.NNThroughput) { n.UseExisting = true }},
		"preflight, remote, refused":            {step: plan.StepPreflight, fs: "hdfs://nn", nameNode: nameNode{err: errors.New("no")}, reason: steps.ReasonIOError},
		"preflight, an option it has not got":   {step: plan.StepPreflight, change: func(n *plan.NNThroughput) { n.UGCacheRefreshCount = 3 }, reason: steps.ReasonNotSupported},
		"cleanup, standalone":                   {step: plan.StepCleanup},
		"cleanup, remote, nothing there":        {step: plan.StepCleanup, fs: "hdfs://nn", nameNode: nameNode{absent: true}},
		"cleanup, remote, empty":                {step: plan.StepCleanup, fs: "hdfs://nn", deleted: true},
		"cleanup, remote, something left":       {step: plan.StepCleanup, fs: "hdfs://nn", nameNode: nameNode{entries: []string{"open", "x"}}, left: "/b/open, /b/x"},
		"cleanup, remote, much left": {
			step: plan.StepCleanup, fs: "hdfs://nn", nameNode: nameNode{entries: strings.Fields("a b c d e f g h i j k l")},
			left: "/b/a, /b/b, /b/c, /b/d, /b/e, /b/f, /b/g, /b/h, /b/i, /b/j, and 2 more",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			options := strings.Fields("-threads -files -filesPerDir -baseDirName -logLevel -nonSuperUser -useExisting")
			h := newHadoop(t, "3.5.0", options...)
			p := newPlan(tt.step)
			p.Target.FS = tt.fs
			if tt.change != nil {
				tt.change(p.NNThroughput)
			}
			body := &report.Body{}
			r := upstream.Runner{WorkDir: h.work, Connect: func(context.Context, *nnthroughput.Env, int) (nnthroughput.Target, error) {
				return &tt.nameNode, nil
			}}
			err := r.Run(t.Context(), h.stepEnv(p), body)
			own := new(steps.Error)
			if errors.As(err, &own) && own.Failure.Reason != tt.reason || (err == nil) != (tt.reason == "") {
				t.Errorf("error %v, want reason %q", err, tt.reason)
			}
			if body.Facts["left"] != tt.left || body.Facts["hadoopVersion"] != "3.5.0" {
				t.Errorf("facts %v, want left %q", body.Facts, tt.left)
			}
			if (len(tt.nameNode.deleted) == 1) != tt.deleted || tt.nameNode.closed != (tt.fs != "" && !p.NNThroughput.UseExisting) {
				t.Errorf("deleted %v, closed %v", tt.nameNode.deleted, tt.nameNode.closed)
			}
		})
	}
}
