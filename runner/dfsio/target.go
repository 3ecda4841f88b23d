package dfsio

import (
	"cmp"
	"strings"
	"time"

	"github.com/hadoop-bench/operator/runner/hadoop/conf"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// checksumBytes is what the client sends a checksum for; HDFS wants blocks to be a multiple of it.
const checksumBytes = 512

// target is the file system under test as plan and configuration describe it.
type target struct {
	fs             conf.FileSystem
	user           string
	useHostname    bool
	timeout        time.Duration // of one read or write on a connection
	replication    int64         // 0: the NameNode's default
	blockSize      int64         // bytes; 0: the NameNode's default
	minBlockSize   int64
	minReplication int64
	maxReplication int64
}

// resolveTarget reads what a step needs from the configuration. Its errors are of the configuration.
func resolveTarget(p *plan.Plan, c *conf.Conf, userName string) (target, error) {
	t := target{user: userName}
	if err := refuseSecurity(c); err != nil {
		return t, err
	}
	var first error
	keep := func(err error) {
		if first == nil {
			first = err
		}
	}
	number := func(into *int64, get func(string, int64) (int64, error), name string, def int64) {
		n, err := get(name, def)
		*into = n
		keep(err)
	}
	var err error
	t.fs, err = c.FileSystem(p.Target.FS)
	keep(err)
	t.useHostname, err = c.Bool("dfs.client.use.datanode.hostname", false)
	keep(err)
	t.timeout, err = c.Duration("dfs.client.socket-timeout", time.Millisecond, time.Minute)
	keep(err)
	number(&t.replication, c.Int, "dfs.replication", 0)
	number(&t.blockSize, c.Size, "dfs.blocksize", 0)
	number(&t.minBlockSize, c.Size, "dfs.namenode.fs-limits.min-block-size", 1<<20)
	number(&t.minReplication, c.Int, "dfs.namenode.replication.min", 1)
	number(&t.maxReplication, c.Int, "dfs.replication.max", 512)
	if first != nil {
		return t, steps.ConfigError(first)
	}
	if t.timeout <= 0 {
		t.timeout = time.Minute // 0 means no limit in Hadoop; here every wait has one
	}
	// What the run asks for stands over the configuration.
	t.replication = cmp.Or(int64(p.DFSIO.Replication), t.replication)
	t.blockSize = cmp.Or(p.DFSIO.BlockSize, t.blockSize)
	return t, nil
}

// refuseSecurity refuses by name what this client cannot speak, rather than fail halfway or send data in clear text.
func refuseSecurity(c *conf.Conf) error {
	rules := []struct {
		name string
		fine []string // values that can be served, besides none
	}{
		{"hadoop.security.authentication", []string{"simple"}},
		{"hadoop.rpc.protection", []string{"authentication"}},
		{"dfs.data.transfer.protection", nil},
		{"dfs.encrypt.data.transfer", []string{"false"}},
	}
	for _, rule := range rules {
		value, err := c.String(rule.name, "")
		if err != nil {
			return steps.ConfigError(err)
		}
		fine := value == ""
		for _, v := range rule.fine {
			fine = fine || strings.EqualFold(v, value)
		}
		if !fine {
			return steps.Fail(report.ExitPlan, steps.ReasonNotSupported, "use a cluster with simple authentication and unencrypted data transfer",
				"property %s is %q: not supported yet", rule.name, value)
		}
	}
	return nil
}
