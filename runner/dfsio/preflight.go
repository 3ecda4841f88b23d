package dfsio

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// preflightTimeout bounds the whole of preflight. Listing a directory of a million files is what takes longest.
const preflightTimeout = 2 * time.Minute

// preflight finds out whether the run can work, reports what the target is, and, if the run writes, claims the base
// directory. Nothing is written before everything else was found good.
func (s *step) preflight(parent context.Context) error {
	ctx, cancel := context.WithTimeout(parent, preflightTimeout)
	defer cancel()
	if err := s.env.Gate.Ready(); err != nil {
		return err
	}
	defer func() {
		if s.fs != nil {
			s.disconnect()
		}
	}()
	for _, phase := range []func(context.Context) error{
		s.reach, s.checkSettings, s.checkBaseDir, s.checkSpace, s.claim, s.clockFact,
	} {
		if err := phase(ctx); err != nil {
			if ctx.Err() != nil && parent.Err() == nil {
				return steps.Fail(report.ExitTarget, steps.ReasonNameNodeUnreachable, "look at the NameNode's load and log",
					"%s did not answer everything within %s: %v", s.target.fs.URI, preflightTimeout, err)
			}
			return err
		}
	}
	return nil
}

// checkSettings compares block size and replication with what the NameNode allows, and collects the facts.
func (s *step) checkSettings(context.Context) error {
	if err := s.askDefaults(); err != nil {
		return err
	}
	if s.defaults.EncryptsTransfer {
		return steps.Fail(report.ExitTarget, steps.ReasonNotSupported, "use a cluster with unencrypted data transfer",
			"%s wants data transfer encrypted (dfs.encrypt.data.transfer): not supported yet", s.target.fs.URI)
	}
	s.body.Facts = map[string]string{
		"fs":               s.target.fs.URI,
		"nameNode":         s.fs.NameNode(),
		"user":             s.target.user,
		"client":           s.dfsio.Client,
		"blockSize":        strconv.FormatInt(s.blockSize(), 10),
		"replication":      strconv.Itoa(s.replication()),
		"defaultBlockSize": strconv.FormatInt(s.defaults.BlockSize, 10),
		// The client's own, whatever the NameNode's default.
		"checksum": fmt.Sprintf("CRC32C/%d", checksumBytes),
		"runner":   s.env.Version,
		"go":       s.env.GoVersion,
	}
	if !s.has(plan.TestWrite) {
		return nil
	}
	blockSize, replication := s.blockSize(), int64(s.replication())
	if blockSize < s.target.minBlockSize || blockSize%checksumBytes != 0 {
		return steps.Fail(report.ExitPlan, steps.ReasonBlockSizeInvalid,
			fmt.Sprintf("set spec.blockSize to a multiple of %d, at least the NameNode's dfs.namenode.fs-limits.min-block-size", checksumBytes),
			"block size %d: not a multiple of %d of at least %d bytes", blockSize, checksumBytes, s.target.minBlockSize)
	}
	if replication < s.target.minReplication || replication > s.target.maxReplication {
		return steps.Fail(report.ExitPlan, steps.ReasonReplicationInvalid,
			"set spec.replication within the NameNode's dfs.namenode.replication.min and dfs.replication.max",
			"replication %d: not between %d and %d", replication, s.target.minReplication, s.target.maxReplication)
	}
	return nil
}

// checkBaseDir looks at what lies in the base directory.
func (s *step) checkBaseDir(context.Context) error {
	m, err := s.readMarker()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s.checkUnclaimed()
	case err != nil:
		return s.refused("read "+s.layout.marker(), err)
	case m.RunUID == s.layout.uid:
		s.marker = m
		return s.checkData()
	case s.has(plan.TestWrite):
		return leftovers(s.layout.base, m)
	}
	// Another run's data may be read.
	return s.checkData()
}

func leftovers(base string, m Marker) error {
	return steps.Fail(report.ExitTarget, steps.ReasonLeftoversFound,
		fmt.Sprintf("if nobody needs that run's data: hdfs dfs -rm -r %s; else set another spec.baseDir", base),
		"%s holds the data of run %s (UID %s), made at %s", base, m.Run, m.RunUID, m.MadeAt.UTC().Format(time.RFC3339))
}

// checkUnclaimed looks at a base directory without a marker: it must be empty or missing, and the run must write.
func (s *step) checkUnclaimed() error {
	if !s.has(plan.TestWrite) && s.has(plan.TestRead) {
		return steps.Fail(report.ExitTarget, steps.ReasonDataMissing,
			"put write before read in spec.tests, or set spec.baseDir to where a run left its data",
			"%s holds no data of a run: %s is missing", s.layout.base, markerName)
	}
	info, err := s.fs.Stat(s.layout.base)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return s.refused("look at "+s.layout.base, err)
	}
	if !info.Dir {
		return steps.Fail(report.ExitTarget, steps.ReasonBaseDirNotOurs, "set another spec.baseDir", "%s is a file", s.layout.base)
	}
	if err := refuseKind(s.layout.base, info); err != nil {
		return err
	}
	entries, err := s.fs.List(s.layout.base)
	if err != nil {
		return s.refused("list "+s.layout.base, err)
	}
	var foreign []string
	for _, entry := range entries {
		if !s.layout.ownTemp(entry.Name) {
			foreign = append(foreign, entry.Name)
		}
	}
	if len(foreign) > 0 && s.has(plan.TestWrite) {
		return steps.Fail(report.ExitTarget, steps.ReasonBaseDirNotOurs, "set spec.baseDir to a directory that does not exist or is empty",
			"%s holds %d entries that no run made, such as %s", s.layout.base, len(foreign), strings.Join(foreign[:min(3, len(foreign))], ", "))
	}
	return nil
}

// refuseKind refuses directories with features that the client cannot serve, or would serve wrongly without a word.
func refuseKind(dir string, info FileInfo) error {
	what := ""
	switch {
	case info.Encrypted:
		what = "lies in an encryption zone"
	case info.ErasureCoded:
		what = "has an erasure coding policy"
	default:
		return nil
	}
	return steps.Fail(report.ExitTarget, steps.ReasonNotSupported, "set spec.baseDir to a directory with plain replication", "%s %s: not supported yet", dir, what)
}

// checkData looks at the data directory of a base directory that a run claimed. If this run only reads, every file must
// be there and long enough.
func (s *step) checkData() error {
	info, err := s.fs.Stat(s.layout.data())
	if err == nil {
		err = refuseKind(s.layout.data(), info)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s.refused("look at "+s.layout.data(), err)
	}
	if s.has(plan.TestWrite) || !s.has(plan.TestRead) {
		return nil
	}
	sizes, err := s.dataSizes()
	if err != nil {
		return err
	}
	const remedy = "read fewer files or less of each, or write them anew: put write before read in spec.tests"
	for i := range s.dfsio.NrFiles {
		size, ok := sizes[i]
		if !ok {
			return steps.Fail(report.ExitTarget, steps.ReasonDataMissing, remedy, "%s does not exist; %d of %d files do", s.layout.file(i), len(sizes), s.dfsio.NrFiles)
		}
		if size < s.dfsio.Size {
			return steps.Fail(report.ExitTarget, steps.ReasonDataMissing, remedy, "%s has %d bytes, less than the %d to read", s.layout.file(i), size, s.dfsio.Size)
		}
	}
	return nil
}

// dataSizes returns the sizes of the run's data files that exist, by number.
func (s *step) dataSizes() (map[int32]int64, error) {
	entries, err := s.fs.List(s.layout.data())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, s.refused("list "+s.layout.data(), err)
	}
	sizes := make(map[int32]int64, len(entries))
	for _, entry := range entries {
		if i, ok := fileIndex(entry.Name, s.dfsio.NrFiles); ok && !entry.Dir {
			sizes[i] = entry.Size
		}
	}
	return sizes, nil
}

// checkSpace compares what the run writes with what is free. Files of this run that are there already are replaced.
func (s *step) checkSpace(context.Context) error {
	space, err := s.fs.Space()
	if err != nil {
		return s.refused("ask "+s.target.fs.URI+" for its free space", err)
	}
	s.body.Facts["capacityBytes"] = strconv.FormatInt(space.Capacity, 10)
	s.body.Facts["remainingBytes"] = strconv.FormatInt(space.Remaining, 10)
	if space.Capacity == 0 {
		return steps.Fail(report.ExitTarget, steps.ReasonNoDataNodes, remedyNoDataNodes, "%s has no live DataNode", s.target.fs.URI)
	}
	if !s.has(plan.TestWrite) {
		return nil
	}
	var present uint64
	if s.marker.RunUID != "" {
		sizes, err := s.dataSizes()
		if err != nil {
			return err
		}
		for _, size := range sizes {
			present += uint64(size)
		}
	}
	over, need := bits.Mul64(uint64(s.dfsio.NrFiles)*uint64(s.replication()), uint64(s.dfsio.Size))
	have := uint64(space.Remaining) + present*uint64(s.replication())
	if over > 0 || need > have {
		return steps.Fail(report.ExitTarget, steps.ReasonNotEnoughSpace, "lower spec.nrFiles, spec.size or spec.replication, or make room",
			"%d files of %d bytes with %d replicas need more than the %d bytes that are free", s.dfsio.NrFiles, s.dfsio.Size, s.replication(), have)
	}
	return nil
}

// claim makes the directories and the marker if the run writes and has not done so before.
func (s *step) claim(context.Context) error {
	if !s.has(plan.TestWrite) {
		return nil
	}
	made, err := s.makeBase()
	if err != nil {
		return err
	}
	if s.marker.RunUID == "" {
		_, err := s.fs.Stat(s.layout.data())
		missing := errors.Is(err, fs.ErrNotExist)
		if err != nil && !missing {
			return s.refused("look at "+s.layout.data(), err)
		}
		created := slices.Clone(made)
		if missing {
			created = append(created, s.layout.data())
		}
		if err := s.writeMarker(created); err != nil {
			s.undo(made)
			return s.claimFailed(err)
		}
	}
	if err := s.fs.Mkdir(s.layout.data()); err != nil && !errors.Is(err, fs.ErrExist) {
		return s.refused("make directory "+s.layout.data(), err)
	}
	return nil
}

// makeBase makes the base directory and what is missing above it, and returns what it made, outermost first.
func (s *step) makeBase() (made []string, err error) {
	for _, dir := range parents(s.layout.base) {
		err := s.fs.Mkdir(dir)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			s.undo(made)
			return nil, s.refused("make directory "+dir, err)
		}
		made = append(made, dir)
	}
	return made, nil
}

// undo removes directories made a moment ago, as far as they are empty.
func (s *step) undo(made []string) {
	for _, dir := range slices.Backward(made) {
		if err := s.fs.Remove(dir); err != nil {
			s.env.Log.Warn("Directory stays", "path", dir, "error", err)
		}
	}
}

// claimFailed tells a run that was quicker from other failures.
func (s *step) claimFailed(err error) error {
	if !errors.Is(err, fs.ErrExist) {
		return s.refused("write "+s.layout.marker(), err)
	}
	if m, readErr := s.readMarker(); readErr == nil {
		return leftovers(s.layout.base, m)
	}
	return steps.Fail(report.ExitTarget, steps.ReasonLeftoversFound, "set another spec.baseDir", "another run claimed %s just now", path.Dir(s.layout.marker()))
}

// clockFact measures the clock's offset, which shows that files can be made and removed. Without the right to write, a
// run that only reads goes on.
func (s *step) clockFact(ctx context.Context) error {
	if !s.has(plan.TestWrite) && !s.has(plan.TestRead) {
		return nil
	}
	err := s.readClock(ctx)
	if err == nil || !s.has(plan.TestWrite) && (errors.Is(err, fs.ErrPermission) || inSafeMode(err)) {
		return nil
	}
	return s.refused("make a file in "+s.layout.base, err)
}
