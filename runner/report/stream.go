package report

import (
	"errors"
	"fmt"
	"math/bits"
)

// A stream is the histograms of a report, one after the other, by a range coder. Of each it tells the scale, the number of
// zeros, the smallest and the largest value, the sum, and the counts of all buckets between those of these two values. A
// count is told as its difference from what is expected of it by the counts before it, and by a histogram before it that
// it is a part of. So a smooth distribution costs little more than its noise: about six bits per bucket, where deflated
// varints take ten.

// kin are the histograms before one that it is likely to be a part of: a whole, of which others took theirs already.
type kin struct {
	whole int // -1: there is none
	taken []int
}

// encodeStream writes histograms that have not overflowed, and whose kin are given.
func encodeStream(hs []*Histogram, family []kin) ([]byte, error) {
	c, m := newEncoder(), new(streamModel)
	for i, h := range hs {
		if h.overflow {
			return nil, fmt.Errorf("encoding a histogram: %w", ErrOverflow)
		}
		low, high := h.occupied()
		head := streamHead{h.scale, h.count == 0, h.zeros, h.min, h.max, h.sum, h.first + low}
		if m.codeHead(c, &head); head.empty || low > high {
			continue
		}
		counts := h.counts[low : high+1]
		choice := bestGuess(hs, family[i], h.scale, h.first+low, counts)
		g := newGuess(hs, family[i], codeTree(c, m.choice[:], choiceBits, choice), h.scale)
		for k, n := range counts {
			m.codeCount(c, g, h.first+low+k, n)
		}
	}
	return c.finish(), nil
}

// decodeStream reads a histogram for each of a family, and refuses what no recorder can have made.
func decodeStream(data []byte, family []kin) ([]*Histogram, error) {
	if len(family) == 0 && len(data) > 0 {
		return nil, errors.New("decoding histograms: bytes of none")
	}
	c, m := newDecoder(data), new(streamModel)
	hs := make([]*Histogram, 0, len(family))
	for i, kin := range family {
		h, err := m.decodeHistogram(c, hs, kin)
		if err != nil {
			return nil, fmt.Errorf("decoding histogram %d of %d: %w", i+1, len(family), err)
		}
		hs = append(hs, h)
	}
	if len(c.in) > 0 {
		return nil, errors.New("decoding histograms: bytes after their end")
	}
	return hs, nil
}

func (m *streamModel) decodeHistogram(c *decoder, before []*Histogram, kin kin) (*Histogram, error) {
	var head streamHead
	m.codeHead(c, &head)
	if head.scale > MaxScale {
		return nil, fmt.Errorf("scale %d is not within %d..%d", head.scale, MinScale, MaxScale)
	}
	h := &Histogram{
		scale: head.scale, count: head.zeros, zeros: head.zeros, sum: head.sum, min: head.min, max: head.max, bounds: sharedBoundaries(),
	}
	if head.empty || head.max == 0 {
		return h, h.check()
	}
	last := h.slot(h.max)
	if h.first = head.first; h.zeros == 0 {
		h.first = h.slot(max(h.min, 1))
	}
	if h.first > last {
		return nil, errors.New("the first bucket is behind the last one")
	}
	h.counts = make([]int64, last-h.first+1)
	g := newGuess(before, kin, codeTree(c, m.choice[:], choiceBits, 0), h.scale)
	for k := range h.counts {
		n, ok := m.codeCount(c, g, h.first+k, 0)
		sum, fits := addInt64(h.count, n)
		if !ok || n > 0 && !fits {
			return nil, errors.New("a count that is too large")
		}
		h.counts[k], h.count = n, sum
	}
	return h, h.check()
}

// streamHead is what is told of a histogram beside its buckets.
type streamHead struct {
	scale                int
	empty                bool
	zeros, min, max, sum int64
	first                int // slot; told only if the smallest value, being zero, does not tell it
}

// streamModel is what was learned from the histograms so far. The zero value has learned nothing.
type streamModel struct {
	scale, choice               [1 << 4]estimate
	empty                       estimate
	zeros, first, min, max, sum numberModel

	// Of counts: whether they are as expected, by the length of the expected one and whether the last one was; on which
	// side of it they lie, by the side of the last one; the length of the difference; and its second bit.
	differs [65][2]estimate
	less    [2][3]estimate
	length  [65][1 << 6]estimate
	second  [64]estimate
}

// codeHead writes or reads what is told beside the buckets.
func (m *streamModel) codeHead(c coder, h *streamHead) {
	h.scale = codeTree(c, m.scale[:], 4, h.scale)
	empty := 0
	if h.empty {
		empty = 1
	}
	if h.empty = c.code(empty, &m.empty) == 1; h.empty {
		return
	}
	h.zeros = m.zeros.code(c, h.zeros)
	if h.max = m.max.code(c, h.max); h.max == 0 {
		return
	}
	h.sum = m.sum.code(c, h.sum)
	if h.zeros == 0 {
		h.min = m.min.code(c, h.min)
	} else {
		h.first = int(m.first.code(c, int64(h.first)))
	}
}

// codeCount writes the count of a slot, or reads it; ok is false if what was read is none.
func (m *streamModel) codeCount(c coder, g *guess, slot int, n int64) (count int64, ok bool) {
	expected := g.expect(slot)
	size := bits.Len64(uint64(expected))
	differs := 0
	if n != expected {
		differs = 1
	}
	if differs = c.code(differs, &m.differs[size][min(g.side, 1)]); differs == 0 {
		n, g.side = expected, 0
	} else if n, ok = m.codeDifference(c, g, expected, size, n); !ok {
		return 0, false
	}
	g.saw(slot, n)
	return n, true
}

// codeDifference writes or reads a count other than the expected one, whose length in bits is size.
func (m *streamModel) codeDifference(c coder, g *guess, expected int64, size int, n int64) (count int64, ok bool) {
	less := 0
	if n < expected {
		less = 1
	}
	if expected > 0 { // nothing is less than zero
		less = c.code(less, &m.less[min(size/8, 1)][g.side])
	}
	g.side = 1 + less
	d := n - expected
	if less == 1 {
		d = -d
	}
	length := codeTree(c, m.length[size][:], 6, bits.Len64(uint64(d)))
	d = codeBits(c, length, d, &m.second[length])
	if less == 1 {
		return expected - d, d <= expected
	}
	return addInt64(expected, d)
}

// numberModel is what was learned of the lengths of numbers of one kind.
type numberModel [1 << 6]estimate

// code writes or reads a number that is not negative.
func (m *numberModel) code(c coder, v int64) int64 {
	return codeBits(c, codeTree(c, m[:], 6, bits.Len64(uint64(v))), v, new(estimate))
}

// codeBits writes or reads a number of a known length in bits. The first is one, and those after the second are taken to
// be random.
func codeBits(c coder, length int, v int64, second *estimate) int64 {
	if length == 0 {
		return 0
	}
	got, even := int64(1), new(estimate)
	for i := length - 2; i >= 0; i-- {
		got = got<<1 | int64(c.code(int(v>>i&1), second))
		*even = estimate{}
		second = even
	}
	return got
}

// codeTree writes or reads a number of so many bits, the highest first, each by what was learned after the same ones.
func codeTree(c coder, tree []estimate, size, v int) int {
	node := 1
	for i := size - 1; i >= 0; i-- {
		node = node<<1 | c.code(v>>i&1, &tree[node])
	}
	return node - 1<<size
}
