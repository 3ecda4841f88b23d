package upstream

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hadoop-bench/operator/runner/report"
)

// A Line is one line of a process's output.
type Line struct {
	Text   string
	Errors bool // on standard error
	At     time.Time
}

const (
	// tailLines and tailBytes bound what is kept of a process's last words.
	tailLines = 20
	tailBytes = 200 // of each line
	// reportLines bounds what is kept of reports: each has about twenty.
	reportLines = 1000
)

// watcher reads what the class prints, line by line.
type watcher struct {
	op      string    // whose start is looked for
	started time.Time // when its threads were started; zero before
	report  []string  // from the first report on
	tail    []string
	// failed says why the class will never end: a thread of its has ended early, and it goes on waiting for it, spinning.
	failed         string
	failedOnErrors bool // that was on standard error
	// settled says that the exception is known. It may stand on the line that follows on the same stream.
	settled bool
}

// patterns of the class's lines. Some versions may be set up to print more in front of them.
var (
	startLine  = regexp.MustCompile(`Starting \d+ (\w+)\(s\)\.$`)
	failedLine = regexp.MustCompile(`StatsDaemon \d+ failed:|Exception in thread "StatsDaemon`)
	inputsLine = regexp.MustCompile(`^--- (\w+) inputs ---$`)
)

// see takes the next line and says what is to become of the process.
func (w *watcher) see(l Line) verdict {
	w.read(l)
	switch {
	case w.settled:
		return killNow
	case w.failed != "":
		return killSoon
	}
	return goOn
}

func (w *watcher) read(l Line) {
	text := strings.TrimRight(l.Text, " \r")
	if text != "" {
		w.tail = append(w.tail, report.Shorten(text, tailBytes))
		w.tail = w.tail[max(0, len(w.tail)-tailLines):]
	}
	switch {
	case w.failed != "" && !w.settled && text != "" && l.Errors == w.failedOnErrors:
		w.failed += " " + text
		w.settled = true
	case w.failed == "" && failedLine.MatchString(text):
		w.failed, w.failedOnErrors = text, l.Errors
		// The exception stands on the line itself if the JVM reports it.
		w.settled = !strings.HasSuffix(text, "failed:")
	}
	if l.Errors {
		return
	}
	if match := startLine.FindStringSubmatch(text); match != nil && match[1] == w.op && w.started.IsZero() {
		w.started = l.At
	}
	if len(w.report) > 0 || inputsLine.MatchString(text) {
		if len(w.report) < reportLines {
			w.report = append(w.report, l.Text)
		}
	}
}

// reportText is all reports together.
func (w *watcher) reportText() string { return strings.Join(w.report, "\n") }

// words says for people what the process said last: the first exception of its last lines, else the last line.
func (w *watcher) words() string { return lastWords(strings.Join(w.tail, "\n")) }

// lastWords picks out of a text the line that tells most: the last one that names an exception and is no place in the
// code, else the last one at all.
func lastWords(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	told := slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
		return strings.HasPrefix(strings.TrimSpace(line), "at ") || !strings.Contains(line, "Exception") && !strings.Contains(line, "Error:")
	})
	if len(told) > 0 {
		return strings.TrimSpace(told[len(told)-1])
	}
	return strings.TrimSpace(lines[len(lines)-1])
}
