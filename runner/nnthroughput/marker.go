package nnthroughput

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/hadoop-bench/operator/runner/hadoop/namenode"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// Names of a run's own files below a base directory. All are empty: what they say is in their names, so that they need no
// DataNode.
const (
	markerPrefix  = ownPrefix + "run."
	safeModeName  = ownPrefix + "safemode" // safe mode was on before the run, and is to be entered again after it
	madePrefix    = ownPrefix + "made."    // followed by how many directories the run made: the base and those above it
	trialPrefix   = ownPrefix + "trial."   // followed by the run's UID
	controlClient = "hadoopbench-control"  // holder of the leases of what no thread creates
)

// maxName is dfs.namenode.fs-limits.max-component-length's default, in bytes.
const maxName = 255

// claimant is a run as a marker's name tells it.
type claimant struct {
	uid string
	run string // namespace/name, maybe cut: it is for people only
}

// markerName is the name of the marker of the step's run. A base directory with it is the run's own.
func (s *step) markerName() string {
	return markerOf(claimant{uid: s.env.Plan.Identity.RunUID, run: s.env.Plan.Run})
}

func markerOf(o claimant) string {
	namespace, name, _ := strings.Cut(o.run, "/")
	text := markerPrefix + o.uid + "." + namespace + "." + strings.ReplaceAll(name, "/", ".")
	return text[:min(len(text), maxName)]
}

// parseMarker reads a marker's name; ok is false if it is none.
func parseMarker(name string) (o claimant, ok bool) {
	rest, found := strings.CutPrefix(name, markerPrefix)
	parts := strings.SplitN(rest, ".", 3)
	if !found || len(parts) < 3 || parts[0] == "" {
		return claimant{}, false
	}
	return claimant{uid: parts[0], run: parts[1] + "/" + parts[2]}, true
}

// contents is what lies in a base directory.
type contents struct {
	exists   bool
	mine     bool       // marked by this run
	others   []claimant // other runs that marked it
	safeMode bool       // this run turned safe mode off
	made     int        // directories that the run made, the base directory itself first, then those above it
	entries  []string
}

// sortContents tells the names of a base directory apart, for the run with the given UID. What it has no word for are the
// entries; leftovers of this run's trials are none.
func sortContents(names []string, uid string) contents {
	c := contents{exists: true}
	for _, name := range names {
		o, marked := parseMarker(name)
		switch {
		case marked && o.uid == uid:
			c.mine = true
		case marked:
			c.others = append(c.others, o)
		case name == safeModeName:
			c.safeMode = true
		case strings.HasPrefix(name, madePrefix):
			c.made, _ = strconv.Atoi(strings.TrimPrefix(name, madePrefix)) // what is no number counts as none
		case name == trialPrefix+uid:
		default:
			c.entries = append(c.entries, name)
		}
	}
	return c
}

// look finds out what lies in a base directory.
func (s *step) look(ctx context.Context, base string) (contents, error) {
	entries, exists, err := s.control().List(ctx, base)
	switch {
	case errors.Is(err, namenode.ErrNotDirectory):
		return contents{}, steps.Fail(report.ExitTarget, steps.ReasonBaseDirNotOurs, "set another spec.baseDirName", "%s is a file", base)
	case err != nil:
		return contents{}, s.refused("list "+base, err)
	case !exists:
		return contents{}, nil
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = entry.Path
	}
	return sortContents(names, s.env.Plan.Identity.RunUID), nil
}

// put makes an empty, complete file that is not there yet.
func (s *step) put(ctx context.Context, file string) error {
	o := s.createOptions(controlClient)
	o.Overwrite = false
	if _, err := s.control().Create(ctx, file, o); err != nil {
		return s.refused("create "+file, err)
	}
	if err := s.complete(ctx, s.control(), file, controlClient); err != nil {
		return s.refused("complete "+file, err)
	}
	return nil
}
