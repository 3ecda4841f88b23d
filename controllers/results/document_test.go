package results

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/report"
)

// execution measures steps and repeats in the given order and returns the document as it is kept each time.
func execution(t *testing.T, inputs ...Input) *Document {
	t.Helper()
	var doc *Document
	for _, in := range inputs {
		doc = reread(t, measure(t, in, doc).Document)
	}
	return doc
}

// reread encodes and decodes a document, as is done between two visits.
func reread(t *testing.T, d *Document) *Document {
	t.Helper()
	data, err := d.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := ParseDocument(data)
	if err != nil {
		t.Fatal(err)
	}
	return back
}

func TestDocumentRoundTrip(t *testing.T) {
	d := measure(t, input("write", 1, 4), nil).Document
	d.Kind, d.Namespace, d.Name, d.UID, d.Execution, d.RowsOmitted = "DFSIORun", "bench", "nightly", "uid", 1, 1
	if diff := cmp.Diff(d, reread(t, d)); diff != "" {
		t.Errorf("document read back differs (-want +got):\n%s", diff)
	}
}

func TestParseDocumentRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"nothing": "", "no JSON": "report", "no version": "{}", "later version": `{"version":2}`, "a list": "[]",
	} {
		t.Run(name, func(t *testing.T) {
			if d, err := ParseDocument([]byte(text)); err == nil || d != nil {
				t.Errorf("ParseDocument(%q) returns %v and error %v", text, d, err)
			}
		})
	}
}

// TestMeasureTwiceIsIdempotent: after a crash between the document and the status, the same attempt is kept once more.
func TestMeasureTwiceIsIdempotent(t *testing.T) {
	before := execution(t, input("write", 1, 2), input("write", 2, 2))
	once := execution(t, input("write", 1, 2), input("write", 2, 2), input("read", 1, 2))
	twice := reread(t, measure(t, input("read", 1, 2), once).Document)
	if diff := cmp.Diff(string(encoded(t, once)), string(encoded(t, twice))); diff != "" {
		t.Errorf("keeping a measurement again changes the document (-once +twice):\n%s", diff)
	}
	if len(before.Sections) != 2 || len(once.Sections) != 3 {
		t.Errorf("%d and %d sections", len(before.Sections), len(once.Sections))
	}
}

// TestMeasureLeavesTheDocumentAlone: the visit may fail and be repeated with the same document.
func TestMeasureLeavesTheDocumentAlone(t *testing.T) {
	doc := execution(t, input("write", 1, 2), input("write", 2, 2))
	before := string(encoded(t, doc))
	measure(t, input("write", 2, 3), doc)
	measure(t, input("read", 1, 3), doc)
	if diff := cmp.Diff(before, string(encoded(t, doc))); diff != "" {
		t.Errorf("the document was changed (-before +after):\n%s", diff)
	}
}

// TestLaterAttemptReplaces: a repeat that is measured anew takes the place of what was kept of it.
func TestLaterAttemptReplaces(t *testing.T) {
	stopped := input("write", 2, 2)
	stopped.Shards[1].Report = partial(stopped.Shards[1].Report)
	again := input("write", 2, 2)
	again.Identity.Attempt = 2
	for i := range again.Shards {
		again.Shards[i].Report.Envelope.Attempt = 2
	}
	doc := execution(t, input("write", 1, 2), stopped, input("write", 3, 2), again)
	var got []string
	for _, s := range doc.Sections {
		got = append(got, fmt.Sprintf("%s %d attempt %d: %d complete", s.Step, s.Repeat, s.Attempt, s.Merged.Shards.Complete))
	}
	want := []string{"write 1 attempt 1: 2 complete", "write 2 attempt 2: 2 complete", "write 3 attempt 1: 2 complete"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sections (-want +got):\n%s", diff)
	}
}

// TestAggregates: mean and spread are over the repeats in which every shard completed.
func TestAggregates(t *testing.T) {
	slow, incomplete := input("write", 2, 2), input("write", 3, 2)
	for i := range slow.Shards {
		slow.Shards[i].Report = shardReport(slow.Identity, int32(i), 0, 20*second)
	}
	incomplete.Shards[0].Report = nil
	doc := execution(t, input("write", 1, 2), slow, incomplete, input("read", 1, 2))
	got := map[string]v1alpha1.Aggregate{}
	for _, a := range doc.Aggregates() {
		got[a.Step+" "+a.Figure] = a
	}
	for _, want := range []v1alpha1.Aggregate{
		// 204.8 and 102.4 MiB/s: mean 153.6, sample deviation 102.4 / √2.
		{Step: "write", Figure: "aggregateMiBps", N: 2, Mean: "153.600", StdDev: "72.408", CVPercent: "47.140", Min: "102.400", Max: "204.800"},
		{Step: "read", Figure: "aggregateMiBps", N: 1, Mean: "204.800", Min: "204.800", Max: "204.800"},
		{Step: "write", Figure: "meanIOBytes", N: 2, Mean: "1048576.000", StdDev: "0.000", CVPercent: "0.000", Min: "1048576.000", Max: "1048576.000"},
	} {
		if diff := cmp.Diff(want, got[want.Step+" "+want.Figure]); diff != "" {
			t.Errorf("aggregate (-want +got):\n%s", diff)
		}
	}
	if want, got := "write 153.6 MiB/s (n=2, CV 47.1 %), read 204.8 MiB/s", Summary(doc.Aggregates(), []string{report.FigureAggregate}); got != want {
		t.Errorf("summary %q, want %q", got, want)
	}
}

func TestSummary(t *testing.T) {
	headline := func(step, figure string, n int32, mean, cv string) v1alpha1.Aggregate {
		return v1alpha1.Aggregate{Step: step, Figure: figure, N: n, Mean: mean, CVPercent: cv}
	}
	bytes := []string{report.FigureAggregate}
	ops := []string{report.FigureOps}
	duration := []string{report.FigureWindowOps, report.FigureOps}
	tests := map[string]struct {
		in        []v1alpha1.Aggregate
		headlines []string
		want      string
	}{
		"nothing measured":   {nil, bytes, ""},
		"other figures only": {[]v1alpha1.Aggregate{headline("write", report.FigureIOPS, 1, "1.000", "")}, bytes, ""},
		"one repeat":         {[]v1alpha1.Aggregate{headline("write", report.FigureAggregate, 1, "0.049", "")}, bytes, "write 0.0 MiB/s"},
		"several":            {[]v1alpha1.Aggregate{headline("write", report.FigureAggregate, 3, "666.666", "3.249")}, bytes, "write 666.7 MiB/s (n=3, CV 3.2 %)"},
		"no number":          {[]v1alpha1.Aggregate{headline("write", report.FigureAggregate, 1, "?", "")}, bytes, "write ? MiB/s"},
		"operations": {
			[]v1alpha1.Aggregate{
				headline("create", report.FigureOps, 3, "812.345", "1.2"), headline("create", report.FigureWindowOps, 3, "820.000", "1"),
				headline("open", report.FigureOps, 3, "90000.000", "0.04"),
			}, ops, "create 812.3 ops/s (n=3, CV 1.2 %), open 90000.0 ops/s (n=3, CV 0.0 %)",
		},
		"durations": {
			[]v1alpha1.Aggregate{headline("open", report.FigureOps, 2, "90.000", ""), headline("open", report.FigureWindowOps, 2, "100.000", "")}, duration, "open 100.0 ops/s",
		},
		"not every repeat has a window": {
			[]v1alpha1.Aggregate{headline("open", report.FigureOps, 2, "90.000", ""), headline("open", report.FigureWindowOps, 1, "100.000", "")}, duration, "open 90.0 ops/s",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Summary(tc.in, tc.headlines); got != tc.want {
				t.Errorf("Summary() = %q, want %q", got, tc.want)
			}
		})
	}
}
