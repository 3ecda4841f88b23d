package nnthroughput

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"time"

	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

const (
	// clockSamples is how often the target's clock is read; the quickest reading counts.
	clockSamples = 5
	// ownPrefix begins the names below a base directory that are the run's own, but no operation's.
	ownPrefix = "_hadoopbench-"
	// warmUpFiles is how many files each thread has for the warm-up of operations that read.
	warmUpFiles = 10
)

// reads tells operations that work on files and leave them as they are.
func reads(op string) bool { return op == plan.OpOpen || op == plan.OpFileStatus }

// consumes tells operations that work on files and leave them changed.
func consumes(op string) bool {
	return op == plan.OpDelete || op == plan.OpAppend || op == plan.OpRename
}

// existing tells whether the step works on files that were there before.
func (s *step) existing() bool {
	op := s.env.Plan.Identity.Step
	return s.nnt.UseExisting && (reads(op) || consumes(op))
}

// prepare finds where the step works, makes place there, reads the target's clock and sets the operation up.
func (s *step) prepare(ctx context.Context, op operation) error {
	s.dirs = make([]string, len(s.nnt.BaseDirs))
	for i, base := range s.nnt.BaseDirs {
		s.dirs[i] = AttemptDir(base, s.env.Plan.Identity)
	}
	if s.existing() {
		if err := s.findExisting(ctx); err != nil {
			return err
		}
	} else if s.env.Index == 0 && !s.nnt.KeepResults && !s.nnt.UseExisting {
		if err := s.sweep(ctx); err != nil {
			return err
		}
	}
	if err := s.readClock(ctx); err != nil {
		if !s.existing() || !denied(err) {
			return s.refused("read the NameNode's clock with a file in "+s.nnt.BaseDirs[0], err)
		}
		// Working on what others wrote needs no right to write beside it. The report says so by having no clock.
		s.env.Log.Warn("The clock's offset is not known", "error", err)
	}
	return op.setUp(ctx)
}

// findExisting has every thread work in the operation's own directory of the first attempt, if there is one, else in
// create's. The original tool renames the one to the other; nothing is moved here, so several operations can share it.
func (s *step) findExisting(ctx context.Context) error {
	op := s.env.Plan.Identity.Step
	for i, base := range s.nnt.BaseDirs {
		dir, err := s.setOf(ctx, base, op)
		if err != nil {
			return err
		}
		if dir == "" {
			return dataMissing("neither %s nor %s is a directory", path.Join(base, op), path.Join(base, plan.OpCreate))
		}
		s.dirs[i] = dir
	}
	return nil
}

// setOf is the directory below a base directory whose files an operation works on: its own, if there is one, else
// create's; empty without either.
func (s *step) setOf(ctx context.Context, base, op string) (string, error) {
	for _, dir := range []string{path.Join(base, op), path.Join(base, plan.OpCreate)} {
		status, found, err := s.control().GetFileInfo(ctx, dir)
		if err != nil {
			return "", s.refused("look at "+dir, err)
		}
		if found && status.Dir {
			return dir, nil
		}
	}
	return "", nil
}

func dataMissing(format string, args ...any) error {
	return steps.Fail(report.ExitTarget, steps.ReasonDataMissing,
		"create the files first with the same files and filesPerDir and keepResults, or leave useExisting off", format, args...)
}

// sweep deletes what earlier steps, repeats and attempts left below the base directories, so that the namespace does not
// grow from one to the next. It touches only directories that bear the run's marker, and of what is in them only what has
// the name of an attempt's directory.
func (s *step) sweep(ctx context.Context) error {
	for i, base := range s.nnt.BaseDirs {
		found, err := s.look(ctx, base)
		if err != nil {
			return err
		}
		if !found.mine {
			s.env.Log.Warn("Nothing is cleared, since this run's marker is not there", "directory", base)
			continue
		}
		own := path.Base(s.dirs[i])
		for _, name := range found.entries {
			if !isAttempt(name) || name == own || name == own+warmUpSuffix {
				continue
			}
			left := path.Join(base, name)
			s.env.Log.Info("Clearing what an earlier step left", "path", left)
			if err := s.remove(ctx, left); err != nil {
				return s.refused("delete "+left, err)
			}
		}
	}
	return nil
}

// readClock measures the offset of the NameNode's clock: the modification time of a file is the moment between call and
// answer at which it was created.
func (s *step) readClock(ctx context.Context) error {
	id := s.env.Plan.Identity
	file := path.Join(s.nnt.BaseDirs[0], fmt.Sprintf("%sclock.%s.%s.%d", ownPrefix, id.RunUID, id.Step, s.env.Index))
	options := s.createOptions(id.Step + "-clock-" + strconv.Itoa(int(s.env.Index)))
	samples := make([]measure.ClockSample, 0, clockSamples)
	for range clockSamples {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		before := s.env.Clock.Now()
		status, err := s.control().Create(ctx, file, options)
		after := s.env.Clock.Now()
		if err != nil {
			return err
		}
		samples = append(samples, measure.ClockSample{Before: before, After: after, Target: status.ModTime})
	}
	if _, err := s.control().Delete(ctx, file, false); err != nil {
		return err
	}
	s.body.Clock = measure.Offset(samples, time.Millisecond)
	return nil
}

// setUp makes the files that the operation needs, each thread its own, or looks for those that are to be there.
func (o *fileOperation) setUp(ctx context.Context) error {
	if !reads(o.op) && !consumes(o.op) {
		return nil
	}
	if o.existing() {
		return o.eachThread(ctx, o.checkShare)
	}
	_, planned := o.work.shardShare()
	o.total.Store(planned)
	return o.eachThread(ctx, o.makeShare)
}

// eachThread does a part for each thread of the shard at once. The first error ends the others and is returned.
func (s *step) eachThread(ctx context.Context, part func(ctx context.Context, i int) error) error {
	n := s.work.own()
	return parallel(ctx, n, n, func(ctx context.Context, _, i int) error { return part(ctx, i) })
}

// makeShare creates and completes the files of one thread as the original tool does before these operations, and those
// that a warm-up reads.
func (o *fileOperation) makeShare(ctx context.Context, i int) error {
	t := o.work.first + int64(i)
	maker := fileMaker{step: o.step, nn: o.thread(i), client: "create-client-" + strconv.FormatInt(t, 10)}
	n := names{tree: o.tree}
	first, count := o.work.share(t)
	for number := first; number < first+count; number++ {
		if err := maker.make(ctx, n.at(o.dir(t), number)); err != nil {
			return err
		}
		o.done.Add(1)
	}
	if o.nnt.WarmupMillis == 0 || !reads(o.op) {
		return nil
	}
	warm := names{tree: o.tree}
	for number := first; number < first+min(count, warmUpFiles); number++ {
		if err := maker.make(ctx, warm.at(o.dir(t)+warmUpSuffix, number)); err != nil {
			return err
		}
	}
	return nil
}

// fileMaker makes empty files.
type fileMaker struct {
	*step
	nn     NameNode
	client string
}

func (m *fileMaker) make(ctx context.Context, path string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if _, err := m.nn.Create(ctx, path, m.createOptions(m.client)); err != nil {
		return m.refused("create "+path, err)
	}
	if err := m.complete(ctx, m.nn, path, m.client); err != nil {
		return m.refused("complete "+path, err)
	}
	return nil
}

// checkShare looks for the first and the last file of one thread.
func (o *fileOperation) checkShare(ctx context.Context, i int) error {
	t := o.work.first + int64(i)
	first, count := o.work.share(t)
	if count == 0 { // more threads than files
		return nil
	}
	for _, number := range []int64{first, first + count - 1} {
		file := o.tree.path(o.dir(t), number)
		status, found, err := o.thread(i).GetFileInfo(ctx, file)
		if err != nil {
			return o.refused("look at "+file, err)
		}
		if !found || status.Dir {
			return dataMissing("%s is no file, though %d files with filesPerDir %d are to exist", file, o.work.ops, o.tree.perDir)
		}
	}
	return nil
}

// ownFailure is the step's own failure in an error, or nil.
func ownFailure(err error) *steps.Error {
	if own := new(steps.Error); errors.As(err, &own) {
		return own
	}
	return nil
}
