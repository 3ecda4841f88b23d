package shard_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/shard"
)

func TestParsePlan(t *testing.T) {
	whole, err := json.Marshal(newPlan())
	if err != nil {
		t.Fatal(err)
	}
	got, err := shard.ParsePlan(whole)
	if err != nil {
		t.Fatalf("ParsePlan: %v", err)
	}
	if diff := cmp.Diff(newPlan(), got); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	tests := map[string]struct{ text, want string }{
		"empty":              {"", "unexpected end of JSON input"},
		"not JSON":           {"hello", "invalid character"},
		"no version":         {"{}", "version 0 is not supported"},
		"a later version":    {`{"version":2,"new":true}`, "version 2 is not supported, only 1 is"},
		"an unknown field":   {`{"version":1,"new":true}`, `unknown field "new"`},
		"a wrong type":       {`{"version":1,"shards":"x"}`, "cannot unmarshal string"},
		"a negative timeout": {`{"version":1,"timeoutMillis":-1}`, "a time is negative"},
		"a negative gate":    {`{"version":1,"gateTimeoutMillis":-1}`, "a time is negative"},
		"an endless timeout": {`{"version":1,"timeoutMillis":9000000000000000000}`, "a timeout is beyond"},
		"more than a plan":   {`{"version":1}` + strings.Repeat(" ", 1<<20), "more than 1048576 bytes"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := shard.ParsePlan([]byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("ParsePlan: %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestReadPlan(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "plan.json")
	if err := os.WriteFile(path, []byte(`{"version":1,"run":"a/b"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := shard.ReadPlan(path)
	if err != nil || got.Run != "a/b" || got.Version != plan.Version {
		t.Errorf("ReadPlan = %+v, %v", got, err)
	}
	for _, path := range []string{filepath.Join(dir, "absent"), dir} {
		if _, err := shard.ReadPlan(path); err == nil || !strings.Contains(err.Error(), "read plan") {
			t.Errorf("ReadPlan(%s): %v, want an error", path, err)
		}
	}
}

// FuzzParsePlan: what is accepted can be written and read again.
func FuzzParsePlan(f *testing.F) {
	whole, err := json.Marshal(newPlan())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add([]byte(`{"version":1,"dfsio":{"tests":["write"]}}`))
	f.Add([]byte(`{"version":1}{`))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := shard.ParsePlan(text)
		if err != nil {
			return
		}
		again, err := json.Marshal(p)
		if err != nil {
			t.Fatalf("plan %+v cannot be written: %v", p, err)
		}
		if _, err := shard.ParsePlan(again); err != nil {
			t.Fatalf("plan %s is refused: %v", again, err)
		}
	})
}
