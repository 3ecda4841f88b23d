package nnthroughput

import (
	"fmt"
	"math"
	"path"
	"strconv"

	"github.com/hadoop-bench/operator/runner/report"
)

// Names as NNThroughputBenchmark gives them.
const (
	filePrefix = "/ThroughputBench"
	dirPrefix  = "/ThroughputBenchDir"
)

// warmUpSuffix follows the name of an attempt's directory in that of its warm-up's.
const warmUpSuffix = ".warmup"

// AttemptDir is where an attempt works below a base directory: upstream's place for the first one, and a place of its own
// for each other, so that none meets what another left.
func AttemptDir(base string, id report.Identity) string {
	name := id.Step
	switch {
	case id.Execution > 1:
		name += fmt.Sprintf(".%d.%d.%d", id.Execution, id.Repeat, id.Attempt)
	case id.Repeat > 1 || id.Attempt > 1:
		name += fmt.Sprintf(".%d.%d", id.Repeat, id.Attempt)
	}
	return path.Join(base, name)
}

// tree names files, or directories, by one counter from 0: perDir in a directory, the directories numbered like an
// odometer whose wheels have perDir positions, and which grows by a wheel when it overflows. Directories lie among files.
type tree struct {
	perDir int64
}

// path is the n-th name below dir; n must be less than plan.Capacity(perDir).
func (t tree) path(dir string, n int64) string {
	buf := make([]byte, 0, 256)
	buf = append(buf, dir...)
	buf = t.appendDir(buf, n/t.perDir)
	buf = append(buf, filePrefix...)
	return string(strconv.AppendInt(buf, n, 10))
}

// appendDir appends the path of the d-th directory. Level l has perDir^l directories, whose numbers written with l digits
// to the base perDir are the positions of the wheels.
func (t tree) appendDir(buf []byte, d int64) []byte {
	levels, count := 1, t.perDir
	for d >= count {
		d -= count
		levels++
		if count > math.MaxInt64/t.perDir {
			break // all further numbers lie on this level
		}
		count *= t.perDir
	}
	var wheels [64]int64
	for l := levels - 1; l >= 0; l-- {
		wheels[l] = d % t.perDir
		d /= t.perDir
	}
	for _, w := range wheels[:levels] {
		buf = append(buf, dirPrefix...)
		buf = strconv.AppendInt(buf, w, 10)
	}
	return buf
}

// names makes the names that one thread asks for. It remembers the directory of the last one, since the next mostly lies
// there, too. The zero value with a tree is ready; one goroutine may use it.
type names struct {
	tree
	dir    string // of the attempt, of the remembered directory
	number int64  // of the remembered directory
	prefix string // the remembered directory's path and the file's prefix
}

// at is tree.path with one allocation.
func (m *names) at(dir string, n int64) string {
	if d := n / m.perDir; m.prefix == "" || d != m.number || dir != m.dir {
		m.dir, m.number = dir, d
		m.prefix = string(append(m.appendDir([]byte(dir), d), filePrefix...))
	}
	var digits [20]byte
	return m.prefix + string(strconv.AppendInt(digits[:0], n, 10))
}

// dir is where a global thread's items of this attempt lie.
func (s *step) dir(owner int64) string { return s.dirs[owner%int64(len(s.dirs))] }
