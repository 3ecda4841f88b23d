package main

import (
	"math"
	"testing"
)

func TestMedian(t *testing.T) {
	for name, tt := range map[string]struct {
		values []float64
		want   float64
	}{
		"one":  {[]float64{3}, 3},
		"odd":  {[]float64{9, 1, 4}, 4},
		"even": {[]float64{9, 1, 4, 6}, 5},
	} {
		if got := median(tt.values); got != tt.want {
			t.Errorf("%s: median %v, want %v", name, got, tt.want)
		}
	}
}

func TestLowerBound(t *testing.T) {
	for name, tt := range map[string]struct {
		ratios []float64
		want   float64
	}{
		"no spread": {[]float64{1.5, 1.5, 1.5}, 1.5},
		// Logarithms -ln 2, 0, ln 2: mean 0, deviation ln 2, t of 2 degrees 2.920: 2^(-2.920/sqrt 3).
		"around one": {[]float64{0.5, 1, 2}, math.Exp2(-2.920 / math.Sqrt(3))},
	} {
		if got := lowerBound(tt.ratios); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%s: lower bound %v, want %v", name, got, tt.want)
		}
	}
}

func TestSlope(t *testing.T) {
	got := slope(sample{operations: 1000, cpu: 2.5}, sample{operations: 3000, cpu: 2.6})
	if want := 5e-5; math.Abs(got-want) > 1e-12 {
		t.Errorf("slope %v, want %v", got, want)
	}
}
