package cli

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"strconv"

	"github.com/hadoop-bench/operator/runner/hadoop/conf"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
	"github.com/hadoop-bench/operator/runner/upstream"
)

// runUpstream runs Hadoop's own class, which starts a NameNode in its process. The namespace is a new one in a temporary
// directory, unless the configuration says where one is.
func (p *Process) runUpstream(ctx context.Context, log *slog.Logger, c *Command, loaded *conf.Conf) error {
	if p.env("HADOOP_HOME") == "" {
		return steps.Fail(report.ExitPlan, steps.ReasonConfigInvalid,
			"give -fs hdfs://<namenode>:<port> before -op, or set HADOOP_HOME to have Hadoop's own class measure a NameNode in its own process",
			"there is no NameNode: neither -fs nor the property fs.defaultFS names one")
	}
	if option := c.beyondUpstream(); option != "" {
		return steps.Fail(report.ExitPlan, steps.ReasonNotSupported, "leave it out, or measure a NameNode of its own, by -fs hdfs://<namenode>:<port>",
			"%s: Hadoop's own class, which would be run without -fs, has no such option", option)
	}
	ownNameNode, err := hasNoNameDir(loaded)
	if err != nil {
		return err
	}
	installation, err := upstream.Find(ctx, p.LookupEnv)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "runner-nnthroughput-")
	if err != nil {
		return steps.Fail(report.ExitBenchmark, steps.ReasonIOError, "set TMPDIR to a directory that may be written to", "make a directory for Hadoop: %v", err)
	}
	defer os.RemoveAll(work)
	call := upstream.Call{
		Installation: installation, Place: upstream.Place{Dir: work}, OwnNameNode: ownNameNode, Generic: c.Generic.Args,
		Arguments: withBlockSize(log, c, loaded), Clock: p.Clock, Log: log, Out: p.Stdout, Errors: p.Stderr,
	}
	return call.Run(ctx)
}

// hasNoNameDir tells whether the configuration leaves open where a NameNode's namespace lies.
func hasNoNameDir(loaded *conf.Conf) (bool, error) {
	for _, name := range []string{"dfs.namenode.name.dir", "hadoop.tmp.dir"} {
		value, err := loaded.String(name, "")
		if err != nil {
			return false, steps.ConfigError(err)
		}
		if value != "" {
			return false, nil
		}
	}
	return true, nil
}

// withBlockSize are the arguments from -op on, with a block size where upstream's default always fails: its fake DataNodes
// have less room than one block of 128 MiB.
func withBlockSize(log *slog.Logger, c *Command, loaded *conf.Conf) []string {
	configured, err := loaded.String("dfs.blocksize", "")
	fake := []string{plan.OpBlockReport, plan.OpReplication, plan.OpAll}
	if !slices.Contains(fake, c.Op) || c.given("-blockSize") || err != nil || configured != "" {
		return c.FromOp
	}
	log.Warn("No block size is given, so small blocks are used: fake DataNodes have no room for the default one", "blockSize", upstream.SmallBlock)
	return append(slices.Clone(c.FromOp), "-blockSize", strconv.Itoa(upstream.SmallBlock))
}
