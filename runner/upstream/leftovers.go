package upstream

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/hadoop-bench/operator/runner/hadoop/namenode"
	"github.com/hadoop-bench/operator/runner/nnthroughput"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// maxLeft bounds how many names are told of what is left.
const maxLeft = 10

// checkLeftovers refuses a target where the class would work on files it did not make: it moves those of create to another
// operation only if that one's directory is not there, and waits for ever for names it does not find.
func (s *step) checkLeftovers(ctx context.Context) error {
	n := s.env.Plan.NNThroughput
	if Standalone(s.fs) || n.UseExisting {
		return nil
	}
	return s.onTarget(ctx, func(nn nnthroughput.NameNode) error {
		entries, _, err := nn.List(ctx, n.BaseDirs[0])
		if err != nil {
			return targetError("list "+n.BaseDirs[0], err)
		}
		for _, e := range entries {
			if e.Path == plan.OpCreate || slices.Contains(n.Operations, e.Path) {
				return steps.Fail(report.ExitTarget, steps.ReasonLeftoversFound, "delete it, or set another spec.baseDirName",
					"%s is there already; the class would take it for its own", path.Join(n.BaseDirs[0], e.Path))
			}
		}
		return nil
	})
}

// cleanup deletes the base directory if nothing is in it, as the class leaves it, and tells what is there else. What the
// class did not remove after its operation is left alone: it may have been kept, or be somebody else's.
func (s *step) cleanup(ctx context.Context) error {
	if Standalone(s.fs) {
		if err := s.place.clear(); err != nil {
			return failed("clear the work directory: %v", err)
		}
		return nil
	}
	base := s.env.Plan.NNThroughput.BaseDirs[0]
	return s.onTarget(ctx, func(nn nnthroughput.NameNode) error {
		entries, found, err := nn.List(ctx, base)
		if err != nil {
			return targetError("list "+base, err)
		}
		if found && len(entries) == 0 {
			if _, err := nn.Delete(ctx, base, false); err != nil {
				return targetError("delete "+base, err)
			}
			return nil
		}
		var left []string
		for _, e := range entries[:min(len(entries), maxLeft)] {
			left = append(left, path.Join(base, e.Path))
		}
		if len(entries) > maxLeft {
			left = append(left, fmt.Sprintf("and %d more", len(entries)-maxLeft))
		}
		if left != nil {
			s.body.Facts["left"] = strings.Join(left, ", ")
		}
		return nil
	})
}

// onTarget lets f use the NameNode under test.
func (s *step) onTarget(ctx context.Context, f func(nnthroughput.NameNode) error) error {
	target, err := s.connect(ctx, &nnthroughput.Env{Env: *s.env}, 1)
	if err != nil {
		return targetError("connect to "+s.fs, err)
	}
	defer func() {
		if err := target.Close(); err != nil {
			s.env.Log.Warn("Disconnecting failed", "error", err)
		}
	}()
	return f(target.Thread(0))
}

func targetError(what string, err error) error {
	if own := new(steps.Error); errors.As(err, &own) {
		return own
	}
	e := &steps.Error{Exit: report.ExitTarget, Cause: err, Failure: report.Failure{
		Reason: steps.ReasonIOError, Message: what + ": " + namenode.Text(err), Remedy: "look into the NameNode's log at that time",
	}}
	if errors.Is(err, namenode.ErrUnreachable) {
		e.Failure.Reason = steps.ReasonNameNodeUnreachable
		e.Failure.Remedy = "check spec.target, and that the NameNode runs and can be reached from this namespace"
	}
	return e
}
