package report

import "slices"

// MergedPart is what all shards recorded under one name of a step that mixes kinds of operations.
type MergedPart struct {
	Name    string  `json:"name"` // as in the upstream tool's report: READ, READ-FAILED, READ-MODIFY-WRITE, ...
	Count   int64   `json:"count"`
	Returns Returns `json:"returns,omitempty"` // operations by the name of their status

	// OpsPerSec is Count over the wall clock time from the first start to the last end; absent without such a time.
	OpsPerSec *float64 `json:"opsPerSec,omitempty"`

	Latency           *Latency   `json:"latencyNanos,omitempty"` // absent without a recorded latency
	Histogram         *Histogram `json:"histogram,omitempty"`
	Intended          *Latency   `json:"intendedLatencyNanos,omitempty"`
	IntendedHistogram *Histogram `json:"intendedHistogram,omitempty"`
}

// addPart counts what one more shard recorded under a name.
func (m *Merged) addPart(p *Part) error {
	i := slices.IndexFunc(m.Parts, func(have MergedPart) bool { return have.Name == p.Name })
	if i < 0 {
		i = len(m.Parts)
		m.Parts = append(m.Parts, MergedPart{Name: p.Name})
	}
	sum := &m.Parts[i]
	var err error
	if sum.Returns, err = sum.Returns.add(p.Returns); err != nil {
		return err
	}
	if err := addHistogram(&sum.Histogram, p.Latency); err != nil {
		return err
	}
	return addHistogram(&sum.IntendedHistogram, p.Intended)
}

// finishParts orders the parts and reads their histograms, once all shards and the times are known.
func (m *Merged) finishParts() {
	slices.SortFunc(m.Parts, func(a, b MergedPart) int { return compareParts(a.Name, b.Name) })
	for i := range m.Parts {
		p := &m.Parts[i]
		p.Count = partCount(p.Histogram, p.IntendedHistogram)
		p.OpsPerSec = quotient(float64(p.Count)*1e6, float64(m.Times.WallMicros))
		p.Latency, p.Intended = LatencyOf(p.Histogram), LatencyOf(p.IntendedHistogram)
	}
}

// Part is what was recorded under a name; nil if nothing was.
func (m *Merged) Part(name string) *MergedPart {
	i := slices.IndexFunc(m.Parts, func(p MergedPart) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &m.Parts[i]
}
