package cli_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/shard"
	"github.com/hadoop-bench/operator/runner/ycsb"
)

// asRunner in the environment makes the test binary the runner, so that several processes of it work at once.
const asRunner = "YCSB_TEST_AS_RUNNER"

// parallel is how many tests with real servers work at once: most of the time they wait.
const parallel = "6"

func TestMain(m *testing.M) {
	if os.Getenv(asRunner) != "" {
		os.Exit(shard.Command(context.Background(), shard.Process{
			Args: os.Args[1:], LookupEnv: os.LookupEnv, Stdout: os.Stdout, Stderr: os.Stderr, Clock: measure.System(), Root: os.DirFS("/"),
		}))
	}
	flag.Parse()
	_ = flag.Set("test.parallel", parallel)
	os.Exit(m.Run())
}

// TestRealProcesses: four processes load a table. They collect what they write, with full sizes one of them does not.
func TestRealProcesses(t *testing.T) {
	env := fromEnv(t, clusterEnv, tableEnv)
	t.Parallel()
	records := int64(200_000)
	if long() {
		records = 2_000_000
	}
	const processes = 4
	h := openReal(t, env[0])
	table := h.create(t, "processes")
	part := records / processes
	var all [processes]*exec.Cmd
	var stdout, stderr [processes]buffer
	for i := range all {
		args := fmt.Sprintf("ycsb load hbase -P workloads/workloada -p columnfamily=f -p table=%s -p recordcount=%d -p insertstart=%d -p insertcount=%d "+
			"-p fieldcount=1 -p fieldlength=100 -p clientbuffering=%v -threads 8", table, records, int64(i)*part, part, i > 0 || !long())
		all[i] = child(t, args, env[0])
		all[i].Stdout, all[i].Stderr = &stdout[i], &stderr[i]
		if err := all[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range all {
		if err := c.Wait(); err != nil {
			t.Fatalf("process %d: %v\n%s", i, err, stderr[i].String())
		}
		text := reportIn(t, stdout[i].String())
		written := whole(text, "INSERT", "Return=OK") + whole(text, "INSERT", "Return=BATCHED_OK")
		t.Logf("process %d: %d records in %d ms", i, written, whole(text, "OVERALL", "RunTime(ms)"))
		if written != part {
			t.Errorf("process %d: %d records, want %d", i, written, part)
		}
	}
	h.expectKeys(t, table, keysOf(&ycsb.Config{RecordCount: records, ZeroPadding: 1}))
	if got, want := word(t, "count", table), fmt.Sprintf("rows %d cells %d bytes %d", records, records, 100*records); got != want {
		t.Errorf("HBase's client says %q, want %q", got, want)
	}
}

// child is a process of the runner.
func child(t *testing.T, args, conf string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self, strings.Fields(args)...)
	c.Env = append(os.Environ(), asRunner+"=1", "HBASE_CONF_DIR="+conf)
	return c
}

// expectKeys wants a table to have these keys, in order, and no others.
func (h *realHBase) expectKeys(t *testing.T, table string, want []string) {
	t.Helper()
	got := make([]string, 0, len(want))
	h.scan(t, table, func(row hbase.Row) { got = append(got, string(row[0].Row)) })
	if slices.Equal(want, got) {
		return
	}
	for i, key := range got {
		if i >= len(want) || key != want[i] {
			t.Fatalf("%d rows, want %d; the first wrong one is the %dth, %s", len(got), len(want), i, key)
		}
	}
	t.Fatalf("%d rows, want %d; %s is missing", len(got), len(want), want[len(got)])
}
