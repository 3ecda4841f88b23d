package report

import (
	"encoding/json"
	"errors"
	"fmt"
)

const (
	// MaxBuckets bounds a series. When a time lies beyond the last one, buckets become twice as wide.
	MaxBuckets = 60

	// DefaultSeriesMicros is δ0, the width of the finest bucket, unless a plan says otherwise: 100 ms, far above the
	// error of a clock offset, which is a fraction of a round trip.
	DefaultSeriesMicros = 100_000

	// maxMicros bounds every time and duration (the year 2255), so that differences and sums of a few never overflow
	// and readers that hold numbers as doubles see them exactly.
	maxMicros = 1 << 53
)

// ErrSeriesMismatch says that two series do not have the same origin and finest width, so their buckets do not align.
var ErrSeriesMismatch = errors.New("the series have different origins or bucket widths")

// Series is an amount (bytes or operations) per time bucket. Bucket k covers [T + k*δ, T + (k+1)*δ) in microseconds
// since the Unix epoch, where T is the start time of the attempt and δ = δ0*2^m. All shards of an attempt have the same T
// and δ0, so series of different m merge exactly.
//
// Times are those of the target's clock. A shard's clock may be off by some milliseconds, which moves an amount across a
// bucket's border but cannot be undone afterwards, since a bucket no longer knows when its amounts came. So a recorder
// calls Shift with its clock offset before it records; what is left is the offset's uncertainty, which matters only at
// the two borders of a window of at least five buckets. If the target's clock is behind the one that set T, the first
// amounts come before T: they are kept, in the first bucket, and no window includes that bucket.
//
// One goroutine at a time may use it. The zero value is not usable: see NewSeries.
type Series struct {
	origin, delta0 int64
	doublings      uint // m
	shift          int64
	early          int64 // part of buckets[0] that came before the origin
	total          int64
	overflow       bool
	buckets        [MaxBuckets]int64
}

// NewSeries makes an empty series from T in microseconds since the Unix epoch and δ0 in microseconds. A width below 1
// stands for DefaultSeriesMicros; an origin before the epoch or beyond 2255 is brought to the nearer end.
func NewSeries(originMicros, delta0Micros int64) *Series {
	if delta0Micros < 1 {
		delta0Micros = DefaultSeriesMicros
	}
	return &Series{origin: max(0, min(originMicros, maxMicros)), delta0: min(delta0Micros, maxMicros)}
}

// Shift sets what is added to the times given to Add from now on: the offset of Clock, which turns the shard's clock into
// the target's. Amounts that are already filed stay where they are.
func (s *Series) Shift(offsetMicros int64) {
	s.shift = max(-maxMicros, min(offsetMicros, maxMicros))
}

// Add files an amount under a time in microseconds since the Unix epoch. It does not allocate. A time before the origin
// goes to the first bucket and is counted by Early too; an amount below 1 is not counted.
func (s *Series) Add(atMicros, amount int64) {
	if amount < 1 {
		return
	}
	if s.total > maxInt64-amount {
		s.overflow = true
		return
	}
	s.total += amount
	at := max(-maxMicros, min(atMicros, maxMicros)) + s.shift - s.origin
	if at < 0 {
		s.early += amount
		at = 0
	}
	k := at / s.Width()
	for k >= MaxBuckets {
		s.double()
		k /= 2
	}
	s.buckets[k] += amount
}

const maxInt64 = 1<<63 - 1

// double makes the buckets twice as wide.
func (s *Series) double() {
	for k := range MaxBuckets / 2 {
		s.buckets[k] = s.buckets[2*k] + s.buckets[2*k+1]
	}
	clear(s.buckets[MaxBuckets/2:])
	s.doublings++
}

// Merge adds another series of the same origin and δ0; nil adds nothing. Afterwards s has the wider of the two widths.
// On ErrSeriesMismatch or ErrOverflow s is unchanged.
func (s *Series) Merge(other *Series) error {
	if other == nil {
		return nil
	}
	if s.origin != other.origin || s.delta0 != other.delta0 {
		return fmt.Errorf("merging series from %d by %d µs and from %d by %d µs: %w",
			s.origin, s.delta0, other.origin, other.delta0, ErrSeriesMismatch)
	}
	total, ok := addInt64(s.total, other.total)
	if !ok || s.overflow || other.overflow {
		return fmt.Errorf("merging series: %w", ErrOverflow)
	}
	for s.doublings < other.doublings {
		s.double()
	}
	narrower := s.doublings - other.doublings
	for k, amount := range other.buckets {
		s.buckets[k>>narrower] += amount
	}
	s.total, s.early = total, s.early+other.early
	return nil
}

// Clone is an independent copy; of nil it is nil.
func (s *Series) Clone() *Series {
	if s == nil {
		return nil
	}
	c := *s
	return &c
}

// Equal reports whether both hold the same amounts in the same buckets. The shift does not count. Two nils are equal.
func (s *Series) Equal(other *Series) bool {
	if s == nil || other == nil {
		return s == other
	}
	a, b := *s, *other
	a.shift, b.shift = 0, 0
	return a == b
}

// Origin is T in microseconds since the Unix epoch.
func (s *Series) Origin() int64 { return s.origin }

// Width is δ, the present width of a bucket in microseconds.
func (s *Series) Width() int64 { return s.delta0 << s.doublings }

// Total is the sum of all amounts.
func (s *Series) Total() int64 { return s.total }

// Early is the amount that came before the origin and was put into the first bucket.
func (s *Series) Early() int64 { return s.early }

// Amounts are the buckets up to the last one that is not empty, as a copy.
func (s *Series) Amounts() []int64 {
	return append([]int64(nil), s.buckets[:s.used()]...)
}

// used is the number of buckets up to the last one that is not empty.
func (s *Series) used() int {
	n := MaxBuckets
	for n > 0 && s.buckets[n-1] == 0 {
		n--
	}
	return n
}

// between adds up the whole buckets within [from, to) and says how many they are and how long together. The first bucket
// is left out if it holds amounts from before the origin: it would be worth more than its width. Past the last bucket lies
// time in which nothing was done: buckets would have become wider otherwise.
func (s *Series) between(from, to int64) (amount int64, buckets int, micros int64) {
	width := s.Width()
	low := (max(from-s.origin, 0) + width - 1) / width
	if s.early > 0 {
		low = max(low, 1)
	}
	high := max((to-s.origin)/width, low)
	for k := low; k < min(high, MaxBuckets); k++ {
		amount += s.buckets[k]
	}
	return amount, int(high - low), (high - low) * width
}

// seriesJSON is a series in a report: T, δ0, m, the early amount and the buckets without trailing zeros.
type seriesJSON struct {
	Origin    int64   `json:"t"`
	Delta0    int64   `json:"d"`
	Doublings uint    `json:"m,omitempty"`
	Early     int64   `json:"early,omitempty"`
	Buckets   []int64 `json:"b,omitempty"`
}

// MarshalJSON encodes the series. It refuses one that overflowed.
func (s *Series) MarshalJSON() ([]byte, error) {
	if s.overflow {
		return nil, fmt.Errorf("encoding a series: %w", ErrOverflow)
	}
	return json.Marshal(seriesJSON{s.origin, s.delta0, s.doublings, s.early, s.buckets[:s.used()]})
}

// UnmarshalJSON decodes what MarshalJSON makes and refuses everything a recorder cannot have made.
func (s *Series) UnmarshalJSON(data []byte) error {
	var j seriesJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return fmt.Errorf("decoding a series: %w", err)
	}
	d := Series{origin: j.Origin, delta0: j.Delta0, doublings: j.Doublings, early: j.Early}
	switch {
	case j.Origin < 0 || j.Origin > maxMicros:
		return fmt.Errorf("decoding a series: origin %d is out of range", j.Origin)
	case j.Delta0 < 1 || j.Delta0 > maxMicros:
		return fmt.Errorf("decoding a series: bucket width %d is out of range", j.Delta0)
	case j.Doublings > 53 || j.Delta0 > maxMicros>>j.Doublings:
		return fmt.Errorf("decoding a series: %d doublings of the bucket width are out of range", j.Doublings)
	case len(j.Buckets) > MaxBuckets:
		return fmt.Errorf("decoding a series: %d buckets, at most %d are allowed", len(j.Buckets), MaxBuckets)
	}
	for k, amount := range j.Buckets {
		total, ok := addInt64(d.total, amount)
		if amount < 0 || !ok {
			return fmt.Errorf("decoding a series: amount %d of bucket %d is out of range", amount, k)
		}
		d.buckets[k], d.total = amount, total
	}
	if d.early < 0 || d.early > d.buckets[0] {
		return fmt.Errorf("decoding a series: early amount %d is out of range", d.early)
	}
	*s = d
	return nil
}
