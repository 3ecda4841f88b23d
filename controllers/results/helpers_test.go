package results

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/hadoop-bench/operator/runner/report"
)

const (
	second = int64(1_000_000)             // in microseconds
	t0     = int64(1_790_000_000_000_000) // a start time
)

func identity(step string, repeat, attempt int32) report.Identity {
	return report.Identity{RunUID: "7d3f1c1e-5a52-4b7c-9a53-2f7f1c1f0a11", Execution: 1, Step: step, Repeat: repeat, Attempt: attempt}
}

// shardReport is the complete report of a shard that moved 1 GiB in 1,024 calls between two times after t0.
func shardReport(id report.Identity, index int32, start, end int64) *report.Report {
	const calls = 1024
	r := &report.Report{
		Envelope: report.Envelope{Version: report.Version, Identity: id, Index: index, Outcome: report.Complete},
		Body: report.Body{
			Prepared: t0 - second, Start: t0 + start, End: t0 + end, Clock: &report.Clock{UncertaintyMicros: 500},
			Operations: calls, Bytes: calls << 20, Planned: calls << 20, ConfHash: "sha256:0123456789abcdef",
			Client: &report.ClientUse{CPUMicros: second, AllowanceMilli: 2000},
		},
	}
	h, s := report.NewHistogram(report.DefaultScale), report.NewSeries(t0, report.DefaultSeriesMicros)
	each := (end - start) / calls
	for i := range int64(calls) {
		h.Record(each*1000 + i)
		s.Add(t0+start+i*each, 1<<20)
	}
	r.Body.Latency, r.Body.Series = h.Clone(), s
	return r
}

// partial turns a report into that of a shard that was stopped.
func partial(r *report.Report) *report.Report {
	r.Envelope.Outcome, r.Envelope.ExitCode = report.Partial, report.ExitInterrupted
	return r
}

// input is an attempt of n shards that all took 10 s.
func input(step string, repeat, n int32) Input {
	id := identity(step, repeat, 1)
	in := Input{
		Identity: id, Step: step, Repeat: repeat, Expected: n,
		Limits:    Limits{MinDuration: 5 * time.Second, ConfigHash: "sha256:0123456789abcdef"},
		Headlines: []string{report.FigureAggregate},
		Text: func(mi report.MergeInput, m *report.Merged) (string, error) {
			return fmt.Sprintf("%s %d: %d reports, %d bytes\n", step, repeat, len(mi.Reports), m.Bytes), nil
		},
	}
	for i := range n {
		in.Shards = append(in.Shards, Shard{
			Index: i, Pod: fmt.Sprintf("pod-%d", i), Node: fmt.Sprintf("node-%d", i%3), Report: shardReport(id, i, 0, 10*second),
		})
	}
	return in
}

func measure(t *testing.T, in Input, doc *Document) *Persistence {
	t.Helper()
	p, err := Measure(in, doc)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	doc, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}
