package main

import (
	"math"
	"slices"
)

// median of at least one value.
func median(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	n := len(s)
	if n%2 == 1 {
		return s[n/2]
	}
	return (s[n/2-1] + s[n/2]) / 2
}

// lowerBound is the one-sided 95 % lower confidence bound of the geometric mean of ratios: Student's t on their logarithms.
// It needs at least two ratios above zero.
func lowerBound(ratios []float64) float64 {
	n := float64(len(ratios))
	mean := 0.0
	for _, r := range ratios {
		mean += math.Log(r) / n
	}
	squares := 0.0
	for _, r := range ratios {
		d := math.Log(r) - mean
		squares += d * d
	}
	return math.Exp(mean - student95(len(ratios)-1)*math.Sqrt(squares/(n-1)/n))
}

// student95 is the 95 % quantile of Student's distribution with so many degrees of freedom, from 1.
func student95(freedom int) float64 {
	table := [...]float64{6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812, 1.796, 1.782, 1.771, 1.761, 1.753}
	if freedom <= len(table) {
		return table[freedom-1]
	}
	return 1.753 // of 15; the true one is smaller, so the bound stays on the safe side
}

// slope is the cost of one operation: what two run lengths differ by, over what their counts differ by. What a process
// costs before and after its work, a JVM's start for one, is no part of it.
func slope(short, long sample) float64 {
	return (long.cpu - short.cpu) / float64(long.operations-short.operations)
}
