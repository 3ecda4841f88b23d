package nnthroughput_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/nnthroughput"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
)

// odometer is the original tool's way to name: it knows the next directory only. It is written down here from the
// description of its behaviour, and is what random access is compared with.
type odometer struct {
	perDir int64
	wheels []int64
	n      int64
}

func (o *odometer) next() string {
	if o.n%o.perDir == 0 {
		o.turn()
	}
	var path strings.Builder
	for _, w := range o.wheels {
		fmt.Fprintf(&path, "/ThroughputBenchDir%d", w)
	}
	fmt.Fprintf(&path, "/ThroughputBench%d", o.n)
	o.n++
	return path.String()
}

func (o *odometer) turn() {
	for i := len(o.wheels) - 1; i >= 0; i-- {
		if o.wheels[i] < o.perDir-1 {
			o.wheels[i]++
			return
		}
		o.wheels[i] = 0
	}
	o.wheels = append(o.wheels, 0)
}

func TestFirstForty(t *testing.T) {
	dirs := []string{
		"Dir0", "Dir1", "Dir2", "Dir3", "Dir0/Dir0", "Dir0/Dir1", "Dir0/Dir2", "Dir0/Dir3", "Dir1/Dir0", "Dir1/Dir1",
	}
	for n := range int64(40) {
		want := "/b/create/" + strings.ReplaceAll(dirs[n/4], "Dir", "ThroughputBenchDir") + fmt.Sprintf("/ThroughputBench%d", n)
		if got := nnthroughput.PathOf("/b/create", 4, n); got != want {
			t.Errorf("name %d is %s, want %s", n, got, want)
		}
	}
}

// The names of directories that the original tool was seen to make with its default of two in a directory.
func TestFirstDirectories(t *testing.T) {
	want := []string{"Dir0/0", "Dir0/1", "Dir1/2", "Dir1/3", "Dir0/Dir0/4", "Dir0/Dir0/5", "Dir0/Dir1/6", "Dir0/Dir1/7", "Dir1/Dir0/8", "Dir1/Dir0/9"}
	for n, short := range want {
		got := strings.ReplaceAll(nnthroughput.PathOf("", 2, int64(n)), "ThroughputBench", "")[1:]
		if got != short {
			t.Errorf("name %d is %s, want %s", n, got, short)
		}
	}
}

func TestRandomAccessIsTheOdometer(t *testing.T) {
	for _, perDir := range []int64{1, 2, 3, 4, 5, 7, 10, 100, 1000} {
		t.Run(fmt.Sprint(perDir), func(t *testing.T) {
			o := odometer{perDir: perDir}
			remembering := nnthroughput.Names(perDir)
			for n := range min(50_000, plan.Capacity(perDir)) {
				want := o.next()
				if got := nnthroughput.PathOf("", perDir, n); got != want {
					t.Fatalf("name %d is %s, want %s", n, got, want)
				}
				if got := remembering("", n); got != want {
					t.Fatalf("remembered name %d is %s, want %s", n, got, want)
				}
			}
		})
	}
}

func TestNamesFarAway(t *testing.T) {
	for name, tc := range map[string]struct {
		perDir, n int64
		want      string
	}{
		"the last with one":      {1, 18, strings.Repeat("/Dir0", 19) + "/18"},
		"the last with two":      {2, 2_097_147, strings.Repeat("/Dir1", 19) + "/2097147"},
		"the first of a level":   {10, 10 * 1110, "/Dir0/Dir0/Dir0/Dir0/11100"},
		"a thousand million":     {100, 1_000_000_000, "/Dir8/Dir98/Dir99/Dir0/1000000000"},
		"the largest number":     {math.MaxInt32, math.MaxInt64, "/Dir1/Dir4/9223372036854775807"},
		"a wide tree's last one": {1 << 20, 1<<40 - 1, "/Dir1048575/1099511627775"},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.ReplaceAll(nnthroughput.PathOf("", tc.perDir, tc.n), "ThroughputBench", "")
			if got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestOneAllocationPerName(t *testing.T) {
	at, n := nnthroughput.Names(1000), int64(0)
	if allocs := testing.AllocsPerRun(900, func() {
		_ = at("/base/create", n)
		n++
	}); allocs > 1 {
		t.Errorf("%v allocations for a name", allocs)
	}
}

func TestAttemptDir(t *testing.T) {
	got := map[string]string{}
	for _, id := range []report.Identity{
		{Step: "open", Execution: 1, Repeat: 1, Attempt: 1},
		{Step: "open", Execution: 1, Repeat: 1, Attempt: 2},
		{Step: "open", Execution: 1, Repeat: 2, Attempt: 1},
		{Step: "open", Execution: 2, Repeat: 1, Attempt: 1},
	} {
		got[fmt.Sprint(id.Execution, id.Repeat, id.Attempt)] = nnthroughput.AttemptDir("/b", id)
	}
	want := map[string]string{"1 1 1": "/b/open", "1 1 2": "/b/open.1.2", "1 2 1": "/b/open.2.1", "2 1 1": "/b/open.2.1.1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
