package main

import (
	"fmt"
	"strings"
)

// header is the head of the table that a case is a row of.
func (c benchCase) header() string {
	columns := []string{"operation", "threads", "operations", "ours/s", "Java/s", "ratio: median", "lower 95 %"}
	if c.steady {
		columns[0], columns[2] = "workload", "seconds"
		columns = append(columns, "second half: ours/s", "Java/s", "ratio: median", "lower 95 %")
	}
	columns = append(columns, "CPU µs/op ours", "Java", "ratio")
	return line(columns) + "\n|" + strings.Repeat("---|", len(columns))
}

// row is the table's row of a case.
func (c benchCase) row(r results) string {
	columns := []string{c.operation, fmt.Sprint(c.threads), fmt.Sprint(c.long)}
	columns = append(columns, rates(r, func(s sample) float64 { return s.rate })...)
	if c.steady {
		columns = append(columns, rates(r, func(s sample) float64 { return s.steady })...)
	}
	return line(append(columns, costs(r)...))
}

// rates are the columns of a rate: both tools' medians, the median of the ratios and their lower bound. A rate that a run was
// too short to tell is 0, and none of them is told.
func rates(r results, rate func(sample) float64) []string {
	a, b := pick(r.ours, rate), pick(r.java, rate)
	ratios := make([]float64, len(a))
	for i := range a {
		if a[i] <= 0 || b[i] <= 0 {
			return []string{"not told", "not told", "", ""}
		}
		ratios[i] = a[i] / b[i]
	}
	return []string{
		fmt.Sprintf("%.0f", median(a)), fmt.Sprintf("%.0f", median(b)),
		fmt.Sprintf("%.2f", median(ratios)), fmt.Sprintf("%.2f", lowerBound(ratios)),
	}
}

// costs are the columns of an operation's CPU time.
func costs(r results) []string {
	ours, java := cost(r.oursShort, r.ours), cost(r.javaShort, r.java)
	told := func(v float64, digits int) string {
		if v <= 0 { // the runs were too short: what a process costs besides its work varies by more
			return "not told"
		}
		return fmt.Sprintf("%.*f", digits, v)
	}
	ratio := ""
	if ours > 0 && java > 0 {
		ratio = told(ours/java, 2)
	}
	return []string{told(ours, 1), told(java, 1), ratio}
}

// cost is the CPU time of an operation in µs, by the medians of short and of long runs.
func cost(short, long []sample) float64 {
	return slope(typical(short), typical(long)) * 1e6
}

func typical(samples []sample) sample {
	return sample{
		operations: int(median(pick(samples, func(s sample) float64 { return float64(s.operations) }))),
		cpu:        median(pick(samples, func(s sample) float64 { return s.cpu })),
	}
}

func pick(samples []sample, value func(sample) float64) []float64 {
	out := make([]float64, len(samples))
	for i, s := range samples {
		out[i] = value(s)
	}
	return out
}

func line(columns []string) string { return "| " + strings.Join(columns, " | ") + " |" }
