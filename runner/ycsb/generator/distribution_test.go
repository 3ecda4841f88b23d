package generator_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hadoop-bench/operator/runner/ycsb/generator"
)

// chiSquare returns Pearson's statistic of what draw made of n draws against shares, less its degrees of freedom, in
// standard deviations. For the right distribution it is about a standard normal number.
func chiSquare(n int, shares []float64, draw func() int64) float64 {
	counts := make([]float64, len(shares))
	for range n {
		counts[draw()]++
	}
	sum, total := 0.0, 0.0
	for _, share := range shares {
		total += share
	}
	for i, share := range shares {
		expected := float64(n) * share / total
		sum += (counts[i] - expected) * (counts[i] - expected) / expected
	}
	freedom := float64(len(shares) - 1)
	return (sum - freedom) / math.Sqrt(2*freedom)
}

func equal(n int) []float64 {
	shares := make([]float64, n)
	for i := range shares {
		shares[i] = 1
	}
	return shares
}

func TestDistributions(t *testing.T) {
	r := generator.NewRandom(7, 1)
	hotspot := generator.NewHotspot(0, 99, 0.2, 0.8)
	hot := append(append([]float64{}, equal(20)...), equal(80)...)
	for i := range hot {
		hot[i] = map[bool]float64{true: 0.8 / 20, false: 0.2 / 80}[i < 20]
	}
	permuted := generator.NewPermuted(0, 999)
	zipf := make([]float64, 1000)
	for rank := range zipf {
		zipf[permuted.Permute(uint64(rank))] = math.Pow(float64(rank+1), -generator.Theta)
	}
	histogram := histogramOf(t, "BlockSize\t1\n0\t5\n1\t0\n2\t10\n3\t5\n")
	mix := &generator.Discrete{}
	mix.Add(0, 50)
	mix.Add(1, 30)
	mix.Add(2, 20)
	exponential := generator.NewExponential(95, 100)
	tail := make([]float64, 101) // the last takes all that is beyond
	for i := range tail {
		tail[i] = math.Pow(0.05, float64(i)/100)
		if i < 100 {
			tail[i] -= math.Pow(0.05, float64(i+1)/100)
		}
	}
	for _, test := range []struct {
		name   string
		shares []float64
		draw   func() int64
	}{
		{"uniform", equal(100), func() int64 { return generator.NewUniform(5, 104).Next(r) - 5 }},
		{"hotspot", hot, func() int64 { return hotspot.Next(r) }},
		{"permuted zipfian is Zipf's law", zipf, func() int64 { return permuted.Next(r) }},
		{"histogram", []float64{5, 10, 5}, func() int64 { return []int64{0, 0, -1, 1, 2}[histogram.Next(r)] }},
		{"discrete", []float64{50, 30, 20}, func() int64 { return mix.Next(r) }},
		{"exponential", tail, func() int64 { return min(exponential.Next(r), 100) }},
		{"random bits", equal(64), func() int64 { return int64(r.Uint64() >> 58) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			if deviations := chiSquare(400_000, test.shares, test.draw); math.Abs(deviations) > 4 {
				t.Errorf("chi-square is %.1f standard deviations from its mean", deviations)
			}
		})
	}
}

// Gray's approximation has exact shares for the two most popular ranks; beyond, those of its continuous function.
func TestZipfianShares(t *testing.T) {
	const items, n = 1000, 400_000
	z, r := generator.NewZipfian(items), generator.NewRandom(1, 1)
	counts := make([]int, items)
	for range n {
		counts[z.Next(r)]++
	}
	for rank, want := range map[int]float64{0: 1 / generator.Zeta(items), 1: math.Pow(2, -generator.Theta) / generator.Zeta(items)} {
		share := float64(counts[rank]) / n
		if math.Abs(share-want) > 5*math.Sqrt(want/n) {
			t.Errorf("rank %d has share %.4f, want %.4f", rank, share, want)
		}
	}
	if counts[items-1] == 0 {
		t.Error("the last rank was never drawn")
	}
}

func TestHotspotWithAnEmptySet(t *testing.T) {
	r := generator.NewRandom(1, 1)
	for name, g := range map[string]*generator.Hotspot{
		"no hot keys":       generator.NewHotspot(0, 9, 0, 1),
		"too few for a hot": generator.NewHotspot(0, 9, 0.05, 0.8),
		"no cold keys":      generator.NewHotspot(0, 9, 1, 0),
	} {
		seen := map[int64]bool{}
		for range 1000 {
			seen[g.Next(r)] = true
		}
		if len(seen) != 10 {
			t.Errorf("%s: drew %d of 10 keys: %v", name, len(seen), seen)
		}
	}
}

func TestSequentialTakesTurns(t *testing.T) {
	g := generator.NewSequential(5, 7)
	var got []int64
	for range 5 {
		got = append(got, g.Next(nil))
	}
	if diff := cmp.Diff([]int64{5, 6, 7, 5, 6}, got); diff != "" {
		t.Error(diff)
	}
}

func TestPermutedIsOneToOne(t *testing.T) {
	for _, count := range []int64{1, 2, 3, 4, 5, 63, 64, 65, 1000} {
		p, seen := generator.NewPermuted(10, 9+count), map[uint64]bool{}
		for x := range uint64(count) {
			seen[p.Permute(x)] = true
		}
		for key := range seen {
			if key >= uint64(count) {
				t.Errorf("%d keys: %d is not one", count, key)
			}
		}
		if len(seen) != int(count) {
			t.Errorf("%d keys: only %d are reached", count, len(seen))
		}
	}
}

func TestRandomStreams(t *testing.T) {
	draw := func(seed, stream uint64) (numbers [4]uint64) {
		r := generator.NewRandom(seed, stream)
		for i := range numbers {
			numbers[i] = r.Uint64()
		}
		return numbers
	}
	if first := draw(1, 2); first != draw(1, 2) {
		t.Error("the same stream differs")
	}
	if draw(1, 2) == draw(2, 1) || draw(1, 2) == draw(1, 3) || draw(0, 0) == draw(0, 1) {
		t.Error("different streams are the same")
	}
}

func TestBelowIsInRange(t *testing.T) {
	r := generator.NewRandom(3, 3)
	for _, n := range []int64{1, 2, 3, 1 << 40, math.MaxInt64} {
		for range 1000 {
			if got := r.Below(n); got < 0 || got >= n {
				t.Fatalf("Below(%d) = %d", n, got)
			}
		}
	}
}
