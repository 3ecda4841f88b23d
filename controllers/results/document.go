package results

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/report"
)

// DocumentVersion is the version of report.json.
const DocumentVersion = 1

// Document is report.json: all results of one execution, with what is needed to compute them anew.
type Document struct {
	Version   int       `json:"version"`
	Kind      string    `json:"kind"`
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	UID       string    `json:"uid"`
	Execution int32     `json:"execution"`
	Sections  []Section `json:"measurements"`
	// Steps are the steps over their repeats.
	Steps []StepAggregate `json:"steps"`
	// RowsOmitted counts the measurements whose shards' rows found no room.
	RowsOmitted int `json:"rowsOmitted,omitempty"`
	// Omitted says what measurements lack because an execution with so many of them has no room for it.
	Omitted []string `json:"omitted,omitempty"`
}

// Section is one measurement: a repeat of a step.
type Section struct {
	Step    string           `json:"step"`
	Repeat  int32            `json:"repeat"`
	Attempt int32            `json:"attempt"`
	Invalid []v1alpha1.Doubt `json:"invalid,omitempty"` // why it is not to be believed
	Merged  *report.Merged   `json:"merged,omitempty"`  // absent if no shard reported
	Text    string           `json:"text,omitempty"`    // in the upstream tool's format
}

// StepAggregate is a step over its repeats.
type StepAggregate struct {
	Step string `json:"step"`
	report.Aggregate
}

// ParseDocument reads a report.json.
func ParseDocument(data []byte) (*Document, error) {
	var d Document
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, fmt.Errorf("decode report.json: %w", err)
	}
	if d.Version != DocumentVersion {
		return nil, fmt.Errorf("decode report.json: version %d, this program reads %d", d.Version, DocumentVersion)
	}
	return &d, nil
}

// Encode returns the document as it is kept.
func (d *Document) Encode() ([]byte, error) {
	out, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("encode report.json: %w", err)
	}
	return out, nil
}

// Text is the upstream tool's text of all measurements, in their order.
func (d *Document) Text() string {
	var b strings.Builder
	for _, s := range d.Sections {
		b.WriteString(s.Text)
	}
	return b.String()
}

// clone copies what add changes.
func (d *Document) clone() *Document {
	if d == nil {
		return &Document{Version: DocumentVersion}
	}
	c := *d
	c.Sections, c.Steps = slices.Clone(d.Sections), slices.Clone(d.Steps)
	return &c
}

// add puts a measurement in, in the place of an earlier one of the same repeat if there is one, and computes the
// aggregates anew. Only measurements in which every shard completed count in them.
func (d *Document) add(s Section) error {
	i := slices.IndexFunc(d.Sections, func(o Section) bool { return o.Step == s.Step && o.Repeat == s.Repeat })
	if i < 0 {
		d.Sections = append(d.Sections, s)
	} else {
		d.Sections[i] = s
	}
	d.Steps = nil
	for _, o := range d.Sections {
		if slices.ContainsFunc(d.Steps, func(a StepAggregate) bool { return a.Step == o.Step }) {
			continue
		}
		repeats := d.complete(o.Step)
		if len(repeats) == 0 {
			continue
		}
		a, err := report.AggregateRepeats(repeats)
		if err != nil {
			return fmt.Errorf("aggregate step %s: %w", o.Step, err)
		}
		d.Steps = append(d.Steps, StepAggregate{Step: o.Step, Aggregate: *a})
	}
	return nil
}

func (d *Document) complete(step string) []*report.Merged {
	var out []*report.Merged
	for _, s := range d.Sections {
		if s.Step == step && s.Merged != nil && s.Merged.Shards.Complete == s.Merged.Shards.Expected {
			out = append(out, s.Merged)
		}
	}
	return out
}

// Aggregates are the figures over the repeats for the status. Of the parts of a step they are those that are asked for
// first; all of them are in report.json.
func (d *Document) Aggregates() []v1alpha1.Aggregate {
	var out []v1alpha1.Aggregate
	for _, step := range d.Steps {
		for _, s := range step.Stats {
			if ofPart(s.Name) && !asked(s.Name) {
				continue
			}
			a := v1alpha1.Aggregate{
				Step: step.Step, Figure: s.Name, N: int32(s.N), Mean: Decimal(s.Mean), Min: Decimal(s.Min), Max: Decimal(s.Max),
			}
			if s.StdDev != nil {
				a.StdDev = Decimal(*s.StdDev)
			}
			if s.CV != nil {
				a.CVPercent = Decimal(*s.CV * 100)
			}
			out = append(out, a)
		}
	}
	return out
}

// asked tells the figures of a part that the status has over the repeats. With five parts all of them would take 10 KiB
// for each step.
func asked(name string) bool {
	switch name[strings.LastIndexByte(name, '.')+1:] {
	case report.FigureOps, report.FigureMeanLatency, report.FigureP99, report.FigureIntendedP99:
		return true
	}
	return false
}

// PooledLatencies are the latencies over all repeats for the status.
func (d *Document) PooledLatencies() []v1alpha1.PooledLatency {
	var out []v1alpha1.PooledLatency
	for _, step := range d.Steps {
		if l := latency(step.Pooled); l != nil {
			out = append(out, v1alpha1.PooledLatency{Step: step.Step, Latency: *l})
		}
		for _, p := range step.Parts {
			if l := latency(p.Pooled); l != nil {
				out = append(out, v1alpha1.PooledLatency{Step: step.Step, Metric: p.Name, Latency: *l})
			}
		}
	}
	return out
}

// Summary is the headline of every step: mean and spread over the repeats. Of the figures to quote, a step's is the first
// that as many of its repeats have as any of them.
func Summary(aggregates []v1alpha1.Aggregate, headlines []string) string {
	var parts []string
	for i, a := range aggregates {
		if i > 0 && aggregates[i-1].Step == a.Step {
			continue
		}
		if h := quoted(aggregates, a.Step, headlines); h != nil {
			parts = append(parts, h.Step+" "+quote(h))
		}
	}
	return strings.Join(parts, ", ")
}

// quoted is the aggregate of a step that is to be quoted; nil if it has none of the headlines.
func quoted(aggregates []v1alpha1.Aggregate, step string, headlines []string) *v1alpha1.Aggregate {
	var best *v1alpha1.Aggregate
	for _, name := range headlines {
		for i := range aggregates {
			if a := &aggregates[i]; a.Step == step && a.Figure == name && (best == nil || a.N > best.N) {
				best = a
			}
		}
	}
	return best
}

// units are those of the figures that may be headlines.
var units = map[string]string{report.FigureAggregate: "MiB/s", report.FigureOps: "ops/s", report.FigureWindowOps: "ops/s"}

func quote(a *v1alpha1.Aggregate) string {
	text := oneDecimal(a.Mean) + " " + units[a.Figure]
	if a.CVPercent != "" {
		text += fmt.Sprintf(" (n=%d, CV %s %%)", a.N, oneDecimal(a.CVPercent))
	}
	return text
}

// oneDecimal rounds a Decimal for the eye.
func oneDecimal(s string) string {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return s
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}
