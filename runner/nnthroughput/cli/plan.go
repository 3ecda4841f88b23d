package cli

import (
	"math"
	"path"

	"github.com/hadoop-bench/operator/runner/nnthroughput"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
)

// planOf is what the command line asks of one operation, for the whole of which this process is the only shard. KeepResults
// is always set: what is removed, and when, is upstream's matter here and not that of a run's steps.
func (c *Command) planOf(op, uid string, kerberos *plan.Kerberos) *plan.Plan {
	o := &c.Options
	p := &plan.Plan{
		Version: plan.Version, Run: "by-hand/nnthroughput", Shards: 1,
		Identity: report.Identity{RunUID: uid, Execution: 1, Step: op, Repeat: 1, Attempt: 1},
		Target:   plan.Target{FS: c.Generic.FS, User: o.User, Properties: c.Generic.Properties, Kerberos: kerberos},
		NNThroughput: &plan.NNThroughput{
			Engine: plan.EngineNative, Operations: []string{op}, BaseDirs: o.BaseDirs,
			Threads: o.Threads, Connections: o.Connections,
			Files: o.Files, FilesPerDir: o.FilesPerDir, Dirs: o.Dirs, DirsPerDir: o.DirsPerDir, BlockSize: o.BlockSize,
			DataNodes: o.DataNodes, Reports: o.Reports, BlocksPerReport: o.BlocksPerReport, BlocksPerFile: o.BlocksPerFile,
			LogLevel: o.LogLevel, AllowFakeDataNodes: !o.RefuseFakeDataNodes, KeepResults: true,
		},
	}
	n := p.NNThroughput
	if o.UGCacheRefreshCount > 0 && o.UGCacheRefreshCount < math.MaxInt32 {
		n.UGCacheRefreshCount = o.UGCacheRefreshCount
	}
	// In operation all, each one takes the options it knows.
	n.Close = o.Close && op == plan.OpCreate
	n.UseExisting = o.UseExisting && knows(op, "-useExisting")
	n.AppendNewBlk = o.AppendNewBlk && knows(op, "-appendNewBlk")
	if knows(op, "-rate") {
		n.RateMilli = o.RateMilli
	}
	if knows(op, "-duration") {
		n.DurationMillis = o.Duration.Milliseconds()
	}
	if knows(op, "-warmup") {
		n.WarmupMillis = o.Warmup.Milliseconds()
	}
	return p
}

// warmUpSuffix follows the name of an operation's directory in that of its warm-up's.
const warmUpSuffix = ".warmup"

// ownDir is where an operation works below a base directory, unless it uses the files of an earlier create.
func ownDir(base string, p *plan.Plan) string { return nnthroughput.AttemptDir(base, p.Identity) }

// createDir is where create leaves the files that -useExisting works on.
func createDir(base string) string { return path.Join(base, plan.OpCreate) }
