package controllers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
)

// maxFact bounds a fact that grows with the number of shards.
const maxFact = 512

// factsWith are the facts so far and those of a step: all that preflight found, what the steps that make and remove
// things found beside it, what the latest slice of a step told, and of measured steps what their shards have to tell.
func factsWith(facts map[string]string, step Step, shards []shard) map[string]string {
	for _, s := range shards {
		if s.report == nil {
			continue
		}
		told := s.report.Body.Facts
		switch {
		case step.Name == plan.StepPreflight:
			facts = maps.Clone(told)
		case step.Sliced:
			facts = sliceFacts(facts, step, told)
		case step.Measured:
			for _, name := range slices.Sorted(maps.Keys(told)) {
				if strings.HasPrefix(name, plan.FactsAfter) {
					facts = factWith(facts, name, told[name])
				}
			}
		case len(told) > 0 && (step.Name == plan.StepCleanup || step.Name == plan.StepCreate):
			both := maps.Clone(told)
			maps.Copy(both, facts)
			facts = both
		}
	}
	if step.Measured {
		facts = shardFacts(facts, step, shards)
	}
	return facts
}

// shardFacts are the facts so far and what the shards of a measured step tell one after the other: how many real blocks
// the fake DataNodes had, how often they had to turn to another NameNode, and how often calls were repeated.
func shardFacts(facts map[string]string, step Step, shards []shard) map[string]string {
	var blocks []string
	troubles := map[string][]string{}
	for _, s := range shards {
		if s.report == nil {
			continue
		}
		told := s.report.Body.Facts
		if b := told[report.FactBlocksPerDataNode]; b != "" {
			blocks = append(blocks, b)
		}
		for _, name := range []string{report.FactFailovers, plan.FactRetries} {
			if t := told[name]; t != "" {
				troubles[name] = append(troubles[name], fmt.Sprintf("%s, shard %d: %s", step, s.index, t))
			}
		}
	}
	facts = factWith(facts, report.FactBlocksPerDataNode, strings.Join(blocks, ","))
	for name, all := range troubles {
		if before := facts[name]; before != "" {
			all = slices.Insert(all, 0, before)
		}
		facts = factWith(facts, name, strings.Join(all, "; "))
	}
	return facts
}

// factWith is a copy of facts with one more, in at most maxFact bytes; facts itself if that one is empty.
func factWith(facts map[string]string, name, fact string) map[string]string {
	if fact == "" {
		return facts
	}
	with := map[string]string{}
	maps.Copy(with, facts)
	with[name] = truncate(fact, maxFact)
	return with
}
