package nnthroughput_test

import (
	"strings"
	"testing"

	"github.com/hadoop-bench/operator/runner/nnthroughput"
)

func TestMarkerNames(t *testing.T) {
	long := strings.Repeat("n", 253)
	tests := map[string]struct {
		run, name, want string // want: the run as the name tells it
	}{
		"plain":      {"ns/run", "_hadoopbench-run." + testUID + ".ns.run", "ns/run"},
		"with dots":  {"ns/my.run.1", "_hadoopbench-run." + testUID + ".ns.my.run.1", "ns/my.run.1"},
		"by hand":    {"", "_hadoopbench-run." + testUID + "..", "/"},
		"as in HDFS": {"ns/" + long, "_hadoopbench-run." + testUID + ".ns." + long[:255-57], "ns/" + long[:255-57]},
		"with slash": {"ns/a/b", "_hadoopbench-run." + testUID + ".ns.a.b", "ns/a.b"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := nnthroughput.MarkerOf(testUID, tt.run)
			if got != tt.name || len(got) > 255 {
				t.Errorf("marker %q of %d bytes, want %q", got, len(got), tt.name)
			}
			uid, run, ok := nnthroughput.ParseMarker(got)
			if !ok || uid != testUID || run != tt.want {
				t.Errorf("parsed %q, %q, %v; want %q", uid, run, ok, tt.want)
			}
		})
	}
	for _, name := range []string{"", "create", "_hadoopbench-run.", "_hadoopbench-run.x", "_hadoopbench-run..ns.run", "_hadoopbench-safemode"} {
		if uid, run, ok := nnthroughput.ParseMarker(name); ok {
			t.Errorf("%q is read as the marker of %q, %q", name, uid, run)
		}
	}
}

func FuzzParseMarker(f *testing.F) {
	f.Add("_hadoopbench-run." + testUID + ".ns.run")
	f.Add("_hadoopbench-run.a..")
	f.Fuzz(func(t *testing.T, name string) {
		uid, run, ok := nnthroughput.ParseMarker(name)
		if !ok {
			return
		}
		if uid == "" || strings.Contains(uid, ".") || !strings.Contains(run, "/") {
			t.Errorf("%q is read as the marker of %q, %q", name, uid, run)
		}
		if len(name) <= 255 && !strings.Contains(name, "/") && nnthroughput.MarkerOf(uid, run) != name {
			t.Errorf("%q becomes %q", name, nnthroughput.MarkerOf(uid, run))
		}
	})
}
