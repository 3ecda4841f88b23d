package report

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// exactQuantile is the nearest-rank quantile of sorted values.
func exactQuantile(sorted []int64, q float64) int64 {
	return sorted[nearestRank(q, int64(len(sorted)))-1]
}

// distributions are shapes that durations have in practice, and some that they have not.
func distributions() map[string]func(*rand.Rand) int64 {
	return map[string]func(*rand.Rand) int64{
		"lognormal": func(r *rand.Rand) int64 { return int64(1e6 * math.Exp(r.NormFloat64())) },
		"bimodal": func(r *rand.Rand) int64 {
			if r.IntN(10) == 0 {
				return 40_000_000 + r.Int64N(20_000_000)
			}
			return 300_000 + r.Int64N(50_000)
		},
		"log-uniform": func(r *rand.Rand) int64 { return int64(math.Exp(r.Float64() * 25)) },
		"uniform":     func(r *rand.Rand) int64 { return r.Int64N(1_000_000) },
		"small":       func(r *rand.Rand) int64 { return r.Int64N(100) },
		"constant":    func(*rand.Rand) int64 { return 123_456_789 },
		"powers":      func(r *rand.Rand) int64 { return 1 << r.IntN(50) },
		"heavy tail":  func(r *rand.Rand) int64 { return int64(1e5 / math.Pow(1-r.Float64(), 1.5)) },
	}
}

func testQuantiles() []float64 {
	return []float64{0, 0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 1}
}

func TestQuantileIsWithinRelativeError(t *testing.T) {
	for name, draw := range distributions() {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(11, 12))
			values := make([]int64, 20_000)
			for i := range values {
				values[i] = draw(random)
			}
			for scale := MinScale; scale <= MaxScale; scale++ {
				h := NewHistogram(scale)
				for _, v := range values {
					h.Record(v)
				}
				checkQuantiles(t, h, values)
			}
		})
	}
}

// checkQuantiles compares with the exact quantiles of values, which it sorts.
func checkQuantiles(t *testing.T, h *Histogram, values []int64) {
	t.Helper()
	slices.Sort(values)
	sum := int64(0)
	for _, v := range values {
		sum += v
	}
	if h.Count() != int64(len(values)) || h.Sum() != sum || h.Min() != values[0] || h.Max() != values[len(values)-1] {
		t.Fatalf("scale %d: count %d, sum %d, min %d, max %d are not exact", h.Scale(), h.Count(), h.Sum(), h.Min(), h.Max())
	}
	for _, q := range testQuantiles() {
		got, want := h.Quantile(q), exactQuantile(values, q)
		if diff := math.Abs(float64(got - want)); diff > float64(want)*h.RelativeError()+0.5 {
			t.Errorf("scale %d: quantile %v is %d, exactly %d: off by %.4f %%", h.Scale(), q, got, want,
				diff/float64(want)*100)
		}
	}
}

func TestRelativeErrorStated(t *testing.T) {
	for scale, want := range map[int]float64{0: 1.0 / 3, 3: 0.0433, 4: 0.0217, 5: 0.0108, 8: 0.0014} {
		if got := NewHistogram(scale).RelativeError(); math.Abs(got-want) > 0.00005 {
			t.Errorf("scale %d: %.5f, want %.4f", scale, got, want)
		}
	}
	if e := NewHistogram(5).RelativeError(); e > 0.011 {
		t.Errorf("scale 5: %v is above 1.1 %%", e)
	}
	if e := NewHistogram(4).RelativeError(); e > 0.022 {
		t.Errorf("scale 4: %v is above 2.2 %%", e)
	}
}

// slotExactly is ceil(256*log2(v)) in integers: v^256 is compared with powers of two.
func slotExactly(v uint64) int {
	power := new(big.Int).Exp(new(big.Int).SetUint64(v), big.NewInt(perOctave), nil)
	slot := power.BitLen() - 1
	if power.TrailingZeroBits() != uint(slot) {
		slot++
	}
	return slot
}

func TestBoundariesAreExact(t *testing.T) {
	b := newBoundaries()
	check := func(v uint64) {
		t.Helper()
		if got, want := b.slot(v), slotExactly(v); got != want {
			t.Errorf("slot of %d is %d, exactly %d", v, got, want)
		}
	}
	for v := range uint64(3000) {
		check(v + 1)
	}
	for _, upper := range b.upper { // both sides of every boundary, in several octaves
		for _, shift := range []int{1, 20, 43} {
			check(upper >> shift)
			check(upper>>shift + 1)
		}
	}
	for e := range 63 {
		check(1 << e)
		check(1<<e + 1)
		check(1<<(e+1) - 1)
	}
	check(math.MaxInt64)
}

func TestRecordEdges(t *testing.T) {
	for name, tc := range map[string]struct {
		values                       []int64
		count, sum, least, most, p50 int64
	}{
		"nothing":          {nil, 0, 0, 0, 0, 0},
		"zero":             {[]int64{0}, 1, 0, 0, 0, 0},
		"negative is zero": {[]int64{-5}, 1, 0, 0, 0, 0},
		"one":              {[]int64{1}, 1, 1, 1, 1, 1},
		"zeros first":      {[]int64{7, 0, 0}, 3, 7, 0, 7, 0},
		"largest":          {[]int64{math.MaxInt64}, 1, math.MaxInt64, math.MaxInt64, math.MaxInt64, math.MaxInt64},
		"small are exact":  {[]int64{3, 5, 4}, 3, 12, 3, 5, 4},
	} {
		t.Run(name, func(t *testing.T) {
			h := NewHistogram(DefaultScale)
			for _, v := range tc.values {
				h.Record(v)
			}
			got := [...]int64{h.Count(), h.Sum(), h.Min(), h.Max(), h.Quantile(0.5)}
			if want := [...]int64{tc.count, tc.sum, tc.least, tc.most, tc.p50}; got != want {
				t.Errorf("count, sum, min, max, p50: got %v, want %v", got, want)
			}
		})
	}
}

func TestMean(t *testing.T) {
	h := NewHistogram(2)
	if got := h.Mean(); got != 0 {
		t.Errorf("empty: %v", got)
	}
	h.Record(1)
	h.Record(2)
	if got := h.Mean(); got != 1.5 {
		t.Errorf("got %v, want 1.5", got)
	}
}

func TestNearestRank(t *testing.T) {
	for name, tc := range map[string]struct {
		q    float64
		n    int64
		want int64
	}{
		"median of odd":           {0.5, 5, 3},
		"median of even":          {0.5, 4, 2},
		"p99 of 100":              {0.99, 100, 99},
		"p99 of 101":              {0.99, 101, 100},
		"p7 of 100 in binary":     {0.07, 100, 7},
		"p29 of 100 in binary":    {0.29, 100, 29},
		"p99.9 of a million":      {0.999, 1_000_000, 999_000},
		"p99.9 of a million more": {0.999, 1_000_001, 999_001},
		"zero":                    {0, 10, 1},
		"below zero":              {-1, 10, 1},
		"one":                     {1, 10, 10},
		"above one":               {2, 10, 10},
		"not a number":            {math.NaN(), 10, 1},
		"tiny":                    {1e-300, 10, 1},
	} {
		t.Run(name, func(t *testing.T) {
			if got := nearestRank(tc.q, tc.n); got != tc.want {
				t.Errorf("got %d, want %d", got, tc.want)
			}
		})
	}
}

// Merging histograms of any two scales gives exactly what recording everything at the coarser one gives.
func TestMergeEqualsRecordingTogether(t *testing.T) {
	for name, draw := range distributions() {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(21, 22))
			for a := MinScale; a <= MaxScale; a += 2 {
				for b := MinScale; b <= MaxScale; b++ {
					left, right, both := NewHistogram(a), NewHistogram(b), NewHistogram(min(a, b))
					for i := range 200 {
						v := draw(random)
						both.Record(v)
						if i%3 == 0 {
							left.Record(v)
						} else {
							right.Record(v)
						}
					}
					right = right.Clone() // holds a window only, like a decoded one
					if err := left.Merge(right); err != nil {
						t.Fatal(err)
					}
					if !left.Equal(both) {
						t.Errorf("scales %d and %d: the merged histogram differs", a, b)
					}
					if err := right.Merge(left); err != nil {
						t.Fatal(err)
					}
					if right.Count() != 200+left.Count()-67 {
						t.Errorf("scales %d and %d: count %d", a, b, right.Count())
					}
				}
			}
		})
	}
}

func TestMergeNothing(t *testing.T) {
	h := NewHistogram(5)
	h.Record(77)
	before := h.Clone()
	for name, other := range map[string]*Histogram{"nil": nil, "empty": NewHistogram(1)} {
		if err := h.Merge(other); err != nil || !h.Equal(before) {
			t.Errorf("%s: %v, or the histogram changed", name, err)
		}
	}
	empty := NewHistogram(6)
	if err := empty.Merge(h); err != nil || !empty.Equal(h) {
		t.Errorf("into an empty one: %v, or it differs", err)
	}
	zero := NewHistogram(5)
	zero.Record(0)
	if err := h.Merge(zero); err != nil || h.Min() != 0 || h.Count() != 2 {
		t.Errorf("a zero: %v, min %d, count %d", err, h.Min(), h.Count())
	}
}

func TestHistogramOverflowIsRefused(t *testing.T) {
	large := NewHistogram(3)
	large.Record(math.MaxInt64)
	one := NewHistogram(3)
	one.Record(1)
	before := one.Clone()
	if err := one.Merge(large); !errors.Is(err, ErrOverflow) {
		t.Errorf("merging: %v", err)
	}
	if !one.Equal(before) {
		t.Error("a refused merge changed the histogram")
	}
	large.Record(1)
	if _, err := large.MarshalJSON(); !errors.Is(err, ErrOverflow) {
		t.Errorf("encoding: %v", err)
	}
	if err := before.Merge(large); !errors.Is(err, ErrOverflow) {
		t.Errorf("merging an overflowed one: %v", err)
	}
}

func TestDownscale(t *testing.T) {
	fine, coarse := NewHistogram(8), NewHistogram(2)
	for i := range int64(5000) {
		fine.Record(i * i)
		coarse.Record(i * i)
	}
	fine.Downscale(9)
	if fine.Scale() != 8 {
		t.Errorf("to a finer scale: %d", fine.Scale())
	}
	for scale := 7; scale >= 2; scale-- {
		fine.Downscale(scale)
	}
	if !fine.Equal(coarse) {
		t.Error("stepwise downscaling differs from recording at that scale")
	}
	fine.Record(1 << 62) // still usable, and still complete
	fine.Downscale(-3)
	if fine.Scale() != MinScale || fine.Count() != 5001 {
		t.Errorf("scale %d, count %d", fine.Scale(), fine.Count())
	}
	none := NewHistogram(4).Clone()
	none.Downscale(1)
	if none.Scale() != 1 || none.Quantile(0.5) != 0 {
		t.Errorf("empty: scale %d, median %d", none.Scale(), none.Quantile(0.5))
	}
}

func TestScaleIsBounded(t *testing.T) {
	for given, want := range map[int]int{-1: MinScale, 0: 0, 8: 8, 9: MaxScale} {
		if got := NewHistogram(given).Scale(); got != want {
			t.Errorf("scale %d: got %d, want %d", given, got, want)
		}
	}
}

// A clone is a window; recording beside it, on either side, must neither lose counts nor touch the original.
func TestRecordIntoClone(t *testing.T) {
	h := NewHistogram(5)
	h.Record(1000)
	c := h.Clone()
	for _, v := range []int64{1, 1_000_000, 1000, 0, 30} {
		c.Record(v)
	}
	want := NewHistogram(5)
	for _, v := range []int64{1000, 1, 1_000_000, 1000, 0, 30} {
		want.Record(v)
	}
	if !c.Equal(want) {
		t.Error("the clone differs from one recorded whole")
	}
	if h.Count() != 1 {
		t.Errorf("the original counts %d", h.Count())
	}
	empty := NewHistogram(5).Clone()
	empty.Record(12)
	if empty.Count() != 1 || empty.Quantile(0.5) != 12 {
		t.Errorf("empty clone: count %d, median %d", empty.Count(), empty.Quantile(0.5))
	}
}

func TestHistogramEqual(t *testing.T) {
	of := func(scale int, values ...int64) *Histogram {
		h := NewHistogram(scale)
		for _, v := range values {
			h.Record(v)
		}
		return h
	}
	for name, tc := range map[string]struct {
		a, b *Histogram
		want bool
	}{
		"nil and nil":           {nil, nil, true},
		"nil and empty":         {nil, of(5), false},
		"empty and nil":         {of(5), nil, false},
		"empty":                 {of(5), of(5), true},
		"window and whole":      {of(5, 7, 9).Clone(), of(5, 7, 9), true},
		"scales":                {of(5, 7), of(4, 7), false},
		"same figures, buckets": {of(5, 10, 100, 190, 200), of(5, 10, 140, 150, 200), false},
		"zeros only":            {of(5, 0), of(5, 0).Clone(), true},
		"counts":                {of(5, 7), of(5, 7, 7), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tc.a.Equal(tc.b); got != tc.want {
				t.Errorf("got %v", got)
			}
		})
	}
	if (*Histogram)(nil).Clone() != nil {
		t.Error("a clone of nil")
	}
}

func TestRecordDoesNotAllocate(t *testing.T) {
	h := NewHistogram(DefaultScale)
	v := int64(1)
	if n := testing.AllocsPerRun(1000, func() { h.Record(v); v = v*3 + 1 }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
