package step

import (
	"time"

	"github.com/hadoop-bench/operator/runner/hbase/admin"
)

// ParseState reads a state and writes it again; ok is false if it is none.
func ParseState(text string) (again string, ok bool) {
	s, ok := parseState(text)
	return s.String(), ok
}

// Owned tells whether attributes name an owner.
func Owned(values map[string]string) bool {
	_, ok := ownerOf(values)
	return ok
}

// ReadPage reads a page of a server's web pages, as one of each sort.
func ReadPage(body []byte) []error {
	var w webServer
	return []error{w.readJVM(body), w.readMemory(body), w.readRegionServer(body), w.readConf(body)}
}

// Rest goes on with the rest that earlier slices saw.
func Rest(earlier map[string]string, now time.Time, look admin.Look) (rest time.Duration, facts map[string]string) {
	w := waitOf(earlier, now)
	rest, _ = w.add(now, look)
	return rest, w.facts()
}
