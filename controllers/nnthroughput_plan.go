package controllers

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/plan"
)

// operationsOf are the run's operations, in order, with all spelled out. The original tool's own clean is no part of what
// it does for us.
func operationsOf(s *v1alpha1.NNThroughputRunSpec) []string {
	var out []string
	for _, op := range s.Operations {
		if op != v1alpha1.NNThroughputAll {
			out = append(out, string(op))
			continue
		}
		out = append(out, plan.OpCreate, plan.OpMkdirs, plan.OpOpen, plan.OpDelete, plan.OpAppend, plan.OpFileStatus, plan.OpRename, plan.OpBlockReport)
		if isStandalone(s) {
			out = append(out, plan.OpReplication)
		}
		if !isUpstream(s) {
			out = append(out, plan.OpClean)
		}
	}
	return out
}

// nntPlan is the plan's part with every default filled in. The defaults are those of NNThroughputBenchmark, except for
// the base directory, which there is everybody's.
func nntPlan(run Run) *plan.NNThroughput {
	s := nntSpec(run)
	blockSize, _ := parseBlockSize(orDefault(s.BlockSize, "0")) // Check has refused what does not parse
	rate, _ := parseRate(orDefault(s.Rate, "0"))
	p := &plan.NNThroughput{
		Engine: orDefault(string(s.Engine), plan.EngineNative), BaseDirs: baseDirsOf(run),
		Threads: value(s.Threads, 3), Connections: value(s.ConnectionsPerShard, 1),
		Files: value(s.Files, 10), FilesPerDir: value(s.FilesPerDir, 4), Dirs: value(s.Dirs, 10), DirsPerDir: value(s.DirsPerDir, 2),
		Replication: value(s.Replication, 0), BlockSize: blockSize,
		Close: value(s.Close, false), UseExisting: value(s.UseExisting, false), AppendNewBlk: value(s.AppendNewBlk, false),
		DataNodes: value(s.DataNodes, 10), Reports: value(s.Reports, 30), BlocksPerReport: value(s.BlocksPerReport, 100), BlocksPerFile: value(s.BlocksPerFile, 10),
		NodesToDecommission: value(s.NodesToDecommission, 1), NodeReplicationLimit: value(s.NodeReplicationLimit, 100), TotalBlocks: value(s.TotalBlocks, 100),
		UGCacheRefreshCount: value(s.UGCacheRefreshCount, 0), LogLevel: s.LogLevel,
		ManageSafeMode: value(s.ManageSafeMode, false), AllowFakeDataNodes: value(s.AllowFakeDataNodes, false), KeepResults: value(s.KeepResults, false),
		RateMilli: rate, DurationMillis: durationOr(s.Duration, 0).Milliseconds(), WarmupMillis: durationOr(s.Warmup, 0).Milliseconds(),
	}
	if isUpstream(s) {
		p.LogLevel = orDefault(s.LogLevel, "ERROR")
	}
	for _, op := range operationsOf(s) {
		if op != plan.OpClean {
			p.Operations = append(p.Operations, op)
		}
	}
	if s.Target.HTTP != nil {
		p.HTTP = append(p.HTTP, s.Target.HTTP.NameNodes...)
	}
	return p
}

func baseDirsOf(run Run) []string {
	s := nntSpec(run)
	if len(s.BaseDirNames) > 0 {
		return append([]string(nil), s.BaseDirNames...)
	}
	return []string{orDefault(s.BaseDirName, "/nnThroughputBenchmark/"+run.GetNamespace()+"/"+run.GetName())}
}

// parseBlockSize reads NNThroughputBenchmark's grammar: digits, then nothing or one of k, m, g, t, p, e in any case,
// powers of 1024.
func parseBlockSize(s string) (int64, error) {
	shift := uint(0)
	digits := s
	if n := len(s); n > 0 {
		if i := strings.IndexByte("kmgtpe", s[n-1]|0x20); i >= 0 {
			shift, digits = 10*uint(i+1), s[:n-1]
		}
	}
	if strings.Trim(digits, "0123456789") != "" || digits == "" {
		return 0, fmt.Errorf("%q is no whole number with or without one of k, m, g, t, p, e", s)
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n > math.MaxInt64>>shift {
		return 0, fmt.Errorf("%q is more than an int64 holds", s)
	}
	return n << shift, nil
}

// maxRate bounds rates, in operations per second.
const maxRate = 999_999_999

// parseRate reads a decimal of operations per second with at most three places and returns thousandths.
func parseRate(s string) (int64, error) {
	whole, fraction, point := strings.Cut(s, ".")
	bad := fmt.Errorf("%q is no decimal with at most three places", s)
	if whole == "" || strings.Trim(whole+fraction, "0123456789") != "" || point && (fraction == "" || len(fraction) > 3) {
		return 0, bad
	}
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || n > maxRate {
		return 0, fmt.Errorf("%q is more than %d operations per second", s, maxRate)
	}
	milli, err := strconv.ParseInt((fraction + "000")[:3], 10, 64)
	if err != nil {
		return 0, bad
	}
	return n*1000 + milli, nil
}
