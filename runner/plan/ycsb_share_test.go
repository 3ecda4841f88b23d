package plan_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hadoop-bench/operator/runner/plan"
)

// TestTenBillionRecords: far more records than an int32 holds are spread without overflow, gap or overlap.
func TestTenBillionRecords(t *testing.T) {
	const records, shards = 10_000_000_000, 64
	next := int64(0)
	for i := range int32(shards) {
		first, count := plan.RecordShare(records, shards, i)
		if first != next || count != records/shards {
			t.Errorf("shard %d loads %d records from %d on, want %d from %d on", i, count, first, int64(records/shards), next)
		}
		next = first + count
	}
	if next != records {
		t.Errorf("%d records are loaded, want %d", next, int64(records))
	}
}

// TestShares: whatever is spread, every part belongs to exactly one shard, in order, and shares differ little.
func TestShares(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		shards := 1 + random.Int32N(1000)
		threads := shards + random.Int32N(1_000_000-shards+1)
		total := int64(threads) + random.Int64N(plan.MaxRecords-int64(threads)+1)
		var threadsSum int32
		var recordsSum, operationsSum int64
		for i := range shards {
			first, count := plan.ThreadShare(threads, shards, i)
			if even := threads / shards; first != threadsSum || count < even || count > even+1 {
				t.Fatalf("%d threads on %d shards: shard %d has %d from %d on", threads, shards, i, count, first)
			}
			threadsSum += count
			record, records := plan.RecordShare(total, shards, i)
			if even := total / int64(shards); record != recordsSum || records < even || records > even+1 {
				t.Fatalf("%d records on %d shards: shard %d has %d from %d on", total, shards, i, records, record)
			}
			recordsSum += records
			operations := plan.OperationShare(total, threads, shards, i)
			if operations < int64(count) || operations > 2*(total/int64(shards)+1) {
				t.Fatalf("%d operations of %d threads on %d shards: shard %d does %d with %d", total, threads, shards, i, operations, count)
			}
			operationsSum += operations
		}
		if threadsSum != threads || recordsSum != total || operationsSum != total {
			t.Fatalf("%d shards have %d of %d threads, %d records and %d operations of %d", shards, threadsSum, threads, recordsSum, operationsSum, total)
		}
	}
}

func TestSharesOfTheLargest(t *testing.T) {
	first, count := plan.RecordShare(math.MaxInt64, 1000, 999)
	if first+count != math.MaxInt64 || first < 0 || count < 0 {
		t.Errorf("the last of 1000 shards has %d records from %d on", count, first)
	}
	if got := plan.OperationShare(3, 3, 2, 1); got != 2 {
		t.Errorf("shard 1 of 2 has 2 of 3 threads and does %d of 3 operations, want 2", got)
	}
}

// TestInsertBase: the numbers of no two measurements meet, whatever a shard inserts, and none passes an int64.
func TestInsertBase(t *testing.T) {
	last := int64(plan.MaxRecords) - 1
	for w := range plan.MaxWorkloads {
		for r := range int32(plan.MaxRepeats) {
			for a := range int32(plan.MaxInsertAttempts) {
				base := plan.InsertBase(plan.MaxRecords, w, r+1, a+1)
				if base <= last {
					t.Fatalf("workload %d, repeat %d, attempt %d inserts from %d on, the one before up to %d", w, r+1, a+1, base, last)
				}
				last = base + 2*plan.MaxRecords
				if last < base {
					t.Fatalf("workload %d, repeat %d, attempt %d: a record's number overflows", w, r+1, a+1)
				}
			}
		}
	}
	if got := plan.InsertBase(1000, 0, 1, 1); got != 1000 {
		t.Errorf("the first measurement inserts from %d on, want 1000", got)
	}
	for name, got := range map[string]int64{
		"too many records": plan.InsertBase(plan.MaxRecords+1, 0, 1, 1), "a workload too many": plan.InsertBase(1, 16, 1, 1),
		"a repeat too many": plan.InsertBase(1, 0, 31, 1), "an attempt too many": plan.InsertBase(1, 0, 1, 4097), "no attempt": plan.InsertBase(1, 0, 1, 0),
	} {
		if got != 0 {
			t.Errorf("%s: base %d, want none", name, got)
		}
	}
}
