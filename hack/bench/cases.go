package main

import (
	"strconv"
	"strings"
)

// A benchCase is one operation at one number of threads.
type benchCase struct {
	operation string
	threads   int
	count     int  // operations of a paired run
	existing  bool // works on a set of files that is made once, and is left as it was
}

// cases are what the two tools are compared by. Counts make a run last some seconds on two cores.
func cases(scale float64) []benchCase {
	var out []benchCase
	for _, threads := range []int{3, 64} {
		more := 1
		if threads > 8 {
			more = 3
		}
		add := func(operation string, count int, existing bool) {
			out = append(out, benchCase{operation, threads, max(int(float64(count*more)*scale), 2*threads), existing})
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

// base is the directory of a case's files. A set that is made once is large enough for the longest run.
func (c benchCase) base() string { return "/bench/" + c.operation + "-" + strconv.Itoa(c.threads) }

// args is the command line of one run with so many operations; both tools take the same.
func (c benchCase) args(fs string, count int) []string {
	args := []string{"-fs", fs, "-D", "dfs.replication=1", "-op", c.operation, "-nonSuperUser", "-baseDirName", c.base()}
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
func (c benchCase) makeSet(fs string, count int) []string {
	return strings.Fields("-fs " + fs + " -D dfs.replication=1 -op create -close -keepResults -nonSuperUser -baseDirName " + c.base() +
		" -files " + strconv.Itoa(count) + " -filesPerDir 100 -threads 64 -blockSize 16")
}
