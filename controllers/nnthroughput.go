package controllers

import (
	"strconv"
	"strings"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
)

// NNThroughput is the Benchmark of NNThroughputRun.
type NNThroughput struct{}

var _ Benchmark = NNThroughput{}

// Kind implements Benchmark.
func (NNThroughput) Kind() string { return "NNThroughputRun" }

// New implements Benchmark.
func (NNThroughput) New() Run { return &v1alpha1.NNThroughputRun{} }

// Supports implements Benchmark.
func (NNThroughput) Supports() Support {
	return Support{
		Engines: []v1alpha1.Engine{v1alpha1.EngineNative, v1alpha1.EngineUpstream},
		Clients: []v1alpha1.ClientKind{v1alpha1.ClientNative},
		Warmup:  true, Kerberos: true, HTTP: true, LocalFS: true, KeepResults: true,
	}
}

func nntSpec(run Run) *v1alpha1.NNThroughputRunSpec {
	if r, ok := run.(*v1alpha1.NNThroughputRun); ok {
		return &r.Spec
	}
	return &v1alpha1.NNThroughputRunSpec{}
}

// isUpstream says whether the original tool does the work.
func isUpstream(s *v1alpha1.NNThroughputRunSpec) bool { return s.Engine == v1alpha1.EngineUpstream }

// isStandalone says whether the original tool works against a NameNode in its own process.
func isStandalone(s *v1alpha1.NNThroughputRunSpec) bool { return isUpstream(s) && isLocal(&s.Target) }

// Steps implements Benchmark. The original tool has no gate to wait at: it runs alone.
func (NNThroughput) Steps(run Run) []Step {
	s := nntSpec(run)
	var steps []Step
	for _, op := range operationsOf(s) {
		if op == plan.OpClean {
			steps = append(steps, Step{Name: op, Repeat: 1, Shards: 1})
			continue
		}
		steps = append(steps, Step{Name: op, Repeat: 1, Shards: value(s.Shards, 1), Gated: !isUpstream(s), Measured: true})
	}
	return steps
}

// Fill implements Benchmark.
func (NNThroughput) Fill(run Run, p *plan.Plan) { p.NNThroughput = nntPlan(run) }

// Headlines implements Benchmark: operations over the wall time say what a number of operations took; of a duration, the
// time in which every shard was at work says more.
func (NNThroughput) Headlines(run Run, _ string) []string {
	if nntSpec(run).Duration != nil {
		return []string{report.FigureWindowOps, report.FigureOps}
	}
	return []string{report.FigureOps}
}

// TextFile implements Benchmark. The tool itself only prints the text.
func (NNThroughput) TextFile() string { return "NNThroughputBenchmark.txt" }

// Options implements Benchmark.
func (NNThroughput) Options(run Run) map[string]string {
	s, p := nntSpec(run), nntPlan(run)
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	out := map[string]string{
		"operations": strings.Join(operationsOf(s), ","), "threads": number(int64(p.Threads)), "shards": number(int64(value(s.Shards, 1))),
		"connectionsPerShard": number(int64(p.Connections)),
		"files":               number(p.Files), "filesPerDir": number(int64(p.FilesPerDir)), "dirs": number(p.Dirs), "dirsPerDir": number(int64(p.DirsPerDir)),
		"close": strconv.FormatBool(p.Close), "useExisting": strconv.FormatBool(p.UseExisting), "appendNewBlk": strconv.FormatBool(p.AppendNewBlk),
		"datanodes": number(int64(p.DataNodes)), "reports": number(p.Reports), "blocksPerReport": number(int64(p.BlocksPerReport)),
		"blocksPerFile": number(int64(p.BlocksPerFile)), "nodesToDecommission": number(int64(p.NodesToDecommission)),
		"nodeReplicationLimit": number(int64(p.NodeReplicationLimit)), "totalBlocks": number(int64(p.TotalBlocks)),
		"ugCacheRefreshCount": number(int64(p.UGCacheRefreshCount)), "nonSuperUser": strconv.FormatBool(!p.ManageSafeMode),
		"manageSafeMode": strconv.FormatBool(p.ManageSafeMode), "allowFakeDataNodes": strconv.FormatBool(p.AllowFakeDataNodes),
	}
	out["baseDirName"] = p.BaseDirs[0]
	if len(p.BaseDirs) > 1 {
		delete(out, "baseDirName")
		out["baseDirNames"] = truncate(strings.Join(p.BaseDirs, ","), maxMessage)
	}
	for name, set := range map[string]string{"logLevel": p.LogLevel, "rate": s.Rate} {
		if set != "" {
			out[name] = set
		}
	}
	if p.Replication > 0 {
		out["replication"] = number(int64(p.Replication))
	}
	if p.BlockSize > 0 {
		out["blockSize"] = number(p.BlockSize)
	}
	if s.Duration != nil {
		out["duration"] = s.Duration.Duration.Duration.String()
	}
	return out
}
