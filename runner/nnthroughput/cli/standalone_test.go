package cli_test

import (
	"archive/zip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/report"
)

// installHadoop makes what has to lie in HADOOP_HOME, with a script for a Java, and returns the file with its calls.
func installHadoop(t *testing.T, l *line) (calls string) {
	t.Helper()
	home := t.TempDir()
	for _, path := range []string{"hdfs/hadoop-hdfs-3.5.0-tests.jar", "common/hadoop-common-3.5.0-tests.jar"} {
		path = filepath.Join(home, "share/hadoop", path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		archive := zip.NewWriter(file)
		w, err := archive.Create("org/apache/hadoop/hdfs/server/namenode/NNThroughputBenchmark.class")
		if err == nil {
			_, err = w.Write([]byte("x"))
		}
		if err != nil || archive.Close() != nil || file.Close() != nil {
			t.Fatalf("make %s: %v", path, err)
		}
	}
	java, err := filepath.Abs("../../upstream/testdata/java")
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(home, "jre/bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(java, filepath.Join(bin, "java")); err != nil {
		t.Fatal(err)
	}
	l.env["HADOOP_HOME"], l.env["JAVA_HOME"] = home, filepath.Join(home, "jre")
	calls = filepath.Join(home, "calls")
	t.Setenv("FAKE_JAVA", "")
	t.Setenv("FAKE_JAVA_CALLS", calls)
	t.Setenv("FAKE_JAVA_REPORT", filepath.Join(filepath.Dir(java), "open.txt"))
	return calls
}

// TestStandalone: without a NameNode Hadoop's own class gets the same arguments, its report is passed on, and how it ends
// shows in the exit code.
func TestStandalone(t *testing.T) {
	tests := map[string]struct {
		mode, args string
		code       int
		calls      []string // what the calls of Java end with
		printed    bool
		log        string
	}{
		"a namespace of its own": {
			"", "-op open -files 10 -filesPerDir 4 -keepResults", 0,
			[]string{"-format -force -nonInteractive", "-op open -files 10 -filesPerDir 4 -keepResults"},
			true, "Created 10 files.",
		},
		"a configured one": {
			"", "-D hadoop.tmp.dir=/x -fs file:/// -op open", 0,
			[]string{"NNThroughputBenchmark -D hadoop.tmp.dir=/x -fs file:/// -op open"},
			true, "Starting 10 open(s).",
		},
		"small blocks": {
			"", "-op blockReport -datanodes 3", 0,
			[]string{"-format -force -nonInteractive", "-op blockReport -datanodes 3 -blockSize 16"},
			true, "small blocks are used",
		},
		"the blocks asked for": {
			"", "-op blockReport -blockSize 64", 0, []string{"-format -force -nonInteractive", "-op blockReport -blockSize 64"}, true, "",
		},
		"the blocks configured": {
			"", "-Ddfs.blocksize=64 -op all", 0, []string{"-format -force -nonInteractive", "-Ddfs.blocksize=64 -op all"}, true, "",
		},
		"a failing thread": {"hangs", "-op open", report.ExitBenchmark, nil, false, "a thread failed, for which the class would have waited for ever"},
		"usage":            {"usage", "-op open", report.ExitPlan, nil, false, "the class did not understand its command line"},
		"an exception":     {"throws", "-op open", report.ExitBenchmark, nil, false, "/b/open does not exist."},
		"no report":        {"silent", "-op open", report.ExitBenchmark, nil, false, "the class ended without a report"},
		"no namespace":     {"format", "-op open", report.ExitBenchmark, nil, false, "formatting the NameNode's directory ended with exit code 1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			l := newLine(t, nil)
			calls := installHadoop(t, l)
			t.Setenv("FAKE_JAVA", tt.mode)
			if code := l.run(tt.args); code != tt.code || !strings.Contains(l.log.String(), tt.log) {
				t.Errorf("exit code %d, log\n%s", code, l.log.String())
			}
			want := ""
			if tt.printed {
				want = filesReport("open", "/b/open", "10")
			}
			if diff := cmp.Diff(want, l.text()); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
			if tt.calls == nil {
				return
			}
			text, err := os.ReadFile(calls)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Split(strings.TrimSpace(string(text)), "\n")
			if len(got) != len(tt.calls) {
				t.Fatalf("%d calls of Java, want %d: %q", len(got), len(tt.calls), got)
			}
			for i, want := range tt.calls {
				if !strings.HasSuffix(got[i], want) {
					t.Errorf("call %q does not end with %q", got[i], want)
				}
			}
		})
	}
}
