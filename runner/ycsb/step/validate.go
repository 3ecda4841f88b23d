package step

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/ycsb"
)

// Bounds of a plan's figures.
const (
	maxThreads   = 1_000_000
	maxRateMilli = 1_000_000_000_000
	maxMillis    = 365 * 24 * 3600 * 1000
)

// Validate checks a plan's figures and that this package can do what it says.
func Validate(p *plan.Plan, index int32) error {
	y := p.YCSB
	if y == nil {
		return errors.New("plan: ycsb is missing")
	}
	if p.Identity.RunUID == "" || strings.ContainsAny(p.Identity.RunUID+p.Run, " \x00") {
		return fmt.Errorf("plan: uid %q of run %q: neither may have spaces, and the UID must be there", p.Identity.RunUID, p.Run)
	}
	// Each relies on the ones before it.
	for _, check := range []func(*plan.Plan, int32) error{checkBounds, checkWords, checkShares, checkConfig} {
		if err := check(p, index); err != nil {
			return fmt.Errorf("plan: %w", err)
		}
	}
	return nil
}

func checkBounds(p *plan.Plan, index int32) error {
	y := p.YCSB
	for _, bound := range []struct {
		field     string
		value     int64
		low, high int64
	}{
		{"regions", int64(y.Regions), 1, 100_000},
		{"recordCount", y.RecordCount, 1, plan.MaxRecords},
		{"seed", y.Seed, 1, math.MaxInt64},
		{"threads", int64(y.Threads), 1, maxThreads},
		{"connections", int64(y.Connections), 0, 1 << 10},
		{"operations", y.Operations, 0, plan.MaxRecords},
		{"insertBase", y.InsertBase, 0, math.MaxInt64},
		{"durationMillis", y.DurationMillis, 0, maxMillis},
		{"warmupMillis", y.WarmupMillis, 0, maxMillis},
		{"rateMilli", y.RateMilli, 0, maxRateMilli},
		{"settleMillis", y.SettleMillis, 0, maxMillis},
		{"deadlineMillis", y.DeadlineMillis, 0, maxMillis},
		{"sliceMillis", y.SliceMillis, 0, maxMillis},
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

func checkWords(p *plan.Plan, _ int32) error {
	y, step := p.YCSB, p.Identity.Step
	switch {
	case y.Table == "" || y.ColumnFamily == "":
		return fmt.Errorf("table %q with columnFamily %q: both must be named", y.Table, y.ColumnFamily)
	case !slices.Contains([]string{plan.CreateTable, plan.CreateIfMissing, plan.CreateNever}, y.CreatePolicy):
		return fmt.Errorf("createPolicy %q: not known", y.CreatePolicy)
	case measures(step) && !slices.Contains(y.Steps, step):
		return fmt.Errorf("step %q: none of the run's, %s", step, strings.Join(y.Steps, ", "))
	}
	for _, address := range y.HTTP {
		if _, err := webURL(address, ""); err != nil {
			return err
		}
	}
	return nil
}

// measures tells the load and the workloads.
func measures(step string) bool {
	return !slices.Contains([]string{plan.StepPreflight, plan.StepCreate, plan.StepCompact, plan.StepCleanup}, step)
}

// checkShares wants every shard to have something to do.
func checkShares(p *plan.Plan, _ int32) error {
	y, step := p.YCSB, p.Identity.Step
	switch {
	case !measures(step) && p.Shards != 1:
		return fmt.Errorf("%d shards: step %s is done by one", p.Shards, step)
	case !measures(step):
		return nil
	case p.Shards > y.Threads:
		return fmt.Errorf("%d shards for %d threads: each shard needs one of its own", p.Shards, y.Threads)
	case step == plan.StepLoad && int64(p.Shards) > y.RecordCount:
		return fmt.Errorf("%d shards for %d records: each shard needs one of its own", p.Shards, y.RecordCount)
	case step == plan.StepLoad:
		return nil
	case y.Operations == 0 && y.DurationMillis == 0:
		return fmt.Errorf("operations 0 and durationMillis 0: step %s has no end", step)
	case y.Operations > 0 && y.Operations < int64(y.Threads):
		return fmt.Errorf("operations %d for %d threads: each thread needs one at least", y.Operations, y.Threads)
	}
	return nil
}

// checkConfig wants properties that make sense, and a place for what is inserted.
func checkConfig(p *plan.Plan, index int32) error {
	for _, name := range []string{"reportlatencyforeacherror", "latencytrackederrors"} {
		if value, ok := p.YCSB.Properties[name]; ok {
			return fmt.Errorf("property %s=%s: not supported: a shard keeps one histogram of failures for each kind of operation; remove it", name, value)
		}
	}
	c, err := ycsb.ParseConfig(propertiesOf(p, index), otherProperties()...)
	if err != nil {
		return err
	}
	if c.DoTransactions && c.InsertProportion > 0 && p.YCSB.InsertBase == 0 {
		return fmt.Errorf("insertBase 0: step %s inserts records, and no number is left for them: "+
			"a run has numbers for %d workloads, %d repeats of each and %d attempts at each repeat", p.Identity.Step, plan.MaxWorkloads, plan.MaxRepeats, plan.MaxInsertAttempts)
	}
	return nil
}
