package plan

import "math/bits"

// ThreadShare is which of the threads of all shards are those of one shard: count of them, from first on.
func ThreadShare(threads, shards, index int32) (first, count int32) {
	from := portion(int64(threads), int64(index), int64(shards))
	to := portion(int64(threads), int64(index)+1, int64(shards))
	return int32(from), int32(to - from)
}

// RecordShare is which of the records one shard loads: count of them, from first on.
func RecordShare(records int64, shards, index int32) (first, count int64) {
	first = portion(records, int64(index), int64(shards))
	return first, portion(records, int64(index)+1, int64(shards)) - first
}

// OperationShare is how much of a total one shard does: its part in proportion to its threads. It holds for operations,
// and for thousandths of an operation per second. Where the total is at least the number of threads, no shard has none.
func OperationShare(total int64, threads, shards, index int32) int64 {
	first, count := ThreadShare(threads, shards, index)
	return portion(total, int64(first)+int64(count), int64(threads)) - portion(total, int64(first), int64(threads))
}

// What InsertBase has numbers for. They are powers of two but for the repeats, and all of them together leave a record's
// number below 2^63.
const (
	// MaxRecords bounds the records that are loaded, and the operations of one measurement.
	MaxRecords   = 1_000_000_000_000
	MaxWorkloads = 16
	MaxRepeats   = 30
	// MaxInsertAttempts bounds the attempts of one repeat, each of which ends by a suspension or a lost shard.
	MaxInsertAttempts = 4096
	// insertSpan is how many numbers one measurement has. A shard does less than twice its even share of the operations,
	// so with MaxRecords of them none gets past 2·10^12.
	insertSpan = 1 << 41
)

// InsertBase is the number of the first record that a measurement inserts: beyond the loaded records, and beyond all that
// any other measurement of the run may insert. The workload counts from 0, repeat and attempt from 1. It is 0 beyond the
// bounds, where no number is free.
func InsertBase(records int64, workload int, repeat, attempt int32) int64 {
	switch {
	case records < 0 || records > MaxRecords, workload < 0 || workload >= MaxWorkloads:
		return 0
	case repeat < 1 || repeat > MaxRepeats, attempt < 1 || attempt > MaxInsertAttempts:
		return 0
	}
	measurement := (int64(workload)*MaxRepeats+int64(repeat-1))*MaxInsertAttempts + int64(attempt-1)
	return records + measurement*insertSpan
}

// portion is total·part/whole, rounded down, for 0 ≤ part ≤ whole. The product may have more than 64 bits.
func portion(total, part, whole int64) int64 {
	high, low := bits.Mul64(uint64(total), uint64(part))
	quotient, _ := bits.Div64(high, low, uint64(whole))
	return int64(quotient)
}
