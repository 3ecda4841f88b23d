package main

import (
	"fmt"
	"strings"
	"testing"
)

func TestRow(t *testing.T) {
	runs := func(operations int, cpu float64, rates ...float64) []sample {
		var out []sample
		for _, r := range rates {
			out = append(out, sample{operations: operations, rate: r, steady: 2 * r, cpu: cpu})
		}
		return out
	}
	r := results{
		ours: runs(4000, 0.3, 150, 150, 150), java: runs(3000, 2, 100, 100, 100),
		oursShort: runs(1000, 0.15, 1, 1, 1), javaShort: runs(1000, 1.5, 1, 1, 1),
	}
	c := benchCase{operation: "a", threads: 8, long: 8, steady: true}
	// 0.15 s of 3000 operations, and 0.5 s of 2000.
	want := "| a | 8 | 8 | 150 | 100 | 1.50 | 1.50 | 300 | 200 | 1.50 | 1.50 | 50.0 | 250.0 | 0.20 |"
	if got := c.row(r); got != want {
		t.Errorf("row\n%s, want\n%s", got, want)
	}
	if columns := strings.Count(strings.SplitN(c.header(), "\n", 2)[0], "|"); columns != strings.Count(want, "|") {
		t.Errorf("%d columns in the header", columns-1)
	}
	r.java[1].steady = 0
	r.javaShort = runs(1000, 3, 1, 1, 1) // more than the long ones
	want = "| a | 8 | 8 | 150 | 100 | 1.50 | 1.50 | not told | not told |  |  | 50.0 | not told |  |"
	if got := c.row(r); got != want {
		t.Errorf("row\n%s, want\n%s", got, want)
	}
}

func TestWants(t *testing.T) {
	for _, tt := range []struct {
		only    string
		threads int
		want    bool
	}{
		{"", 0, true},
		{"", 8, true},
		{"", 64, false},
		{"load,a", 0, true},
		{"load", 0, false},
		{"updatea", 8, false},
	} {
		if got := (options{only: tt.only, threads: tt.threads}).wants(benchCase{operation: "a", threads: 8}); got != tt.want {
			t.Errorf("%s: %v, want %v", fmt.Sprintf("-only %q -threads %d", tt.only, tt.threads), got, tt.want)
		}
	}
}
