package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/hadoop-bench/operator/runner/hadoop/namenode"
	"github.com/hadoop-bench/operator/runner/nnthroughput"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// ended is how an operation ended.
type ended struct {
	plan     *plan.Plan
	there    []string // directories of the operation that were there before it
	err      error
	failures bool // operations failed and were counted
}

// removeAfter removes what an operation made, in a time of its own, since that is due after a signal, too. One that was
// done to its end also costs the files that were there before, as upstream's does; every other one leaves them.
func (s *session) removeAfter(ctx context.Context, e ended) error {
	if own := new(steps.Error); errors.As(e.err, &own) && own.Exit == report.ExitPlan {
		return nil // it was refused before it made anything
	}
	if lost(e.err) {
		s.lost = true
		if dirs := s.madeDirs(e); len(dirs) > 0 {
			s.tellLeft("No NameNode answers, so what the operation made is not removed", dirs, e.err)
		}
		if e.plan.NNThroughput.UseExisting {
			s.log.Warn("The files that were there before are left", "below", strings.Join(e.plan.NNThroughput.BaseDirs, " "))
		}
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTimeout)
	defer cancel()
	var err error
	if e.err == nil && !e.failures {
		err = s.remove(ctx, e.plan)
	} else {
		err = s.removeMade(ctx, e)
	}
	if err != nil {
		s.lost = lost(err)
		s.tellLeft("Removing what the operation made failed", s.madeDirs(e), err)
	}
	return err
}

// lost tells that no NameNode answers any more: going on with calls takes minutes and is of no use.
func lost(err error) bool {
	own := new(steps.Error)
	return errors.Is(err, namenode.ErrUnreachable) || errors.As(err, &own) && own.Failure.Reason == steps.ReasonNameNodeUnreachable
}

// tellLeft says what stays, and how to remove it.
func (s *session) tellLeft(what string, dirs []string, err error) {
	facts := []any{"error", err}
	if len(dirs) > 0 {
		facts = append(facts, "left", strings.Join(dirs, " "), "remedy", "remove it by hdfs dfs -rm -r "+strings.Join(dirs, " "))
	}
	s.log.Error(what, facts...)
}

// madeDirs are the directories that an operation may have made and that are not to be kept.
func (s *session) madeDirs(e ended) []string {
	var dirs []string
	for _, base := range e.plan.NNThroughput.BaseDirs {
		own := ownDir(base, e.plan)
		if !s.command.Options.KeepResults && !e.plan.NNThroughput.UseExisting && !slices.Contains(e.there, own) {
			dirs = append(dirs, own)
		}
		if e.plan.NNThroughput.WarmupMillis > 0 {
			dirs = append(dirs, own+warmUpSuffix)
		}
	}
	return dirs
}

// removeMade removes what an operation made that was not done to its end, and says where files lie that it did not make.
func (s *session) removeMade(ctx context.Context, e ended) error {
	for _, dir := range s.madeDirs(e) {
		found, err := s.exists(ctx, dir)
		if err == nil && found {
			err = s.delete(ctx, dir)
		}
		if err != nil {
			return err
		}
	}
	left := e.there
	for _, base := range e.plan.NNThroughput.BaseDirs {
		if !e.plan.NNThroughput.UseExisting {
			break
		}
		used, err := s.used(ctx, base, e.plan)
		found := false
		if err == nil {
			found, err = s.exists(ctx, used)
		}
		if err != nil {
			return err
		}
		if found {
			left = append(left, used)
		}
	}
	if len(left) > 0 && !s.command.Options.KeepResults {
		s.log.Warn("The operation was not done to its end, so the files that were there before it are left", "directories", strings.Join(left, " "))
	}
	return nil
}

// used is where the files of an operation lie: in its own directory, or else, with -useExisting, in that of create.
func (s *session) used(ctx context.Context, base string, p *plan.Plan) (string, error) {
	own := ownDir(base, p)
	if !p.NNThroughput.UseExisting {
		return own, nil
	}
	found, err := s.exists(ctx, own)
	if err == nil && !found {
		return createDir(base), nil
	}
	return own, err
}

// remove deletes the operation's own directories, as upstream does, unless the results are to be kept. With -useExisting
// upstream moves the files of create to the operation before it; here they are worked on where they lie and moved at the
// end if they are kept, so that nothing is moved when they turn out to be others than was thought.
func (s *session) remove(ctx context.Context, p *plan.Plan) error {
	for _, base := range p.NNThroughput.BaseDirs {
		own := ownDir(base, p)
		if err := s.delete(ctx, own+warmUpSuffix); err != nil {
			return err
		}
		used, err := s.used(ctx, base, p)
		switch {
		case err != nil:
		case !s.command.Options.KeepResults:
			err = s.delete(ctx, used)
		case used != own:
			err = s.move(ctx, used, own)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *session) exists(ctx context.Context, path string) (bool, error) {
	_, found, err := s.nn().GetFileInfo(ctx, path)
	if err != nil {
		return false, s.refused("look at "+path, err)
	}
	return found, nil
}

// delete deletes a directory and what is in it. There being none is fine.
func (s *session) delete(ctx context.Context, dir string) error {
	if _, err := s.nn().Delete(ctx, dir, true); err != nil {
		return s.refused("delete "+dir, err)
	}
	return nil
}

func (s *session) move(ctx context.Context, from, to string) error {
	moved, err := s.nn().Rename(ctx, from, to)
	if err != nil {
		return s.refused("rename "+from+" to "+to, err)
	}
	if !moved {
		return steps.Fail(report.ExitBenchmark, steps.ReasonIOError, "look into the NameNode's log at that time",
			"rename %s to %s: the NameNode did not do it", from, to)
	}
	return nil
}

// removeEmptyBases deletes base directories in which nothing is left. It is a courtesy: its errors are only logged.
func (s *session) removeEmptyBases(ctx context.Context) {
	if s.target == nil || s.lost || s.command.Options.KeepResults {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTimeout)
	defer cancel()
	for _, base := range s.command.Options.BaseDirs {
		entries, found, err := s.nn().List(ctx, base)
		if err == nil && found && len(entries) == 0 {
			_, err = s.nn().Delete(ctx, base, false)
		}
		if err != nil {
			s.log.Warn("The base directory was not looked after", "directory", base, "error", err)
		}
	}
}

// validate checks what is asked of every operation before the first one begins.
func (s *session) validate(ops []string) error {
	for _, op := range ops {
		if err := nnthroughput.Validate(s.env(op).Plan, 0); err != nil {
			return steps.PlanError(err)
		}
	}
	return nil
}

// checkBases refuses base directories that are files.
func (s *session) checkBases(ctx context.Context) error {
	for _, base := range s.command.Options.BaseDirs {
		status, found, err := s.nn().GetFileInfo(ctx, base)
		if err != nil {
			return s.refused("look at "+base, err)
		}
		if found && !status.Dir {
			return steps.Fail(report.ExitTarget, steps.ReasonBaseDirNotOurs, "set another -baseDirName", "%s is a file", base)
		}
	}
	return nil
}
