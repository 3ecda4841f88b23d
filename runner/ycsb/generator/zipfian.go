package generator

import "math"

// Theta is the exponent of all of YCSB's zipfian distributions.
const Theta = 0.99

// The distribution that YCSB scrambles: over more items than there are keys, with its sum given.
const (
	scrambledItems = 10_000_000_001
	scrambledZeta  = 26.46902820178302
)

// A Zipfian makes ranks from 0 to items-1 by the approximation of Gray et al., "Quickly Generating Billion-Record
// Synthetic Databases", SIGMOD 1994, as YCSB does: for the same u the same rank.
type Zipfian struct {
	law        *law
	items      int64
	count      float64
	eta, zetan float64
}

// A law is what follows from Theta alone.
type law struct {
	second float64 // up to it, u·zetan is the second rank
	zeta2  float64 // the sum over two items
	rest   float64 // 1-Theta, rounded as in Java
	power  *power  // of the exponent 1/(1-Theta)
}

func newLaw() *law {
	theta := Theta // a variable, so that differences are rounded as in Java
	return &law{
		second: 1 + precisePow(0.5, theta),
		zeta2:  1 + 1/precisePow(2, theta),
		rest:   1 - theta,
		power:  newPower(1 / (1 - theta)),
	}
}

// NewZipfian makes ranks below items, from 1 on, with exponent Theta. It takes a few milliseconds at most.
func NewZipfian(items int64) *Zipfian {
	z := newLaw().zipfian(items, preciseZeta(items), precisePow)
	return &z
}

func (l *law) zipfian(items int64, zetan float64, pow func(x, y float64) float64) Zipfian {
	z := Zipfian{law: l, items: items, count: float64(items), zetan: zetan}
	if items > 2 {
		z.eta = (1 - pow(2/z.count, l.rest)) / (1 - l.zeta2/zetan)
	}
	return z
}

// At returns the rank that belongs to a u in [0, 1).
func (z *Zipfian) At(u float64) int64 {
	uz := u * z.zetan
	if uz < 1 {
		return 0
	}
	if uz < z.law.second || z.items <= 2 {
		return min(1, z.items-1)
	}
	// The conversion keeps the compiler from fusing multiplication and addition, which would round otherwise than Java.
	return min(z.law.power.floor(z.count, float64(z.eta*u)-z.eta+1), z.items-1)
}

// Next returns a rank.
func (z *Zipfian) Next(r *Random) int64 { return z.At(r.Float64()) }

// A Range shifts a generator's numbers to begin at Low.
type Range struct {
	Low  int64
	Rank Generator
}

// Next returns a number.
func (g Range) Next(r *Random) int64 { return g.Low + g.Rank.Next(r) }

// A Scrambled makes YCSB's zipfian keys: a rank over 10,000,000,001 items whose hash, modulo the number of keys, is the
// key. Hashes collide, so that this is no Zipf distribution over the keys; Permuted is one.
type Scrambled struct {
	low, count int64
	zipfian    Zipfian
}

// NewScrambled makes keys from low to high, both included, with low ≤ high.
func NewScrambled(low, high int64) *Scrambled {
	return &Scrambled{low: low, count: high - low + 1, zipfian: newLaw().zipfian(scrambledItems, scrambledZeta, precisePow)}
}

// At returns the key that belongs to a u in [0, 1). (The one hash that is negative makes YCSB's key so.)
func (s *Scrambled) At(u float64) int64 {
	return s.low + int64(uint64(FNV64(s.zipfian.At(u)))%uint64(s.count))
}

// Next returns a key.
func (s *Scrambled) Next(r *Random) int64 { return s.At(r.Float64()) }

// A Latest makes ranks that are to be counted from the newest key backwards, over a number of keys that grows. Each thread
// has its own, which may be a copy of another's. (YCSB's sum takes time in proportion to the keys at its start, its eta stays that of the first number, and
// the oldest key is never drawn.)
type Latest struct {
	law      *law
	constant float64
	zipfian  Zipfian
}

// NewLatest returns a generator for any number of keys.
func NewLatest() *Latest { return &Latest{law: newLaw(), constant: zetaConstant()} }

// At returns the rank below items, from 1 on, that belongs to a u in [0, 1).
func (l *Latest) At(u float64, items int64) int64 {
	if items != l.zipfian.items {
		l.zipfian = l.law.zipfian(items, zeta(items, l.constant), math.Pow)
	}
	return l.zipfian.At(u)
}

// Next returns a rank below items, from 1 on.
func (l *Latest) Next(r *Random, items int64) int64 { return l.At(r.Float64(), items) }
