package report

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

const (
	// MaxOutliers bounds the slowest, the fastest and the failed shards that a merged result names.
	MaxOutliers = 5
	// MaxErrorClasses bounds the classes of errors of a merged result; the rarest beyond it count as OtherErrors.
	MaxErrorClasses = 16
)

// MergeInput is what Merge works on.
type MergeInput struct {
	// Expected is how many shards the attempt has: indices 0 to Expected-1.
	Expected int32
	// Reports are the reports that were gathered, in any order, at most one per shard, all of one attempt. A report
	// that Decode refused does not belong here: its shard is missing.
	Reports []*Report
	// Nodes names the node of a shard's pod by index; a missing entry is an unknown node.
	Nodes map[int32]string
}

// Merged is what all shards of one attempt did together. Times are microseconds since the Unix epoch by the target's
// clock: each shard's own time plus its clock offset.
type Merged struct {
	Identity
	Shards ShardCounts `json:"shards"`

	Operations int64        `json:"operations"`        // completed, of all shards
	Bytes      int64        `json:"bytes"`             // moved by those operations
	Planned    int64        `json:"planned,omitempty"` // bytes (or operations) planned for the shards that reported
	Due        int64        `json:"due,omitempty"`     // operations that a rate asked for; 0 without one
	Errors     []ErrorCount `json:"errors,omitempty"`  // by class, the most frequent first; First is the lowest shard's

	// Tried is how many operations ended, failed ones included, and Unfinished how many were cut off, where a step counts
	// them.
	Tried      int64 `json:"tried,omitempty"`
	Unfinished int64 `json:"unfinished,omitempty"`

	// SetUpMaxMicros is how long the slowest shard's set-up took.
	SetUpMaxMicros int64 `json:"setUpMaxMicros,omitempty"`

	Times Times  `json:"times"`
	Rates Rates  `json:"rates"`
	Clock Clocks `json:"clock"`
	Use   *Use   `json:"client,omitempty"` // absent if no shard watched itself

	Latency   *Latency   `json:"latencyNanos,omitempty"` // absent without a recorded latency
	Histogram *Histogram `json:"histogram,omitempty"`
	// Intended is the latency from when the rate's schedule wanted an operation to begin until its end; absent without one.
	Intended          *Latency   `json:"intendedLatencyNanos,omitempty"`
	IntendedHistogram *Histogram `json:"intendedHistogram,omitempty"`
	Series            *Series    `json:"series,omitempty"`

	// Parts are what a step that mixes kinds of operations recorded under each name.
	Parts []MergedPart `json:"parts,omitempty"`

	// SeriesMismatch: the shards' series begin at different times or have different bucket widths, as those of shards
	// without a common start do. There is no merged series then, and no window; every other figure holds.
	SeriesMismatch bool `json:"seriesMismatch,omitempty"`

	Slowest []ShardRow    `json:"slowest,omitempty"` // by the shard's own rate, the slowest first
	Fastest []ShardRow    `json:"fastest,omitempty"` // the fastest first; no shard is in both
	Failed  []FailedShard `json:"failed,omitempty"`  // partial and failed shards, the lowest indices
}

// ShardCounts says what became of the shards.
type ShardCounts struct {
	Expected int32 `json:"expected"`
	Complete int32 `json:"complete"`
	Partial  int32 `json:"partial"`
	Failed   int32 `json:"failed"`
	Missing  int32 `json:"missing"` // without a usable report
	Started  int32 `json:"started"` // those that began to measure, whatever became of them
}

// FailedShard is a shard that did not complete.
type FailedShard struct {
	Index    int32    `json:"index"`
	Node     string   `json:"node,omitempty"`
	Outcome  Outcome  `json:"outcome"`
	ExitCode int      `json:"exit"`
	Failure  *Failure `json:"failure,omitempty"`
}

// Clocks is how far the shards' clocks were from the target's.
type Clocks struct {
	Unknown              int32 `json:"unknown"`         // shards that started without knowing their offset; they are not corrected
	MaxOffsetMicros      int64 `json:"maxOffsetMicros"` // largest absolute offset
	MaxOffsetIndex       int32 `json:"maxOffsetIndex"`  // the shard that had it
	MaxUncertaintyMicros int64 `json:"maxUncertaintyMicros"`
}

// Use is what measuring cost the shards: the worst of them, since one that is held back is enough to spoil a result.
type Use struct {
	// MaxCPURatio is the CPU time of the busiest shard over what it was allowed in its execution time.
	MaxCPURatio float64 `json:"maxCPURatio"`
	MaxCPUIndex int32   `json:"maxCPUIndex"`
	MaxCPUNode  string  `json:"maxCPUNode,omitempty"`
	// MaxThrottledRatio is the largest part of its execution time that a shard was kept from running.
	MaxThrottledRatio float64 `json:"maxThrottledRatio"`
	MaxThrottledIndex int32   `json:"maxThrottledIndex"`
	MaxThrottledNode  string  `json:"maxThrottledNode,omitempty"`
}

// Merge makes one result of the reports of an attempt. It is pure, and its result depends on the set of reports only, not
// on their order. It refuses an invalid report, two reports of one shard, an index out of range, reports of different
// attempts, and sums that do not fit.
func Merge(in MergeInput) (*Merged, error) {
	shards, err := inOrder(in)
	if err != nil {
		return nil, fmt.Errorf("merging reports: %w", err)
	}
	m := &Merged{Shards: ShardCounts{Expected: in.Expected, Missing: in.Expected - int32(len(shards))}}
	for i, s := range shards {
		if i == 0 {
			m.Identity = s.Envelope.Identity
		}
		if err := m.add(s); err != nil {
			return nil, fmt.Errorf("merging the report of shard %d: %w", s.Envelope.Index, err)
		}
	}
	if m.Errors, err = boundClasses(m.Errors, MaxErrorClasses); err != nil {
		return nil, fmt.Errorf("merging errors: %w", err)
	}
	started := slices.DeleteFunc(shards, func(s shard) bool { return !s.started() })
	if m.Times, err = timesOf(started); err != nil {
		return nil, fmt.Errorf("merging times: %w", err)
	}
	m.Shards.Started = int32(len(started))
	m.Clock = clocksOf(started)
	m.Use = useOf(started)
	m.Latency, m.Intended = LatencyOf(m.Histogram), LatencyOf(m.IntendedHistogram)
	m.finishParts()
	m.Rates = ratesOf(m, started)
	m.Slowest, m.Fastest = outliers(started, m.Times.FirstStart)
	return m, nil
}

// shard is one report with its node and with times by the target's clock.
type shard struct {
	*Report
	node       string
	start, end int64
}

func (s shard) started() bool { return s.Body.Start > 0 }

func (s shard) exec() int64 { return s.end - s.start }

// rate compares shards of one attempt: bytes, or operations where no bytes are moved, per microsecond.
func (s shard) rate() float64 {
	return float64(cmp.Or(s.Body.Bytes, s.Body.Operations)) / float64(max(s.exec(), 1))
}

// inOrder checks the reports against each other and sorts them by index.
func inOrder(in MergeInput) ([]shard, error) {
	if len(in.Reports) == 0 {
		return nil, errors.New("there is none")
	}
	shards := make([]shard, 0, len(in.Reports))
	for _, r := range in.Reports {
		e := &r.Envelope
		if err := r.Validate(); err != nil {
			return nil, fmt.Errorf("checking shard %d: %w", e.Index, err)
		}
		if e.Index >= in.Expected {
			return nil, fmt.Errorf("shard %d of %d", e.Index, in.Expected)
		}
		if e.Identity != in.Reports[0].Envelope.Identity {
			return nil, fmt.Errorf("shard %d belongs to another attempt", e.Index)
		}
		s := shard{Report: r, node: in.Nodes[e.Index], start: r.Body.Start, end: r.Body.End}
		if c := r.Body.Clock; c != nil && s.started() {
			s.start += c.OffsetMicros
			s.end += c.OffsetMicros
		}
		shards = append(shards, s)
	}
	slices.SortFunc(shards, func(a, b shard) int { return cmp.Compare(a.Envelope.Index, b.Envelope.Index) })
	for i := 1; i < len(shards); i++ {
		if shards[i].Envelope.Index == shards[i-1].Envelope.Index {
			return nil, fmt.Errorf("two reports of shard %d", shards[i].Envelope.Index)
		}
	}
	return shards, nil
}

// add counts one more shard.
func (m *Merged) add(s shard) error {
	switch s.Envelope.Outcome {
	case Complete:
		m.Shards.Complete++
	case Partial:
		m.Shards.Partial++
	case Failed:
		m.Shards.Failed++
	}
	if e := s.Envelope; e.Outcome != Complete && len(m.Failed) < MaxOutliers {
		m.Failed = append(m.Failed, FailedShard{e.Index, s.node, e.Outcome, e.ExitCode, e.Failure})
	}
	b := &s.Body
	for _, sum := range [...]struct {
		total *int64
		more  int64
	}{{&m.Operations, b.Operations}, {&m.Bytes, b.Bytes}, {&m.Planned, b.Planned}, {&m.Due, b.Due}, {&m.Tried, b.Tried}, {&m.Unfinished, b.Unfinished}} {
		var ok bool
		if *sum.total, ok = addInt64(*sum.total, sum.more); !ok {
			return ErrOverflow
		}
	}
	m.SetUpMaxMicros = max(m.SetUpMaxMicros, b.SetUp)
	if err := m.addErrors(b.Errors); err != nil {
		return err
	}
	return m.addMeasurements(b)
}

// FailedOperations is how many operations ended without success. One of YCSB's may be made of several calls that each
// count among the errors, so what is counted in Tried comes first.
func (m *Merged) FailedOperations() int64 {
	if m.Tried > 0 {
		return max(0, m.Tried-m.Operations)
	}
	n := int64(0)
	for _, e := range m.Errors {
		if sum, ok := addInt64(n, e.Count); ok {
			n = sum
		}
	}
	return n
}

func (m *Merged) addErrors(more []ErrorCount) error {
	for _, e := range more {
		i := slices.IndexFunc(m.Errors, func(have ErrorCount) bool { return have.Class == e.Class })
		if i < 0 {
			m.Errors = append(m.Errors, e)
			continue
		}
		sum, ok := addInt64(m.Errors[i].Count, e.Count)
		if !ok {
			return ErrOverflow
		}
		m.Errors[i].Count = sum
		m.Errors[i].First = cmp.Or(m.Errors[i].First, e.First)
	}
	return nil
}

func (m *Merged) addMeasurements(b *Body) error {
	if err := errors.Join(addHistogram(&m.Histogram, b.Latency), addHistogram(&m.IntendedHistogram, b.Intended)); err != nil {
		return err
	}
	for i := range b.Parts {
		if err := m.addPart(&b.Parts[i]); err != nil {
			return fmt.Errorf("adding %s: %w", b.Parts[i].Name, err)
		}
	}
	return m.addSeries(b.Series)
}

// addHistogram adds to a total that may not be there yet.
func addHistogram(total **Histogram, more *Histogram) error {
	if *total == nil {
		*total = more.Clone()
		return nil
	}
	return (*total).Merge(more)
}

func (m *Merged) addSeries(s *Series) error {
	if m.SeriesMismatch {
		return nil
	}
	if m.Series == nil {
		m.Series = s.Clone()
		return nil
	}
	err := m.Series.Merge(s)
	if errors.Is(err, ErrSeriesMismatch) {
		m.Series, m.SeriesMismatch = nil, true
		return nil
	}
	return err
}

// boundClasses sorts classes by count, then name, and counts those beyond n, with OtherErrors itself, under OtherErrors
// at the end.
func boundClasses(classes []ErrorCount, n int) ([]ErrorCount, error) {
	var other ErrorCount
	own := make([]ErrorCount, 0, len(classes))
	for _, e := range classes {
		if e.Class == OtherErrors {
			other = e
		} else {
			own = append(own, e)
		}
	}
	slices.SortFunc(own, func(a, b ErrorCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Class, b.Class))
	})
	for _, e := range own[min(n, len(own)):] {
		sum, ok := addInt64(other.Count, e.Count)
		if !ok {
			return nil, ErrOverflow
		}
		other = ErrorCount{Class: OtherErrors, Count: sum, First: cmp.Or(other.First, e.First)}
	}
	own = own[:min(n, len(own))]
	if other.Count > 0 {
		own = append(own, other)
	}
	if len(own) == 0 {
		return nil, nil
	}
	return own, nil
}
