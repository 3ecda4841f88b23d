package results

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/report"
)

// largestDocument is that of every operation, measured 30 times by 1,000 shards. Its latencies spread over five decades,
// as those of a NameNode do that now and then does something else.
func largestDocument(t *testing.T, operations, repeats int) *Document {
	t.Helper()
	d := &Document{Version: DocumentVersion}
	random := rand.New(rand.NewPCG(1, 2))
	for op := range operations {
		for r := range repeats {
			h, s := report.NewHistogram(report.DefaultScale), report.NewSeries(t0, report.DefaultSeriesMicros)
			for range 20_000 {
				h.Record(int64(math.Exp(random.NormFloat64()*1.6 + 14)))
			}
			for i := range int64(60) {
				s.Add(t0+i*report.DefaultSeriesMicros, 80_000_000+random.Int64N(10_000_000))
			}
			m := &report.Merged{
				Identity: identity(fmt.Sprintf("operation%d", op), int32(r+1), 1), Shards: report.ShardCounts{Expected: 1000, Complete: 1000, Started: 1000},
				Operations: h.Count(), Histogram: h, Latency: report.LatencyOf(h), Series: s, Use: &report.Use{MaxCPUNode: text(63), MaxThrottledNode: text(63)},
			}
			for i := range report.MaxOutliers {
				row := report.ShardRow{Index: random.Int32N(1000), Node: fmt.Sprintf("node-%040d", random.Int64()), ExecMicros: random.Int64N(1 << 30)}
				m.Slowest, m.Fastest = append(m.Slowest, row), append(m.Fastest, row)
				m.Errors = append(m.Errors, report.ErrorCount{Class: fmt.Sprint("class", i), Count: random.Int64(), First: text(report.MaxFirst)})
			}
			d.Sections = append(d.Sections, Section{Step: m.Step, Repeat: m.Repeat, Attempt: 1, Merged: m, Text: text(400)})
		}
	}
	return d
}

func packedSize(p *Packed) int {
	n := 0
	for _, v := range p.Data {
		n += len(v)
	}
	for _, v := range p.Binary {
		n += len(v)
	}
	return n
}

// TestPack: the longest execution has room in a ConfigMap, and nothing is lost of it.
func TestPack(t *testing.T) {
	const limit = 1000 << 10
	for name, tc := range map[string]struct {
		operations, repeats int
		plain               bool
	}{"short": {2, 3, true}, "longest": {9, 30, false}} {
		t.Run(name, func(t *testing.T) {
			d := largestDocument(t, tc.operations, tc.repeats)
			p, err := d.Pack("tool.txt", limit)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d bytes as JSON, %d in the ConfigMap", size(d), packedSize(p))
			if _, plain := p.Data[documentKey]; plain != tc.plain || packedSize(p) > limit || p.Data["tool.txt"] != d.Text() {
				t.Errorf("plain %t, %d bytes", plain, packedSize(p))
			}
			back, err := Unpack(p.Data, p.Binary)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(encoded(t, d)), string(encoded(t, back))); diff != "" {
				t.Error("the document read back differs")
			}
		})
	}
}

// TestPackOmits: with less room, details go before the resolution of histograms, the figures never, and in the end it is
// said that there is no room.
func TestPackOmits(t *testing.T) {
	d := largestDocument(t, 3, 10)
	before := string(encoded(t, d))
	full, err := compress(encoded(t, d))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for part := 10; part > 0; part-- {
		limit := len(d.Text()) + len(full)*part/10
		p, err := d.Pack("tool.txt", limit)
		if err != nil {
			t.Logf("no room in %d %%: %v", 10*part, err)
			seen["none"] = true
			continue
		}
		back, err := Unpack(p.Data, p.Binary)
		if err != nil {
			t.Fatal(err)
		}
		seen[fmt.Sprint(len(back.Omitted))] = true
		if packedSize(p) > limit || len(back.Sections) != 30 {
			t.Errorf("%d bytes of %d, %d sections", packedSize(p), limit, len(back.Sections))
		}
		for i, s := range back.Sections {
			if diff := cmp.Diff(d.Sections[i].Merged.Latency, s.Merged.Latency); diff != "" || s.Merged.Histogram.Count() != d.Sections[i].Merged.Histogram.Count() {
				t.Fatalf("the latency of section %d changed (-before +after):\n%s", i, diff)
			}
		}
	}
	if want := map[string]bool{"0": true, "1": true, "2": true, "3": true, "none": true}; !cmp.Equal(want, seen) {
		t.Errorf("numbers of things left out: %v, want %v", seen, want)
	}
	if diff := cmp.Diff(before, string(encoded(t, d))); diff != "" {
		t.Error("packing changed the document")
	}
}

// TestPackCoarsensParts: the histograms of single kinds of operations lose resolution with those of all, and no count.
func TestPackCoarsensParts(t *testing.T) {
	d := measure(t, mixedInput(1, 2), nil).Document
	less := d.smaller().smaller()
	before := string(encoded(t, d))
	parts := func(d *Document) (scales []int, count int64) {
		m := d.Sections[0].Merged
		for _, p := range m.Parts {
			scales, count = append(scales, p.Histogram.Scale(), p.IntendedHistogram.Scale()), count+p.Histogram.Count()
		}
		return append(scales, m.Histogram.Scale()), count
	}
	got, count := parts(less)
	want, all := parts(d)
	for i := range want {
		want[i]--
	}
	if !cmp.Equal(want, got) || count != all {
		t.Errorf("scales %v, want %v; %d values of %d", got, want, count, all)
	}
	if before != string(encoded(t, d)) {
		t.Error("the document itself changed")
	}
}

func TestUnpackRefuses(t *testing.T) {
	empty, err := compress(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, binary := range map[string][]byte{"no gzip": []byte("{}"), "cut": empty[:len(empty)-4], "nothing in it": empty, "nothing": nil} {
		in := map[string][]byte{packedKey: binary}
		if binary == nil {
			in = nil
		}
		if d, err := Unpack(nil, in); err == nil || d != nil {
			t.Errorf("%s: %v, error %v", name, d, err)
		}
	}
}
