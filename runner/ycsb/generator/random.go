// Package generator makes the numbers, keys and values of YCSB's core workload: the same functions of a random number as
// YCSB's own, in 64 bits, without the global random source, locks and allocations. Where YCSB's is wrong the comment says
// how, and what is done here.
package generator

import (
	"math/bits"
	"math/rand/v2"
)

// A Random is one thread's source of random numbers. It is not safe for concurrent use.
type Random struct{ pcg rand.PCG }

// NewRandom returns the source of one stream; streams of the same seed are independent, and each is always the same.
func NewRandom(seed, stream uint64) *Random {
	r := &Random{}
	r.pcg.Seed(spread(seed), spread(stream+0x9e3779b97f4a7c15))
	return r
}

// spread makes seeds that differ in a bit differ in half of them (splitmix64's finalizer).
func spread(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Uint64 returns 64 random bits.
func (r *Random) Uint64() uint64 { return r.pcg.Uint64() }

// Float64 returns a multiple of 2^-53 in [0, 1), as Java's nextDouble does.
func (r *Random) Float64() float64 { return float64(r.pcg.Uint64()>>11) * 0x1p-53 }

// Below returns a number in [0, n), each with the same probability; n must be positive. (YCSB takes a remainder, which
// favours small numbers, and of the absolute value, which can be negative.)
func (r *Random) Below(n int64) int64 {
	high, low := bits.Mul64(r.pcg.Uint64(), uint64(n))
	if low < uint64(n) {
		for threshold := -uint64(n) % uint64(n); low < threshold; {
			high, low = bits.Mul64(r.pcg.Uint64(), uint64(n))
		}
	}
	return int64(high)
}

// A Generator makes numbers. Unless its type says otherwise it is safe for concurrent use with a Random for each thread.
type Generator interface {
	Next(r *Random) int64
}
