package ycsb

import (
	"math"
	"math/bits"
	"sync/atomic"
)

// The shape of YCSB's histograms: HdrHistogram's with three significant digits from 1 on. Values below 2048 are kept as they
// are; above, each doubling has 1024 steps. A page is the 1024 counters of a doubling, or half of what lies below 2048.
const (
	hdrPageBits = 10
	hdrPageSize = 1 << hdrPageBits
	hdrPages    = 63 - hdrPageBits + 1
)

// hdrIndex is the counter of a value that is not negative.
func hdrIndex(v int64) int {
	doubling := bits.Len64(uint64(v)|(2*hdrPageSize-1)) - hdrPageBits - 1
	return doubling<<hdrPageBits + int(v>>doubling)
}

// hdrRange is the smallest value that a counter counts, and how many values it does.
func hdrRange(index int) (lowest, size int64) {
	doubling := max(0, index>>hdrPageBits-1)
	return int64(index-doubling<<hdrPageBits) << doubling, 1 << doubling
}

// An HDR counts latencies in whole microseconds as YCSB does. One goroutine records; any number may add what it has
// recorded to their HDRCounts meanwhile. The zero value is empty.
type HDR struct {
	pages [hdrPages]atomic.Pointer[[hdrPageSize]atomic.Int64]
}

// Record counts a value; one below 0 counts as 0. It does not lock, and allocates 8 KiB only for the first value of a
// doubling: some twenty times in all.
func (h *HDR) Record(v int64) {
	index := hdrIndex(max(v, 0))
	page := h.pages[index>>hdrPageBits].Load()
	if page == nil {
		page = new([hdrPageSize]atomic.Int64)
		h.pages[index>>hdrPageBits].Store(page)
	}
	counter := &page[index&(hdrPageSize-1)]
	counter.Store(counter.Load() + 1) // there is no other writer
}

// HDRCounts is what HDR histograms counted by some moment. Figures are those that HdrHistogram 2.1.12 gives. The zero value is
// empty. One goroutine at a time may use it.
type HDRCounts struct {
	pages [hdrPages]*[hdrPageSize]int64
}

// Add counts what a histogram holds now.
func (c *HDRCounts) Add(h *HDR) {
	for p := range h.pages {
		from := h.pages[p].Load()
		if from == nil {
			continue
		}
		to := c.page(p)
		for k := range from {
			to[k] += from[k].Load()
		}
	}
}

// merge counts what others counted, times a sign: -1 takes it away.
func (c *HDRCounts) merge(other *HDRCounts, sign int64) {
	for p, from := range other.pages {
		if from == nil {
			continue
		}
		to := c.page(p)
		for k, n := range from {
			to[k] += sign * n
		}
	}
}

func (c *HDRCounts) page(p int) *[hdrPageSize]int64 {
	if c.pages[p] == nil {
		c.pages[p] = new([hdrPageSize]int64)
	}
	return c.pages[p]
}

// Since is what came after an earlier state of the same counts.
func (c *HDRCounts) Since(earlier *HDRCounts) *HDRCounts {
	since := new(HDRCounts)
	since.merge(c, 1)
	since.merge(earlier, -1)
	return since
}

// Each calls f for every counter that is not 0, in the order of values, until f returns false. highest is the greatest
// value that is counted with it.
func (c *HDRCounts) Each(f func(lowest, highest, count int64) bool) {
	for p, page := range c.pages {
		if page == nil {
			continue
		}
		for k, n := range page {
			if n == 0 {
				continue
			}
			lowest, size := hdrRange(p<<hdrPageBits + k)
			if !f(lowest, lowest+size-1, n) {
				return
			}
		}
	}
}

// Count is how many values there are.
func (c *HDRCounts) Count() (count int64) {
	c.Each(func(_, _, n int64) bool { count += n; return true })
	return count
}

// Mean is the average, each value counting as the middle of those that are counted with it; 0 if there is none.
func (c *HDRCounts) Mean() float64 {
	count, sum := int64(0), 0.0
	c.Each(func(lowest, highest, n int64) bool {
		count += n
		sum += float64(lowest+(highest-lowest+1)/2) * float64(n)
		return true
	})
	if count == 0 {
		return 0
	}
	return sum / float64(count)
}

// Min is the smallest value, or what is counted with it; 0 if there is none.
func (c *HDRCounts) Min() (low int64) {
	c.Each(func(lowest, _, _ int64) bool { low = lowest; return false })
	return low
}

// Max is the greatest value that may have been counted; 0 if there is none.
func (c *HDRCounts) Max() (high int64) {
	c.Each(func(_, highest, _ int64) bool { high = highest; return true })
	return high
}

// Percentile is the greatest value that may have been counted where a percentage of all values, rounded up to whole ones, is
// reached; 0 if there is none.
func (c *HDRCounts) Percentile(percent float64) (value int64) {
	lowest := percent == 0
	// A little less than asked for, so that what a division rounds up does not become one more.
	percent = min(max(math.Nextafter(percent, math.Inf(-1)), 0), 100)
	rank := max(1, int64(math.Ceil(percent*float64(c.Count())/100)))
	seen := int64(0)
	c.Each(func(low, high, n int64) bool {
		seen += n
		value = high
		if lowest {
			value = low
		}
		return seen < rank
	})
	return value
}
