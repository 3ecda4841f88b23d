package dfsio

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// markerVersion is the version of the marker's format.
const markerVersion = 1

// maxMarker bounds what is read of a marker, in bytes.
const maxMarker = 64 << 10

// A Marker lies in a base directory and says which run's data it holds.
type Marker struct {
	Version int       `json:"version"`
	RunUID  string    `json:"runUID"`
	Run     string    `json:"run"`     // namespace/name
	Created []string  `json:"created"` // directories the run made, outermost first; the marker is written before the last
	MadeAt  time.Time `json:"madeAt"`
}

// ParseMarker reads a marker's text.
func ParseMarker(text []byte) (Marker, error) {
	var m Marker
	if err := json.Unmarshal(text, &m); err != nil {
		return Marker{}, fmt.Errorf("read marker: %w", err)
	}
	if m.Version != markerVersion {
		return Marker{}, fmt.Errorf("read marker: version %d, want %d", m.Version, markerVersion)
	}
	if m.RunUID == "" {
		return Marker{}, errors.New("read marker: it names no run")
	}
	for _, dir := range m.Created {
		if !strings.HasPrefix(dir, "/") || path.Clean(dir) != dir || dir == "/" {
			return Marker{}, fmt.Errorf("read marker: made directory %q is not a path", dir)
		}
	}
	return m, nil
}

// readMarker returns the marker of the base directory. Its error wraps fs.ErrNotExist if there is none.
func (s *step) readMarker() (Marker, error) {
	file, err := s.fs.Open(s.layout.marker())
	if err != nil {
		return Marker{}, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxMarker))
	if err != nil {
		return Marker{}, fmt.Errorf("read marker: %w", err)
	}
	m, err := ParseMarker(text)
	if err != nil {
		return Marker{}, &steps.Error{
			Exit: report.ExitTarget, Cause: err,
			Failure: report.Failure{
				Reason:  steps.ReasonBaseDirNotOurs,
				Message: fmt.Sprintf("%s is not a marker this program wrote: %v", s.layout.marker(), err),
				Remedy:  "look at what lies in spec.baseDir; remove it, or set another spec.baseDir",
			},
		}
	}
	return m, nil
}

// writeMarker claims the base directory for this run. Creating is exclusive in HDFS, so of two runs only one succeeds;
// the other's error wraps fs.ErrExist.
func (s *step) writeMarker(created []string) error {
	text, err := json.Marshal(Marker{
		Version: markerVersion, RunUID: s.layout.uid, Run: s.env.Plan.Run, Created: created,
		MadeAt: s.env.Clock.Now().UTC().Round(0).Truncate(time.Second),
	})
	if err != nil {
		return fmt.Errorf("write marker: %w", err)
	}
	file, err := s.fs.Create(s.layout.marker(), s.replication(), s.blockSize())
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		// Half a marker would look like somebody else's.
		return errors.Join(fmt.Errorf("write marker: %w", err), s.fs.Remove(s.layout.marker()))
	}
	return nil
}

// requireOwn fails unless the base directory is this run's.
func (s *step) requireOwn(doing string) error {
	const remedy = "set another spec.baseDir, or remove what lies there if nobody needs it"
	m, err := s.readMarker()
	if errors.Is(err, fs.ErrNotExist) {
		return steps.Fail(report.ExitTarget, steps.ReasonNotOurs, remedy,
			"%s refused: %s is missing, so %s is not known to be this run's", doing, s.layout.marker(), s.layout.base)
	}
	if err != nil {
		return s.refused("read "+s.layout.marker(), err)
	}
	if m.RunUID != s.layout.uid {
		return steps.Fail(report.ExitTarget, steps.ReasonNotOurs, remedy,
			"%s refused: %s belongs to run %s (UID %s)", doing, s.layout.base, m.Run, m.RunUID)
	}
	s.marker = m
	return nil
}
