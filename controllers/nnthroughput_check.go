package controllers

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/plan"
)

// Operations by what they work on.
var (
	// threadOps are carried out by threads, the others by fake DataNodes or once.
	threadOps = []string{plan.OpCreate, plan.OpMkdirs, plan.OpOpen, plan.OpDelete, plan.OpAppend, plan.OpFileStatus, plan.OpRename}
	fileOps   = []string{plan.OpCreate, plan.OpOpen, plan.OpDelete, plan.OpAppend, plan.OpFileStatus, plan.OpRename}
	// existingOps work on files that are there before; consumingOps use them up.
	existingOps  = []string{plan.OpOpen, plan.OpDelete, plan.OpAppend, plan.OpFileStatus, plan.OpRename}
	consumingOps = []string{plan.OpDelete, plan.OpAppend, plan.OpRename}
	fakeOps      = []string{plan.OpBlockReport, plan.OpReplication}
	blockOps     = append(slices.Clone(fileOps), fakeOps...)
)

// Check implements Benchmark.
func (NNThroughput) Check(run Run) []Problem {
	s := nntSpec(run)
	return slices.Concat(
		checkOperations(s), checkNumbers(s, nntPlan(run)), checkUnused(s), checkUseExisting(s), checkDuration(s), checkBaseDirs(s),
		checkPermissions(s), checkEngine(s), checkStandalone(s),
	)
}

// checkOperations looks at the list alone.
func checkOperations(s *v1alpha1.NNThroughputRunSpec) []Problem {
	var out []Problem
	refuse := func(i int, remedy string) {
		out = append(out, invalid(fmt.Sprintf("operations[%d]", i), s.Operations[i], remedy))
	}
	for i, op := range s.Operations {
		switch {
		case op == v1alpha1.NNThroughputAll && len(s.Operations) > 1:
			refuse(i, "let all stand alone: it names every operation already")
		case slices.Contains(s.Operations[:i], op):
			refuse(i, "name each operation once; spec.repeats measures it more often")
		case op == v1alpha1.NNThroughputClean && i != len(s.Operations)-1:
			refuse(i, "make clean the last operation: it removes the run's directory")
		case op == v1alpha1.NNThroughputClean && isUpstream(s):
			refuse(i, "remove it: the original tool's clean deletes /nnThroughputBenchmark, whatever baseDirName says")
		case op == v1alpha1.NNThroughputReplication && !isStandalone(s):
			refuse(i, "set spec.engine to Upstream and spec.target.fs to file:///: it works on the inside of a NameNode, which no other process can reach")
		}
	}
	return out
}

// uses says whether the run has one of the operations.
func uses(s *v1alpha1.NNThroughputRunSpec, ops []string) bool {
	return slices.ContainsFunc(operationsOf(s), func(op string) bool { return slices.Contains(ops, op) })
}

// checkNumbers looks at numbers that depend on each other; the smallest and largest of each are the API's.
func checkNumbers(s *v1alpha1.NNThroughputRunSpec, p *plan.NNThroughput) []Problem {
	var out []Problem
	shards := value(s.Shards, 1)
	if uses(s, threadOps) && p.Threads < shards {
		out = append(out, invalid("shards", shards, fmt.Sprintf("raise spec.threads to as many, or use at most %d shards: each needs a thread", p.Threads)))
	}
	if uses(s, fakeOps) && p.DataNodes < shards {
		out = append(out, invalid("shards", shards, fmt.Sprintf("raise spec.datanodes to as many, or use at most %d shards: each needs a fake DataNode", p.DataNodes)))
	}
	if most := plan.Capacity(int64(p.FilesPerDir)); uses(s, fileOps) && p.Files > most {
		out = append(out, invalid("files", p.Files, fmt.Sprintf("raise spec.filesPerDir: with %d there are names for %d files", p.FilesPerDir, most)))
	}
	if most := plan.Capacity(int64(p.DirsPerDir)); uses(s, []string{plan.OpMkdirs}) && p.Dirs > most {
		out = append(out, invalid("dirs", p.Dirs, fmt.Sprintf("raise spec.dirsPerDir: with %d there are names for %d directories", p.DirsPerDir, most)))
	}
	if s.BlockSize != "" {
		if n, err := parseBlockSize(s.BlockSize); err != nil {
			out = append(out, invalid("blockSize", s.BlockSize, err.Error()))
		} else if n == 0 {
			out = append(out, invalid("blockSize", s.BlockSize, "give a size above zero"))
		}
	}
	if s.Rate != "" {
		if n, err := parseRate(s.Rate); err != nil {
			out = append(out, invalid("rate", s.Rate, err.Error()))
		} else if n == 0 {
			out = append(out, invalid("rate", s.Rate, "give a rate above zero, or remove it"))
		}
	}
	return out
}

// checkUnused refuses options that none of the operations takes.
func checkUnused(s *v1alpha1.NNThroughputRunSpec) []Problem {
	var out []Problem
	for _, f := range []struct {
		field string
		set   bool
		ops   []string
	}{
		{"threads", s.Threads != nil, threadOps},
		{"connectionsPerShard", s.ConnectionsPerShard != nil, append(slices.Clone(threadOps), plan.OpBlockReport)},
		{"files", s.Files != nil, fileOps},
		{"filesPerDir", s.FilesPerDir != nil, fileOps},
		{"dirs", s.Dirs != nil, []string{plan.OpMkdirs}},
		{"dirsPerDir", s.DirsPerDir != nil, []string{plan.OpMkdirs}},
		{"close", value(s.Close, false), []string{plan.OpCreate}},
		{"useExisting", value(s.UseExisting, false), existingOps},
		{"appendNewBlk", value(s.AppendNewBlk, false), []string{plan.OpAppend}},
		{"datanodes", s.DataNodes != nil, fakeOps},
		{"reports", s.Reports != nil, []string{plan.OpBlockReport}},
		{"blocksPerReport", s.BlocksPerReport != nil, []string{plan.OpBlockReport}},
		{"blocksPerFile", s.BlocksPerFile != nil, []string{plan.OpBlockReport}},
		{"nodesToDecommission", s.NodesToDecommission != nil, []string{plan.OpReplication}},
		{"nodeReplicationLimit", s.NodeReplicationLimit != nil, []string{plan.OpReplication}},
		{"totalBlocks", s.TotalBlocks != nil, []string{plan.OpReplication}},
		{"replication", s.Replication != nil, blockOps},
		{"blockSize", s.BlockSize != "", blockOps},
	} {
		if f.set && !uses(s, f.ops) {
			out = append(out, invalid(f.field, "an option of "+strings.Join(f.ops, ", "), "remove it, or add such an operation to spec.operations"))
		}
	}
	return out
}

// checkUseExisting: files of another run are used up only once, at the end, and never removed.
func checkUseExisting(s *v1alpha1.NNThroughputRunSpec) []Problem {
	if !value(s.UseExisting, false) {
		return nil
	}
	var out []Problem
	ops := operationsOf(s)
	refuse := func(value, remedy string) { out = append(out, invalid("useExisting", value, remedy)) }
	for i, op := range ops {
		switch later := ops[i+1:]; {
		case op == plan.OpCreate || op == plan.OpClean:
			refuse("true with operation "+op, "remove one of the two: the files are there already, and not this run's to make or remove")
		case !slices.Contains(consumingOps, op):
		case slices.ContainsFunc(later, func(o string) bool { return slices.Contains(existingOps, o) }):
			refuse("true with operation "+op+" before others", "make it the last one that works on files: it uses them up")
		case value(s.Repeats, 1) > 1:
			refuse(fmt.Sprintf("true with operation %s and %d repeats", op, *s.Repeats), "measure it once: it uses the files up")
		}
	}
	return out
}

// checkDuration: what is measured for a duration must be able to go on, and a number of operations would contradict it.
func checkDuration(s *v1alpha1.NNThroughputRunSpec) []Problem {
	if s.Duration == nil {
		return nil
	}
	var out []Problem
	refuse := func(value any, remedy string) { out = append(out, invalid("duration", value, remedy)) }
	d := s.Duration.Duration.Duration
	if d < time.Millisecond {
		refuse(d, "give a duration above zero, or remove it")
	}
	for _, op := range operationsOf(s) {
		if slices.Contains(consumingOps, op) || op == plan.OpClean {
			refuse(fmt.Sprintf("%s with operation %s", d, op), "remove one of the two: it cannot go on for as long as one likes")
		}
	}
	if s.Files != nil && !uses(s, []string{plan.OpOpen, plan.OpFileStatus}) { // those go round the files
		refuse(fmt.Sprintf("%s with files", d), "remove one of the two: either decides how much create does")
	}
	if s.Dirs != nil {
		refuse(fmt.Sprintf("%s with dirs", d), "remove one of the two: either decides how much mkdirs does")
	}
	if s.Reports != nil {
		refuse(fmt.Sprintf("%s with reports", d), "remove one of the two: either decides how much blockReport does")
	}
	return out
}

// checkBaseDirs refuses base directories that could not be told apart from other people's data, or from each other.
func checkBaseDirs(s *v1alpha1.NNThroughputRunSpec) []Problem {
	var out []Problem
	if s.BaseDirName != "" {
		for _, bad := range plan.BadBaseDirs([]string{s.BaseDirName}) {
			out = append(out, invalid("baseDirName", bad.Dir, bad.Remedy))
		}
		if len(s.BaseDirNames) > 0 {
			out = append(out, invalid("baseDirNames", s.BaseDirNames, "remove it or spec.baseDirName"))
		}
	}
	for _, bad := range plan.BadBaseDirs(s.BaseDirNames) {
		out = append(out, invalid(fmt.Sprintf("baseDirNames[%d]", bad.Index), bad.Dir, bad.Remedy))
	}
	return out
}

// checkPermissions: what affects others at the target is done only if it was asked for, and undone.
func checkPermissions(s *v1alpha1.NNThroughputRunSpec) []Problem {
	var out []Problem
	if uses(s, []string{plan.OpBlockReport}) && !value(s.AllowFakeDataNodes, false) && !isStandalone(s) {
		out = append(out, invalid("allowFakeDataNodes", "false with operation blockReport", "set it to true if the target serves nobody else: the NameNode may send other clients' blocks to DataNodes that do not exist"))
	}
	if !value(s.ManageSafeMode, false) {
		return out
	}
	if value(s.NonSuperUser, false) {
		out = append(out, invalid("manageSafeMode", "true with nonSuperUser", "remove one of the two: only a superuser can change the safe mode"))
	}
	if value(s.KeepResults, false) {
		out = append(out, invalid("manageSafeMode", "true with keepResults", "remove one of the two: it is the cleanup that enters safe mode again"))
	}
	return out
}

// checkEngine: the original tool cannot do what goes beyond it, and the options that only it has need it.
func checkEngine(s *v1alpha1.NNThroughputRunSpec) []Problem {
	var out []Problem
	if !isUpstream(s) {
		if s.LogLevel != "" {
			out = append(out, invalid("logLevel", s.LogLevel, "remove it: only the original tool, engine Upstream, has one"))
		}
		if isLocal(&s.Target) {
			out = append(out, invalid(localField(&s.Target), targetFS(&s.Target), "name a NameNode, hdfs://host:port, or set spec.engine to Upstream, which brings its own"))
		}
		return out
	}
	for _, f := range []struct {
		field string
		set   bool
	}{
		{"shards", value(s.Shards, 1) > 1},
		{"rate", s.Rate != ""},
		{"duration", s.Duration != nil},
		{"warmup", durationOr(s.Warmup, 0) > 0},
		{"connectionsPerShard", value(s.ConnectionsPerShard, 1) > 1},
		{"baseDirNames", len(s.BaseDirNames) > 0},
		{"appendNewBlk", value(s.AppendNewBlk, false)},
		{"client", s.Client != ""},
		{"target.kerberos", s.Target.Kerberos != nil},
	} {
		if f.set {
			out = append(out, invalid(f.field, "what goes beyond the original tool", "remove it, or use engine Native"))
		}
	}
	if value(s.UseExisting, false) {
		out = append(out, invalid("useExisting", "true with engine Upstream", "use engine Native: the original tool moves the files away and deletes them"))
	}
	if s.PodTemplate == nil || s.PodTemplate.Image == "" {
		out = append(out, invalid("podTemplate.image", "no image", "name a Hadoop image: engine Upstream runs the Java class that is in it"))
	}
	return out
}

// checkStandalone: the NameNode of a standalone run lives in the pod of its step and goes with it.
func checkStandalone(s *v1alpha1.NNThroughputRunSpec) []Problem {
	if !isStandalone(s) {
		return nil
	}
	var out []Problem
	for _, f := range []struct {
		field string
		set   bool
	}{
		{"keepResults", value(s.KeepResults, false)},
		{"manageSafeMode", value(s.ManageSafeMode, false)},
		{"target.http", s.Target.HTTP != nil},
	} {
		if f.set {
			out = append(out, invalid(f.field, "something for a NameNode that stays", "remove it: each step of a standalone run has a NameNode of its own, which goes with its pod"))
		}
	}
	return out
}
