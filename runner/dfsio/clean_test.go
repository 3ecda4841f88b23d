package dfsio_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/dfsio"
	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

func TestClean(t *testing.T) {
	marker := base + "/_hadoopbench-run.json"
	temp := base + "/_hadoopbench-tmp-"
	created := func(dirs ...string) string {
		return `{"version":1,"runUID":"` + testUID + `","run":"ns/run","created":["` + strings.Join(dirs, `","`) + `"]}`
	}
	all := created("/benchmarks", base, base+"/io_data")
	tests := map[string]struct {
		tests  []string // nil: write, read
		marker string
		paths  []string
		tree   []string
		left   string
	}{
		"everything is ours": {
			nil, all,
			[]string{base + "/io_data/test_io_0", base + "/io_data/test_io_1"},
			[]string{},
			"",
		},
		"already gone":  {nil, all, nil, []string{}, ""},
		"one file gone": {nil, all, []string{base + "/io_data/test_io_1"}, []string{}, ""},
		"directories were there before": {
			nil, created(base + "/io_data"),
			[]string{base + "/io_data/test_io_0"},
			[]string{"/benchmarks/", base + "/"},
			"",
		},
		"only the marker is ours": {
			nil, `{"version":1,"runUID":"` + testUID + `"}`,
			[]string{base + "/io_data/test_io_0"},
			[]string{"/benchmarks/", base + "/", base + "/io_data/"},
			"",
		},
		"a neighbour": {
			nil, all, []string{"/benchmarks/y", base + "/io_data/test_io_0"}, []string{"/benchmarks/", "/benchmarks/y 0"}, "",
		},
		"files of others": {
			nil, all,
			[]string{base + "/notes.txt", base + "/io_data/test_io_0", base + "/io_data/test_io_2", base + "/io_data/test_io_01", base + "/io_data/test_io_", base + "/io_data/test_io_+1"},
			[]string{
				"/benchmarks/", base + "/", base + "/io_data/", base + "/io_data/test_io_ 0", base + "/io_data/test_io_+1 0",
				base + "/io_data/test_io_01 0", base + "/io_data/test_io_2 0", base + "/notes.txt 0",
			},
			strings.Join([]string{base + "/io_data/test_io_", base + "/io_data/test_io_+1", base + "/io_data/test_io_01", base + "/io_data/test_io_2", base + "/notes.txt"}, " "),
		},
		"a directory by the name of a file": {
			nil, all,
			[]string{base + "/io_data/test_io_0/deep"},
			[]string{"/benchmarks/", base + "/", base + "/io_data/", base + "/io_data/test_io_0/", base + "/io_data/test_io_0/deep 0"},
			base + "/io_data/test_io_0",
		},
		"many files of others": {
			nil, all,
			[]string{base + "/a", base + "/b", base + "/c", base + "/d", base + "/e", base + "/f", base + "/g"},
			[]string{"/benchmarks/", base + "/", base + "/a 0", base + "/b 0", base + "/c 0", base + "/d 0", base + "/e 0", base + "/f 0", base + "/g 0"},
			base + "/a " + base + "/b " + base + "/c " + base + "/d " + base + "/e and 2 more",
		},
		"temporary files": {
			nil, all,
			[]string{temp + testUID + "-clock-write-0", temp + otherUID + "-clock-write-0"},
			[]string{"/benchmarks/", base + "/", temp + otherUID + "-clock-write-0 0"},
			temp + otherUID + "-clock-write-0",
		},
		"a marker that names foreign directories": {
			nil, created("/benchmarks", "/home", base+"/other", "/benchmark", base+"/io_data"),
			[]string{"/home/", base + "/other/", "/benchmark/"},
			[]string{"/benchmark/", "/benchmarks/", base + "/", base + "/other/", "/home/"},
			base + "/other",
		},
		"a write follows": {
			[]string{plan.TestWrite, plan.TestClean, plan.TestWrite},
			all,
			[]string{base + "/io_data/test_io_0"},
			nil, "",
		},
		"a write went before": {
			[]string{plan.TestWrite, plan.TestClean},
			all,
			[]string{base + "/io_data/test_io_0"},
			[]string{},
			"",
		},
	}
	for name, tt := range tests {
		for _, step := range []string{plan.TestClean, plan.StepCleanup} {
			t.Run(name+" "+step, func(t *testing.T) {
				b := newBench(t, newPlan(step), tt.paths...)
				b.fs.put(marker, []byte(tt.marker))
				if tt.tests != nil {
					b.env.Plan.DFSIO.Tests = tt.tests
				}
				if err := b.run(t); err != nil {
					t.Fatalf("Run: %v", err)
				}
				want := tt.tree
				if want == nil { // the case in which clean and cleanup differ
					want = []string{}
					if step == plan.TestClean {
						want = []string{"/benchmarks/", base + "/", marker + " 142", base + "/io_data/"}
					}
				}
				if diff := cmp.Diff(want, b.fs.tree()); diff != "" {
					t.Errorf("tree (-want +got):\n%s", diff)
				}
				if b.body.Facts["left"] != tt.left {
					t.Errorf("left %q, want %q", b.body.Facts["left"], tt.left)
				}
				if b.body.Start == 0 || b.body.End <= b.body.Start {
					t.Errorf("start %d, end %d", b.body.Start, b.body.End)
				}
			})
		}
	}
}

// TestCleanOfOthers: nothing is touched without the run's own marker. The test then fails, the cleanup has no work.
func TestCleanOfOthers(t *testing.T) {
	markers := map[string]string{"no marker": "", "another run's": otherMarker, "no marker at all": "x"}
	for name, marker := range markers {
		for _, step := range []string{plan.TestClean, plan.StepCleanup} {
			t.Run(name+" "+step, func(t *testing.T) {
				b := newBench(t, newPlan(step), base+"/io_data/test_io_0", base+"/_hadoopbench-tmp-"+testUID+"-x")
				reason := steps.ReasonNotOurs
				if marker != "" {
					b.fs.put(base+"/_hadoopbench-run.json", []byte(marker))
				}
				if marker == "x" {
					reason = steps.ReasonBaseDirNotOurs
				}
				before := b.fs.tree()
				err := b.run(t)
				if step == plan.TestClean {
					wantFailure(t, err, report.ExitTarget, reason, base)
				} else if err != nil {
					t.Errorf("Run: %v", err)
				}
				if diff := cmp.Diff(before, b.fs.tree()); diff != "" {
					t.Errorf("tree changed (-before +after):\n%s", diff)
				}
			})
		}
	}
}

func TestCleanFailures(t *testing.T) {
	tests := map[string]struct {
		fail   func(string) error
		exit   int
		reason string
		text   string
	}{
		"marker":      {failOn("open", io.EOF), report.ExitBenchmark, steps.ReasonIOError, "read " + base},
		"list data":   {failOn("list "+base+"/io_data", io.EOF), report.ExitBenchmark, steps.ReasonIOError, "list " + base + "/io_data"},
		"data file":   {failOn("remove "+base+"/io_data/test_io_0", fs.ErrPermission), report.ExitTarget, steps.ReasonPermissionDenied, "test_io_0"},
		"data dir":    {failOn("remove "+base+"/io_data", fs.ErrPermission), report.ExitTarget, steps.ReasonPermissionDenied, base + "/io_data"},
		"list base":   {func(call string) error { return map[string]error{"list " + base: io.EOF}[call] }, report.ExitBenchmark, steps.ReasonIOError, "list " + base},
		"marker file": {failOn("remove "+base+"/_h", io.EOF), report.ExitBenchmark, steps.ReasonIOError, "remove " + base + "/_hadoopbench-run.json"},
		"base dir":    {func(call string) error { return map[string]error{"remove " + base: io.EOF}[call] }, report.ExitBenchmark, steps.ReasonIOError, "remove " + base},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, newPlan(plan.StepCleanup)).claim()
			b.fs.put(base+"/io_data/test_io_0", content(0))
			b.fs.fail = tt.fail
			wantFailure(t, b.run(t), tt.exit, tt.reason, tt.text)
			// It can be repeated, and then ends well.
			if b.fs.entries[base+"/_hadoopbench-run.json"] == nil {
				return
			}
			b.fs.fail = nil
			if err := b.run(t); err != nil {
				t.Errorf("again: %v", err)
			}
			if diff := cmp.Diff([]string{"/benchmarks/"}, b.fs.tree()); diff != "" {
				t.Errorf("tree (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCleanStops(t *testing.T) {
	b := newBench(t, newPlan(plan.StepCleanup)).claim()
	b.fs.put(base+"/io_data/test_io_0", content(0))
	b.fs.put(base+"/io_data/test_io_1", content(1))
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := &measure.Stopped{Reason: "Deleted"}
	b.fs.fail = func(call string) error {
		if strings.HasPrefix(call, "remove") {
			cancel(stopped)
		}
		return nil
	}
	if err := dfsio.Run(ctx, b.env, &b.body); !errors.Is(err, stopped) {
		t.Errorf("Run: %v, want the order to stop", err)
	}
	if b.fs.entries[base+"/io_data/test_io_1"] == nil {
		t.Error("the second file was removed after the order to stop")
	}
}
