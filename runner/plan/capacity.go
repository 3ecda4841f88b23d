package plan

import "math"

// maxDepth is how deep the original tool's directories go.
const maxDepth = 19

// Capacity is how many files, or directories of mkdirs, NNThroughputBenchmark can name with at most perDir of them in each
// directory: perDir in each of perDir + perDir² + ... + perDir¹⁹ directories. It is math.MaxInt64 if there are more.
func Capacity(perDir int64) int64 {
	if perDir < 1 {
		return 0
	}
	level, dirs := int64(1), int64(0)
	for range maxDepth {
		if level > math.MaxInt64/perDir {
			return math.MaxInt64
		}
		level *= perDir
		if dirs > math.MaxInt64-level {
			return math.MaxInt64
		}
		dirs += level
	}
	if dirs > math.MaxInt64/perDir {
		return math.MaxInt64
	}
	return dirs * perDir
}

// BlockReportPerDir is how many of the files that blockReport makes lie in one directory.
const BlockReportPerDir = 100
