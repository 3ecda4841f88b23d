// Command bench compares the runner with the original tools on the same servers, in pairs of runs, and prints tables in
// Markdown: rates as ratios, and the CPU time of one operation. Its first argument says with which tool:
//
//	nnthroughput   NNThroughputBenchmark, on one NameNode
//	ycsb           YCSB with HBase's Java client, on one HBase, and without a database
//	null           with nothing: what the runner adds to an HBase that takes two milliseconds for every operation
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
)

// options of the command.
type options struct {
	part      string
	ours      tool
	java      tool
	pairs     int
	scale     float64
	only      string
	threads   int
	fs        string
	zookeeper string
	workloads string
}

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		cancel()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parseOptions(args)
	if err != nil {
		return err
	}
	switch o.part {
	case "nnthroughput":
		return compare(ctx, o, out, nnthroughputCases(o))
	case "ycsb":
		cases, done, err := ycsbCases(ctx, o)
		if err != nil {
			return err
		}
		defer done()
		return compare(ctx, o, out, cases)
	case "null":
		return nullServer(ctx, o, out)
	}
	return fmt.Errorf("the first argument is %q: choose nnthroughput, ycsb or null", o.part)
}

func parseOptions(args []string) (options, error) {
	var o options
	if len(args) > 0 {
		o.part, args = args[0], args[1:]
	}
	flags := flag.NewFlagSet("bench "+o.part, flag.ContinueOnError)
	ours := flags.String("ours", "", "`command` of the runner, its subcommand included")
	java := flags.String("java", "", "`command` of the original tool")
	flags.IntVar(&o.pairs, "pairs", 7, "`number` of pairs of runs of each case")
	flags.Float64Var(&o.scale, "scale", 1, "`factor` on how long runs are")
	flags.StringVar(&o.only, "only", "", "`operations` or workloads to compare, with commas between them; all if empty")
	flags.IntVar(&o.threads, "threads", 0, "compare with this `number` of threads only; 0: with all")
	flags.StringVar(&o.fs, "fs", "", "nnthroughput: `URI` of the NameNode")
	flags.StringVar(&o.zookeeper, "zookeeper", "", "ycsb: `host:port` of HBase's ZooKeeper")
	flags.StringVar(&o.workloads, "workloads", "", "ycsb and null: `directory` of the workload files")
	if err := flags.Parse(args); err != nil {
		return o, fmt.Errorf("read the options: %w", err)
	}
	o.ours, o.java = tool{oursName, strings.Fields(*ours)}, tool{javaName, strings.Fields(*java)}
	if len(o.ours.command) == 0 || o.pairs < 2 || o.scale <= 0 {
		return o, fmt.Errorf("-ours %q, -pairs %d, -scale %v: a command, two pairs at least and a factor above 0 are needed", *ours, o.pairs, o.scale)
	}
	if len(o.java.command) == 0 && o.part != "null" {
		return o, fmt.Errorf("-java %q: the original tool's command is needed", *java)
	}
	return o, nil
}

// wants tells whether a case was asked for.
func (o options) wants(c benchCase) bool {
	return (o.threads == 0 || o.threads == c.threads) && (o.only == "" || strings.Contains(","+o.only+",", ","+c.operation+","))
}
