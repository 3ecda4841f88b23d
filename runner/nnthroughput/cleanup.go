package nnthroughput

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hadoop-bench/operator/runner/hadoop/namenode"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// maxLeft bounds the names in the facts.
const maxLeft = 5

// cleanup removes what the run made and nothing else, then gives the NameNode its safe mode back. Where there is nothing
// of this run, there is nothing to do.
func (s *step) cleanup(ctx context.Context) error {
	return s.clear(ctx, func(base string, c contents) (proceed bool, err error) {
		if !c.mine {
			s.env.Log.Info("Nothing is removed, since this run's marker is not there", "directory", base, "exists", c.exists)
			s.leave(base, c.entries)
		}
		return c.mine, nil
	}, true)
}

// clean is the operation of this name. Unlike cleanup it fails where the directory is somebody else's, since the user
// asked for its deletion; and it leaves the marker if later operations, or the safe mode, need it.
func (s *step) clean(ctx context.Context) error {
	return s.clear(ctx, func(base string, c contents) (proceed bool, err error) {
		if c.exists && !c.mine {
			return false, steps.Fail(report.ExitTarget, steps.ReasonNotOurs, "remove what lies there by hand if nobody needs it, or set another spec.baseDirName",
				"clean refused: %s has no marker of this run", base)
		}
		return c.mine, nil
	}, !s.worksAgain())
}

// worksAgain tells whether an operation follows the clean in the run, which then needs the marker.
func (s *step) worksAgain() bool {
	i := slices.Index(s.nnt.Operations, plan.OpClean)
	return i >= 0 && slices.ContainsFunc(s.nnt.Operations[i:], func(op string) bool { return op != plan.OpClean })
}

// ownBase is a base directory with this run's marker.
type ownBase struct {
	dir  string
	made int // see contents
}

// clear empties the base directories. ours decides for each whether to go on; whole says to remove the markers, too. All
// of them are looked at before anything is deleted.
func (s *step) clear(ctx context.Context, ours func(base string, c contents) (bool, error), whole bool) error {
	if err := s.env.Gate.Ready(); err != nil {
		return err
	}
	s.body.Start = s.env.Clock.Now().UnixMicro()
	defer func() { s.body.End = max(s.body.Start, s.env.Clock.Now().UnixMicro()) }()
	var own []ownBase
	restore := false
	for _, base := range s.nnt.BaseDirs {
		c, err := s.look(ctx, base)
		if err != nil {
			return err
		}
		proceed, err := ours(base, c)
		if err != nil {
			return err
		}
		if proceed {
			own, restore = append(own, ownBase{base, c.made}), restore || c.safeMode
		}
	}
	for _, base := range own {
		if err := s.empty(ctx, base.dir); err != nil {
			return err
		}
	}
	if s.env.Plan.Identity.Step == plan.StepCleanup {
		s.countCalls(ctx, "after")
	} else if restore {
		whole = false // cleanup must still learn of the safe mode
	}
	if !whole || len(own) == 0 {
		return nil
	}
	return s.release(ctx, own, restore)
}

// empty deletes the attempts' directories below a base directory, each with one call, and leftovers of our own. What else
// lies there stays and is named in the facts.
func (s *step) empty(ctx context.Context, base string) error {
	entries, _, err := s.control().List(ctx, base)
	if err != nil {
		return s.refused("list "+base, err)
	}
	var left []string
	for _, entry := range entries {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		file := path.Join(base, entry.Path)
		switch {
		case entry.Path == s.markerName() || entry.Path == safeModeName || strings.HasPrefix(entry.Path, madePrefix):
			continue
		case !isAttempt(entry.Path) && !s.isTemporary(entry.Path):
			left = append(left, entry.Path)
			continue
		}
		if err := s.remove(ctx, file); err != nil {
			return s.refused("delete "+file, err)
		}
		s.body.Operations++
	}
	s.leave(base, left)
	return nil
}

// leave tells what stays in a base directory.
func (s *step) leave(base string, left []string) {
	if len(left) == 0 {
		return
	}
	var names []string
	for _, name := range left[:min(len(left), maxLeft)] {
		names = append(names, path.Join(base, name))
	}
	text := strings.Join(names, " ")
	if len(left) > maxLeft {
		text = fmt.Sprintf("%s and %d more", text, len(left)-maxLeft)
	}
	s.fact("left", text)
	s.env.Log.Warn("What is not known to be this run's was left alone", "left", text)
}

// removalPoll is how often is looked whether something is gone that the NameNode is deleting.
const removalPoll = 2 * time.Second

// remove deletes a path with all that is in it; there being nothing is fine. The NameNode takes longer for hundreds of
// millions of files than a call is waited for, and goes on all the same: then remove looks until the path is gone, or the
// context ends.
func (s *step) remove(ctx context.Context, file string) error {
	_, err := s.control().Delete(ctx, file, true)
	for outlived(err) {
		s.env.Log.Info("The NameNode is still deleting", "path", file)
		if err := s.env.Clock.Wait(ctx, removalPoll); err != nil {
			return err
		}
		found := false
		if _, found, err = s.control().GetFileInfo(ctx, file); err == nil && found {
			_, err = s.control().Delete(ctx, file, true)
		}
	}
	return err
}

// isTemporary tells a file of this run that is there for a moment only, unless its shard was killed.
func (s *step) isTemporary(name string) bool {
	rest, found := strings.CutPrefix(name, ownPrefix)
	purpose, of, _ := strings.Cut(rest, ".")
	return found && purpose != "run" && (of == s.env.Plan.Identity.RunUID || strings.HasPrefix(of, s.env.Plan.Identity.RunUID+"."))
}

// isAttempt tells the name of an attempt's directory, as AttemptDir and warm-ups make them.
func isAttempt(name string) bool {
	parts := strings.Split(strings.TrimSuffix(name, warmUpSuffix), ".")
	if !supported(parts[0]) || parts[0] == plan.OpClean {
		return false
	}
	for _, part := range parts[1:] {
		if n, err := strconv.ParseUint(part, 10, 31); err != nil || n == 0 || strconv.FormatUint(n, 10) != part {
			return false
		}
	}
	return len(parts) == 1 || len(parts) == 3 || len(parts) == 4
}

// release removes markers and base directories, and then enters safe mode again if the run had left it. It is not
// interrupted: without the marker, no other cleanup would know what is left to do.
func (s *step) release(parent context.Context, bases []ownBase, restore bool) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(parent), takeDownTimeout)
	defer cancel()
	for _, base := range bases {
		names := []string{s.markerName()}
		if base.made > 0 {
			names = slices.Insert(names, 0, madePrefix+strconv.Itoa(base.made))
		}
		if base.dir == s.nnt.BaseDirs[0] {
			names = slices.Insert(names, 0, safeModeName)
		}
		for _, name := range names {
			if _, err := s.control().Delete(ctx, path.Join(base.dir, name), false); err != nil {
				return s.refused("delete "+path.Join(base.dir, name), err)
			}
		}
		if err := s.removeMade(ctx, base); err != nil {
			return s.refused("delete "+base.dir, err)
		}
	}
	if !restore {
		return nil
	}
	if _, err := s.control().SetSafeMode(ctx, namenode.SafeModeEnter, true); err != nil {
		failure := s.refused("enter safe mode again, as it was before the run", err)
		if own := new(steps.Error); errors.As(failure, &own) {
			own.Failure.Remedy = "enter it by hand: hdfs dfsadmin -safemode enter"
		}
		return failure
	}
	return nil
}

// removeMade removes the directories that the run made, from the base directory upwards, as far as nothing is in them.
func (s *step) removeMade(ctx context.Context, base ownBase) error {
	dir := base.dir
	for range base.made {
		_, err := s.control().Delete(ctx, dir, false)
		switch {
		case err == nil:
		case classOf(err) == "PathIsNotEmptyDirectoryException", dir != base.dir && denied(err):
			return nil
		default:
			return err
		}
		dir = path.Dir(dir)
	}
	return nil
}
