package controllers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hadoop-bench/operator/api/v1alpha1"
)

// count fills the row's counts from what is known of the shards.
func count(row *v1alpha1.StepStatus, shards []shard) {
	c := v1alpha1.ShardCounts{Expected: row.Shards.Expected}
	for _, s := range shards {
		switch {
		case s.phase == shardLost:
			c.Progress += int32(shardReady)
		default:
			c.Progress += int32(s.phase)
		}
		if s.phase >= shardReady && s.phase != shardLost {
			c.Ready++
		}
		if s.complete() {
			c.Reported++
		}
		if s.failed() {
			c.Failed++
		}
	}
	row.Shards = c
}

// progressed says whether the row's shards came further than the status says.
func progressed(old *v1alpha1.RunStatus, row *v1alpha1.StepStatus) bool {
	was := present(old)
	return was == nil || was.Shards.Progress != row.Shards.Progress
}

func allOver(shards []shard) bool {
	for _, s := range shards {
		if !s.over() {
			return false
		}
	}
	return true
}

// waitingFor says what shards wait for, most frequent first, with what events say if there is no better reason.
func waitingFor(shards []shard, trouble string) string {
	n := map[string]int{}
	unscheduled, absent := 0, 0
	for _, s := range shards {
		if s.phase == shardAbsent {
			absent++
		}
		if s.phase == shardCreated {
			unscheduled++
		}
		if s.waiting != "" && s.phase < shardReady {
			n[s.waiting]++
		}
	}
	var parts []string
	if absent > 0 {
		parts = append(parts, fmt.Sprintf("%d without a pod", absent))
	}
	if unscheduled > 0 {
		parts = append(parts, fmt.Sprintf("%d unschedulable", unscheduled))
	}
	reasons := slices.SortedFunc(maps.Keys(n), func(a, b string) int { return (n[b]-n[a])*2 + strings.Compare(a, b) })
	if len(reasons) > 0 {
		parts = append(parts, reasons[0])
	}
	if trouble != "" {
		parts = append(parts, trouble)
	}
	return strings.Join(parts, ", ")
}
