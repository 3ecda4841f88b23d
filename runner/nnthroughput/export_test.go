package nnthroughput

import "github.com/hadoop-bench/operator/runner/plan"

// What tests of the names look into.

// PathOf is the n-th name below dir with perDir names in a directory.
func PathOf(dir string, perDir, n int64) string { return tree{perDir: perDir}.path(dir, n) }

// Names returns the names of a thread, which remembers the directory of the last one.
func Names(perDir int64) func(dir string, n int64) string {
	m := &names{tree: tree{perDir: perDir}}
	return m.at
}

var (
	SplitShare = splitShare
	OwnerOf    = ownerOf
	ShardRange = shardRange
)

// Item is one item of a shard's work.
type Item struct{ Number, Owner int64 }

// ItemsOf lists the first most items of each thread of a shard, and of its arrivals.
func ItemsOf(p *plan.Plan, index int32, most int64) (threads [][]Item, arrivals []Item) {
	w := workOf(p, index)
	for i := range w.own() {
		var list []Item
		for k := range most {
			it, ok := w.at(i, k)
			if !ok {
				break
			}
			list = append(list, Item{it.number, it.owner})
		}
		threads = append(threads, list)
	}
	for k := range most {
		it, ok := w.arrival(k)
		if !ok {
			break
		}
		arrivals = append(arrivals, Item{it.number, it.owner})
	}
	return threads, arrivals
}
