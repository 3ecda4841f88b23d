package report

import "math/bits"

// Ways to guess a count, as told in a stream.
const (
	choiceBits   = 2
	byNeighbours = 0 // by the two counts before it alone
	byWhole      = 1 // by the whole's count, and the share of the whole in the counts before
	byRest       = 2 // the same by what is left of the whole
)

// largestGuessed bounds the counts that a share is taken from, so that no sum of them overflows.
const largestGuessed = 1 << 58

// guess expects counts, one after the other.
type guess struct {
	last, before int64 // counts, the last first
	side         int   // of the last count: 0 as expected, 1 more, 2 less

	model *Histogram // nil: by neighbours
	// own and other are this histogram's counts and the model's, a count weighing 3/4 of the one after it.
	own, other uint64
}

// newGuess prepares for a histogram of a scale, of which those before are known.
func newGuess(before []*Histogram, kin kin, choice, scale int) *guess {
	if choice != byWhole && choice != byRest || kin.whole < 0 || before[kin.whole].scale < scale {
		return new(guess)
	}
	model := before[kin.whole].Clone()
	model.Downscale(scale)
	if choice == byRest {
		for _, i := range kin.taken {
			model.take(before[i])
		}
	}
	return &guess{model: model}
}

// take reduces counts by those of another histogram, to no less than zero, if that one is not coarser.
func (h *Histogram) take(other *Histogram) {
	d := other.scale - h.scale
	if d < 0 {
		return
	}
	for i, n := range other.counts {
		if k := coarser(other.first+i, d) - h.first; k >= 0 && k < len(h.counts) {
			h.counts[k] = max(0, h.counts[k]-n)
		}
	}
}

// bestGuess is the way by which counts are guessed best.
func bestGuess(before []*Histogram, kin kin, scale, first int, counts []int64) int {
	best := byNeighbours
	if kin.whole < 0 {
		return best
	}
	least := new(guess).misses(first, counts)
	for _, choice := range [...]int{byWhole, byRest} {
		if n := newGuess(before, kin, choice, scale).misses(first, counts); n < least {
			best, least = choice, n
		}
	}
	return best
}

// misses is how far counts are from what is expected, in bits.
func (g *guess) misses(first int, counts []int64) int {
	sum := 0
	for k, n := range counts {
		d := n - g.expect(first+k)
		sum += bits.Len64(uint64(max(d, -d)))
		g.saw(first+k, n)
	}
	return sum
}

// expect is the count that is likely at a slot; at least 0.
func (g *guess) expect(slot int) int64 {
	if g.model != nil && g.other > 0 {
		high, low := bits.Mul64(min(g.modelAt(slot), largestGuessed), g.own)
		low, carry := bits.Add64(low, g.other/2, 0)
		if high += carry; high < g.other {
			if share, _ := bits.Div64(high, low, g.other); share < maxInt64 {
				return int64(share)
			}
		}
	}
	return g.last/2 + g.before/2 + (g.last&1+g.before&1)/2
}

// saw takes note of the count of a slot.
func (g *guess) saw(slot int, n int64) {
	g.last, g.before = n, g.last
	if g.model != nil {
		g.own += min(uint64(n), largestGuessed) - g.own/4
		g.other += min(g.modelAt(slot), largestGuessed) - g.other/4
	}
}

func (g *guess) modelAt(slot int) uint64 {
	k := slot - g.model.first
	if k < 0 || k >= len(g.model.counts) {
		return 0
	}
	return uint64(g.model.counts[k])
}
