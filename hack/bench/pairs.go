package main

import (
	"context"
	"fmt"
	"io"
	"os"
)

// A benchCase is one row of a table: one operation or workload with one number of threads.
type benchCase struct {
	operation string
	threads   int
	// Lengths of runs: operations or, with YCSB, seconds. The difference between the two tells what an operation costs.
	long, short int
	// args is the command line of one run of a tool.
	args func(tool string, length int) []string
	// read reads what a tool printed.
	read func(stdout, stderr string) (sample, error)
	// prepare is called once, settle before each pair, before and after around each run. They may be nil.
	prepare, settle func(ctx context.Context) error
	before, after   func(ctx context.Context, tool string) error
	// steady tells that the runs say how fast they were in their second half.
	steady bool
}

// shorts is how many short runs each tool makes.
const shorts = 3

// compare prints the table of the cases that are wanted.
func compare(ctx context.Context, o options, out io.Writer, cases []benchCase) error {
	for i, c := range wanted(o, cases) {
		if i == 0 {
			fmt.Fprintln(out, c.header())
		}
		results, err := c.run(ctx, o)
		if err != nil {
			return fmt.Errorf("%s with %d threads: %w", c.operation, c.threads, err)
		}
		fmt.Fprintln(out, c.row(results))
	}
	return nil
}

func wanted(o options, cases []benchCase) []benchCase {
	var out []benchCase
	for _, c := range cases {
		if o.wants(c) {
			out = append(out, c)
		}
	}
	return out
}

// results are the samples of a case.
type results struct {
	ours, java, oursShort, javaShort []sample
}

// run makes the short runs of a case, which warm up the servers as well, and then the pairs in ABBA order.
func (c benchCase) run(ctx context.Context, o options) (results, error) {
	var r results
	if c.prepare != nil {
		if err := c.prepare(ctx); err != nil {
			return r, err
		}
	}
	for i := range shorts {
		if err := c.pair(ctx, o, c.short, i%2 == 1, &r.oursShort, &r.javaShort); err != nil {
			return r, err
		}
	}
	for i := range o.pairs {
		if err := c.pair(ctx, o, c.long, i%2 == 1, &r.ours, &r.java); err != nil {
			return r, err
		}
	}
	return r, nil
}

// pair runs both tools, ours first unless swapped.
func (c benchCase) pair(ctx context.Context, o options, length int, swapped bool, ours, java *[]sample) error {
	if c.settle != nil {
		if err := c.settle(ctx); err != nil {
			return err
		}
	}
	tools := []tool{o.ours, o.java}
	into := []*[]sample{ours, java}
	if swapped {
		tools[0], tools[1], into[0], into[1] = tools[1], tools[0], into[1], into[0]
	}
	for i, t := range tools {
		s, err := c.once(ctx, t, length)
		if err != nil {
			return err
		}
		if length == c.long && s.operations == 0 {
			return fmt.Errorf("%s had no operation in a run of length %d: make the machine less busy or the runs longer (-scale)", t.name, length)
		}
		*into[i] = append(*into[i], s)
		fmt.Fprintf(os.Stderr, "%s, %d threads, %s, %d: %d operations, %.1f/s (second half %.1f/s), %.2f s of CPU\n",
			c.operation, c.threads, t.name, length, s.operations, s.rate, s.steady, s.cpu)
	}
	return nil
}

func (c benchCase) once(ctx context.Context, t tool, length int) (sample, error) {
	if c.before != nil {
		if err := c.before(ctx, t.name); err != nil {
			return sample{}, err
		}
	}
	s, err := t.run(ctx, c.args(t.name, length), c.read)
	if err == nil && c.after != nil {
		err = c.after(ctx, t.name)
	}
	return s, err
}
