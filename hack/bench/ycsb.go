package main

import (
	"context"
	"path/filepath"
	"strconv"
)

const (
	// ycsbRecords is how many records the workloads choose from: 100 MB, which the servers' memory holds.
	ycsbRecords = 100_000
	// endless is a number of records that no load comes to.
	endless = 100_000_000
	// endlessOperations are more than the seconds of a run suffice for; YCSB takes no threads for 0 operations.
	endlessOperations = "1000000000"
	// ycsbLong and ycsbShort are the lengths of runs in seconds. Over the second half of the long ones a JVM has done most of
	// its compiling.
	ycsbLong, ycsbShort = 8, 3
)

// A ycsbCase is a workload with one number of threads.
type ycsbCase struct {
	name     string
	phase    string // load or run
	file     string // of the workload
	threads  int
	database string // hbase or basic
	options  []string
}

// ycsbCases are what the runner and YCSB are compared by. done must be called at the end.
func ycsbCases(ctx context.Context, o options) (cases []benchCase, done func(), err error) {
	records := "recordcount=" + strconv.Itoa(ycsbRecords)
	var all []ycsbCase
	for _, threads := range []int{8, 64} {
		add := func(name, phase, file, records string) {
			all = append(all, ycsbCase{name: name, phase: phase, file: file, threads: threads, database: "hbase", options: []string{"-p", records}})
		}
		add("load", "load", "workloada", "recordcount="+strconv.Itoa(endless))
		add("a", "run", "workloada", records)
		add("c", "run", "workloadc", records)
		add("f", "run", "workloadf", records)
		add("updateonly", "run", "updateonly", records)
	}
	all = append(all, ycsbCase{
		name: "basic", phase: "run", file: "workloadc", threads: 2, database: "basic", options: []string{"-p", records, "-p", "basicdb.verbose=false"},
	})
	t, err := openTable(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range all {
		cases = append(cases, c.benchCase(o, t))
	}
	return cases, t.close, nil
}

// benchCase makes runs of the case. Each load finds an empty table, and each pair of runs of another workload all records in
// files and no compaction under way.
func (c ycsbCase) benchCase(o options, t *table) benchCase {
	b := benchCase{
		operation: c.name, threads: c.threads, read: readYCSB, steady: true,
		long: seconds(ycsbLong, o), short: seconds(ycsbShort, o),
	}
	b.args = func(tool string, length int) []string {
		args := c.args(tool, o.workloads, length)
		if c.database == "hbase" {
			args = append(args, t.options()...)
		}
		return args
	}
	switch {
	case c.phase == "load":
		b.before = func(ctx context.Context, _ string) error { return t.empty(ctx) }
	case c.database == "hbase":
		b.prepare = t.fill
		if c.name != "c" { // it writes nothing
			b.settle = t.settle
		}
	}
	return b
}

// seconds is a length of runs. YCSB takes whole ones.
func seconds(length int, o options) int { return max(1, int(float64(length)*o.scale+0.5)) }

// args is the command line of one run of so many seconds. Both tools take the same options; a status every second tells how
// fast they are at what time.
func (c ycsbCase) args(tool, workloads string, length int) []string {
	args := []string{c.phase}
	if tool == oursName {
		args = append(args, c.database)
	}
	args = append(args, pathOption(tool, filepath.Join(workloads, c.file))...)
	if tool != oursName && c.database == "basic" {
		args = append(args, "-db", "site.ycsb.BasicDB")
	}
	args = append(args, "-s", "-threads", strconv.Itoa(c.threads), "-p", "status.interval=1", "-p", "operationcount="+endlessOperations,
		"-p", "maxexecutiontime="+strconv.Itoa(length))
	return append(args, c.options...)
}

// pathOption is how a tool is told its workload file: hack/peers/ycsb.sh wants it as an argument.
func pathOption(tool, path string) []string {
	if tool == oursName {
		return []string{"-P", path}
	}
	return []string{path}
}
