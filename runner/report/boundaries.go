package report

import (
	"math/big"
	"math/bits"
	"sync"
)

const (
	perOctave = 1 << MaxScale // buckets of the finest scale in one octave

	// A slice is a fraction of an octave that is narrower than any bucket of the finest scale (the narrowest has
	// 2^(1/256)-1 = 1/369 of it, a slice 1/512), so that at most one boundary lies in it.
	sliceBits = MaxScale + 1
)

// boundaries finds the bucket of a value at the finest scale without a logarithm. It is the same for all histograms and
// never changes once made.
type boundaries struct {
	// upper[j] is the largest 64-bit mantissa (top bit set) not above 2^(63+j/256). The bounds are irrational except
	// for j = 0, so comparing integers with the floor is exact.
	upper [perOctave]uint64
	// guess[t] is the smallest j whose bound reaches the start of slice t.
	guess [1 << sliceBits]uint16
}

// sharedBoundaries makes the table on first use: 3 KiB, of which a distribution touches a part.
var sharedBoundaries = sync.OnceValue(newBoundaries)

func newBoundaries() *boundaries {
	const precision = 256 // bits; enough that 256 multiplications cannot disturb the 64 that are kept
	root := new(big.Float).SetPrec(precision).SetInt64(2)
	for range MaxScale {
		root.Sqrt(root)
	}
	b := new(boundaries)
	bound := new(big.Float).SetPrec(precision).SetUint64(1 << 63)
	for j := range b.upper {
		b.upper[j], _ = bound.Uint64()
		bound.Mul(bound, root)
	}
	j := 0
	for t := range b.guess {
		start := 1<<63 + uint64(t)<<(63-sliceBits)
		for j < perOctave && b.upper[j] < start {
			j++
		}
		b.guess[t] = uint16(j)
	}
	return b
}

// slot is ceil(256 * log2(v)), exactly, for v >= 1.
func (b *boundaries) slot(v uint64) int {
	shift := bits.LeadingZeros64(v)
	mantissa := v << shift
	j := int(b.guess[mantissa<<1>>(64-sliceBits)])
	if j < perOctave && mantissa > b.upper[j] {
		j++
	}
	return (63-shift)<<MaxScale + j
}
