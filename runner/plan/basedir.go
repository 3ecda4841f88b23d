package plan

import (
	"fmt"
	"path"
	"strings"
)

// maxBaseDir bounds a base directory, in bytes: HDFS allows 8,000 for a whole path.
const maxBaseDir = 4000

// BadDir is a directory that cannot be a base directory of a run, and what to do about it.
type BadDir struct {
	Index       int // in the list
	Dir, Remedy string
}

// BadBaseDirs finds the base directories of a run that could not be told apart from other people's data, or from each
// other: threads of one run in two of them must not meet. Each is told of once, in the list's order.
func BadBaseDirs(dirs []string) []BadDir {
	var bad []BadDir
	for i, dir := range dirs {
		remedy := badBaseDir(dir)
		for j, other := range dirs {
			if remedy == "" && j != i && (dir == other && j < i || strings.HasPrefix(dir, other+"/")) {
				remedy = fmt.Sprintf("choose one outside %s: threads in the two would meet", other)
			}
		}
		if remedy != "" {
			bad = append(bad, BadDir{Index: i, Dir: dir, Remedy: remedy})
		}
	}
	return bad
}

// badBaseDir says what to do about a directory that cannot be one by itself; empty if it can.
func badBaseDir(dir string) string {
	switch {
	case !strings.HasPrefix(dir, "/"):
		return "write an absolute path, with a slash in front"
	case strings.Trim(dir, "/") == "":
		return "name a directory: the root belongs to everybody"
	case path.Clean(dir) != dir:
		return fmt.Sprintf("write it in its shortest form, %s", path.Clean(dir))
	case strings.ContainsAny(dir, ":\x00"):
		return "choose another: HDFS allows neither colons nor zero bytes in names"
	case len(dir) > maxBaseDir:
		return fmt.Sprintf("choose a shorter one, of at most %d bytes", maxBaseDir)
	}
	return ""
}
