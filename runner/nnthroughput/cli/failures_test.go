package cli_test

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/hadoop/namenode"
	"github.com/hadoop-bench/operator/runner/report"
)

// TestFilesOfOthersStay: only an operation that was done to its end costs files that it did not make.
func TestFilesOfOthersStay(t *testing.T) {
	existing := []string{"/b/create/ThroughputBenchDir0/ThroughputBench0", "/b/create/ThroughputBenchDir0/ThroughputBench1"}
	tests := map[string]struct {
		args, call string // the call at which it happens
		signal     bool   // or else the call fails
		code       int
	}{
		"interrupted":                 {"-op open -useExisting -files 2 -duration 10m", "getBlockLocations", true, report.ExitInterrupted},
		"operations failed":           {"-op open -useExisting -files 2", "getBlockLocations", false, report.ExitBenchmark},
		"create failed beside others": {"-op create -files 4 -filesPerDir 1", "create", false, report.ExitBenchmark},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			nn := newNameNode(existing...)
			l := newLine(t, nn)
			once := false
			nn.fail = func(call, _ string) error {
				if call != tt.call || once {
					return nil
				}
				once = true
				if tt.signal {
					l.signals <- syscall.SIGINT
					return nil
				}
				return errors.New("no such luck")
			}
			if code := l.run("-fs hdfs://nn " + tt.args + " -baseDirName /b"); code != tt.code {
				t.Errorf("exit code %d", code)
			}
			if !strings.Contains(l.log.String(), "files that were there before it are left\" directories=/b/create\n") {
				t.Errorf("log\n%s", l.log.String())
			}
			left := strings.Join(nn.paths(), "\n")
			for _, file := range existing {
				if !strings.Contains(left, file) {
					t.Errorf("%s is gone", file)
				}
			}
		})
	}
}

// TestSecondSignal: it ends the command while removing hangs.
func TestSecondSignal(t *testing.T) {
	nn := newNameNode()
	l := newLine(t, nn)
	release, signalled := make(chan struct{}), false
	nn.fail = func(call, _ string) error {
		switch {
		case call == "create" && !signalled:
			signalled = true
			l.signals <- syscall.SIGINT
		case call == "delete":
			l.signals <- syscall.SIGTERM
			<-release
		}
		return nil
	}
	code := l.run("-fs hdfs://nn -op create -duration 10m -baseDirName /b")
	log := l.log.String()
	close(release)
	if code != report.ExitInterrupted || !strings.Contains(log, `A second signal: what was made is left" directories=/b`) {
		t.Errorf("exit code %d, log\n%s", code, log)
	}
}

// brokenPipe is a stream whose reader went away.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, syscall.EPIPE }

// TestBrokenPipe: a report that cannot be printed is a failure after which what was made is removed.
func TestBrokenPipe(t *testing.T) {
	nn := newNameNode()
	l := newLine(t, nn)
	l.stdout = brokenPipe{}
	if code := l.run("-fs hdfs://nn -op create"); code != report.ExitBenchmark || !strings.Contains(l.log.String(), "print the report: broken pipe") {
		t.Errorf("exit code %d, log\n%s", code, l.log.String())
	}
	if left := nn.paths(); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
}

// TestRateNotReached: the report is complete and printed, and the exit code says that its figures are of another load.
func TestRateNotReached(t *testing.T) {
	l := newLine(t, newNameNode())
	if code := l.run("-fs hdfs://nn -op create -files 100 -rate 1000000000"); code != report.ExitBenchmark {
		t.Errorf("exit code %d", code)
	}
	if diff := cmp.Diff(filesReport("create", "/nnThroughputBenchmark/create", "100"), l.text()); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
	for _, part := range []string{"The rate was not reached", "offeredPerSec=1e+09 reachedPerSec=", "attempted=100", "serviceP999Nanos=", "intendedMaxNanos="} {
		if !strings.Contains(l.log.String(), part) {
			t.Errorf("log\n%s\nwithout %q", l.log.String(), part)
		}
	}
}

// TestNothingToRemove: where removing is of no use it is not tried, and what stays is named.
func TestNothingToRemove(t *testing.T) {
	safeMode := errors.New("org.apache.hadoop.hdfs.server.namenode.SafeModeException: Name node is in safe mode")
	tests := map[string]struct {
		args    string
		there   []string
		at      string // the call from which on all of them fail
		err     error
		code    int
		log     string
		without string
	}{
		"unreachable": {
			"-op open", nil, "getBlockLocations", fmt.Errorf("call: %w", namenode.ErrUnreachable), report.ExitTarget,
			`remedy="remove it by hdfs dfs -rm -r /b/open"`, "looked after",
		},
		"safe mode":           {"-op open", nil, "create", safeMode, report.ExitTarget, "safe mode", "Removing"},
		"base that is a file": {"-op create", []string{"/b"}, "", nil, report.ExitTarget, "/b is a file", "Removing"},
		"bad options of a later operation": {
			"-op all -dirs 100 -dirsPerDir 1", nil, "", nil, report.ExitPlan, "dirs 100: with dirsPerDir 1 there are names for", "Starting benchmark",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			nn := newNameNode(tt.there...)
			l := newLine(t, nn)
			failing := false
			nn.fail = func(call, _ string) error {
				failing = failing || call == tt.at
				if failing && call != "getFileInfo" && call != "list" {
					return tt.err
				}
				return nil
			}
			code := l.run("-fs hdfs://nn " + tt.args + " -baseDirName /b")
			log := l.log.String()
			if code != tt.code || !strings.Contains(log, tt.log) || strings.Contains(log, tt.without) {
				t.Errorf("exit code %d, log\n%s", code, log)
			}
			// The base directory, where the clock's file lay, may go: nothing is in it.
			if calls := strings.Join(nn.calls, "\n"); strings.Contains(calls, "delete /b/") || l.out.Len() > 0 {
				t.Errorf("calls\n%s\noutput\n%s", calls, l.out.String())
			}
		})
	}
}
