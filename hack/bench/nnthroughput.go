package main

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A nnCase is one of NNThroughputBenchmark's operations at one number of threads, on the NameNode fs.
type nnCase struct {
	fs        string
	operation string
	threads   int
	existing  bool // works on a set of files that is made once, and is left as it was
}

// nnthroughputCases are what the runner and NNThroughputBenchmark are compared by. Counts make a run last some seconds on
// two cores.
func nnthroughputCases(o options) []benchCase {
	var out []benchCase
	for _, threads := range []int{3, 64} {
		more := 1
		if threads > 8 {
			more = 3
		}
		add := func(operation string, count int, existing bool) {
			c := nnCase{o.fs, operation, threads, existing}
			out = append(out, c.benchCase(o.ours, max(int(float64(count*more)*o.scale), 2*threads)))
		}
		// Long enough for the JVM's compiler to have done its work for most of a run.
		add("open", 30000, true)
		add("fileStatus", 30000, true)
		add("blockReport", 300, false)
		add("create", 1500, false)
		add("mkdirs", 1500, false)
		add("rename", 1500, false)
		add("delete", 1500, false)
	}
	return out
}

// benchCase makes runs of count operations of the case.
func (c nnCase) benchCase(ours tool, count int) benchCase {
	b := benchCase{
		operation: c.operation, threads: c.threads, long: count, short: max(count/5, c.threads),
		args: func(_ string, count int) []string { return c.args(count) },
		read: readNNThroughput,
	}
	if c.existing {
		b.prepare = func(ctx context.Context) error {
			_, err := ours.run(ctx, c.makeSet(count), readNNThroughput)
			return err
		}
	}
	if c.operation == "blockReport" {
		b.after = func(ctx context.Context, tool string) error {
			if tool == oursName {
				return nil
			}
			return takeBack(ctx, c.fs, c.threads)
		}
	}
	return b
}

// base is the directory of a case's files. A set that is made once is large enough for the longest run.
func (c nnCase) base() string { return "/bench/" + c.operation + "-" + strconv.Itoa(c.threads) }

// args is the command line of one run with so many operations; both tools take the same.
func (c nnCase) args(count int) []string {
	args := []string{"-fs", c.fs, "-D", "dfs.replication=1", "-op", c.operation, "-nonSuperUser", "-baseDirName", c.base()}
	option := func(name string, value int) { args = append(args, name, strconv.Itoa(value)) }
	switch c.operation {
	case "blockReport":
		// Each fake DataNode is a thread of its own.
		option("-datanodes", c.threads)
		option("-reports", count)
		option("-blocksPerReport", 3000/c.threads)
		option("-blocksPerFile", 100)
		return append(args, "-blockSize", "16")
	case "mkdirs":
		option("-dirs", count)
		option("-dirsPerDir", 100)
	default:
		option("-files", count)
		option("-filesPerDir", 100)
		args = append(args, "-blockSize", "16")
	}
	option("-threads", c.threads)
	if c.existing {
		args = append(args, "-useExisting", "-keepResults")
	}
	return args
}

// makeSet is the command line that makes the set of files of a case, for runs of at most so many operations.
func (c nnCase) makeSet(count int) []string {
	return strings.Fields("-fs " + c.fs + " -D dfs.replication=1 -op create -close -keepResults -nonSuperUser -baseDirName " + c.base() +
		" -files " + strconv.Itoa(count) + " -filesPerDir 100 -threads 64 -blockSize 16")
}

// readNNThroughput reads the last report that a tool printed, which may have a logger's prefix before each line.
func readNNThroughput(stdout, stderr string) (sample, error) {
	var s sample
	last := func(pattern string) string {
		all := regexp.MustCompile(pattern).FindAllStringSubmatch(stdout+stderr, -1)
		if len(all) == 0 {
			return ""
		}
		return all[len(all)-1][1]
	}
	var err error
	if s.operations, err = strconv.Atoi(last(`# operations: (\d+)`)); err != nil {
		return s, fmt.Errorf("read the number of operations: %w", err)
	}
	if s.rate, err = strconv.ParseFloat(last(` Ops per sec: (\S+)`), 64); err != nil {
		return s, fmt.Errorf("read the rate: %w", err)
	}
	if s.rate <= 0 {
		return s, fmt.Errorf("the rate is %v", s.rate)
	}
	return s, nil
}
