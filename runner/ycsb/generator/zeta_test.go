package generator_test

import (
	"math"
	"testing"

	"github.com/hadoop-bench/operator/runner/ycsb/generator"
)

func TestZetaIsTheSum(t *testing.T) {
	sum, lost := 0.0, 0.0 // Kahan's summation, whose own error is about 1e-16
	worst := 0.0
	for n := int64(1); n <= 2_000_000; n++ {
		term := math.Pow(float64(n), -generator.Theta) - lost
		next := sum + term
		lost = (next - sum) - term
		sum = next
		if n < 200 || n%9973 == 0 {
			worst = max(worst, math.Abs(generator.Zeta(n)/sum-1))
		}
	}
	if worst > 1e-13 {
		t.Errorf("the relative error is %.1e", worst)
	}
	// By arithmetic of 40 digits. (YCSB's constant for 10^10, 26.46902820178302, has what was lost by adding up 10^10 terms.)
	for n, want := range map[int64]float64{10_000_000_000: 26.469028201751479, 10_000_000_001: 26.469028201877372} {
		if got := generator.Zeta(n); math.Abs(got/want-1) > 1e-14 {
			t.Errorf("zeta(%d) = %.17g, want %.17g", n, got, want)
		}
	}
}

func TestPrecisePow(t *testing.T) {
	for _, test := range []struct{ x, y, want float64 }{
		{1, 99, 1},
		{2, 0.5, math.Sqrt2},
		{0.5, 10, 0x1p-10},
		{0.75, 3, 0.421875},
		{4, -0.5, 0.5},
		{10, 3, 1000},
		{1 - 0x1p-53, 100, 1 - 100*0x1p-53},
		{3, 33, 5559060566555523},
	} {
		if got := generator.PrecisePow(test.x, test.y); got != test.want {
			t.Errorf("%v^%v = %x, want %x", test.x, test.y, got, test.want)
		}
	}
}

// The quick evaluation and the precise one never disagree, above all near integers.
func TestFloorPowIsThePreciseOne(t *testing.T) {
	r := generator.NewRandom(2, 2)
	y := 99.99999999999991
	floor := generator.FloorPow(y)
	check := func(n, x float64) {
		if got, want := floor(n, x), int64(n*generator.PrecisePow(x, y)); got != want {
			t.Errorf("⌊%v·%v^%v⌋ = %d, want %d", n, x, y, got, want)
		}
	}
	for range 20_000 {
		n := float64(10_000_000_001)
		check(n, 1-r.Float64()*0.499)
		integer := 1 + math.Floor(n*math.Exp(-24*r.Float64()))
		near := math.Pow(integer/n, 1/y)
		check(n, near)
		check(n, math.Nextafter(near, 1))
		check(n, math.Nextafter(near, 0))
	}
}

func TestLatestReachesEveryKey(t *testing.T) {
	l := generator.NewLatest()
	for _, items := range []int64{1, 2, 3, 100, 10_000_000_000_000} {
		if first, last := l.At(0, items), l.At(1-0x1p-53, items); first != 0 || float64(last) < float64(items-1)*(1-1e-12) || last >= items {
			t.Errorf("%d keys: ranks from %d to %d", items, first, last)
		}
	}
	// The same thread's generator gives the same again after its number of keys has changed.
	if l.At(0.7, 1000) != generator.NewZipfian(1000).At(0.7) {
		t.Error("the number of keys before has an effect")
	}
}
