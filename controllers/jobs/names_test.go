package jobs

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hadoop-bench/operator/runner/report"
)

// longestTail is what a Job's pod names have at most beyond the Job's name: an index of five digits, which Kubernetes
// allows for Jobs with backoffLimitPerIndex, and the random end.
const longestTail = "-99999-xxxxx"

func TestNames(t *testing.T) {
	id := report.Identity{RunUID: testUID, Execution: 1, Step: "write", Repeat: 1, Attempt: 1}
	tests := map[string]struct {
		run  string
		want string // of the attempt's name before the hash
	}{
		"plain":                        {"nightly", "nightly-write-"},
		"dots":                         {"nightly.hdfs.v3", "nightly-hdfs-v3-write-"},
		"digit first":                  {"3node", "r3node-write-"},
		"only digits":                  {"2026.12.01", "r2026-12-01-write-"},
		"cut":                          {strings.Repeat("a", 253), strings.Repeat("a", 22) + "-write-"},
		"cut at a dot":                 {strings.Repeat("a", 21) + ".b", strings.Repeat("a", 21) + "-write-"},
		"digit first and cut":          {"1" + strings.Repeat("a", 30), "r1" + strings.Repeat("a", 20) + "-write-"},
		"digit first and cut at a dot": {"1" + strings.Repeat("a", 19) + ".bc", "r1" + strings.Repeat("a", 19) + "-write-"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got, want := AttemptName(tc.run, id), tc.want+AttemptHash(id); got != want {
				t.Errorf("AttemptName(%q) = %q, want %q", tc.run, got, want)
			}
		})
	}
}

func TestNameOfEveryPurposeDiffers(t *testing.T) {
	id := report.Identity{RunUID: testUID, Execution: 1, Step: "report", Repeat: 1, Attempt: 1}
	names := map[string]string{}
	add := func(what, name string) {
		if other, ok := names[name]; ok {
			t.Errorf("%s and %s are both called %s", what, other, name)
		}
		names[name] = what
		if problems := validation.IsDNS1035Label(name); len(problems) > 0 {
			t.Errorf("%s %q: %v", what, name, problems)
		}
	}
	for execution := range int32(3) {
		for repeat := range int32(31) {
			for attempt := range int32(4) {
				id.Execution, id.Repeat, id.Attempt = execution, repeat, attempt
				what := fmt.Sprintf("execution %d, repeat %d, attempt %d", execution, repeat, attempt)
				add("attempt of "+what, AttemptName("run", id))
				add("rows of "+what, RowsName("run", id))
			}
		}
		add(fmt.Sprintf("report of execution %d", execution), ReportName("run", types.UID(testUID), execution))
	}
}

// FuzzAttemptName: whatever the run is called, the Job's name and those of its pods are DNS labels, and two attempts
// never share a name.
func FuzzAttemptName(f *testing.F) {
	for _, run := range []string{"a", "0", "a.b-c", "1.2", strings.Repeat("a", 253), strings.Repeat("a.", 126) + "a", "x--y", "0-" + strings.Repeat("-", 30) + "z"} {
		f.Add(run, "write", int32(1), int32(1), int32(1))
	}
	f.Add("run", "backwardRead", int32(30), int32(3), int32(1<<31-1))
	f.Add("run", "", int32(-1), int32(0), int32(2))
	f.Add("run", "Übung\x00", int32(1), int32(1), int32(1))
	f.Fuzz(func(t *testing.T, run, step string, execution, repeat, attempt int32) {
		if len(validation.IsDNS1123Subdomain(run)) > 0 {
			t.Skip("no name of an object")
		}
		id := report.Identity{RunUID: testUID, Execution: execution, Step: step, Repeat: repeat, Attempt: attempt}
		name := AttemptName(run, id)
		for what, n := range map[string]string{"Job": name, "pod": name + longestTail, "report": ReportName(run, testUID, execution), "rows": RowsName(run, id)} {
			if problems := validation.IsDNS1035Label(n); len(problems) > 0 {
				t.Errorf("%s %q of run %q: %v", what, n, run, problems)
			}
		}
		if again := AttemptName(run, id); again != name {
			t.Errorf("the same attempt is called %q and %q", name, again)
		}
		others := map[string]report.Identity{"attempt": id, "repeat": id, "execution": id, "step": id, "run": id}
		for what, o := range others {
			o = next(what, o)
			if AttemptName(run, o) == name {
				t.Errorf("the next %s has the same name %q", what, name)
			}
		}
	})
}

// next is an identity that differs in one part.
func next(what string, id report.Identity) report.Identity {
	switch what {
	case "attempt":
		id.Attempt++
	case "repeat":
		id.Repeat++
	case "execution":
		id.Execution++
	case "step":
		id.Step += "x"
	case "run":
		id.RunUID += "x"
	}
	return id
}

func TestParseIndexes(t *testing.T) {
	tests := map[string]struct {
		in   string
		want []int32
		bad  bool
	}{
		"none":            {in: ""},
		"one":             {in: "0", want: []int32{0}},
		"several":         {in: "1,3,5", want: []int32{1, 3, 5}},
		"range":           {in: "3-5", want: []int32{3, 4, 5}},
		"range of one":    {in: "3-3", want: []int32{3}},
		"mixed":           {in: "1,3-5,7", want: []int32{1, 3, 4, 5, 7}},
		"twice":           {in: "1,1", want: []int32{1}},
		"last":            {in: "9999", want: []int32{9999}},
		"empty part":      {in: "1,,2", bad: true},
		"open range":      {in: "1-", bad: true},
		"no beginning":    {in: "-1", bad: true},
		"backwards":       {in: "5-3", bad: true},
		"range of three":  {in: "1-2-3", bad: true},
		"word":            {in: "all", bad: true},
		"space":           {in: "1, 2", bad: true},
		"too large":       {in: "1048576", bad: true},
		"too large range": {in: "0-99999999999", bad: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseIndexes(tc.in)
			if (err != nil) != tc.bad {
				t.Fatalf("ParseIndexes(%q): error %v", tc.in, err)
			}
			if diff := cmp.Diff(tc.want, slices.Sorted(maps.Keys(got))); diff != "" {
				t.Errorf("ParseIndexes(%q) (-want +got):\n%s", tc.in, diff)
			}
		})
	}
}

// FuzzParseIndexes: what is accepted holds what it says, and what Kubernetes writes is accepted.
func FuzzParseIndexes(f *testing.F) {
	for _, s := range []string{"", "0", "1,3-5,7", "5-3", "-", "1-1048575", "1,,2", "+1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.Count(s, ",") > 8 {
			t.Skip("long lists of long ranges take long")
		}
		set, err := ParseIndexes(s)
		if err != nil {
			if set != nil {
				t.Errorf("ParseIndexes(%q) returns a set and error %v", s, err)
			}
			return
		}
		again, err := ParseIndexes(format(set))
		if err != nil {
			t.Fatalf("ParseIndexes(%q), which is %q written anew: %v", format(set), s, err)
		}
		if !maps.Equal(set, again) {
			t.Errorf("ParseIndexes(%q) has %d indexes, written anew %d", s, len(set), len(again))
		}
	})
}

// format writes a set as Kubernetes does.
func format(set map[int32]bool) string {
	var parts []string
	indexes := slices.Sorted(maps.Keys(set))
	for i := 0; i < len(indexes); {
		j := i
		for j+1 < len(indexes) && indexes[j+1] == indexes[j]+1 {
			j++
		}
		switch j - i {
		case 0:
			parts = append(parts, fmt.Sprint(indexes[i]))
		default:
			parts = append(parts, fmt.Sprintf("%d-%d", indexes[i], indexes[j]))
		}
		i = j + 1
	}
	return strings.Join(parts, ",")
}
