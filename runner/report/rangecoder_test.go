package report

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Any decisions come back, and take about as many bits as they carry.
func TestRangeCoder(t *testing.T) {
	for name, tc := range map[string]struct {
		zero float64 // probability
		most int     // bytes of 100,000 decisions
	}{
		"always zero": {1, 20}, "always one": {0, 40}, "rarely one": {0.999, 200}, "mostly one": {0.1, 6000}, "even": {0.5, 12_700},
	} {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(111, uint64(1000*tc.zero)))
			bits := make([]int, 100_000)
			for i := range bits {
				if random.Float64() >= tc.zero {
					bits[i] = 1
				}
			}
			if n := len(coded(t, bits)); n > tc.most {
				t.Errorf("%d bytes, want at most %d", n, tc.most)
			}
			for n := range 300 { // every length of the end
				coded(t, bits[:n])
			}
		})
	}
}

// coded writes decisions that two estimates take turns in, and reads them again.
func coded(t *testing.T, bits []int) []byte {
	t.Helper()
	e, estimates := newEncoder(), [2]estimate{}
	for i, bit := range bits {
		e.code(bit, &estimates[i%2])
	}
	out := e.finish()
	d, estimates := newDecoder(out), [2]estimate{}
	for i, bit := range bits {
		if got := d.code(0, &estimates[i%2]); got != bit {
			t.Fatalf("decision %d of %d is %d", i, len(bits), got)
		}
	}
	if len(d.in) > 0 {
		t.Fatalf("%d bytes are left of %d", len(d.in), len(out))
	}
	return out
}

// A carry runs through bytes that were held back.
func TestRangeCoderCarries(t *testing.T) {
	random := rand.New(rand.NewPCG(113, 114))
	for range 2000 {
		// Unlikely ones keep low at the top of the range, where carries come from.
		bits := make([]int, 40+random.IntN(200))
		for i := range bits {
			if random.Float64() < math.Abs(math.Sin(float64(i)/7)) {
				bits[i] = 1
			}
		}
		coded(t, bits)
	}
}
