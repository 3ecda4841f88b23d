package controllers

import (
	"fmt"
	"path"
	"strings"

	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
)

// Text implements Benchmark: what NNThroughputBenchmark prints.
func (NNThroughput) Text(run Run, step Step, in report.MergeInput, merged *report.Merged) (string, error) {
	t, err := report.NNThroughputOf(step.Name, inputsOf(run, step, merged), in, merged)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := report.RenderNNThroughput(&b, t); err != nil {
		return "", err
	}
	return b.String(), nil
}

// inputsOf are the inputs that the tool prints for a step.
func inputsOf(run Run, step Step, merged *report.Merged) report.NNThroughputInputs {
	p := nntPlan(run)
	in := report.NNThroughputInputs{
		BaseDir: workDirs(run, step, merged.Attempt), Files: p.Files, Threads: int64(p.Threads), FilesPerDir: int64(p.FilesPerDir),
		Reports: p.Reports, DataNodes: int64(p.DataNodes), BlocksPerReport: int64(p.BlocksPerReport), BlocksPerFile: int64(p.BlocksPerFile),
		Decommissioned: int64(p.NodesToDecommission), NodeReplicationLimit: int64(p.NodeReplicationLimit), TotalBlocks: int64(p.TotalBlocks),
	}
	if step.Name == plan.OpMkdirs {
		in.Files, in.FilesPerDir = p.Dirs, int64(p.DirsPerDir)
	}
	return in
}

// workDirs is where an operation worked: in the tool's own place at first, in places beside it when it is repeated. The
// original tool and existing files know no other place.
func workDirs(run Run, step Step, attempt int32) string {
	p := nntPlan(run)
	name := step.Name
	if (step.Repeat > 1 || attempt > 1) && !isUpstream(nntSpec(run)) && !p.UseExisting {
		name += fmt.Sprintf(".%d.%d", step.Repeat, attempt)
	}
	dirs := make([]string, len(p.BaseDirs))
	for i, base := range p.BaseDirs {
		dirs[i] = path.Join(base, name)
	}
	return strings.Join(dirs, ",")
}
