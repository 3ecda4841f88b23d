package generator

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// maxBuckets bounds what a histogram file can make the reader allocate.
const maxBuckets = 1 << 20

// A Histogram makes the upper bounds of buckets, each as often as its count says: (i+1)·blockSize for bucket i. (YCSB
// gives the first bucket one draw too many, and the last bucket the bound of the one before.)
type Histogram struct {
	block  int64
	bounds []int64 // bounds[i] is the sum of the counts of buckets 0..i
}

// ReadHistogram reads YCSB's file: a line "BlockSize<TAB>n", then lines "bucket<TAB>count" with buckets in order from 0.
func ReadHistogram(r io.Reader) (*Histogram, error) {
	lines := bufio.NewScanner(r)
	h := &Histogram{}
	for n := 1; lines.Scan(); n++ {
		name, value, err := histogramLine(lines.Text())
		if err == nil {
			err = h.addLine(n, name, value)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read a histogram: %w", err)
	}
	if len(h.bounds) == 0 || h.bounds[len(h.bounds)-1] == 0 {
		return nil, fmt.Errorf("read a histogram: no bucket has a count")
	}
	return h, nil
}

// histogramLine splits a line into its two columns.
func histogramLine(line string) (name string, value int64, err error) {
	name, text, ok := strings.Cut(line, "\t")
	if !ok {
		return "", 0, fmt.Errorf("%q is not two columns with a tab between", line)
	}
	if value, err = strconv.ParseInt(strings.TrimSpace(text), 10, 64); err != nil || value < 0 {
		return "", 0, fmt.Errorf("%q is not a count of 0 or more", text)
	}
	return name, value, nil
}

func (h *Histogram) addLine(n int, name string, value int64) error {
	if n == 1 {
		if name != "BlockSize" || value < 1 || value > math.MaxInt64/maxBuckets {
			return fmt.Errorf("the first line is to be \"BlockSize<TAB>n\" with n from 1 on, and not %q %d", name, value)
		}
		h.block = value
		return nil
	}
	if name != strconv.Itoa(len(h.bounds)) || len(h.bounds) == maxBuckets {
		return fmt.Errorf("bucket %q stands where bucket %d is due, of at most %d", name, len(h.bounds), maxBuckets)
	}
	if k := len(h.bounds); k > 0 {
		if value > math.MaxInt64-h.bounds[k-1] {
			return fmt.Errorf("the counts' sum is beyond %d", int64(math.MaxInt64))
		}
		value += h.bounds[k-1]
	}
	h.bounds = append(h.bounds, value)
	return nil
}

// Max returns the greatest number.
func (h *Histogram) Max() int64 {
	total := h.bounds[len(h.bounds)-1]
	return h.At(total - 1)
}

// At returns the number that belongs to an r in [0, sum of the counts).
func (h *Histogram) At(r int64) int64 {
	i, _ := slices.BinarySearch(h.bounds, r+1)
	return int64(i+1) * h.block
}

// Next returns a number.
func (h *Histogram) Next(r *Random) int64 { return h.At(r.Below(h.bounds[len(h.bounds)-1])) }
