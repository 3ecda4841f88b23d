package generator

import (
	"math"
	"sync/atomic"
)

// Constant always makes the same number.
type Constant int64

// Next returns the constant.
func (c Constant) Next(*Random) int64 { return int64(c) }

// A Uniform makes the numbers from low to high, both included, each with the same probability.
type Uniform struct{ low, count int64 }

// NewUniform needs low ≤ high.
func NewUniform(low, high int64) Uniform { return Uniform{low: low, count: high - low + 1} }

// Next returns a number.
func (g Uniform) Next(r *Random) int64 { return g.low + r.Below(g.count) }

// A Sequential makes the numbers from low to high, both included, in turn and over again; its threads share the turn.
type Sequential struct {
	low, count int64
	turn       atomic.Uint64
}

// NewSequential needs low ≤ high.
func NewSequential(low, high int64) *Sequential { return &Sequential{low: low, count: high - low + 1} }

// Next returns the next number.
func (g *Sequential) Next(*Random) int64 {
	return g.low + int64((g.turn.Add(1)-1)%uint64(g.count))
}

// A Hotspot makes numbers of its hot set, which are the lowest, with one probability and the others with the rest; within
// each all have the same probability. Where one of the two is empty the other takes all (YCSB divides by zero).
type Hotspot struct {
	low, hot, cold int64
	hotShare       float64
}

// NewHotspot makes numbers from low to high, both included; the share dataFraction of them is hot, rounded down, and the
// share opnFraction of the draws falls on these. Fractions are in [0, 1], low ≤ high.
func NewHotspot(low, high int64, dataFraction, opnFraction float64) *Hotspot {
	count := high - low + 1
	hot := min(int64(float64(count)*dataFraction), count)
	g := &Hotspot{low: low, hot: hot, cold: count - hot, hotShare: opnFraction}
	switch {
	case g.hot == 0:
		g.hotShare = 0
	case g.cold == 0:
		g.hotShare = 1
	}
	return g
}

// Next returns a number.
func (g *Hotspot) Next(r *Random) int64 {
	if r.Float64() < g.hotShare {
		return g.low + r.Below(g.hot)
	}
	return g.low + g.hot + r.Below(g.cold)
}

// An Exponential makes numbers from 0 on whose probability falls exponentially.
type Exponential struct{ gamma float64 }

// NewExponential makes numbers of which percentile percent, in (0, 100), are below span.
func NewExponential(percentile, span float64) Exponential {
	return Exponential{gamma: -math.Log(1-percentile/100) / span}
}

// At returns the number that belongs to a u in (0, 1].
func (g Exponential) At(u float64) int64 {
	x := -math.Log(u) / g.gamma
	if x >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(x)
}

// Next returns a number. Its u is never 0, whose logarithm is infinite.
func (g Exponential) Next(r *Random) int64 { return g.At(1 - r.Float64()) }

// A Discrete makes one of a few numbers, each with its weight.
type Discrete struct {
	values []int64
	bounds []float64 // bounds[i] is the share of values[0..i]
}

// Add adds a number; a weight that is not positive leaves it out.
func (g *Discrete) Add(value int64, weight float64) {
	if weight <= 0 {
		return
	}
	g.values = append(g.values, value)
	total := weight
	if n := len(g.bounds); n > 0 {
		total += g.bounds[n-1]
	}
	g.bounds = append(g.bounds, total)
}

// Empty says that no number was added.
func (g *Discrete) Empty() bool { return len(g.values) == 0 }

// At returns the number that belongs to a u in [0, 1).
func (g *Discrete) At(u float64) int64 {
	last := len(g.bounds) - 1
	u *= g.bounds[last]
	for i := range last {
		if u < g.bounds[i] {
			return g.values[i]
		}
	}
	return g.values[last]
}

// Next returns a number; at least one must have been added.
func (g *Discrete) Next(r *Random) int64 { return g.At(r.Float64()) }
