package nnthroughput_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
)

// numbered matches what an operation makes, in contrast to the directories around it.
var numbered = regexp.MustCompile(`/ThroughputBench\d+/?$`)

// On a real HDFS: a warm-up on names of its own, then a duration at a rate. What is asserted does not depend on how fast the
// machine is.
func TestHDFSDurationAtARate(t *testing.T) {
	c := realHDFS(t)
	c.mustRun(c.plan(plan.StepPreflight))
	for _, op := range []string{plan.OpCreate, plan.OpMkdirs, plan.OpOpen, plan.OpFileStatus} {
		t.Run(op, func(t *testing.T) {
			p := c.plan(op, func(n *plan.NNThroughput) {
				n.DurationMillis, n.WarmupMillis, n.RateMilli, n.KeepResults = 1000, 300, 200_000, true
			})
			p.SeriesMicros = 100_000
			operations := int64(0)
			for i, b := range c.mustRun(p) {
				// A hundred arrivals a second for a shard, the first within a hundredth.
				if b.Due != 100 || b.Operations < 1 || b.Operations > b.Due || len(b.Errors) > 0 {
					t.Errorf("shard %d: %d operations of %d due, errors %v", i, b.Operations, b.Due, b.Errors)
				}
				if b.Intended.Count() != b.Operations || b.Latency.Count() != b.Operations || b.Series.Total() != b.Operations || b.Intended.Sum() < b.Latency.Sum() {
					t.Errorf("shard %d: %d latencies, %d intended, %d in the series", i, b.Latency.Count(), b.Intended.Count(), b.Series.Total())
				}
				if b.Clock == nil || b.Client == nil || b.Start < b.Prepared+300_000 {
					t.Errorf("shard %d: clock %v, client %v, prepared %d, start %d", i, b.Clock, b.Client, b.Prepared, b.Start)
				}
				if _, err := report.Encode(&report.Report{Body: b}); err != nil {
					t.Error(err)
				}
				operations += b.Operations
			}
			made := map[string]int64{}
			for _, name := range c.tree(c.base) {
				if numbered.MatchString(name) {
					dir, _, _ := strings.Cut(strings.TrimPrefix(name, c.base+"/"), "/")
					made[dir]++
				}
			}
			if want := map[string]int64{plan.OpCreate: operations, plan.OpMkdirs: operations, plan.OpOpen: 40, plan.OpFileStatus: 40}[op]; made[op] != want || made[op+".warmup"] == 0 {
				t.Errorf("made %v, want %d by the measurement", made, want)
			}
		})
	}
	c.mustRun(c.plan(plan.StepCleanup))
}
