package ycsb

import (
	"sync/atomic"
	"time"
)

// Where a metric's latencies are filed: under its own name, under <name>-FAILED, or under <name>-<STATUS> from statusSlot on.
const (
	plainSlot = iota
	failedSlot
	statusSlot
	textSlots = statusSlot + int(statuses)
)

// textRecorder is what one thread measured of one metric for YCSB's reports. Each slot is made when it is needed.
type textRecorder struct {
	keep     *keep
	measured [textSlots]atomic.Pointer[textSink]
	intended [textSlots]atomic.Pointer[textSink]
}

func newTextRecorder(k *keep) *textRecorder {
	t := &textRecorder{keep: k}
	if k.texts.Measured {
		t.measured[plainSlot].Store(newTextSink(k.texts))
	}
	if k.texts.Intended {
		t.intended[plainSlot].Store(newTextSink(k.texts))
	}
	return t
}

// slotOf is where an operation's latency is filed. A verification's latency says nothing about its verdict, and YCSB files
// all of them together.
func (k *keep) slotOf(m Metric, status Status) int {
	switch {
	case status.Success() || m == MetricVerify:
		return plainSlot
	case k.texts.Track[status]:
		return statusSlot + int(status)
	}
	return failedSlot
}

func (t *textRecorder) record(m Metric, status Status, intended, began, ended time.Time) {
	slot := t.keep.slotOf(m, status)
	after := ended.Sub(t.keep.origin)
	if t.keep.texts.Measured {
		t.sink(&t.measured[slot]).record(ended.Sub(began).Microseconds(), after)
	}
	if t.keep.texts.Intended && m.hasIntended() {
		if intended.IsZero() {
			intended = began
		}
		t.sink(&t.intended[slot]).record(ended.Sub(intended).Microseconds(), after)
	}
}

func (t *textRecorder) sink(at *atomic.Pointer[textSink]) *textSink {
	s := at.Load()
	if s == nil {
		s = newTextSink(t.keep.texts)
		at.Store(s)
	}
	return s
}

// textSink keeps latencies in microseconds in the ways that are asked for. Its HDR histogram, count and sum may be read while
// it records, the others only after that.
type textSink struct {
	options    *TextOptions
	count, sum atomic.Int64
	hdr        *HDR
	buckets    *bucketCounts
	series     []average // by Granularity
	min, max   int64     // of the series
	raw        *rawPoints
}

// average is a sum of latencies.
type average struct{ count, sum int64 }

func newTextSink(o *TextOptions) *textSink {
	s := &textSink{options: o}
	if o.HDR {
		s.hdr = new(HDR)
	}
	if o.Buckets {
		s.buckets = newBucketCounts(o.BucketCount)
	}
	if o.Raw {
		s.raw = new(rawPoints)
	}
	return s
}

// record files a latency of an operation that ended some time after the origin.
func (s *textSink) record(micros int64, after time.Duration) {
	micros = max(micros, 0)
	if s.hdr != nil {
		s.hdr.Record(micros)
	}
	if s.options.Buckets || s.options.Series || s.options.Raw {
		s.others(micros, after)
	}
}

func (s *textSink) others(micros int64, after time.Duration) {
	s.count.Store(s.count.Load() + 1)
	s.sum.Store(s.sum.Load() + micros)
	if s.buckets != nil {
		s.buckets.record(micros)
	}
	if s.options.Series {
		if len(s.series) == 0 || micros < s.min {
			s.min = micros
		}
		s.max = max(s.max, micros)
		k := int(max(after, 0) / s.options.Granularity)
		for len(s.series) <= k {
			s.series = append(s.series, average{})
		}
		s.series[k].count++
		s.series[k].sum += micros
	}
	if s.raw != nil {
		s.raw.record(micros, after)
	}
}

// bucketCounts is YCSB's plain histogram: buckets of a millisecond, and sums of microseconds.
type bucketCounts struct {
	counts   []int64
	overflow int64
	average
	squares  float64
	min, max int64
}

func newBucketCounts(n int) *bucketCounts {
	return &bucketCounts{counts: make([]int64, n), min: -1, max: -1}
}

func (b *bucketCounts) record(micros int64) {
	if k := micros / 1000; k < int64(len(b.counts)) {
		b.counts[k]++
	} else {
		b.overflow++
	}
	b.count++
	b.sum += micros
	b.squares += float64(micros) * float64(micros)
	if b.min < 0 || micros < b.min {
		b.min = micros
	}
	b.max = max(b.max, micros)
}

// merge counts what another one of as many buckets counted.
func (b *bucketCounts) merge(other *bucketCounts) {
	if other.count == 0 {
		return
	}
	for k, n := range other.counts {
		b.counts[k] += n
	}
	b.overflow += other.overflow
	b.count += other.count
	b.sum += other.sum
	b.squares += other.squares
	if b.min < 0 || other.min < b.min {
		b.min = other.min
	}
	b.max = max(b.max, other.max)
}

// rawPoints are all latencies one by one, in blocks, so that a long list is never copied.
type rawPoints struct {
	blocks [][]rawPoint
}

// A rawPoint is the latency of an operation that ended some time after the origin.
type rawPoint struct {
	after  time.Duration
	micros int64
}

const rawBlock = 1 << 14 // points

func (r *rawPoints) record(micros int64, after time.Duration) {
	last := len(r.blocks) - 1
	if last < 0 || len(r.blocks[last]) == rawBlock {
		r.blocks = append(r.blocks, make([]rawPoint, 0, rawBlock))
		last++
	}
	r.blocks[last] = append(r.blocks[last], rawPoint{after, micros})
}
