package report

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// Scales of a Histogram. At scale s an octave has 2^s buckets.
const (
	// MinScale is the coarsest scale: one bucket per octave, relative error 33 %.
	MinScale = 0
	// MaxScale is the finest scale: relative error 0.14 %, 129 KiB of memory for a recording histogram.
	MaxScale = 8
	// DefaultScale is what a shard records one distribution with: relative error 1.1 %, 16 KiB of memory.
	DefaultScale = 5
)

// ErrOverflow says that a 64-bit counter cannot hold a sum. Nothing wraps around: the sum is refused.
var ErrOverflow = errors.New("a 64-bit counter overflows")

// Histogram is a distribution of durations in whole nanoseconds in logarithmic buckets. At scale s bucket i covers
// (2^(i/2^s), 2^((i+1)/2^s)], as in OpenTelemetry's exponential histograms and Prometheus' native ones, so that a
// histogram is brought to a coarser scale by adding up neighbours, and merging two scales loses resolution only. Values
// of zero are counted apart; count, sum, smallest and largest value are exact.
//
// One goroutine at a time may use it. The zero value is not usable: see NewHistogram.
type Histogram struct {
	scale         int
	count, zeros  int64
	sum, min, max int64
	overflow      bool // a sum did not fit; merging and encoding refuse

	// counts[k-first] counts bucket i = k-1: the value 1 lies in bucket -1, which covers (2^(-1/2^s), 1]. A recording
	// histogram holds every bucket there is, so that Record never allocates; a decoded one only those it needs.
	first  int
	counts []int64

	bounds *boundaries
}

// NewHistogram makes an empty histogram with every bucket allocated. A scale outside MinScale..MaxScale is brought to
// the nearer end.
func NewHistogram(scale int) *Histogram {
	scale = max(MinScale, min(scale, MaxScale))
	return &Histogram{scale: scale, counts: make([]int64, slots(scale)), bounds: sharedBoundaries()}
}

// slots is how many buckets the values from 1 to 2^63-1 need at a scale.
func slots(scale int) int { return 63<<scale + 1 }

// Record counts one value in nanoseconds. It does not allocate. A value below zero counts as zero: clocks that can step
// back must not be measured with.
func (h *Histogram) Record(v int64) {
	v = max(v, 0)
	if h.count == 0 || v < h.min {
		h.min = v
	}
	h.max = max(h.max, v)
	h.count++
	if v == 0 {
		h.zeros++
		return
	}
	if h.sum > math.MaxInt64-v {
		h.overflow = true // 292 years of summed durations
		return
	}
	h.sum += v
	k := h.slot(v) - h.first
	if uint(k) >= uint(len(h.counts)) {
		h.grow(k+h.first, k+h.first)
		k = h.slot(v) - h.first
	}
	h.counts[k]++
}

// slot is the bucket of a value of at least 1, plus one so that it is not negative.
func (h *Histogram) slot(v int64) int {
	return coarser(h.bounds.slot(uint64(v)), MaxScale-h.scale)
}

// coarser takes a slot to a scale that is coarser by d. Slot k is bucket k-1, and buckets, not slots, halve.
func coarser(k, d int) int { return (k-1)>>d + 1 }

// grow makes room for the slots from..to beside those there are.
func (h *Histogram) grow(from, to int) {
	if len(h.counts) > 0 {
		from, to = min(from, h.first), max(to, h.first+len(h.counts)-1)
	}
	if from == h.first && to == h.first+len(h.counts)-1 {
		return
	}
	counts := make([]int64, to-from+1)
	if len(h.counts) > 0 {
		copy(counts[h.first-from:], h.counts)
	}
	h.first, h.counts = from, counts
}

// Merge adds another histogram's values; nil adds nothing. Afterwards h has the coarser of the two scales. On
// ErrOverflow h is unchanged.
func (h *Histogram) Merge(other *Histogram) error {
	if other == nil || (other.count == 0 && !other.overflow) {
		return nil
	}
	count, ok := addInt64(h.count, other.count)
	sum, ok2 := addInt64(h.sum, other.sum)
	if !ok || !ok2 || h.overflow || other.overflow {
		return fmt.Errorf("merging histograms: %w", ErrOverflow)
	}
	h.Downscale(other.scale)
	if h.count == 0 || other.min < h.min {
		h.min = other.min
	}
	h.max = max(h.max, other.max)
	h.count, h.sum, h.zeros = count, sum, h.zeros+other.zeros

	low, high := other.occupied()
	if low > high {
		return nil
	}
	d := other.scale - h.scale
	h.grow(coarser(other.first+low, d), coarser(other.first+high, d))
	for k := low; k <= high; k++ {
		h.counts[coarser(other.first+k, d)-h.first] += other.counts[k]
	}
	return nil
}

// occupied is the range of indices into counts outside which everything is zero; low > high if all of it is.
func (h *Histogram) occupied() (low, high int) {
	low, high = 0, len(h.counts)-1
	for low <= high && h.counts[low] == 0 {
		low++
	}
	for low <= high && h.counts[high] == 0 {
		high--
	}
	return low, high
}

// Downscale brings the histogram to a coarser scale, at least MinScale. A scale that is not coarser changes nothing.
func (h *Histogram) Downscale(scale int) {
	scale = max(scale, MinScale)
	if scale >= h.scale {
		return
	}
	d := h.scale - scale
	h.scale = scale
	if len(h.counts) == 0 {
		return
	}
	first := coarser(h.first, d)
	counts := make([]int64, coarser(h.first+len(h.counts)-1, d)-first+1)
	for k, n := range h.counts {
		counts[coarser(h.first+k, d)-first] += n
	}
	h.first, h.counts = first, counts
}

// Clone is an independent copy. It holds only the buckets in use, so recording into it may allocate; of nil it is nil.
func (h *Histogram) Clone() *Histogram {
	if h == nil {
		return nil
	}
	c := *h
	low, high := h.occupied()
	c.first, c.counts = h.first+low, append([]int64(nil), h.counts[low:high+1]...)
	return &c
}

// Equal reports whether both hold the same counts at the same scale. Two nils are equal.
func (h *Histogram) Equal(other *Histogram) bool {
	if h == nil || other == nil {
		return h == other
	}
	if h.scale != other.scale || h.count != other.count || h.zeros != other.zeros || h.sum != other.sum ||
		h.min != other.min || h.max != other.max || h.overflow != other.overflow {
		return false
	}
	low, high := h.occupied()
	low2, high2 := other.occupied()
	if low > high || low2 > high2 {
		return low > high && low2 > high2
	}
	if high-low != high2-low2 || h.first+low != other.first+low2 {
		return false
	}
	for k := low; k <= high; k++ {
		if h.counts[k] != other.counts[k-low+low2] {
			return false
		}
	}
	return true
}

// Scale is the scale the counts have now.
func (h *Histogram) Scale() int { return h.scale }

// Count is how many values were recorded, exactly.
func (h *Histogram) Count() int64 { return h.count }

// Sum is the exact sum of all values in nanoseconds.
func (h *Histogram) Sum() int64 { return h.sum }

// Min is the exact smallest value in nanoseconds, 0 if there is none.
func (h *Histogram) Min() int64 { return h.min }

// Max is the exact largest value in nanoseconds, 0 if there is none.
func (h *Histogram) Max() int64 { return h.max }

// Mean is the exact sum over the exact count in nanoseconds, 0 if there is no value.
func (h *Histogram) Mean() float64 {
	if h.count == 0 {
		return 0
	}
	return float64(h.sum) / float64(h.count)
}

// RelativeError is how far Quantile may be off as a fraction of the true value: (r-1)/(r+1), where r = 2^(1/2^scale) is
// the ratio of a bucket's bounds. It is 0.0108 at scale 5 and 0.0217 at scale 4. Rounding to whole nanoseconds adds half
// a nanosecond.
func (h *Histogram) RelativeError() float64 {
	r := math.Exp2(1 / float64(int(1)<<h.scale))
	return (r - 1) / (r + 1)
}

// Quantile is the nearest-rank quantile in nanoseconds: the value of rank ceil(q*Count), from 1 to Count. The smallest
// and the largest rank are exact; others are off by RelativeError at most. It is 0 if there is no value.
func (h *Histogram) Quantile(q float64) int64 {
	rank := nearestRank(q, h.count)
	switch {
	case rank <= 1:
		return h.min
	case rank >= h.count:
		return h.max
	case rank <= h.zeros:
		return 0
	}
	seen := h.zeros
	for k, n := range h.counts {
		seen += n
		if seen >= rank {
			return max(h.min, min(h.middle(h.first+k), h.max))
		}
	}
	return h.max
}

// nearestRank is ceil(q*n) within 1..n. A product within rounding of a whole number is that number: 0.07 * 100 is 7,
// not the 8 that binary fractions make of it.
func nearestRank(q float64, n int64) int64 {
	switch {
	case !(q > 0): // also NaN
		return 1
	case q >= 1:
		return n
	}
	rank := q * float64(n)
	if near := math.Round(rank); math.Abs(rank-near) <= rank*0x1p-51 {
		rank = near
	}
	return max(1, min(int64(math.Ceil(rank)), n))
}

// middle is the harmonic mean of a bucket's bounds, rounded: the value whose largest relative distance to any value of
// the bucket is smallest.
func (h *Histogram) middle(k int) int64 {
	n := float64(int(1) << h.scale)
	low, r := math.Exp2(float64(k-1)/n), math.Exp2(1/n)
	m := math.Round(2 * low * r / (1 + r))
	if m >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(m)
}

// addInt64 adds two numbers of any sign; ok is false if the sum does not fit.
func addInt64(a, b int64) (sum int64, ok bool) {
	sum = a + b
	return sum, (sum > a) == (b > 0)
}

// sumWithin reports whether n values between low and high, all at least zero, can add up to sum.
func sumWithin(sum, n, low, high int64) bool {
	s := uint64(sum)
	hi, lo := bits.Mul64(uint64(n), uint64(low))
	if hi > 0 || lo > s {
		return false
	}
	hi, lo = bits.Mul64(uint64(n), uint64(high))
	return hi > 0 || lo >= s
}
