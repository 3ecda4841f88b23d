package upstream

import "time"

// JavaMajor is for tests.
func JavaMajor(version string) int { return javaMajor(version) }

// JavaVersion is for tests.
func JavaVersion(output string) string { return javaVersion(output) }

// LastWords is for tests.
func LastWords(text string) string { return lastWords(text) }

// Watched reads lines of the class's standard output and says what was seen.
func Watched(op string, lines []string) (started bool, failed, report string, killed bool) {
	w := &watcher{op: op}
	for _, line := range lines {
		killed = w.see(Line{Text: line, At: time.Unix(1, 0)}) == killNow || killed
	}
	return !w.started.IsZero(), w.failed, w.reportText(), killed
}
