package nnthroughput

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hadoop-bench/operator/runner/hadoop/conf"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/steps"
)

// Bounds of a plan's figures.
const (
	maxThreads   = 1_000_000
	maxDataNodes = 32766 // the transfer port is the index plus one, and upstream wants it below 32767
	maxBases     = 1000
	maxRateMilli = 1_000_000_000_000 // a thousand million operations a second
	maxMillis    = 365 * 24 * 3600 * 1000
)

// defaultBlockSize and defaultReplication are what the original tool works with where nothing is configured.
const (
	defaultBlockSize   = 128 << 20
	defaultReplication = 3
)

// settings are what plan and configuration say together.
type settings struct {
	blockSize   int64 // bytes
	replication int32
}

// resolveSettings reads what the plan leaves to the configuration. Its errors are of the configuration.
func resolveSettings(n *plan.NNThroughput, c *conf.Conf) (settings, error) {
	blockSize, err := c.Size("dfs.blocksize", defaultBlockSize)
	if err != nil {
		return settings{}, steps.ConfigError(err)
	}
	replication, err := c.Int("dfs.replication", defaultReplication)
	if err != nil {
		return settings{}, steps.ConfigError(err)
	}
	if n.BlockSize > 0 {
		blockSize = n.BlockSize
	}
	if n.Replication > 0 {
		replication = int64(n.Replication)
	}
	if blockSize < 1 || replication < 1 || replication > math.MaxInt16 {
		return settings{}, steps.ConfigError(fmt.Errorf("dfs.blocksize %d and dfs.replication %d: both must be positive, the latter at most %d",
			blockSize, replication, math.MaxInt16))
	}
	return settings{blockSize: blockSize, replication: int32(replication)}, nil
}

// Validate checks a plan's figures and that this package can do what it says.
func Validate(p *plan.Plan, index int32) error {
	n := p.NNThroughput
	if n == nil {
		return errors.New("plan: nnThroughput is missing")
	}
	if p.Identity.RunUID == "" || strings.ContainsAny(p.Identity.RunUID, "/:\x00") {
		return fmt.Errorf("plan: uid %q: not the UID of an object", p.Identity.RunUID)
	}
	if n.Engine != plan.EngineNative {
		return fmt.Errorf("plan: engine %q: this program is the engine %s", n.Engine, plan.EngineNative)
	}
	for _, check := range []error{
		checkBases(n.BaseDirs), checkWords(p), checkBounds(p, index), checkShards(p), checkWork(p), checkCapacity(p),
	} {
		if check != nil {
			return fmt.Errorf("plan: %w", check)
		}
	}
	return nil
}

// checkBases refuses base directories that could not be told apart from other people's data.
func checkBases(bases []string) error {
	if len(bases) < 1 || len(bases) > maxBases {
		return fmt.Errorf("%d base directories: not between 1 and %d", len(bases), maxBases)
	}
	for _, bad := range plan.BadBaseDirs(bases) {
		return fmt.Errorf("baseDirName %q: %s", bad.Dir, bad.Remedy)
	}
	return nil
}

func checkWords(p *plan.Plan) error {
	n, step := p.NNThroughput, p.Identity.Step
	if step != plan.StepPreflight && step != plan.StepCleanup && !supported(step) {
		return notSupported("step", step)
	}
	for _, op := range n.Operations {
		if !supported(op) {
			return notSupported("operation", op)
		}
	}
	if step == plan.OpBlockReport && !n.AllowFakeDataNodes {
		return errors.New("operation blockReport registers fake DataNodes with the target: allowFakeDataNodes must be set")
	}
	return nil
}

func notSupported(what, word string) error {
	if word == plan.OpReplication {
		return fmt.Errorf("%s %q: only engine %s can do it", what, word, plan.EngineUpstream)
	}
	return fmt.Errorf("%s %q: not known; operations are %s", what, word, strings.Join(operations(), ", "))
}

// operations are those this package carries out.
func operations() []string {
	return []string{
		plan.OpCreate, plan.OpMkdirs, plan.OpOpen, plan.OpDelete, plan.OpAppend, plan.OpFileStatus, plan.OpRename,
		plan.OpBlockReport, plan.OpClean,
	}
}

func supported(op string) bool { return slices.Contains(operations(), op) }

func checkBounds(p *plan.Plan, index int32) error {
	n := p.NNThroughput
	for _, bound := range []struct {
		field     string
		value     int64
		low, high int64
	}{
		{"threads", int64(n.Threads), 1, maxThreads},
		{"connections", int64(n.Connections), 1, 10_000},
		{"files", n.Files, 0, math.MaxInt64},
		{"filesPerDir", int64(n.FilesPerDir), 0, math.MaxInt32},
		{"dirs", n.Dirs, 0, math.MaxInt64},
		{"dirsPerDir", int64(n.DirsPerDir), 0, math.MaxInt32},
		{"replication", int64(n.Replication), 0, math.MaxInt16},
		{"blockSize", n.BlockSize, 0, math.MaxInt64},
		{"dataNodes", int64(n.DataNodes), 0, maxDataNodes},
		{"reports", n.Reports, 0, math.MaxInt64},
		{"blocksPerReport", int64(n.BlocksPerReport), 0, math.MaxInt32},
		{"blocksPerFile", int64(n.BlocksPerFile), 0, math.MaxInt32},
		{"ugCacheRefreshCount", int64(n.UGCacheRefreshCount), 0, math.MaxInt32},
		{"rateMilli", n.RateMilli, 0, maxRateMilli},
		{"durationMillis", n.DurationMillis, 0, maxMillis},
		{"warmupMillis", n.WarmupMillis, 0, maxMillis},
		{"shards", int64(p.Shards), 1, maxThreads},
		{"index", int64(index), 0, int64(p.Shards) - 1},
		{"seriesMicros", p.SeriesMicros, 0, math.MaxInt64 / 1000},
	} {
		if bound.value < bound.low || bound.value > bound.high {
			return fmt.Errorf("%s %d: not between %d and %d", bound.field, bound.value, bound.low, bound.high)
		}
	}
	return nil
}

// checkShards wants every shard to have a thread, or a DataNode, of its own.
func checkShards(p *plan.Plan) error {
	n, step := p.NNThroughput, p.Identity.Step
	switch step {
	case plan.StepPreflight, plan.StepCleanup, plan.OpClean:
		if p.Shards != 1 {
			return fmt.Errorf("%d shards: step %s is done by one", p.Shards, step)
		}
	case plan.OpBlockReport:
		if p.Shards > n.DataNodes {
			return fmt.Errorf("%d shards for %d dataNodes: each shard needs one of its own", p.Shards, n.DataNodes)
		}
	default:
		if p.Shards > n.Threads {
			return fmt.Errorf("%d shards for %d threads: each shard needs one of its own", p.Shards, n.Threads)
		}
	}
	return nil
}

// checkWork wants the figures a step works with.
func checkWork(p *plan.Plan) error {
	n, step := p.NNThroughput, p.Identity.Step
	type figure struct {
		field string
		value int64
	}
	var needed []figure
	switch step {
	case plan.OpCreate, plan.OpOpen, plan.OpDelete, plan.OpAppend, plan.OpFileStatus, plan.OpRename:
		needed = []figure{{"files", n.Files}, {"filesPerDir", int64(n.FilesPerDir)}}
	case plan.OpMkdirs:
		needed = []figure{{"dirs", n.Dirs}, {"dirsPerDir", int64(n.DirsPerDir)}}
	case plan.OpBlockReport:
		needed = []figure{
			{"dataNodes", int64(n.DataNodes)},
			{"reports", n.Reports},
			{"blocksPerReport", int64(n.BlocksPerReport)},
			{"blocksPerFile", int64(n.BlocksPerFile)},
		}
	default:
		return nil
	}
	for _, f := range needed {
		if f.value < 1 {
			return fmt.Errorf("%s %d: operation %s needs at least 1", f.field, f.value, step)
		}
	}
	if n.DurationMillis > 0 && (step == plan.OpDelete || step == plan.OpAppend || step == plan.OpRename) {
		return fmt.Errorf("durationMillis %d: operation %s consumes its files, so a number of files must end it", n.DurationMillis, step)
	}
	return nil
}

// checkCapacity wants a name for every file and directory before anything is made. Preflight looks at the whole run.
func checkCapacity(p *plan.Plan) error {
	n := p.NNThroughput
	ops := []string{p.Identity.Step}
	if p.Identity.Step == plan.StepPreflight {
		ops = n.Operations
	}
	for _, op := range ops {
		var count, perDir int64
		counts, perDirs := "files", "filesPerDir"
		switch op {
		case plan.OpCreate, plan.OpOpen, plan.OpDelete, plan.OpAppend, plan.OpFileStatus, plan.OpRename:
			count, perDir = n.Files, int64(n.FilesPerDir)
		case plan.OpMkdirs:
			count, perDir = n.Dirs, int64(n.DirsPerDir)
			counts, perDirs = "dirs", "dirsPerDir"
		}
		if perDir == 0 {
			continue
		}
		if capacity := plan.Capacity(perDir); count > capacity {
			return fmt.Errorf("%s %d: with %s %d there are names for %d; raise %s", counts, count, perDirs, perDir, capacity, perDirs)
		}
	}
	return nil
}
