package report

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReturnsKeepTheirOrder(t *testing.T) {
	want := Returns{{"OK", 7}, {"NOT_FOUND", 2}, {"a<b", 1}}
	data, err := marshal(want)
	if err != nil || string(data) != `{"OK":7,"NOT_FOUND":2,"a<b":1}` {
		t.Fatalf("%s, %v", data, err)
	}
	var got Returns
	if err := json.Unmarshal(data, &got); err != nil || !cmp.Equal(want, got) {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{`[]`, `7`, `{"OK":"7"}`, `{"OK":1.5}`, `{"OK":9223372036854775808}`} {
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s was decoded to %v", text, got)
		}
	}
}

func TestFigurePrefix(t *testing.T) {
	for name, want := range map[string]string{
		"READ": "read", "READ-FAILED": "readFailed", "READ-MODIFY-WRITE": "readModifyWrite", "READ-NOT_FOUND": "readNotFound",
		"SCAN-LATENCY-PER-RECORD": "scanLatencyPerRecord", "": "", "-.-": "", "Ünlaut-7x": "ünlaut7x",
	} {
		if got := FigurePrefix(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestPartsAreInTheOrderOfReports(t *testing.T) {
	want := []string{
		"READ", "READ-FAILED", "READ-NOT_FOUND", "UPDATE", "INSERT", "INSERT-FAILED", "SCAN", "DELETE", "READ-MODIFY-WRITE",
		"READ-MODIFY-WRITE-FAILED", "VERIFY", "SCAN-LATENCY-PER-RECORD", "CLEANUP", "READS", "SHOUT",
	}
	got := slices.Clone(want)
	random := rand.New(rand.NewPCG(121, 122))
	random.Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
	slices.SortFunc(got, compareParts)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// mixedShard tried 12 operations in a second: of them 10 succeeded, reads in a millisecond and updates in two.
func mixedShard(index int32) *Report {
	r := simpleReport(index, 0, second, 0, 10)
	b := &r.Body
	b.Tried, b.Unfinished, b.Planned = 12, 1, 13
	b.Errors = []ErrorCount{{"TimeoutException", 3, "late"}} // one operation failed in both its calls
	read, update := NewHistogram(DefaultScale), NewHistogram(4)
	for range 6 {
		read.Record(1_000_000)
	}
	for range 4 {
		update.Record(2_000_000)
	}
	b.Latency = read.Clone()
	must(b.Latency.Merge(update))
	b.Parts = []Part{
		{Name: "UPDATE", Returns: Returns{{"OK", 4}, {"ERROR", 2}}, Latency: update, Intended: latencyOf(3_000_000, 3_000_000, 3_000_000, 3_000_000)},
		{Name: "READ", Returns: Returns{{"OK", 6}}, Latency: read},
		{Name: "UPDATE-FAILED", Latency: latencyOf(50_000_000, 50_000_000)},
	}
	return r
}

func TestMergeOfParts(t *testing.T) {
	other := mixedShard(1)
	other.Body.Parts = append(other.Body.Parts[1:2:2], Part{Name: "INSERT", Returns: Returns{{"ERROR", 5}}})
	other.Body.Parts[0].Returns = Returns{{"NOT_FOUND", 1}, {"OK", 5}}
	m := mustMerge(t, MergeInput{Expected: 2, Reports: []*Report{other, mixedShard(0)}})
	if m.Tried != 24 || m.Unfinished != 2 || m.Operations != 20 || m.FailedOperations() != 4 {
		t.Errorf("%d operations of %d, %d cut off, %d failed", m.Operations, m.Tried, m.Unfinished, m.FailedOperations())
	}
	type row struct {
		Name          string
		Count         int64
		Returns       Returns
		OpsPerSec     float64
		P50, Intended int64
	}
	var got []row
	for _, p := range m.Parts {
		r := row{Name: p.Name, Count: p.Count, Returns: p.Returns, OpsPerSec: *p.OpsPerSec}
		if p.Latency != nil {
			r.P50 = p.Latency.P50
		}
		if p.Intended != nil {
			r.Intended = p.Intended.Max
		}
		got = append(got, r)
	}
	want := []row{
		{Name: "READ", Count: 12, Returns: Returns{{"OK", 11}, {"NOT_FOUND", 1}}, OpsPerSec: 12, P50: 1_000_000},
		{Name: "UPDATE", Count: 4, Returns: Returns{{"OK", 4}, {"ERROR", 2}}, OpsPerSec: 4, P50: 2_000_000, Intended: 3_000_000},
		{Name: "UPDATE-FAILED", Count: 2, OpsPerSec: 2, P50: 50_000_000},
		{Name: "INSERT", Returns: Returns{{"ERROR", 5}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	if m.Part("READ") != &m.Parts[0] || m.Part("SCAN") != nil {
		t.Error("a part is found under another name")
	}
}

// Failed operations count in YCSB's throughput, and in no figure of ours.
func TestRatesOfMixedOperations(t *testing.T) {
	m := mustMerge(t, MergeInput{Expected: 1, Reports: []*Report{mixedShard(0)}})
	if diff := cmp.Diff([]Figure{{FigureOps, 10}, {FigureUpstreamOps, 12}}, m.Figures()[:2]); diff != "" {
		t.Errorf("rates (-want +got):\n%s", diff)
	}
	failed := mixedShard(0)
	failed.Body.Operations, failed.Body.Parts, failed.Body.Latency = 0, nil, nil
	m = mustMerge(t, MergeInput{Expected: 1, Reports: []*Report{failed}})
	if diff := cmp.Diff([]Figure{{FigureOps, 0}, {FigureUpstreamOps, 12}}, m.Figures()); diff != "" {
		t.Errorf("rates of failures only (-want +got):\n%s", diff)
	}
	failed.Body.End = failed.Body.Start
	if m = mustMerge(t, MergeInput{Expected: 1, Reports: []*Report{failed}}); len(m.Figures()) > 0 {
		t.Errorf("rates without any time: %v", m.Figures())
	}
}

func TestMergeRefusesPartsThatOverflow(t *testing.T) {
	for name, spoil := range map[string]func(*Report){
		"returns":    func(r *Report) { r.Body.Parts[1].Returns[0].Count = maxInt64 },
		"latency":    func(r *Report) { r.Body.Parts[1].Latency = latencyOf(maxInt64) },
		"intended":   func(r *Report) { r.Body.Parts[0].Intended = latencyOf(maxInt64) },
		"tried":      func(r *Report) { r.Body.Tried = maxInt64 },
		"unfinished": func(r *Report) { r.Body.Unfinished = maxInt64 },
	} {
		t.Run(name, func(t *testing.T) {
			a, b := mixedShard(0), mixedShard(1)
			spoil(a)
			spoil(b)
			if _, err := Merge(MergeInput{Expected: 2, Reports: []*Report{a, b}}); !errors.Is(err, ErrOverflow) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestFiguresOfParts(t *testing.T) {
	m := mustMerge(t, MergeInput{Expected: 1, Reports: []*Report{mixedShard(0)}})
	got := map[string]float64{}
	var names []string
	for _, f := range m.Figures() {
		if prefix, _, ok := strings.Cut(f.Name, "."); ok {
			names, got[f.Name] = append(names, prefix), f.Value
		}
	}
	if diff := cmp.Diff([]string{"read", "update", "updateFailed"}, slices.Compact(names)); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	for name, want := range map[string]float64{
		"read.opsPerSec": 6, "read.latencyP99Nanos": 1e6, "update.opsPerSec": 4, "update.latencyMeanNanos": 2e6,
		"update.intendedMaxNanos": 3e6, "updateFailed.latencyP50Nanos": 5e7,
	} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
	if len(names) != 8+15+8 {
		t.Errorf("%d figures", len(names))
	}
}

// Over repeats every part has its mean and spread, and its pooled distribution, even if a repeat has nothing of it.
func TestAggregateOfParts(t *testing.T) {
	once := mustMerge(t, MergeInput{Expected: 1, Reports: []*Report{mixedShard(0)}})
	less := mixedShard(0)
	less.Body.Parts = less.Body.Parts[1:2]
	less.Body.Parts[0].Latency = latencyOf(3_000_000, 3_000_000)
	a, err := AggregateRepeats([]*Merged{mustMerge(t, MergeInput{Expected: 1, Reports: []*Report{less}}), once})
	if err != nil {
		t.Fatal(err)
	}
	stats := map[string]Stat{}
	last := ""
	for _, s := range a.Stats {
		stats[s.Name], last = s, s.Name
	}
	if s := stats["read.opsPerSec"]; s.N != 2 || s.Mean != 4 || s.Min != 2 || s.Max != 6 {
		t.Errorf("reads per second %+v", s)
	}
	if s := stats["update.latencyP99Nanos"]; s.N != 1 || s.Mean != 2e6 || last != "updateFailed.latencyMaxNanos" {
		t.Errorf("updates %+v, last of all %s", s, last)
	}
	var got []string
	for _, p := range a.Parts {
		got = append(got, p.Name)
	}
	if diff := cmp.Diff([]string{"READ", "UPDATE", "UPDATE-FAILED"}, got); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	if p := a.Parts[0].Pooled; p.Count != 8 || p.Mean != 1_500_000 || p.Max != 3_000_000 || a.Parts[0].PooledIntended != nil {
		t.Errorf("pooled %+v", p)
	}
	if p := a.Parts[1].PooledIntended; p == nil || p.Count != 4 {
		t.Errorf("pooled intended %+v", p)
	}
}

// A merged result of parts is stored and read again, whole.
func TestMergedPartsRoundTrip(t *testing.T) {
	want := mustMerge(t, MergeInput{Expected: 1, Reports: []*Report{mixedShard(0)}})
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got := new(Merged)
	if err := json.Unmarshal(data, got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSummaryOfParts(t *testing.T) {
	m := mustMerge(t, MergeInput{Expected: 1, Reports: []*Report{mixedShard(0)}})
	want := "workload-a: 10 operations on 1 shard in 1.0 s: 10.0 ops/s, READ p50 1.0 ms p99 1.0 ms, " +
		"UPDATE p50 2.0 ms p99 2.0 ms intended p50 3.0 ms p99 3.0 ms, 2 failed, 1 cut off"
	if got := Summary(m, "workload-a"); got != want {
		t.Errorf("\ngot  %s\nwant %s", got, want)
	}
}
