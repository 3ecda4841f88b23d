package generator

import (
	"math"
	"math/bits"
)

// A Permuted makes zipfian keys that follow Zipf's law exactly: the rank is drawn by rejection-inversion (Hörmann and
// Derflinger, "Rejection-inversion to generate variates from monotone discrete distributions", 1996), and each rank is
// another key.
type Permuted struct {
	low         int64
	count       uint64
	half        int
	mask        uint64
	top, bottom float64 // integrals of the law up to the ranks' bounds
	accept      float64
}

// NewPermuted makes keys from low to high, both included, with low ≤ high. Which rank is which key depends on their number
// only, so that all processes of a run have the same popular keys.
func NewPermuted(low, high int64) *Permuted {
	count := uint64(high - low + 1)
	width := max(bits.Len64(count-1), 2)
	return &Permuted{
		low: low, count: count, half: (width + 1) / 2, mask: 1<<width - 1,
		top: integral(float64(count) + 0.5), bottom: integral(1.5) - 1,
		accept: 2 - inverseIntegral(integral(2.5)-math.Pow(2, -Theta)),
	}
}

// Next returns a key.
func (p *Permuted) Next(r *Random) int64 { return p.low + int64(p.permute(uint64(p.rank(r)-1))) }

// rank draws a rank from 1 on.
func (p *Permuted) rank(r *Random) int64 {
	for {
		u := p.top + r.Float64()*(p.bottom-p.top)
		x := inverseIntegral(u)
		k := min(max(math.Floor(x+0.5), 1), float64(p.count))
		if k-x <= p.accept || u >= integral(k+0.5)-math.Pow(k, -Theta) {
			return int64(k)
		}
	}
}

// permute maps [0, count) one to one on itself: a permutation of the numbers of that many bits, again and again until the
// result is in range.
func (p *Permuted) permute(x uint64) uint64 {
	for {
		for _, factor := range [...]uint64{0x9e3779b97f4a7c15, 0xd1342543de82ef95, 0xaf251af3b0f025b5} {
			x = (x*factor + 0x632be59bd9b4e019) & p.mask
			x ^= x >> p.half
		}
		if x < p.count {
			return x
		}
	}
}

// integral is the integral of x^-Theta from 1 to x.
func integral(x float64) float64 { return math.Expm1((1-Theta)*math.Log(x)) / (1 - Theta) }

// inverseIntegral returns the x whose integral is t.
func inverseIntegral(t float64) float64 { return math.Exp(math.Log1p(t*(1-Theta)) / (1 - Theta)) }
