package cli

import (
	"errors"
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ParseBlockSize reads a number of bytes by upstream's grammar, with its messages: a whole number, or one with a suffix
// k, m, g, t, p or e of any case, which are powers of 1024.
func ParseBlockSize(text string) (int64, error) {
	size := strings.TrimSpace(text)
	if size == "" {
		return 0, errors.New("the value is empty")
	}
	last := size[len(size)-1]
	if last >= '0' && last <= '9' {
		return parseLong(size)
	}
	power := strings.IndexByte("kmgtpe", last|0x20)
	if power < 0 {
		r, _ := utf8.DecodeLastRuneInString(size)
		//lint:ignore ST1005 it is upstream's message
		return 0, fmt.Errorf("Invalid size prefix '%c' in '%s'. Allowed prefixes are k, m, g, t, p, e(case insensitive)", r, size)
	}
	n, err := parseLong(size[:len(size)-1])
	if err != nil {
		return 0, err
	}
	shift := 10 * (power + 1)
	if n > math.MaxInt64>>shift || n < math.MinInt64>>shift {
		return 0, fmt.Errorf("%s does not fit in a Long", size)
	}
	return n << shift, nil
}

func parseLong(digits string) (int64, error) {
	n, err := strconv.ParseInt(digits, 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return 0, fmt.Errorf("%s does not fit in a Long, which has 64 bits", digits)
	}
	if err != nil {
		//lint:ignore ST1005 it is Java's message
		return 0, fmt.Errorf("For input string: %q", digits)
	}
	return n, nil
}

// cleanBase checks a base directory.
func cleanBase(dir string) (string, error) {
	switch {
	case !strings.HasPrefix(dir, "/"):
		return "", fmt.Errorf("%q is not an absolute path in HDFS", dir)
	case strings.Contains(dir, ":"):
		return "", fmt.Errorf("%q holds a colon, which HDFS forbids in names", dir)
	case strings.Contains(dir, "\x00"):
		return "", fmt.Errorf("%q holds a zero byte, which HDFS forbids in names", dir)
	}
	for part := range strings.SplitSeq(dir, "/") {
		if part == "." || part == ".." {
			return "", fmt.Errorf("%q holds %q; give the path without it", dir, part)
		}
	}
	if dir = path.Clean(dir); dir == "/" {
		return "", errors.New("the root belongs to everybody; name a directory")
	}
	return dir, nil
}
