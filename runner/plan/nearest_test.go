package plan_test

import (
	"testing"

	"github.com/hadoop-bench/operator/runner/plan"
)

func TestNearest(t *testing.T) {
	known := []string{"readallfields", "writeallfields", "Durability"}
	tests := map[string]struct {
		name    string
		known   []string
		want    string
		changes int
	}{
		"the same":             {"readallfields", known, "readallfields", 0},
		"one missing":          {"readallfield", known, "readallfields", 1},
		"two exchanged":        {"raedallfields", known, "readallfields", 2},
		"case does not count":  {"WriteAllFields", known, "writeallfields", 0},
		"nor in a known name":  {"durabilityy", known, "Durability", 1},
		"empty: the shortest":  {"", known, "Durability", 10},
		"equally near: first":  {"c", []string{"b", "a"}, "b", 1},
		"nothing is known":     {"a", nil, "", 0},
		"known is empty":       {"ab", []string{""}, "", 2},
		"far from all of them": {"xyz", []string{"abcd", "abc"}, "abc", 3},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got, changes := plan.Nearest(tt.name, tt.known); got != tt.want || changes != tt.changes {
				t.Errorf("got %q with %d changes, want %q with %d", got, changes, tt.want, tt.changes)
			}
		})
	}
}
