package nnthroughput_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/nnthroughput"
	"github.com/hadoop-bench/operator/runner/plan"
)

// upstreamSplit is the original tool's split, done step by step.
func upstreamSplit(total, threads int64) []int64 {
	counts := make([]int64, threads)
	left := total
	for i := range threads {
		counts[i] = min(left, max(1, left/(threads-i)))
		left -= counts[i]
	}
	return counts
}

func TestSplitIsUpstreams(t *testing.T) {
	for name, tc := range map[string]struct {
		total, threads int64
		want           []int64
	}{
		"10 over 3": {10, 3, []int64{3, 3, 4}},
		"3 over 5":  {3, 5, []int64{1, 1, 1, 0, 0}},
		"0 over 2":  {0, 2, []int64{0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, shares(t, tc.total, tc.threads)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	for total := range int64(70) {
		for threads := int64(1); threads < 40; threads++ {
			if diff := cmp.Diff(upstreamSplit(total, threads), shares(t, total, threads)); diff != "" {
				t.Fatalf("%d over %d (-want +got):\n%s", total, threads, diff)
			}
		}
	}
}

// shares lists how many items each thread has, and checks that they follow one another and know their owners.
func shares(t *testing.T, total, threads int64) []int64 {
	t.Helper()
	counts := make([]int64, threads)
	next := int64(0)
	for i := range threads {
		first, count := nnthroughput.SplitShare(total, threads, i)
		if count > 0 && first != next {
			t.Fatalf("%d over %d: thread %d begins at %d, not at %d", total, threads, i, first, next)
		}
		for number := first; number < first+count; number++ {
			if owner := nnthroughput.OwnerOf(total, threads, number); owner != i {
				t.Fatalf("%d over %d: item %d belongs to %d, not to %d", total, threads, number, owner, i)
			}
		}
		counts[i], next = count, first+count
	}
	if next != total {
		t.Fatalf("%d over %d: %d handed out", total, threads, next)
	}
	return counts
}

func TestShardRangesAreContiguous(t *testing.T) {
	for threads := int64(1); threads < 40; threads++ {
		for shards := int64(1); shards <= threads; shards++ {
			next := int64(0)
			for index := range shards {
				first, end := nnthroughput.ShardRange(threads, shards, index)
				if first != next || end <= first {
					t.Fatalf("%d threads on %d shards: shard %d has [%d, %d)", threads, shards, index, first, end)
				}
				next = end
			}
			if next != threads {
				t.Fatalf("%d threads on %d shards: %d handed out", threads, shards, next)
			}
		}
	}
}

// The work of N shards is that of one process: the same threads with the same items, whatever the split.
func TestShardsDoTheWorkOfOneProcess(t *testing.T) {
	const most = 1000
	for _, op := range measuredOperations() {
		for _, size := range []struct{ ops, threads, shards int64 }{
			{10, 3, 1}, {10, 3, 2}, {10, 3, 3}, {3, 5, 4}, {97, 13, 5}, {1000, 64, 7}, {1, 4, 4}, {128, 32, 32},
		} {
			t.Run(fmt.Sprint(op, size), func(t *testing.T) {
				one, _ := nnthroughput.ItemsOf(workPlan(op, size.ops, size.threads, 1), 0, most)
				var all [][]nnthroughput.Item
				for index := range size.shards {
					threads, arrivals := nnthroughput.ItemsOf(workPlan(op, size.ops, size.threads, size.shards), int32(index), most)
					all = append(all, threads...)
					// With a rate the shard's arrivals are the same items, in the order of the threads.
					if diff := cmp.Diff(slices.Concat(threads...), arrivals); diff != "" {
						t.Errorf("arrivals of shard %d (-threads +arrivals):\n%s", index, diff)
					}
				}
				if diff := cmp.Diff(one, all); diff != "" {
					t.Errorf("(-one process +shards):\n%s", diff)
				}
			})
		}
	}
}

func measuredOperations() []string {
	return []string{
		plan.OpCreate, plan.OpMkdirs, plan.OpOpen, plan.OpDelete, plan.OpAppend, plan.OpFileStatus, plan.OpRename, plan.OpBlockReport,
	}
}

func workPlan(op string, ops, threads, shards int64) *plan.Plan {
	p := newPlan(op)
	n := p.NNThroughput
	n.Files, n.Dirs, n.Reports, n.Threads, n.DataNodes, p.Shards = ops, ops, ops, int32(threads), int32(threads), int32(shards)
	return p
}

// For a duration, operations that make names go on for ever without meeting, and those that read begin anew.
func TestWorkOfADuration(t *testing.T) {
	item := func(owner int64, numbers ...int64) []nnthroughput.Item {
		var list []nnthroughput.Item
		for _, n := range numbers {
			list = append(list, nnthroughput.Item{Number: n, Owner: owner})
		}
		return list
	}
	for op, want := range map[string]struct {
		threads  [][]nnthroughput.Item
		arrivals []nnthroughput.Item
	}{
		plan.OpCreate: {
			[][]nnthroughput.Item{item(1, 1, 4, 7, 10, 13), item(2, 2, 5, 8, 11, 14)},
			slices.Concat(item(1, 1), item(2, 2), item(1, 4), item(2, 5), item(1, 7)),
		},
		plan.OpOpen: {
			[][]nnthroughput.Item{item(1, 3, 4, 5, 3, 4), item(2, 6, 7, 8, 9, 6)},
			slices.Concat(item(1, 3, 4, 5), item(2, 6, 7)),
		},
	} {
		t.Run(op, func(t *testing.T) {
			p := workPlan(op, 10, 3, 2)
			p.NNThroughput.DurationMillis = 1000
			threads, arrivals := nnthroughput.ItemsOf(p, 1, 5)
			if diff := cmp.Diff(want.threads, threads); diff != "" {
				t.Errorf("threads (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want.arrivals, arrivals); diff != "" {
				t.Errorf("arrivals (-want +got):\n%s", diff)
			}
		})
	}
}

// For a duration, a thread that has no file of its own takes part in another's: all threads work.
func TestWorkOfMoreThreadsThanFiles(t *testing.T) {
	p := workPlan(plan.OpFileStatus, 2, 5, 1)
	p.NNThroughput.DurationMillis = 1000
	threads, _ := nnthroughput.ItemsOf(p, 0, 2)
	item := func(number int64) []nnthroughput.Item {
		return slices.Repeat([]nnthroughput.Item{{Number: number, Owner: number}}, 2)
	}
	if diff := cmp.Diff([][]nnthroughput.Item{item(0), item(1), item(0), item(1), item(0)}, threads); diff != "" {
		t.Errorf("threads (-want +got):\n%s", diff)
	}
}
