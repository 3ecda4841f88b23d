package shard_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/shard"
)

// command runs the runner's command line.
func command(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	code = shard.Command(t.Context(), shard.Process{
		Args: args, Stdout: &out, Stderr: &errs, Clock: measure.System(),
		LookupEnv: func(name string) (string, bool) { return "1", name == plan.IndexEnv },
	})
	return code, out.String(), errs.String()
}

func TestCommand(t *testing.T) {
	dir := t.TempDir()
	ready := t.TempDir()
	if err := os.WriteFile(filepath.Join(ready, "ready"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		args   []string
		code   int
		stdout string // part of it
		stderr string
	}{
		"nothing":               {nil, 2, "", "Usage: runner <command>"},
		"help":                  {[]string{"help"}, 0, "Usage: runner <command>", ""},
		"--help":                {[]string{"--help"}, 0, "Usage: runner <command>", ""},
		"version":               {[]string{"version"}, 0, "runner ", ""},
		"unknown":               {[]string{"frobnicate"}, 2, "", `unknown command "frobnicate"`},
		"dfsio":                 {[]string{"dfsio", "-write"}, 2, "", "runner dfsio: not supported yet"},
		"nnthroughput":          {[]string{"nnthroughput", "-op", "x"}, 2, "", "-op x: no such operation"},
		"nnthroughput, help":    {[]string{"nnthroughput", "-help"}, 0, "Usage: runner nnthroughput [generic options] -op", ""},
		"install, nowhere":      {[]string{"install"}, 2, "", "runner install: -to is missing"},
		"install, no directory": {[]string{"install", "-to", filepath.Join(dir, "absent")}, 1, "", "copy the runner: open "},
		"ycsb":                  {[]string{"ycsb"}, 2, "", "runner ycsb: no arguments: give load or run, and a binding"},
		"ycsb, help":            {[]string{"ycsb", "-h"}, 0, "Usage: runner ycsb load|run <binding> [options]", ""},
		"ycsb, basic": {
			[]string{"ycsb", "run", "basic", "-P", "workloads/workloadc", "-threads", "2"},
			0,
			"[READ], Return=OK, 1000\n", "Starting test.\n",
		},
		"probe, not ready":      {[]string{"probe", "-run-dir", dir}, 1, "", "not prepared yet"},
		"probe, ready":          {[]string{"probe", "-run-dir", ready}, 0, "", ""},
		"probe, help":           {[]string{"probe", "-h"}, 0, "", "-run-dir directory"},
		"probe, unknown option": {[]string{"probe", "-x"}, 2, "", "flag provided but not defined: -x"},
		"probe, argument":       {[]string{"probe", "x"}, 2, "", `runner probe: unexpected argument "x"`},
		"shard, help":           {[]string{"shard", "-h"}, 0, "", plan.File},
		"shard, unknown option": {[]string{"shard", "-x"}, 2, "", "not defined: -x"},
		"shard, argument":       {[]string{"shard", "x"}, 2, "", "unexpected argument"},
		"preflight, help":       {[]string{"preflight", "-h"}, 0, "", "-baseDir directory"},
		"preflight, no files":   {[]string{"preflight", "-nrFiles", "0"}, 2, "", "nrFiles 0: not between 1 and 1000000"},
		"preflight, bad -D":     {[]string{"preflight", "-D", "x"}, 2, "", `"x" is not name=value`},
		"preflight, argument":   {[]string{"preflight", "x"}, 2, "", "unexpected argument"},
		"preflight, no target":  {[]string{"preflight"}, 2, "ConfigInvalid    no file system: neither an address", ""},
		"preflight, kerberos": {
			[]string{"preflight", "-fs", "hdfs://nn", "-D", "hadoop.security.authentication=kerberos", "-write"},
			2,
			"NotSupported     property hadoop.security.authentication", "",
		},
		"preflight, refused": {[]string{"preflight", "-fs", "hdfs://127.0.0.1:1", "-conf", dir}, 3, "NameNodeUnreachable no NameNode can be reached: 127.0.0.1:1", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := command(t, tt.args...)
			if code != tt.code || !strings.Contains(stdout, tt.stdout) || !strings.Contains(stderr, tt.stderr) {
				t.Errorf("code %d\nstdout %s\nstderr %s\nwant %d, %q, %q", code, stdout, stderr, tt.code, tt.stdout, tt.stderr)
			}
		})
	}
}

// TestShardCommand: all paths can be given, the index comes from Kubernetes' variable, and the log is JSON lines.
func TestShardCommand(t *testing.T) {
	dir := t.TempDir()
	planned := newPlan()
	planned.Target.FS = "file:///" // refused before anything is reached
	text, err := json.Marshal(planned)
	if err != nil {
		t.Fatal(err)
	}
	planFile, reportFile := filepath.Join(dir, "p.json"), filepath.Join(dir, "r.json")
	if err := os.WriteFile(planFile, text, 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"shard", "-plan", planFile, "-report", reportFile, "-conf", dir, "-podinfo", dir, "-run-dir", dir}
	for want, args := range map[int32][]string{1: args, 4: append(args, "-index", "4")} {
		code, stdout, stderr := command(t, args...)
		if code != report.ExitPlan || stderr != "" {
			t.Errorf("code %d, stderr %s", code, stderr)
		}
		got, err := os.ReadFile(reportFile)
		if err != nil {
			t.Fatal(err)
		}
		r, err := report.Decode(got)
		if err != nil {
			t.Fatalf("report %s: %v", got, err)
		}
		if r.Envelope.Index != want || r.Envelope.Failure.Reason != "ConfigInvalid" {
			t.Errorf("envelope %+v, want index %d and ConfigInvalid", r.Envelope, want)
		}
		for line := range strings.Lines(stdout) {
			if !json.Valid([]byte(line)) {
				t.Errorf("log line %q is not JSON", line)
			}
		}
	}
}
