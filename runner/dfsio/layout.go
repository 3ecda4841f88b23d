package dfsio

import (
	"path"
	"strconv"
	"strings"
)

// Names below a base directory. The data's are TestDFSIO's.
const (
	dataDir    = "io_data"
	dataPrefix = "test_io_"
	markerName = "_hadoopbench-run.json"
	tempPrefix = "_hadoopbench-tmp-" // followed by the run's UID, so that a leftover is known to be ours
)

// layout is where the files of a run lie.
type layout struct {
	base string
	uid  string
}

func (l layout) data() string        { return path.Join(l.base, dataDir) }
func (l layout) file(i int32) string { return path.Join(l.data(), dataPrefix+strconv.Itoa(int(i))) }
func (l layout) marker() string      { return path.Join(l.base, markerName) }

// temp is a file that a shard makes and removes itself.
func (l layout) temp(purpose string) string {
	return path.Join(l.base, tempPrefix+l.uid+"-"+purpose)
}

// ownTemp tells a temporary file of this run, left by a shard that was killed.
func (l layout) ownTemp(name string) bool { return strings.HasPrefix(name, tempPrefix+l.uid+"-") }

// fileIndex is the number of a data file's name; ok is false if it is not exactly one of the first n.
func fileIndex(name string, n int32) (index int32, ok bool) {
	digits, found := strings.CutPrefix(name, dataPrefix)
	i, err := strconv.ParseInt(digits, 10, 32)
	if !found || err != nil || i < 0 || i >= int64(n) || strconv.FormatInt(i, 10) != digits {
		return 0, false
	}
	return int32(i), true
}

// parents returns the directories from below the root down to dir, itself last.
func parents(dir string) []string {
	var list []string
	for ; dir != "/"; dir = path.Dir(dir) {
		list = append([]string{dir}, list...)
	}
	return list
}
