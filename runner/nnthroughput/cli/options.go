package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/hadoop-bench/operator/runner/plan"
)

// Options are the values of the options after -op, with upstream's defaults where none was given.
type Options struct {
	KeepResults, NonSuperUser         bool
	LogLevel                          string // an slf4j level
	UGCacheRefreshCount               int32  // math.MaxInt32: practically never
	Threads, FilesPerDir, DirsPerDir  int32
	Files, Dirs, Reports              int64
	BlockSize                         int64 // bytes; 0: dfs.blocksize of the configuration
	Close, UseExisting, AppendNewBlk  bool
	DataNodes, BlocksPerReport        int32
	BlocksPerFile                     int32
	NodesToDecommission               int32
	NodeReplicationLimit, TotalBlocks int32
	Replication                       int32    // of op replication; 0: dfs.replication
	BaseDirs                          []string // absolute and clean

	// Beyond upstream.
	Connections                       int32
	RateMilli                         int64 // thousandths of an operation per second; 0: as fast as it goes
	Duration, Warmup                  time.Duration
	RefuseFakeDataNodes               bool
	LeaveSafeMode                     bool
	Keytab, Principal, Krb5Conf, User string
}

// Bounds of what one process can do.
const (
	maxThreads         = 100_000
	maxDataNodes       = 32_766 // upstream's: the transfer port is the index plus one, and must be below 32767
	maxBlocksPerReport = 10_000_000
	maxReplication     = 512 // dfs.replication.max's default
	maxBlockSize       = math.MaxInt64 / maxReplication
)

// defaultBase is upstream's base directory.
const defaultBase = "/nnThroughputBenchmark"

// defaults are upstream's.
func defaults() Options {
	return Options{
		LogLevel: "ERROR", UGCacheRefreshCount: math.MaxInt32,
		Threads: 3, Files: 10, FilesPerDir: 4, Dirs: 10, DirsPerDir: 2,
		DataNodes: 10, Reports: 30, BlocksPerReport: 100, BlocksPerFile: 10,
		NodesToDecommission: 1, NodeReplicationLimit: 100, TotalBlocks: 100,
		Connections: 1,
	}
}

// option is one option after -op.
type option struct {
	name string
	ops  string // words: the operations that know it; empty: all
	ours bool   // upstream has not got it
	// set takes the value; flag stands for it where the option has none.
	set  func(o *Options, value string) error
	flag func(o *Options)
}

// knows tells whether an operation knows the option. For all, each operation takes those it knows.
func (o *option) knows(op string) bool {
	if o.ops == "" || op == plan.OpAll {
		return true
	}
	for known := range strings.FieldsSeq(o.ops) {
		if known == op {
			return true
		}
	}
	return false
}

// Groups of operations.
const (
	opsFiles     = "create open delete append fileStatus rename"
	opsPrepared  = "open delete append fileStatus rename" // they work on files made before
	opsThreads   = opsFiles + " mkdirs"
	opsDataNodes = "blockReport replication"
	opsRepeating = "create mkdirs open fileStatus blockReport" // they can go on without end
)

// options are all there are.
func options() []option {
	return append(upstreamOptions(), ownOptions()...)
}

func upstreamOptions() []option {
	return []option{
		{name: "-keepResults", flag: func(o *Options) { o.KeepResults = true }},
		{name: "-nonSuperUser", flag: func(o *Options) { o.NonSuperUser = true }},
		{name: "-logLevel", set: setLogLevel},
		{name: "-UGCacheRefreshCount", set: integer(math.MinInt32, func(o *Options) *int32 { return &o.UGCacheRefreshCount })},
		{name: "-threads", ops: opsThreads, set: within(1, maxThreads, func(o *Options) *int32 { return &o.Threads })},
		{name: "-files", ops: opsFiles, set: integer(1, func(o *Options) *int64 { return &o.Files })},
		{name: "-filesPerDir", ops: opsFiles, set: integer(1, func(o *Options) *int32 { return &o.FilesPerDir })},
		{name: "-dirs", ops: plan.OpMkdirs, set: integer(1, func(o *Options) *int64 { return &o.Dirs })},
		{name: "-dirsPerDir", ops: plan.OpMkdirs, set: integer(1, func(o *Options) *int32 { return &o.DirsPerDir })},
		{name: "-blockSize", ops: opsFiles + " " + opsDataNodes, set: setBlockSize},
		{name: "-close", ops: opsFiles, flag: func(o *Options) { o.Close = true }},
		{name: "-useExisting", ops: opsPrepared, flag: func(o *Options) { o.UseExisting = true }},
		{name: "-appendNewBlk", ops: plan.OpAppend, flag: func(o *Options) { o.AppendNewBlk = true }},
		{name: "-datanodes", ops: opsDataNodes, set: within(1, maxDataNodes, func(o *Options) *int32 { return &o.DataNodes })},
		{name: "-reports", ops: plan.OpBlockReport, set: integer(1, func(o *Options) *int64 { return &o.Reports })},
		{name: "-blocksPerReport", ops: plan.OpBlockReport, set: within(1, maxBlocksPerReport, func(o *Options) *int32 { return &o.BlocksPerReport })},
		{name: "-blocksPerFile", ops: plan.OpBlockReport, set: integer(1, func(o *Options) *int32 { return &o.BlocksPerFile })},
		{name: "-nodesToDecommission", ops: plan.OpReplication, set: integer(1, func(o *Options) *int32 { return &o.NodesToDecommission })},
		{name: "-nodeReplicationLimit", ops: plan.OpReplication, set: integer(1, func(o *Options) *int32 { return &o.NodeReplicationLimit })},
		{name: "-totalBlocks", ops: plan.OpReplication, set: integer(1, func(o *Options) *int32 { return &o.TotalBlocks })},
		{name: "-replication", ops: plan.OpReplication, set: setReplication},
		{name: "-baseDirName", set: addBaseDirs},
	}
}

func ownOptions() []option {
	return []option{
		{name: "-connections", ours: true, set: integer(1, func(o *Options) *int32 { return &o.Connections })},
		{name: "-rate", ours: true, ops: opsThreads + " blockReport", set: setRate},
		{name: "-duration", ours: true, ops: opsRepeating, set: duration(func(o *Options) *time.Duration { return &o.Duration })},
		{name: "-warmup", ours: true, ops: opsThreads + " blockReport", set: duration(func(o *Options) *time.Duration { return &o.Warmup })},
		{name: "-allowFakeDataNodes", ours: true, ops: plan.OpBlockReport, set: setFakeDataNodes},
		{name: "-leaveSafeMode", ours: true, flag: func(o *Options) { o.LeaveSafeMode = true }},
		{name: "-keytab", ours: true, set: text(func(o *Options) *string { return &o.Keytab })},
		{name: "-principal", ours: true, set: text(func(o *Options) *string { return &o.Principal })},
		{name: "-krb5conf", ours: true, set: text(func(o *Options) *string { return &o.Krb5Conf })},
		{name: "-user", ours: true, set: text(func(o *Options) *string { return &o.User })},
	}
}

// integer sets a number of at least low, written as Java's Integer.parseInt reads it.
func integer[N int32 | int64](low int64, into func(*Options) *N) func(*Options, string) error {
	high := int64(math.MaxInt64)
	if int64(N(high)) != high {
		high = math.MaxInt32
	}
	return within(low, high, into)
}

// within sets a number between low and high.
func within[N int32 | int64](low, high int64, into func(*Options) *N) func(*Options, string) error {
	return func(o *Options, value string) error {
		n, err := strconv.ParseInt(value, 10, 64)
		switch {
		case errors.Is(err, strconv.ErrRange):
			return fmt.Errorf("%s is beyond what 64 bits hold; give a number between %d and %d", value, low, high)
		case err != nil:
			return fmt.Errorf("%q is not a whole number", value)
		case n < low:
			return fmt.Errorf("%d is less than %d", n, low)
		case n > high:
			return fmt.Errorf("%d is more than %d", n, high)
		}
		*into(o) = N(n)
		return nil
	}
}

func duration(into func(*Options) *time.Duration) func(*Options, string) error {
	return func(o *Options, value string) error {
		d, err := time.ParseDuration(value)
		if err != nil || d < time.Millisecond {
			return fmt.Errorf("%q is not a time of at least 1ms; write for example 30s or 5m", value)
		}
		*into(o) = d
		return nil
	}
}

func text(into func(*Options) *string) func(*Options, string) error {
	return func(o *Options, value string) error {
		if value == "" {
			return errors.New("the value is empty")
		}
		*into(o) = value
		return nil
	}
}

func setLogLevel(o *Options, value string) error {
	switch value {
	case "ERROR", "WARN", "INFO", "DEBUG", "TRACE":
		o.LogLevel = value
		return nil
	}
	//lint:ignore ST1005 it is upstream's message
	return fmt.Errorf("No enum constant org.slf4j.event.Level.%s; known are ERROR, WARN, INFO, DEBUG, TRACE", value)
}

func setReplication(o *Options, value string) error {
	n, err := strconv.ParseInt(value, 10, 16)
	if err != nil || n < 1 {
		return fmt.Errorf("%q is not a number between 1 and %d", value, math.MaxInt16)
	}
	o.Replication = int32(n)
	return nil
}

func setBlockSize(o *Options, value string) error {
	n, err := ParseBlockSize(value)
	if err != nil {
		return err
	}
	if n < 1 {
		return fmt.Errorf("%d bytes: a block has at least one", n)
	}
	if n > maxBlockSize {
		return fmt.Errorf("%s is %d bytes: more than %d, above which %d replicas of a block exceed what the NameNode counts", value, n, int64(maxBlockSize), maxReplication)
	}
	o.BlockSize = n
	return nil
}

func setFakeDataNodes(o *Options, value string) error {
	allowed, err := strconv.ParseBool(value)
	if err != nil {
		return fmt.Errorf("%q is neither true nor false", value)
	}
	o.RefuseFakeDataNodes = !allowed
	return nil
}

// maxRate bounds -rate, in operations per second.
const maxRate = 1e9

func setRate(o *Options, value string) error {
	rate, err := strconv.ParseFloat(value, 64)
	if err != nil || !(rate >= 0.001 && rate <= maxRate) {
		return fmt.Errorf("%q is not a number of operations per second between 0.001 and %d", value, int64(maxRate))
	}
	o.RateMilli = int64(math.Round(rate * 1000))
	return nil
}

// addBaseDirs takes directories separated by commas, besides those of earlier such options.
func addBaseDirs(o *Options, value string) error {
	for dir := range strings.SplitSeq(value, ",") {
		clean, err := cleanBase(dir)
		if err != nil {
			return err
		}
		o.BaseDirs = append(o.BaseDirs, clean)
	}
	return nil
}
