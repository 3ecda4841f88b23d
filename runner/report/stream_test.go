package report

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// roundTripStream encodes histograms, decodes them again and returns the bytes.
func roundTripStream(t *testing.T, hs []*Histogram, family []kin) []byte {
	t.Helper()
	data, err := encodeStream(hs, family)
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeStream(data, family)
	if err != nil {
		t.Fatal(err)
	}
	for i := range hs {
		if !got[i].Equal(hs[i]) {
			t.Fatalf("histogram %d of %d is another one", i, len(hs))
		}
	}
	return data
}

func TestStreamRoundTrip(t *testing.T) {
	for name, draw := range distributions() {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(101, 102))
			for scale := MinScale; scale <= MaxScale; scale++ {
				whole, part, rest, empty := NewHistogram(scale), NewHistogram(scale), NewHistogram(max(0, scale-1)), NewHistogram(scale)
				for i := range 3000 {
					v := draw(random)
					whole.Record(v)
					if i%3 == 0 {
						part.Record(v)
					} else {
						rest.Record(v)
					}
				}
				alone := kin{whole: -1}
				roundTripStream(t, []*Histogram{whole}, []kin{alone})
				roundTripStream(t, []*Histogram{whole, part, rest, empty}, []kin{alone, {0, nil}, {0, []int{1}}, {0, []int{1, 2}}})
				roundTripStream(t, []*Histogram{empty, rest, whole}, []kin{alone, {0, nil}, {1, []int{0}}})
			}
		})
	}
}

// Counts at the ends of what a counter holds are told as well as others.
func TestStreamOfExtremes(t *testing.T) {
	of := func(counts ...int64) *Histogram {
		h := &Histogram{scale: 0, first: 1, counts: counts, bounds: sharedBoundaries(), min: 2, max: 1 << len(counts)}
		for k, n := range counts {
			h.count += n
			h.sum += n << (k + 1)
		}
		if h.sum < 0 || h.sum < h.count {
			h.sum = math.MaxInt64
		}
		return h
	}
	for name, hs := range map[string][]*Histogram{
		"one":                 {of(1)},
		"most in the first":   {of(math.MaxInt64/2-1, 1)},
		"most in the last":    {of(1, 1, 1<<60-4)},
		"a cliff":             {of(1<<58, 1, 1<<57, 1)},
		"part of the most":    {of(1<<59, 1<<58), of(1<<58, 1)},
		"more than its whole": {of(1, 1), of(1<<58, 1<<57)},
	} {
		t.Run(name, func(t *testing.T) {
			family := []kin{{whole: -1}, {0, nil}}
			roundTripStream(t, hs, family[:len(hs)])
		})
	}
}

func TestStreamRefuses(t *testing.T) {
	over := NewHistogram(0)
	over.Record(math.MaxInt64)
	over.Record(math.MaxInt64)
	if _, err := encodeStream([]*Histogram{over}, []kin{{whole: -1}}); !errors.Is(err, ErrOverflow) {
		t.Errorf("an overflow: %v", err)
	}
	data := roundTripStream(t, []*Histogram{latencyOf(5, 6, 7)}, []kin{{whole: -1}})
	for name, tc := range map[string]struct {
		data   []byte
		family []kin
	}{
		"more bytes":    {append(data[:len(data):len(data)], 1, 2, 3, 4, 5, 6, 7, 8), []kin{{whole: -1}}},
		"bytes of none": {[]byte{1}, nil},
		"cut":           {data[:len(data)/2], []kin{{whole: -1}}},
		"other bytes":   {[]byte("some text that is no stream"), []kin{{whole: -1}}},
	} {
		t.Run(name, func(t *testing.T) {
			if hs, err := decodeStream(tc.data, tc.family); err == nil {
				t.Errorf("decoded to %d histograms", len(hs))
			}
		})
	}
}

func latencyOf(values ...int64) *Histogram {
	h := NewHistogram(DefaultScale)
	for _, v := range values {
		h.Record(v)
	}
	return h
}

// What the bound of a report leaves of the resolution: least scale of the parts, and of all operations together.
func TestMixedReportsFit(t *testing.T) {
	const few, many, hour = 1e4, 1e6, 1e7 // values of each kind in one shard
	for _, tc := range []struct {
		name        string
		kinds       int
		n           float64
		density     shape
		rate        bool // with intended latencies
		part, total int
	}{
		{"three, real", 3, many, withTail, false, 5, 5},
		{"three, real, with a rate", 3, many, withTail, true, 4, 5},
		{"three, as wide as can be, with a rate", 3, many, logUniform, true, 3, 3},
		{"five, real", 5, many, withTail, false, 4, 5},
		{"five, real, an hour", 5, hour, withTail, false, 4, 5},
		{"five, real, with a rate", 5, many, withTail, true, 4, 4},
		{"five, real, an hour with a rate", 5, hour, withTail, true, 3, 4},
		{"five, as wide as can be", 5, many, logUniform, false, 3, 4},
		{"five, as wide as can be, few with a rate", 5, few, logUniform, true, 3, 3},
		{"five, as wide as can be, with a rate", 5, many, logUniform, true, 2, 3},
		{"five, as wide as can be, an hour with a rate", 5, hour, logUniform, true, 2, 2},
		{"nine, real, with a rate", 9, many, withTail, true, 2, 3},
		{"nine, as wide as can be, with a rate", 9, many, logUniform, true, 1, 1},
		{"nine, as wide as can be, an hour with a rate", 9, hour, logUniform, true, 1, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := mixed(tc.kinds, tc.n, tc.density)
			if !tc.rate {
				withoutRate(r)
			}
			data := mustEncode(t, r)
			got, err := Decode(data)
			if err != nil {
				t.Fatal(err)
			}
			var scales []int
			for _, h := range []*Histogram{got.Body.Parts[0].Latency, got.Body.Parts[0].Intended, got.Body.Latency, got.Body.Intended} {
				scales = append(scales, finestScale([]*Histogram{h}))
			}
			first, all := got.Body.Parts[0].Latency, got.Body.Latency
			t.Logf("%d bytes; scales of parts, their intended, all, their intended: %v; ± %.1f %% and %.1f %%",
				len(data), scales, 100*first.RelativeError(), 100*all.RelativeError())
			if first.Scale() < tc.part || all.Scale() < tc.total {
				t.Errorf("scales %d and %d, want at least %d and %d", first.Scale(), all.Scale(), tc.part, tc.total)
			}
			sameCounters(t, r, got)
		})
	}
}

func withoutRate(r *Report) {
	r.Body.Intended = nil
	for i := range r.Body.Parts {
		r.Body.Parts[i].Intended = nil
	}
}

// sameCounters checks that squeezing lost resolution only.
func sameCounters(t *testing.T, want, got *Report) {
	t.Helper()
	text := func(h *Histogram) string { return fmt.Sprint(h.Count(), h.Sum(), h.Min(), h.Max(), h.zeros) }
	places := got.Body.histograms()
	for i, place := range want.Body.histograms() {
		if *place == nil && *places[i] == nil {
			continue
		}
		if text(*place) != text(*places[i]) {
			t.Errorf("histogram %d: %s, want %s", i, text(*places[i]), text(*place))
		}
	}
	for i, p := range want.Body.Parts {
		if fmt.Sprint(p.Name, p.Returns) != fmt.Sprint(got.Body.Parts[i].Name, got.Body.Parts[i].Returns) {
			t.Errorf("part %+v", got.Body.Parts[i])
		}
	}
	if a, b := want.Body, got.Body; a.Operations != b.Operations || a.Tried != b.Tried || a.Series.Total() != b.Series.Total() {
		t.Errorf("%d operations of %d, series of %d", b.Operations, b.Tried, b.Series.Total())
	}
}

func FuzzDecodeStream(f *testing.F) {
	family := []kin{{whole: -1}, {0, nil}, {0, []int{1}}}
	for _, values := range [][]int64{{}, {0}, {1, 2}, {5, 0, 1 << 40, math.MaxInt64 >> 2}} {
		h := latencyOf(values...)
		data, err := encodeStream([]*Histogram{h, h, h}, family)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		hs, err := decodeStream(data, family)
		if err != nil {
			return
		}
		roundTripStream(t, hs, family)
	})
}
