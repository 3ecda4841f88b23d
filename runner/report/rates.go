package report

import (
	"math"
)

// mebi is TestDFSIO's "MB".
const mebi = 1 << 20

// A window is usable if it has so many whole buckets, and covers so large a part of the wall time.
const (
	minWindowBuckets  = 5
	minWindowFraction = 0.5
)

// Limits of the start spread; see SpreadLimit.
const (
	maxSpreadMicros  = 1_000_000
	maxSpreadDivisor = 20
)

// Times are those of the shards that started, by the target's clock, in microseconds since the Unix epoch, and durations
// in microseconds. A shard's execution time is from its start to its end, the closing of its stream included.
type Times struct {
	FirstStart        int64 `json:"firstStartMicros"`
	LastStart         int64 `json:"lastStartMicros"`
	StartSpreadMicros int64 `json:"startSpreadMicros"` // LastStart - FirstStart
	FirstEnd          int64 `json:"firstEndMicros"`
	LastEnd           int64 `json:"lastEndMicros"`
	WallMicros        int64 `json:"wallMicros"` // LastEnd - FirstStart
	SumExecMicros     int64 `json:"sumExecMicros"`
	MinExecMicros     int64 `json:"minExecMicros"` // of the shortest shard
	MaxExecMicros     int64 `json:"maxExecMicros"` // of the longest shard
}

// Rates are the figures a benchmark is about. MiBps is 2^20 bytes per second, which TestDFSIO calls "MB/sec". A rate that
// cannot be told (no bytes, no time, no such window) is absent, never zero.
type Rates struct {
	// AggregateMiBps is what the cluster delivered: the bytes of all shards over the wall clock time from the first
	// start to the last end. It is what a single-stream rate times the number of shards would be only if all shards
	// worked all the time.
	AggregateMiBps *float64 `json:"aggregateMiBps,omitempty"`

	// WindowMiBps is what the cluster delivered while every shard was at work: bytes completed between the last start
	// and the first end, both moved inward to a border of the series' buckets, over the time between these borders.
	// Starting up and running out do not count. Absent with fewer than 5 buckets, or if they cover less than half of
	// the wall clock time: what is left would say little about the whole.
	WindowMiBps *float64 `json:"windowMiBps,omitempty"`
	// WindowMicros is the length of that window.
	WindowMicros int64 `json:"windowMicros,omitempty"`

	// PerStreamMiBps is TestDFSIO's "Throughput mb/sec": all bytes over the sum of the shards' execution times. It is
	// how fast one stream was, weighted by time, not what the cluster delivered.
	PerStreamMiBps *float64 `json:"perStreamMiBps,omitempty"`
	// AverageIORateMiBps is TestDFSIO's "Average IO rate mb/sec": the mean of the shards' own rates.
	AverageIORateMiBps *float64 `json:"averageIORateMiBps,omitempty"`
	// IORateStdDevMiBps is TestDFSIO's "IO rate std deviation": the population standard deviation of the shards' own
	// rates. This and the two above are computed as TestDFSIO does, in whole milliseconds and float32 in the order of
	// the shards, so that they are the figures of its text.
	IORateStdDevMiBps *float64 `json:"ioRateStdDevMiBps,omitempty"`

	// IOPS is the completed operations of all shards over the wall clock time, per second, where they move bytes.
	IOPS *float64 `json:"iops,omitempty"`
	// MeanIOBytes is bytes over operations: how much one read or write call moved.
	MeanIOBytes *float64 `json:"meanIOBytes,omitempty"`

	// OpsPerSec is, where operations move no bytes, the completed ones of all shards over the wall clock time from the
	// first start to the last end. It stands in the place of IOPS.
	OpsPerSec *float64 `json:"opsPerSec,omitempty"`
	// WindowOpsPerSec is the rate of operations while every shard was at work, by the same rules as WindowMiBps.
	WindowOpsPerSec *float64 `json:"windowOpsPerSec,omitempty"`
	// UpstreamOpsPerSec is NNThroughputBenchmark's "Ops per sec": 1000 times the operations over the elapsed whole
	// milliseconds, and 0 if these are 0. Where the operations tried are counted, it is YCSB's "Throughput(ops/sec)":
	// the same of those, failed ones included, and absent if no whole millisecond elapsed.
	UpstreamOpsPerSec *float64 `json:"upstreamOpsPerSec,omitempty"`
}

// SpreadLimit is how far apart in microseconds the starts of shards may lie if they are to count as simultaneous: 5 % of
// the shortest shard's execution time, at most 1 s.
func SpreadLimit(shortestExecMicros int64) int64 {
	return min(maxSpreadMicros, shortestExecMicros/maxSpreadDivisor)
}

func timesOf(shards []shard) (Times, error) {
	var t Times
	for i, s := range shards {
		exec := s.exec()
		if i == 0 {
			t = Times{FirstStart: s.start, LastStart: s.start, FirstEnd: s.end, LastEnd: s.end, MinExecMicros: exec}
		}
		t.FirstStart, t.LastStart = min(t.FirstStart, s.start), max(t.LastStart, s.start)
		t.FirstEnd, t.LastEnd = min(t.FirstEnd, s.end), max(t.LastEnd, s.end)
		t.MinExecMicros, t.MaxExecMicros = min(t.MinExecMicros, exec), max(t.MaxExecMicros, exec)
		var ok bool
		if t.SumExecMicros, ok = addInt64(t.SumExecMicros, exec); !ok {
			return t, ErrOverflow
		}
	}
	t.StartSpreadMicros = t.LastStart - t.FirstStart
	t.WallMicros = t.LastEnd - t.FirstStart
	return t, nil
}

func ratesOf(m *Merged, shards []shard) Rates {
	if m.Bytes == 0 && (m.Operations > 0 || m.Tried > 0) {
		return operationRates(m, shards)
	}
	r := Rates{
		IOPS:        quotient(float64(m.Operations)*1e6, float64(m.Times.WallMicros)),
		MeanIOBytes: quotient(float64(m.Bytes), float64(m.Operations)),
	}
	if m.Bytes == 0 {
		return r
	}
	r.AggregateMiBps = mibps(m.Bytes, m.Times.WallMicros)
	if amount, micros, ok := window(m, shards); ok {
		r.WindowMiBps, r.WindowMicros = mibps(amount, micros), micros
	}

	u := upstreamOf(shards)
	r.PerStreamMiBps = finite(u.throughput())
	r.AverageIORateMiBps = finite(u.average())
	r.IORateStdDevMiBps = finite(u.stdDev())
	return r
}

// operationRates are the rates where operations, not bytes, are counted.
func operationRates(m *Merged, shards []shard) Rates {
	r := Rates{OpsPerSec: quotient(float64(m.Operations)*1e6, float64(m.Times.WallMicros))}
	if m.Tried > 0 {
		r.UpstreamOpsPerSec = quotient(1000*float64(m.Tried), float64(elapsedMillis(m)))
	} else {
		upstream := upstreamOpsPerSec(m.Operations, elapsedMillis(m))
		r.UpstreamOpsPerSec = &upstream
	}
	if amount, micros, ok := window(m, shards); ok {
		r.WindowOpsPerSec, r.WindowMicros = quotient(float64(amount)*1e6, float64(micros)), micros
	}
	return r
}

// window is what was done, and how long, in the time when all shards were at work. Every shard must have started and have
// a series, else the sum lacks a part.
func window(m *Merged, shards []shard) (amount, micros int64, ok bool) {
	if m.Series == nil || int32(len(shards)) < m.Shards.Expected {
		return 0, 0, false
	}
	for _, s := range shards {
		if s.Body.Series == nil {
			return 0, 0, false
		}
	}
	amount, buckets, micros := m.Series.between(m.Times.LastStart, m.Times.FirstEnd)
	if buckets < minWindowBuckets || float64(micros) < minWindowFraction*float64(m.Times.WallMicros) {
		return 0, 0, false
	}
	return amount, micros, true
}

func mibps(bytes, micros int64) *float64 {
	return quotient(float64(bytes)*1e6/mebi, float64(micros))
}

// quotient is absent if it would not be a number.
func quotient(a, b float64) *float64 {
	if b == 0 {
		return nil
	}
	return finite(a / b)
}

func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
