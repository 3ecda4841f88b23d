package nnthroughput

import (
	"math"

	"github.com/hadoop-bench/operator/runner/plan"
)

// splitShare is upstream's split of a total over threads: thread i, from 0, has the count items from first on. Upstream
// gives each thread in turn what is left divided by the threads that are left, rounded down, but at least one while there
// is any; so the last threads have one more than the first ones.
func splitShare(total, threads, i int64) (first, count int64) {
	if total < threads {
		if i < total {
			return i, 1
		}
		return total, 0
	}
	share, rest := total/threads, total%threads
	small := threads - rest // threads without one more
	first = i * share
	if i >= small {
		return first + i - small, share + 1
	}
	return first, share
}

// ownerOf is the thread whose share holds an item.
func ownerOf(total, threads, number int64) int64 {
	if total < threads {
		return number
	}
	share, rest := total/threads, total%threads
	small := threads - rest
	if number < small*share {
		return number / share
	}
	return small + (number-small*share)/(share+1)
}

// shardRange is which threads a shard has: [first, end) of all.
func shardRange(threads, shards, index int64) (first, end int64) {
	return threads * index / shards, threads * (index + 1) / shards
}

// work is what there is to do: ops items split over total threads, of which the shard has [first, end). In blockReport
// the threads are the DataNodes.
type work struct {
	ops, total int64
	first, end int64
	mode       mode
}

// mode says what comes after a thread's last item.
type mode int

const (
	counted mode = iota // nothing
	cycled              // its first one again; a thread without any takes part in those of others
	endless             // item k of thread t has the number t + k·threads, whatever ops is
)

// workOf is the work of a shard. Steps without threads have none.
func workOf(p *plan.Plan, index int32) work {
	n := p.NNThroughput
	w := work{ops: n.Files, total: int64(n.Threads)}
	switch p.Identity.Step {
	case plan.OpCreate:
		w.mode = endless
	case plan.OpMkdirs:
		w.ops, w.mode = n.Dirs, endless
	case plan.OpOpen, plan.OpFileStatus:
		w.mode = cycled
	case plan.OpBlockReport:
		w.ops, w.total, w.mode = n.Reports, int64(n.DataNodes), cycled
	case plan.OpDelete, plan.OpAppend, plan.OpRename:
	default:
		return work{}
	}
	if n.DurationMillis == 0 {
		w.mode = counted
	}
	w.first, w.end = shardRange(w.total, int64(p.Shards), int64(index))
	return w
}

// own is how many threads the shard has.
func (w work) own() int { return int(w.end - w.first) }

// share is which items thread t, globally numbered, has.
func (w work) share(t int64) (first, count int64) { return splitShare(w.ops, w.total, t) }

// shardShare is which items the shard's threads have together.
func (w work) shardShare() (first, count int64) {
	if w.own() == 0 {
		return 0, 0
	}
	first, _ = w.share(w.first)
	last, n := w.share(w.end - 1)
	return first, last + n - first
}

// planned is how many operations the shard is to do; 0 if a duration decides.
func (w work) planned() int64 {
	if w.mode != counted {
		return 0
	}
	_, count := w.shardShare()
	return count
}

// at is the k-th item, from 0, of the shard's thread i; false if there is none.
func (w work) at(i int, k int64) (item, bool) {
	t := w.first + int64(i)
	if w.mode == endless {
		if k > (math.MaxInt64-t)/w.total {
			return item{}, false
		}
		return item{number: t + k*w.total, owner: t}, true
	}
	first, count := w.share(t)
	if w.mode == cycled && count == 0 && w.ops > 0 {
		// More threads than files: for a duration this one, which has none of its own, works on another's.
		number := t % w.ops
		return item{number: number, owner: ownerOf(w.ops, w.total, number)}, true
	}
	if count == 0 || (w.mode == counted && k >= count) {
		return item{}, false
	}
	return item{number: first + k%count, owner: t}, true
}

// arrival is the item of the shard's k-th arrival, from 0, where a rate paces; false if there is none.
func (w work) arrival(k int64) (item, bool) {
	own := int64(w.own())
	if own == 0 {
		return item{}, false
	}
	if w.mode == endless {
		return w.at(int(k%own), k/own)
	}
	first, count := w.shardShare()
	if count == 0 || (w.mode == counted && k >= count) {
		return item{}, false
	}
	number := first + k%count
	return item{number: number, owner: ownerOf(w.ops, w.total, number)}, true
}
