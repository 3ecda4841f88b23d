package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/hadoop-bench/operator/runner/nnthroughput"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
)

// render writes upstream's report of an operation that ended with err.
func (s *session) render(w io.Writer, env *nnthroughput.Env, body *report.Body, err error) error {
	r := &report.Report{Envelope: report.Envelope{Version: report.Version, Identity: env.Plan.Identity}, Body: *body}
	r.Envelope.Outcome, r.Envelope.ExitCode, r.Envelope.Failure = s.process.Judge(err)
	in := report.MergeInput{Expected: 1, Reports: []*report.Report{r}}
	merged, err := report.Merge(in)
	if err != nil {
		return fmt.Errorf("make the report: %w", err)
	}
	text, err := report.NNThroughputOf(env.Plan.Identity.Step, inputsOf(env.Plan), in, merged)
	if err != nil {
		return err
	}
	return report.RenderNNThroughput(w, text)
}

// inputsOf are the inputs that upstream prints, as they were asked for. Several base directories stand with commas
// between them.
func inputsOf(p *plan.Plan) report.NNThroughputInputs {
	n, op := p.NNThroughput, p.Identity.Step
	dirs := make([]string, len(n.BaseDirs))
	for i, base := range n.BaseDirs {
		dirs[i] = ownDir(base, p)
		if op == plan.OpClean {
			dirs[i] = base
		}
	}
	in := report.NNThroughputInputs{BaseDir: strings.Join(dirs, ",")}
	switch op {
	case plan.OpClean:
	case plan.OpMkdirs:
		in.Files, in.Threads, in.FilesPerDir = n.Dirs, int64(n.Threads), int64(n.DirsPerDir)
	case plan.OpBlockReport:
		in.Reports, in.DataNodes = n.Reports, int64(n.DataNodes)
		in.BlocksPerReport, in.BlocksPerFile = int64(n.BlocksPerReport), int64(n.BlocksPerFile)
	default:
		in.Files, in.Threads, in.FilesPerDir = n.Files, int64(n.Threads), int64(n.FilesPerDir)
	}
	return in
}
