package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Both tools get the same options, each in its own form.
func TestYCSBArgs(t *testing.T) {
	const same = " -s -threads 8 -p status.interval=1 -p operationcount=1000000000 -p maxexecutiontime=3 -p recordcount=5"
	c := ycsbCase{name: "c", phase: "run", file: "workloadc", threads: 8, database: "hbase", options: []string{"-p", "recordcount=5"}}
	basic := c
	basic.database = "basic"
	for name, tt := range map[string]struct {
		c    ycsbCase
		tool string
		want string
	}{
		"ours":                         {c, oursName, "run hbase -P dir/workloadc" + same},
		"theirs":                       {c, javaName, "run dir/workloadc" + same},
		"ours without a database":      {basic, oursName, "run basic -P dir/workloadc" + same},
		"theirs without one, its last": {basic, javaName, "run dir/workloadc -db site.ycsb.BasicDB" + same},
	} {
		if diff := cmp.Diff(strings.Fields(tt.want), tt.c.args(tt.tool, "dir", 3)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestSeconds(t *testing.T) {
	for scale, want := range map[float64]int{0.01: 1, 0.5: 4, 1: 8, 1.1: 9} {
		if got := seconds(8, options{scale: scale}); got != want {
			t.Errorf("8 s times %v: %d, want %d", scale, got, want)
		}
	}
}
