// Command bench compares the runner with NNThroughputBenchmark on one NameNode, in pairs of runs, and prints a table in
// Markdown: rates as ratios, and the CPU time of one operation.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
)

// options of the command.
type options struct {
	fs, ours, java string
	pairs          int
	scale          float64
	only           string
	threads        int
}

func main() {
	var o options
	flag.StringVar(&o.fs, "fs", "", "`URI` of the NameNode")
	flag.StringVar(&o.ours, "ours", "", "`command` of the runner, its subcommand included")
	flag.StringVar(&o.java, "java", "", "`command` that runs NNThroughputBenchmark")
	flag.IntVar(&o.pairs, "pairs", 7, "`number` of pairs of runs of each case")
	flag.Float64Var(&o.scale, "scale", 1, "`factor` on the numbers of operations")
	flag.StringVar(&o.only, "only", "", "`operations` to compare, with commas between them; all if empty")
	flag.IntVar(&o.threads, "threads", 0, "compare with this `number` of threads only; 0: with all")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := compare(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		cancel()
		os.Exit(1)
	}
}

func compare(ctx context.Context, o options) error {
	ours := tool{"ours", strings.Fields(o.ours)}
	java := tool{"java", strings.Fields(o.java)}
	if o.fs == "" || len(ours.command) == 0 || len(java.command) == 0 || o.pairs < 2 {
		return fmt.Errorf("-fs %q, -ours %q, -java %q, -pairs %d: all must be given, and at least two pairs", o.fs, o.ours, o.java, o.pairs)
	}
	fmt.Println("| operation | threads | operations | ours/s | Java/s | ratio: median | lower 95 % | CPU µs/op ours | Java | ratio |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|")
	for _, c := range cases(o.scale) {
		if o.threads != 0 && o.threads != c.threads || o.only != "" && !strings.Contains(","+o.only+",", ","+c.operation+",") {
			continue
		}
		row, err := c.compare(ctx, o, ours, java)
		if err != nil {
			return err
		}
		fmt.Println(row)
	}
	return nil
}

// compare runs the pairs of one case in ABBA order, then both tools at a shorter length for the cost of an operation.
func (c benchCase) compare(ctx context.Context, o options, ours, java tool) (string, error) {
	if c.existing {
		if _, err := ours.run(ctx, c.makeSet(o.fs, c.count)); err != nil {
			return "", err
		}
	}
	results := map[string][]sample{}
	run := func(key string, t tool, count int) error {
		s, err := t.run(ctx, c.args(o.fs, count))
		results[key] = append(results[key], s)
		fmt.Fprintf(os.Stderr, "%s, %d threads, %s: %d operations, %.1f/s, %.2f s of CPU\n", c.operation, c.threads, key, s.operations, s.rate, s.cpu)
		if err == nil && c.operation == "blockReport" && t.name == java.name {
			err = takeBack(ctx, o.fs, c.threads)
		}
		return err
	}
	for i := range o.pairs {
		order := []tool{ours, java}
		if i%2 == 1 {
			order = []tool{java, ours}
		}
		for _, t := range order {
			if err := run(t.name, t, c.count); err != nil {
				return "", err
			}
		}
	}
	for range 3 {
		for _, t := range []tool{ours, java} {
			if err := run(t.name+" short", t, max(c.count/5, c.threads)); err != nil {
				return "", err
			}
		}
	}
	return c.row(results), nil
}

// row is the table's row of a case.
func (c benchCase) row(results map[string][]sample) string {
	pick := func(key string, f func(sample) float64) []float64 {
		var out []float64
		for _, s := range results[key] {
			out = append(out, f(s))
		}
		return out
	}
	rate := func(s sample) float64 { return s.rate }
	a, b := pick("ours", rate), pick("java", rate)
	ratios := make([]float64, len(a))
	for i := range a {
		ratios[i] = a[i] / b[i]
	}
	cost := func(name string) float64 {
		typical := func(key string) sample {
			return sample{operations: results[key][0].operations, cpu: median(pick(key, func(s sample) float64 { return s.cpu }))}
		}
		return slope(typical(name+" short"), typical(name)) * 1e6
	}
	mine, theirs := cost("ours"), cost("java")
	told := func(v float64, format string) string {
		if mine <= 0 || theirs <= 0 { // the runs were too short: what a process costs besides its work varies by more
			return "not told"
		}
		return fmt.Sprintf(format, v)
	}
	return fmt.Sprintf("| %s | %d | %d | %.0f | %.0f | %.2f | %.2f | %s | %s | %s |", c.operation, c.threads, c.count,
		median(a), median(b), median(ratios), lowerBound(ratios), told(mine, "%.1f"), told(theirs, "%.1f"), told(mine/theirs, "%.2f"))
}
