// Package results turns the reports of an attempt into what a run keeps: the row in its status, the doubts about it,
// the figures over the repeats, and the documents in its ConfigMaps. It is pure.
package results

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/report"
)

// Input is one attempt that ended.
type Input struct {
	Identity report.Identity
	Step     string
	Repeat   int32
	Expected int32
	Shards   []Shard // all of them, by index
	Limits   Limits
	// Headlines are the names of the figures to quote, the best first.
	Headlines []string
	// Text renders the upstream tool's own report.
	Text func(report.MergeInput, *report.Merged) (string, error)
}

// Shard is one shard of the attempt; Report is nil if it has none that can be believed.
type Shard struct {
	Index     int32
	Pod, Node string
	Report    *report.Report
}

// Limits are what a measurement is judged by.
type Limits struct {
	MinDuration    time.Duration
	MaxStartSpread time.Duration // 0: report.SpreadLimit
	ConfigHash     string        // that the run began with; empty: none
}

// Persistence is what is to be kept of an attempt.
type Persistence struct {
	Identity report.Identity
	Result   *v1alpha1.StepResult
	Document *Document
	Rows     []byte // all shards' rows, compressed; nil if no shard reported
	Line     string // the result in one line
}

// Measure judges and merges an attempt and adds it to the document of the execution so far, which may be nil.
func Measure(in Input, doc *Document) (*Persistence, error) {
	mi := report.MergeInput{Expected: in.Expected, Nodes: map[int32]string{}}
	for _, s := range in.Shards {
		mi.Nodes[s.Index] = s.Node
		if s.Report != nil {
			mi.Reports = append(mi.Reports, s.Report)
		}
	}
	p := &Persistence{Identity: in.Identity, Document: doc.clone()}
	section := Section{Step: in.Step, Repeat: in.Repeat, Attempt: in.Identity.Attempt}
	if len(mi.Reports) == 0 {
		p.Result = &v1alpha1.StepResult{Invalid: []v1alpha1.Doubt{missing(0, in.Expected)}, Outliers: outliers(in, nil)}
		p.Line = fmt.Sprintf("none of %d shards left a report", in.Expected)
		section.Invalid = p.Result.Invalid
		return p, p.Document.add(section)
	}
	merged, err := report.Merge(mi)
	if err != nil {
		return nil, fmt.Errorf("merge reports of step %s: %w", in.Step, err)
	}
	rows, err := report.Rows(mi)
	if err != nil {
		return nil, fmt.Errorf("list shards of step %s: %w", in.Step, err)
	}
	if p.Rows, err = report.EncodeRows(rows); err != nil {
		return nil, fmt.Errorf("encode shards of step %s: %w", in.Step, err)
	}
	p.Result = resultOf(in, merged)
	p.Line = report.Summary(merged, in.Step)
	section.Merged, section.Invalid = merged, p.Result.Invalid
	if merged.Shards.Started > 0 { // there is nothing to tell of what never began
		if section.Text, err = in.Text(mi, merged); err != nil {
			return nil, fmt.Errorf("render step %s: %w", in.Step, err)
		}
		section.Text = shortened(section.Text)
	}
	return p, p.Document.add(section)
}

// maxText bounds the tool's text of one measurement. It is some hundred bytes, but blockReport's has a number for each
// of up to 32,766 fake DataNodes. YCSB's has ten lines for each kind of operation, its failures and its intended latencies.
const maxText = 16 << 10

// shortened leaves out the middle of a text that is too long, and says so.
func shortened(text string) string {
	if len(text) <= maxText {
		return text
	}
	const end = 1 << 10
	return fmt.Sprintf("%s ... (%d bytes left out) ... %s", text[:maxText-end], len(text)-maxText, text[len(text)-end:])
}

func resultOf(in Input, m *report.Merged) *v1alpha1.StepResult {
	r := &v1alpha1.StepResult{
		Operations: m.Operations, Bytes: m.Bytes,
		WallMicros: m.Times.WallMicros, StartSpreadMicros: m.Times.StartSpreadMicros, ClockOffsetMaxMicros: m.Clock.MaxOffsetMicros,
		SetUpMicros: m.SetUpMaxMicros, DueOperations: m.Due, Tried: m.Tried, Unfinished: m.Unfinished,
		Headline: headlineOf(in, m),
		Invalid:  doubts(in, m), Outliers: outliers(in, m),
	}
	r.Errors = m.FailedOperations()
	for _, e := range m.Errors[:min(len(m.Errors), maxErrorClasses)] {
		r.ErrorClasses = append(r.ErrorClasses, v1alpha1.ErrorClass{Class: e.Class, Count: e.Count, First: e.First})
	}
	for _, f := range m.Figures() {
		if !isLatency(f.Name) && !ofPart(f.Name) {
			r.Rates = append(r.Rates, v1alpha1.Figure{Name: f.Name, Value: Decimal(f.Value)})
		}
	}
	r.Latency, r.IntendedLatency = latency(m.Latency), latency(m.Intended)
	for i := range m.Parts {
		r.Metrics = append(r.Metrics, metricOf(&m.Parts[i]))
	}
	return r
}

// metricOf is what was recorded under one name, for the status.
func metricOf(p *report.MergedPart) v1alpha1.MetricResult {
	metric := v1alpha1.MetricResult{
		Name: p.Name, Count: p.Count, Latency: latency(p.Latency), IntendedLatency: latency(p.Intended),
	}
	if p.OpsPerSec != nil {
		metric.OpsPerSec = Decimal(*p.OpsPerSec)
	}
	returns := make([]string, len(p.Returns))
	for i, c := range p.Returns {
		returns[i] = fmt.Sprintf("%s=%d", c.Status, c.Count)
	}
	metric.Returns = strings.Join(returns, " ")
	return metric
}

// headlineOf is the first of the headlines that the measurement has; the last one if it has none.
func headlineOf(in Input, m *report.Merged) string {
	figures := m.Figures()
	for _, name := range in.Headlines {
		if slices.ContainsFunc(figures, func(f report.Figure) bool { return f.Name == name }) {
			return name
		}
	}
	return in.Headlines[len(in.Headlines)-1]
}

// latency is a distribution as the API has it, in microseconds; nil of nil.
func latency(l *report.Latency) *v1alpha1.Latency {
	if l == nil {
		return nil
	}
	micros := func(nanos int64) int64 { return (nanos + 500) / 1000 }
	return &v1alpha1.Latency{
		Count: l.Count, MinMicros: micros(l.Min), MeanMicros: micros(l.Mean), P50Micros: micros(l.P50), P90Micros: micros(l.P90),
		P95Micros: micros(l.P95), P99Micros: micros(l.P99), P999Micros: micros(l.P999), MaxMicros: micros(l.Max),
		RelativeError: strconv.FormatFloat(l.RelativeError, 'f', 4, 64),
	}
}

const maxErrorClasses = 8

// isLatency tells the figures of latencies, those of a part as well.
func isLatency(name string) bool {
	name = name[strings.LastIndexByte(name, '.')+1:]
	return strings.HasPrefix(name, "latency") || strings.HasPrefix(name, "intended")
}

// ofPart tells the figures of one part of a step that mixes kinds of operations.
func ofPart(name string) bool { return strings.Contains(name, ".") }

// Decimal prints a figure for the API, which has no floats: three decimals, which is finer than anything measured here
// repeats.
func Decimal(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }

// outliers are the slowest, the fastest and the failed or lost shards.
func outliers(in Input, m *report.Merged) []v1alpha1.ShardRow {
	var out []v1alpha1.ShardRow
	add := func(why string, rows []report.ShardRow) {
		for _, r := range rows[:min(len(rows), maxOutliers)] {
			out = append(out, v1alpha1.ShardRow{
				Index: r.Index, Why: why, Pod: in.pod(r.Index), Node: r.Node, Bytes: r.Bytes, Operations: r.Operations,
				ExecMicros: r.ExecMicros, Outcome: string(r.Outcome),
			})
		}
	}
	if m != nil && in.Expected > 1 {
		add("Slowest", m.Slowest)
		add("Fastest", m.Fastest)
	}
	failed := 0
	for _, s := range in.Shards {
		if s.Report != nil && s.Report.Envelope.Outcome == report.Complete || failed == maxOutliers {
			continue
		}
		failed++
		row := v1alpha1.ShardRow{Index: s.Index, Why: "Failed", Pod: s.Pod, Node: s.Node, Outcome: "Lost"}
		if s.Report != nil {
			row.Outcome, row.Bytes, row.Operations = string(s.Report.Envelope.Outcome), s.Report.Body.Bytes, s.Report.Body.Operations
			row.ExecMicros = s.Report.Body.End - s.Report.Body.Start
		}
		out = append(out, row)
	}
	return out
}

// maxOutliers of each sort.
const maxOutliers = 3

func (in Input) pod(index int32) string {
	if int(index) < len(in.Shards) {
		return in.Shards[index].Pod
	}
	return ""
}
