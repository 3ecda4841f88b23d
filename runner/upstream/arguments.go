package upstream

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hadoop-bench/operator/runner/plan"
)

const (
	// DefaultBase is where the class works if it is not told otherwise.
	DefaultBase = "/nnThroughputBenchmark"
	// standaloneFS is the file system of a NameNode within the process.
	standaloneFS = "file:///"
	// SmallBlock is the block size that operations with fake DataNodes get in a NameNode within the process if none is
	// asked for. The class's own default is more than its fake DataNodes have room for, so it always fails.
	SmallBlock = 16
)

// Standalone tells whether a file system means a NameNode within the process.
func Standalone(fs string) bool {
	scheme, _, found := strings.Cut(fs, ":")
	return fs == "" || !found || scheme == "file"
}

// Arguments are the class's arguments for the step of a plan: generic options with the given properties over the plan's,
// and those of the operation. knows tells which options the version has. fs is the file system as plan or configuration
// name it. Errors name what the version cannot do.
func Arguments(p *plan.Plan, fs string, local map[string]string, knows func(option string) bool) ([]string, error) {
	n := p.NNThroughput
	alone := Standalone(fs)
	properties := maps.Clone(p.Target.Properties)
	if properties == nil {
		properties = map[string]string{}
	}
	maps.Copy(properties, local)
	op := p.Identity.Step
	if n.Replication > 0 {
		properties["dfs.replication"] = strconv.Itoa(int(n.Replication))
	}
	if alone {
		fs = standaloneFS
	}
	a := arguments{knows: knows, list: append(generic(fs, properties), "-op", op)}
	a.operation(op, n, alone)
	if err := a.common(op, n, alone); err != nil {
		return nil, err
	}
	if len(a.unknown) > 0 {
		return nil, fmt.Errorf("this version of the class has no option %s", strings.Join(a.unknown, ", "))
	}
	return a.list, nil
}

// arguments collects options.
type arguments struct {
	knows   func(string) bool
	list    []string
	unknown []string
}

func (a *arguments) add(option string, value ...string) {
	if !a.knows(option) {
		a.unknown = append(a.unknown, option)
		return
	}
	a.list = append(append(a.list, option), value...)
}

func (a *arguments) number(option string, value int64) {
	a.add(option, strconv.FormatInt(value, 10))
}

func (a *arguments) flag(option string, set bool) {
	if set {
		a.add(option)
	}
}

// operation adds the options of one operation.
func (a *arguments) operation(op string, n *plan.NNThroughput, alone bool) {
	blockSize := n.BlockSize
	switch op {
	case plan.OpMkdirs:
		a.number("-threads", int64(n.Threads))
		a.number("-dirs", n.Dirs)
		a.number("-dirsPerDir", int64(n.DirsPerDir))
		return
	case plan.OpClean:
		return
	case plan.OpBlockReport:
		a.number("-datanodes", int64(n.DataNodes))
		a.number("-reports", n.Reports)
		a.number("-blocksPerReport", int64(n.BlocksPerReport))
		a.number("-blocksPerFile", int64(n.BlocksPerFile))
	case plan.OpReplication:
		a.number("-datanodes", int64(n.DataNodes))
		a.number("-nodesToDecommission", int64(n.NodesToDecommission))
		a.number("-nodeReplicationLimit", int64(n.NodeReplicationLimit))
		a.number("-totalBlocks", int64(n.TotalBlocks))
		if n.Replication > 0 {
			a.number("-replication", int64(n.Replication))
		}
	default:
		a.number("-threads", int64(n.Threads))
		a.number("-files", n.Files)
		a.number("-filesPerDir", int64(n.FilesPerDir))
		a.flag("-close", op == plan.OpCreate && n.Close)
		a.flag("-useExisting", op != plan.OpCreate && n.UseExisting)
		a.flag("-appendNewBlk", op == plan.OpAppend && n.AppendNewBlk)
	}
	if alone && blockSize == 0 && (op == plan.OpBlockReport || op == plan.OpReplication) {
		blockSize = SmallBlock
	}
	if blockSize > 0 {
		a.number("-blockSize", blockSize)
	}
}

// common adds the options that all operations have.
func (a *arguments) common(op string, n *plan.NNThroughput, alone bool) error {
	base := n.BaseDirs[0]
	switch {
	case op == plan.OpClean && !alone && n.ManageSafeMode:
		return errors.New("operation clean of engine Upstream makes the NameNode enter safe mode at its end; leave clean out, or manageSafeMode")
	case base == DefaultBase:
	case op == plan.OpClean:
		if !alone {
			return fmt.Errorf("operation clean of engine Upstream always deletes %s, and the run's base directory is %s; leave clean out, or set spec.baseDirName", DefaultBase, base)
		}
	case a.knows("-baseDirName"):
		a.add("-baseDirName", base)
	case !alone:
		return fmt.Errorf("this version of the class always works in %s, not in %s; set spec.baseDirName to it, or use Hadoop 3.4 or later", DefaultBase, base)
	}
	if n.LogLevel != "" {
		a.add("-logLevel", n.LogLevel)
	}
	if n.UGCacheRefreshCount > 0 {
		a.number("-UGCacheRefreshCount", int64(n.UGCacheRefreshCount))
	}
	a.flag("-keepResults", n.KeepResults)
	// In a NameNode of its own it may do what it likes with safe mode.
	if !alone && !n.ManageSafeMode {
		if !a.knows("-nonSuperUser") {
			return errors.New("this version of the class always makes the NameNode leave safe mode; allow it by manageSafeMode, or use Hadoop 3.5 or later")
		}
		a.add("-nonSuperUser")
	}
	return nil
}

// operationsOf are the operations the class knows.
func operationsOf() []string {
	return []string{
		plan.OpCreate, plan.OpMkdirs, plan.OpOpen, plan.OpDelete, plan.OpAppend, plan.OpFileStatus, plan.OpRename,
		plan.OpBlockReport, plan.OpReplication, plan.OpClean,
	}
}

func isOperation(step string) bool { return slices.Contains(operationsOf(), step) }
