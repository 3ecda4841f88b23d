package shard_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestInstall: the running program and names for its user and group end in the directory, also the second time.
func TestInstall(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		if code, _, stderr := command(t, "install", "-to", dir); code != 0 {
			t.Fatalf("exit code %d, %s", code, stderr)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "runner")
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, want the %d of the program, error %v", len(got), len(want), err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o555 != 0o555 {
		t.Errorf("mode %v, error %v", info.Mode(), err)
	}
	names := map[string]string{"passwd": "root:x:0:0:root:/root:/bin/sh\n", "group": "root:x:0:\n"}
	if uid := os.Getuid(); uid != 0 {
		names["passwd"] += fmt.Sprintf("hadoop-bench:x:%d:%d:hadoop-bench:/tmp:/bin/sh\n", uid, os.Getgid())
	}
	if gid := os.Getgid(); gid != 0 {
		names["group"] += fmt.Sprintf("hadoop-bench:x:%d:\n", gid)
	}
	for name, want := range names {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if diff := cmp.Diff(want, string(got)); err != nil || diff != "" {
			t.Errorf("%s (-want +got):\n%s%v", name, diff, err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*.part")); err != nil || left != nil {
		t.Errorf("left: %v, %v", left, err)
	}
}
