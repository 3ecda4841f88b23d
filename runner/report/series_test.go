package report

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSeriesAdd(t *testing.T) {
	type amount struct{ at, n int64 }
	for name, tc := range map[string]struct {
		amounts []amount
		want    []int64
		width   int64
		early   int64
	}{
		"nothing":               {nil, nil, 100, 0},
		"borders":               {[]amount{{1000, 1}, {1099, 2}, {1100, 4}}, []int64{3, 4}, 100, 0},
		"last fine bucket":      {[]amount{{1000 + 5999, 7}}, append(make([]int64, 59), 7), 100, 0},
		"one beyond doubles":    {[]amount{{1000, 1}, {1150, 2}, {1000 + 6000, 7}}, append(append([]int64{3}, make([]int64, 29)...), 7), 200, 0},
		"far beyond":            {[]amount{{1000, 1}, {1000 + 100*60*1024 - 1, 2}}, append(append([]int64{1}, make([]int64, 58)...), 2), 100 * 1024, 0},
		"before the origin":     {[]amount{{999, 5}, {-7, 2}, {1000, 1}}, []int64{8}, 100, 7},
		"nothing and less":      {[]amount{{1000, 0}, {1000, -4}}, nil, 100, 0},
		"back in time is fine":  {[]amount{{1500, 1}, {1100, 2}}, []int64{0, 2, 0, 0, 0, 1}, 100, 0},
		"impossibly far before": {[]amount{{math.MinInt64, 3}}, []int64{3}, 100, 3},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewSeries(1000, 100)
			total := int64(0)
			for _, a := range tc.amounts {
				s.Add(a.at, a.n)
				total += max(a.n, 0)
			}
			if diff := cmp.Diff(tc.want, s.Amounts()); diff != "" {
				t.Errorf("amounts (-want +got):\n%s", diff)
			}
			if s.Width() != tc.width || s.Early() != tc.early || s.Total() != total || s.Origin() != 1000 {
				t.Errorf("width %d, early %d, total %d, origin %d", s.Width(), s.Early(), s.Total(), s.Origin())
			}
		})
	}
}

func TestNewSeriesBounds(t *testing.T) {
	for name, tc := range map[string]struct{ origin, delta0, wantOrigin, wantWidth int64 }{
		"default width": {5, 0, 5, DefaultSeriesMicros},
		"negative":      {-5, -1, 0, DefaultSeriesMicros},
		"too large":     {math.MaxInt64, math.MaxInt64, maxMicros, maxMicros},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewSeries(tc.origin, tc.delta0)
			if s.Origin() != tc.wantOrigin || s.Width() != tc.wantWidth {
				t.Errorf("origin %d, width %d", s.Origin(), s.Width())
			}
			s.Add(math.MaxInt64, 1) // must end, and be decodable
			roundTripSeries(t, s)
		})
	}
}

func TestSeriesAtTheEndOfTime(t *testing.T) {
	s := NewSeries(0, 1)
	s.Shift(math.MaxInt64)
	s.Add(math.MaxInt64, 1)
	s.Shift(math.MinInt64)
	s.Add(math.MinInt64, 2)
	if s.Total() != 3 || s.Early() != 2 {
		t.Errorf("total %d, early %d", s.Total(), s.Early())
	}
	roundTripSeries(t, s)
}

func roundTripSeries(t *testing.T, s *Series) {
	t.Helper()
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	got := new(Series)
	if err := json.Unmarshal(data, got); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	if !got.Equal(s) {
		t.Errorf("%s decodes to something else", data)
	}
}

// A shard whose clock is 3 ms behind files by the target's clock once it is told, not before.
func TestShift(t *testing.T) {
	s := NewSeries(1_000_000, 100_000)
	s.Add(1_097_500, 1)
	s.Shift(3000)
	s.Add(1_097_500, 10)
	s.Add(996_900, 100)
	s.Add(997_000, 1000)
	if diff := cmp.Diff([]int64{1101, 10}, s.Amounts()); diff != "" || s.Early() != 100 {
		t.Errorf("early %d (-want +got):\n%s", s.Early(), diff)
	}
}

// Shards that end at different widths merge to exactly what one recorder of everything has.
func TestSeriesMergeEqualsRecordingTogether(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		all, merged := NewSeries(t0, 100), NewSeries(t0, 100)
		for range 4 {
			shard := NewSeries(t0, 100)
			reach := int64(1) << random.IntN(30)
			for range 50 {
				at, n := t0-50+random.Int64N(reach+50), random.Int64N(1000)
				all.Add(at, n)
				shard.Add(at, n)
			}
			if err := merged.Merge(shard); err != nil {
				t.Fatal(err)
			}
		}
		if !merged.Equal(all) {
			t.Fatalf("merged %v, together %v", merged.Amounts(), all.Amounts())
		}
	}
}

func TestSeriesMergeRefuses(t *testing.T) {
	full := NewSeries(10, 100)
	full.Add(10, math.MaxInt64)
	for name, tc := range map[string]struct {
		other *Series
		want  error
	}{
		"nil":           {nil, nil},
		"another start": {NewSeries(11, 100), ErrSeriesMismatch},
		"another width": {NewSeries(10, 200), ErrSeriesMismatch},
		"overflow":      {full, ErrOverflow},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewSeries(10, 100)
			s.Add(10, 1)
			before := s.Clone()
			if err := s.Merge(tc.other); !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
			if !s.Equal(before) {
				t.Error("a refused merge changed the series")
			}
		})
	}
	full.Add(10, 1)
	if _, err := json.Marshal(full); !errors.Is(err, ErrOverflow) {
		t.Errorf("encoding an overflowed series: %v", err)
	}
}

func TestBetween(t *testing.T) {
	s := NewSeries(1000, 100)
	for k := range int64(10) {
		s.Add(1000+100*k, 1<<k)
	}
	for name, tc := range map[string]struct {
		from, to, amount int64
		buckets          int
	}{
		"on the borders":       {1200, 1500, 4 + 8 + 16, 3},
		"snaps inward":         {1101, 1599, 4 + 8 + 16, 3},
		"before the origin":    {0, 1100, 1, 1},
		"beyond the end":       {1900, 1000 + 100*60 + 5000, 512, 101}, // nothing was done there, for as long as it was
		"within one bucket":    {1210, 1290, 0, 0},
		"turned around":        {1500, 1200, 0, 0},
		"wholly before":        {0, 500, 0, 0},
		"around one border":    {1150, 1250, 0, 0},
		"exactly one bucket":   {1300, 1400, 8, 1},
		"one microsecond less": {1300, 1399, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			amount, buckets, micros := s.between(tc.from, tc.to)
			if amount != tc.amount || buckets != tc.buckets || micros != int64(tc.buckets)*100 {
				t.Errorf("got %d in %d buckets, %d µs", amount, buckets, micros)
			}
		})
	}
}

func TestSeriesText(t *testing.T) {
	s := NewSeries(t0, 250)
	s.Add(t0-1, 9)
	s.Add(t0+60*250, 4)
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"t":1790000000000000,"d":250,"m":1,"early":9,"b":[9,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,4]}`
	if string(data) != want {
		t.Errorf("got  %s\nwant %s", data, want)
	}
	roundTripSeries(t, s)
}

func TestSeriesUnmarshalRefuses(t *testing.T) {
	long := make([]int64, 61)
	text, _ := json.Marshal(long)
	for name, data := range map[string]string{
		"no object":         `[]`,
		"nothing":           `{}`,
		"negative origin":   `{"t":-1,"d":1}`,
		"far origin":        `{"t":9007199254740993,"d":1}`,
		"negative width":    `{"t":0,"d":-1}`,
		"huge width":        `{"t":0,"d":9007199254740993}`,
		"huge doublings":    `{"t":0,"d":1,"m":54}`,
		"too wide":          `{"t":0,"d":9007199254740992,"m":1}`,
		"negative amount":   `{"t":0,"d":1,"b":[1,-1]}`,
		"overflow":          `{"t":0,"d":1,"b":[9223372036854775807,1]}`,
		"too many":          `{"t":0,"d":1,"b":` + string(text) + `}`,
		"early above first": `{"t":0,"d":1,"early":2,"b":[1,5]}`,
		"negative early":    `{"t":0,"d":1,"early":-1,"b":[1]}`,
	} {
		t.Run(name, func(t *testing.T) {
			s := NewSeries(3, 4)
			if err := json.Unmarshal([]byte(data), s); err == nil {
				t.Error("was decoded")
			}
			if s.Origin() != 3 {
				t.Error("a refused text changed the series")
			}
		})
	}
}

func TestSeriesEqual(t *testing.T) {
	a, b := NewSeries(1, 2), NewSeries(1, 2)
	b.Shift(5)
	if !a.Equal(b) || a.Equal(nil) || (*Series)(nil).Equal(a) || !(*Series)(nil).Equal(nil) {
		t.Error("shift counts, or nil is wrong")
	}
	b.Add(0, 1)
	if a.Equal(b) || (*Series)(nil).Clone() != nil {
		t.Error("amounts do not count, or nil has a clone")
	}
}

func TestSeriesAddDoesNotAllocate(t *testing.T) {
	s := NewSeries(0, 1)
	at := int64(1)
	if n := testing.AllocsPerRun(1000, func() { s.Add(at, 5); at += at/3 + 1 }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzSeriesUnmarshal(f *testing.F) {
	f.Add([]byte(`{"t":1790000000000000,"d":250,"m":1,"early":9,"b":[9,0,4]}`))
	f.Add([]byte(`{"t":0,"d":1,"m":53}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := new(Series)
		if json.Unmarshal(data, s) != nil || s.delta0 == 0 {
			return
		}
		roundTripSeries(t, s)
		s.Add(t0, 1)
		if err := s.Merge(s.Clone()); err == nil {
			roundTripSeries(t, s)
		}
	})
}
