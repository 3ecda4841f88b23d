package admin

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// A CompactionState says which compactions of a region run, or were asked for and wait. Values as on the wire. Compactions
// that a server chose by itself count only while they run: while they wait, only its queue length shows them.
type CompactionState int32

// The states, in HBase's words.
const (
	CompactionNone CompactionState = iota
	CompactionMinor
	CompactionMajor
	CompactionMajorAndMinor
)

func (s CompactionState) String() string {
	switch s {
	case CompactionNone:
		return "NONE"
	case CompactionMinor:
		return "MINOR"
	case CompactionMajor:
		return "MAJOR"
	case CompactionMajorAndMinor:
		return "MAJOR_AND_MINOR"
	}
	return fmt.Sprintf("state %d", int32(s))
}

// A RegionCompaction is how far the compactions of one region are.
type RegionCompaction struct {
	Region     string // encoded name
	Server     string // host:port
	State      CompactionState
	StoreFiles int64
	SizeMB     int64 // MiB of its store files, as the server last told the master; up to some seconds old
	// Unknown says why the region's server did not tell, such as while the region moves. Empty: it did.
	Unknown string
}

// A Look is what was seen of a table at one time.
type Look struct {
	Regions      []RegionCompaction
	InTransition []string // encoded names of the table's regions that are being opened, closed, moved or split
	Queues       []Queues // of all RegionServers; nil where QueuesError is set
	QueuesError  error    // why they cannot be read
}

// Settling decides when a table's compactions are over: nothing runs or waits, and the store files stay the same ones in
// number, for long enough without a break. The zero value has seen nothing.
type Settling struct {
	since time.Time        // the first of the looks that saw the table at rest, the last one included
	files map[string]int64 // store files by region at that time
	blind error            // why the queues could not be read in one of them
}

// Add takes a look that was taken at a time after all others. It returns for how long the table has been at rest, and why
// it is not at rest, if it is not.
func (s *Settling) Add(at time.Time, look Look) (rest time.Duration, why string) {
	if why := unrest(look); why != "" {
		*s = Settling{}
		return 0, why
	}
	files := make(map[string]int64, len(look.Regions))
	for _, region := range look.Regions {
		files[region.Region] = region.StoreFiles
	}
	first := s.files == nil
	if first || !maps.Equal(files, s.files) {
		*s = Settling{since: at, files: files, blind: look.QueuesError}
		if first {
			return 0, ""
		}
		return 0, "the store files changed"
	}
	if s.blind == nil {
		s.blind = look.QueuesError
	}
	return at.Sub(s.since), ""
}

// Blind says why the queues could not be read at some time of the rest. Nil: they were read and empty all the time.
func (s *Settling) Blind() error { return s.blind }

// unrest says what is going on, in a few words; empty: nothing.
func unrest(look Look) string {
	var parts []string
	states := map[CompactionState]int{}
	unknown, first := 0, ""
	for _, region := range look.Regions {
		switch {
		case region.Unknown != "":
			if unknown++; first == "" {
				first = fmt.Sprintf("%s: %s", region.Region, region.Unknown)
			}
		case region.State != CompactionNone:
			states[region.State]++
		}
	}
	for _, state := range slices.Sorted(maps.Keys(states)) {
		parts = append(parts, fmt.Sprintf("%s in %d of %d regions", state, states[state], len(look.Regions)))
	}
	if n := len(look.InTransition); n > 0 {
		parts = append(parts, fmt.Sprintf("%d regions in transition", n))
	}
	if unknown > 0 {
		parts = append(parts, fmt.Sprintf("%d regions do not answer, the first %s", unknown, first))
	}
	compactions := int64(0)
	for _, q := range look.Queues {
		compactions += q.Compaction
	}
	if compactions > 0 {
		parts = append(parts, fmt.Sprintf("%d compactions wait in the RegionServers", compactions))
	}
	if len(look.Regions) == 0 {
		parts = append(parts, "no region is online")
	}
	return strings.Join(parts, ", ")
}
