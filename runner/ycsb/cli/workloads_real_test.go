package cli_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hadoop-bench/operator/runner/ycsb"
	"github.com/hadoop-bench/operator/runner/ycsb/cli"
)

// Sizes of the tables, and how many operations a run has.
const (
	realRecords    = 400
	realOperations = 600
	realSizes      = " -p recordcount=400 -p operationcount=600 -p fieldcount=3 -p fieldlength=20 -p hadoopbench.seed=5 "
)

// What one thread scans can be told beforehand, so those with scans have one.
var realWorkloads = map[string]string{
	"a":          "-P workloads/workloada -threads 8",
	"b":          "-P workloads/workloadb -threads 8",
	"c":          "-P workloads/workloadc -threads 8",
	"d":          "-P workloads/workloadd -threads 8",
	"e":          "-P workloads/workloade -threads 1",
	"f":          "-P workloads/workloadf -threads 8",
	"updateonly": "-P workloads/updateonly -threads 8",
	"hotspot": "-P workloads/workloada -threads 8 -p requestdistribution=hotspot -p readproportion=0.3 -p updateproportion=0.3 " +
		"-p insertproportion=0.1 -p readmodifywriteproportion=0.3 -p readallfields=false -p writeallfields=true",
	"exponential": "-P workloads/workloada -threads 1 -p requestdistribution=exponential -p readproportion=0.4 -p updateproportion=0.2 " +
		"-p scanproportion=0.4 -p maxscanlength=300 -p scanlengthdistribution=zipfian -p readallfields=false -p durability=SKIP_WAL",
	"sequential": "-P workloads/workloada -threads 3 -p requestdistribution=sequential -p readallfieldsbyname=true " +
		"-p fieldlengthdistribution=uniform -p target=1000",
}

// TestRealWorkloads: what is reported is what the servers counted.
func TestRealWorkloads(t *testing.T) {
	h := openReal(t, fromEnv(t, clusterEnv)[0])
	for _, name := range sorted(realWorkloads) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h.measureWorkload(t, "", realWorkloads[name], true)
		})
	}
}

func TestRealVersions(t *testing.T) {
	for version, dir := range realVersions(t) {
		h := openReal(t, dir)
		for _, name := range []string{"a", "c", "updateonly"} {
			t.Run(version+"/"+name, func(t *testing.T) {
				t.Parallel()
				h.measureWorkload(t, "", realWorkloads[name], false)
			})
		}
	}
}

// measureWorkload loads a table and carries out a workload on it. Servers of versions before 2.6 count no requests of a table.
func (h *realHBase) measureWorkload(t *testing.T, login, workload string, requests bool) {
	table := h.create(t, "workload")
	args := workload + realSizes + login + " -p table=" + table
	h.ycsb(t, "load hbase", args, "-threads 4").operations(t, realRecords)
	r := h.ycsb(t, "run hbase", args)
	n := r.operations(t, realOperations)
	t.Logf("%v, %+v", n, r.counters(t))
	want := served{ReadRows: n["READ"], WrittenRows: realRecords + n["INSERT"] + n["UPDATE"]}
	if n["SCAN"] > 0 {
		want.ReadRows += scannedRows(t, args)
	}
	if requests {
		want.Gets, want.Puts = n["READ"], want.WrittenRows
	}
	h.expectServed(t, table, func(got served) string {
		// A scan asks each region that it comes to once.
		if got.Scans < n["SCAN"] || n["SCAN"] == 0 && got.Scans > 0 {
			return fmt.Sprintf("want %d scans", n["SCAN"])
		}
		if got.Scans = 0; got != want {
			return fmt.Sprintf("want %+v", want)
		}
		return ""
	})
}

// scannedRows is how many rows the scans of a run of one thread find.
func scannedRows(t *testing.T, args string) (rows int64) {
	t.Helper()
	c, err := cli.Parse(strings.Fields("run hbase " + args))
	if err != nil {
		t.Fatal(err)
	}
	config, err := ycsb.ParseConfig(c.Properties, "hbase.*")
	if err != nil {
		t.Fatal(err)
	}
	workload, err := ycsb.NewWorkload(config)
	if err != nil {
		t.Fatal(err)
	}
	keys := keysOf(config)
	thread := workload.Thread(0)
	for range config.Operations() {
		op, err := thread.Next()
		if err != nil {
			t.Fatal(err)
		}
		at, _ := slices.BinarySearch(keys, string(op.Key))
		switch op.Kind {
		case ycsb.MetricInsert:
			keys = slices.Insert(keys, at, string(op.Key))
			thread.Done(op, ycsb.OK)
		case ycsb.MetricScan:
			rows += int64(min(op.Count, len(keys)-at))
		}
	}
	return rows
}

// keysOf are the keys of a loaded table, in order.
func keysOf(c *ycsb.Config) []string {
	keys := make([]string, c.RecordCount)
	for i := range keys {
		keys[i] = string(c.AppendKey(nil, int64(i)))
	}
	slices.Sort(keys)
	return keys
}
