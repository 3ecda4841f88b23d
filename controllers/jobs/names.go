// Package jobs builds what a run needs in the cluster: the Job of an attempt, the ConfigMap with its plan, their names
// and labels. It is pure: the same input gives the same objects, and nothing of the input is shared with them.
package jobs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/hadoop-bench/operator/runner/report"
)

// Labels of everything that is made for a run.
const (
	// LabelRunUID is the UID of the run.
	LabelRunUID = "hadoopbench.dev/run-uid"
	// LabelKind is the run's kind in lower case.
	LabelKind = "hadoopbench.dev/kind"
	// LabelStep is the step's name.
	LabelStep = "hadoopbench.dev/step"
	// LabelAttempt is a hash of execution, step, repeat and attempt: it tells the pods of attempts apart.
	LabelAttempt = "hadoopbench.dev/attempt"
	// LabelManaged is on every pod and Job of the operator; the manager's cache holds nothing else.
	LabelManaged = "app.kubernetes.io/managed-by"
	// ManagedBy is the value of LabelManaged.
	ManagedBy = "hadoop-bench-operator"
	// AnnotationRun is the run's name; unlike a label it has room for every name.
	AnnotationRun = "hadoopbench.dev/run"
)

// maxPrefix and maxStep bound the readable parts of a name. The longest name of a pod is prefix, step, 8 digits of
// hash, the index (at most 5 digits) and 5 random characters: 22+1+12+1+8+1+5+1+5 = 56, within the 63 of a host name.
const (
	maxPrefix = 22
	maxStep   = 12
)

// AttemptName is the name of an attempt's Job and of its plan's ConfigMap: readable, unique for the attempt, and short
// enough for its pods' names and host names whatever the run is called.
func AttemptName(run string, id report.Identity) string {
	return label(run, maxPrefix) + "-" + label(id.Step, maxStep) + "-" + AttemptHash(id)
}

// ReportName is the name of the ConfigMap with the reports of an execution.
func ReportName(run string, uid types.UID, execution int32) string {
	return label(run, maxPrefix) + "-report-" + hash(string(uid), "report", strconv.Itoa(int(execution)))
}

// RowsName is the name of the ConfigMap with all shards' rows of one repeat of a step.
func RowsName(run string, id report.Identity) string {
	return label(run, maxPrefix) + "-shards-" + AttemptHash(id)
}

// AttemptHash is eight hexadecimal digits that differ between attempts.
func AttemptHash(id report.Identity) string {
	return hash(id.RunUID, strconv.Itoa(int(id.Execution)), id.Step, strconv.Itoa(int(id.Repeat)), strconv.Itoa(int(id.Attempt)))
}

// hash is the start of the SHA-256 over the parts; the separator keeps ("ab","c") apart from ("a","bc").
func hash(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:4])
}

// label cuts s to n characters and makes it fit the inside of a DNS label: run names may hold dots, host names of
// pods may not, and neither part may start or end with a hyphen.
func label(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + ('a' - 'A')
		}
		return '-'
	}, s)
	if len(s) > n {
		s = s[:n]
	}
	s = strings.Trim(s, "-")
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		s = "r" + s
		s = s[:min(len(s), n)]
	}
	return strings.TrimRight(s, "-")
}

// ParseIndexes reads a Job's failedIndexes or completedIndexes, such as "1,3-5", into a set.
func ParseIndexes(s string) (map[int32]bool, error) {
	set := map[int32]bool{}
	if s == "" {
		return set, nil
	}
	for part := range strings.SplitSeq(s, ",") {
		from, to, isRange := strings.Cut(part, "-")
		a, err := strconv.ParseInt(from, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("parse Job indexes %q: %w", s, err)
		}
		b := a
		if isRange {
			if b, err = strconv.ParseInt(to, 10, 32); err != nil {
				return nil, fmt.Errorf("parse Job indexes %q: %w", s, err)
			}
		}
		if a < 0 || b < a || b >= 1<<20 {
			return nil, fmt.Errorf("parse Job indexes %q: %q is no range of indexes", s, part)
		}
		for i := a; i <= b; i++ {
			set[int32(i)] = true
		}
	}
	return set, nil
}
