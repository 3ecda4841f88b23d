package dfsio

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/steps"
)

// maxLeft bounds the names in the facts.
const maxLeft = 5

// clean removes what the run made and nothing else. Without a base directory of this run, the test "clean" fails, since
// the user asked for it, while the cleanup at the end of a run has nothing to do.
func (s *step) clean(ctx context.Context, isTest bool) error {
	if err := s.env.Gate.Ready(); err != nil {
		return err
	}
	s.body.Start = s.env.Clock.Now().UnixMicro()
	err := s.requireOwn("clean")
	if own := new(steps.Error); !isTest && errors.As(err, &own) &&
		(own.Failure.Reason == steps.ReasonNotOurs || own.Failure.Reason == steps.ReasonBaseDirNotOurs) {
		s.env.Log.Info("Nothing to clean up", "why", own.Failure.Message)
		err = nil
	} else if err == nil {
		err = s.removeOwn(ctx, isTest && s.writtenAgain())
	}
	s.body.End = max(s.body.Start, s.env.Clock.Now().UnixMicro())
	return err
}

// writtenAgain tells whether a write follows a clean in the run, which then needs the directories and the marker.
func (s *step) writtenAgain() bool {
	i := slices.Index(s.dfsio.Tests, plan.TestClean)
	return i >= 0 && slices.Contains(s.dfsio.Tests[i:], plan.TestWrite)
}

// removeOwn removes data files, then, unless the directories are needed again, temporary files, the marker and the
// directories the run made. What else lies there stays and is named in the facts.
func (s *step) removeOwn(ctx context.Context, keepDirs bool) error {
	left, err := s.removeEntries(ctx, s.layout.data(), func(name string) bool {
		_, ok := fileIndex(name, s.dfsio.NrFiles)
		return ok
	})
	if err != nil {
		return err
	}
	if !keepDirs {
		rest, err := s.removeDirs(ctx)
		if err != nil {
			return err
		}
		left = append(left, rest...)
	}
	if len(left) > 0 {
		names := strings.Join(left[:min(len(left), maxLeft)], " ")
		if len(left) > maxLeft {
			names = fmt.Sprintf("%s and %d more", names, len(left)-maxLeft)
		}
		s.body.Facts = map[string]string{"left": names}
		s.env.Log.Warn("Files of others were left alone", "left", left)
	}
	return nil
}

// removeDirs removes the marker and the directories that the run made, innermost first. The marker goes last but for
// the base directory itself: as long as it is there, cleaning can be repeated.
func (s *step) removeDirs(ctx context.Context) (left []string, err error) {
	made := slices.Clone(s.marker.Created)
	slices.Reverse(made)
	if i := slices.Index(made, s.layout.data()); i >= 0 {
		made = slices.Delete(made, i, i+1)
		if err := s.removeDir(s.layout.data()); err != nil {
			return nil, err
		}
	}
	left, err = s.removeEntries(ctx, s.layout.base, func(name string) bool { return s.layout.ownTemp(name) })
	if err != nil {
		return nil, err
	}
	own := []string{s.layout.marker(), s.layout.data()}
	left = slices.DeleteFunc(left, func(p string) bool { return slices.Contains(own, p) })
	if err := s.fs.Remove(s.layout.marker()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, s.refused("remove "+s.layout.marker(), err)
	}
	for _, dir := range made {
		// The marker lies in a directory others may write to: it must not make us remove anything outside the base.
		if dir != s.layout.base && !strings.HasPrefix(s.layout.base, dir+"/") {
			continue
		}
		if err := s.removeDir(dir); err != nil {
			return nil, err
		}
	}
	return left, nil
}

// removeDir removes a directory unless something is in it.
func (s *step) removeDir(dir string) error {
	err := s.fs.Remove(dir)
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrNotEmpty) {
		return nil
	}
	return s.refused("remove "+dir, err)
}

// removeEntries removes the files of a directory whose names are ours, and returns the paths of all other entries.
func (s *step) removeEntries(ctx context.Context, dir string, ours func(name string) bool) (left []string, err error) {
	entries, err := s.fs.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, s.refused("list "+dir, err)
	}
	for _, entry := range entries {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		file := path.Join(dir, entry.Name)
		if entry.Dir || !ours(entry.Name) {
			left = append(left, file)
			continue
		}
		if err := s.fs.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, s.refused("remove "+file, err)
		}
		s.done.Add(entry.Size)
		s.body.Operations++
	}
	return left, nil
}
