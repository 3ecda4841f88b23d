package report

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// minDeflated is the size from which deflating is tried: a compressor takes a megabyte of memory, which is too much for what
// it could save on less.
const minDeflated = 512

// histogramJSON is a histogram in a merged result, which is kept as a document; in a report all histograms are one stream.
// Exactly one of Packed and Deflated is there unless every value is zero.
type histogramJSON struct {
	Scale    int    `json:"s"`
	Count    int64  `json:"n"`
	Zeros    int64  `json:"z,omitempty"`
	Sum      int64  `json:"sum"`
	Min      int64  `json:"min"`
	Max      int64  `json:"max"`
	Packed   string `json:"b,omitempty"` // base64, without padding, of pack
	Deflated string `json:"c,omitempty"` // the same, deflated in between, where that is shorter
}

// MarshalJSON encodes the histogram. It refuses one that overflowed.
func (h *Histogram) MarshalJSON() ([]byte, error) {
	if h.overflow {
		return nil, fmt.Errorf("encoding a histogram: %w", ErrOverflow)
	}
	j := histogramJSON{Scale: h.scale, Count: h.count, Zeros: h.zeros, Sum: h.sum, Min: h.min, Max: h.max}
	packed := h.pack()
	j.Packed = base64.RawStdEncoding.EncodeToString(packed)
	if len(packed) >= minDeflated {
		deflated, err := deflate(packed)
		if err != nil {
			return nil, fmt.Errorf("encoding a histogram: %w", err)
		}
		if len(deflated) < len(packed) {
			j.Packed, j.Deflated = "", base64.RawStdEncoding.EncodeToString(deflated)
		}
	}
	return json.Marshal(j)
}

// pack writes the counts as varints: the first slot in use, then for each slot up to the last one in use its count, or 0
// and the length of a gap. Dense parts cost no byte for their place.
func (h *Histogram) pack() []byte {
	low, high := h.occupied()
	if low > high {
		return nil
	}
	out := binary.AppendUvarint(nil, uint64(h.first+low))
	for k := low; k <= high; k++ {
		if h.counts[k] > 0 {
			out = binary.AppendUvarint(out, uint64(h.counts[k]))
			continue
		}
		gap := k
		for h.counts[k+1] == 0 {
			k++
		}
		out = binary.AppendUvarint(append(out, 0), uint64(k-gap+1))
	}
	return out
}

func deflate(data []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// UnmarshalJSON decodes what MarshalJSON makes and refuses everything a recorder cannot have made: unknown scales,
// slots that do not exist, counts that do not add up, a smallest or largest value outside the outermost buckets, a sum
// that such values cannot have.
func (h *Histogram) UnmarshalJSON(data []byte) error {
	var j histogramJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return fmt.Errorf("decoding a histogram: %w", err)
	}
	if j.Scale < MinScale || j.Scale > MaxScale {
		return fmt.Errorf("decoding a histogram: scale %d is not within %d..%d", j.Scale, MinScale, MaxScale)
	}
	packed, err := j.packed()
	if err != nil {
		return fmt.Errorf("decoding a histogram: %w", err)
	}
	d := Histogram{
		scale: j.Scale, count: j.Count, zeros: j.Zeros, sum: j.Sum, min: j.Min, max: j.Max, bounds: sharedBoundaries(),
	}
	if err := d.unpack(packed); err != nil {
		return fmt.Errorf("decoding a histogram: %w", err)
	}
	if err := d.check(); err != nil {
		return fmt.Errorf("decoding a histogram: %w", err)
	}
	*h = d
	return nil
}

func (j *histogramJSON) packed() ([]byte, error) {
	if j.Deflated == "" {
		return base64.RawStdEncoding.Strict().DecodeString(j.Packed)
	}
	if j.Packed != "" {
		return nil, errors.New("both plain and deflated buckets")
	}
	deflated, err := base64.RawStdEncoding.Strict().DecodeString(j.Deflated)
	if err != nil {
		return nil, err
	}
	// Every slot takes at most one varint. The bound keeps a few bytes from growing into megabytes.
	limit := int64(slots(j.Scale)+1) * binary.MaxVarintLen64
	packed, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(deflated)), limit+1))
	if err != nil {
		return nil, fmt.Errorf("inflating the buckets: %w", err)
	}
	if int64(len(packed)) > limit {
		return nil, errors.New("more buckets than there can be")
	}
	return packed, nil
}

// unpack reads what pack wrote.
func (h *Histogram) unpack(packed []byte) error {
	if len(packed) == 0 {
		return nil
	}
	limit := uint64(slots(h.scale))
	next := func() (uint64, error) {
		v, n := binary.Uvarint(packed)
		if n <= 0 {
			return 0, errors.New("the buckets end within a number")
		}
		packed = packed[n:]
		return v, nil
	}
	first, err := next()
	if err != nil || first >= limit {
		return errors.New("the first bucket does not exist")
	}
	h.first = int(first)
	for len(packed) > 0 {
		n, err := next()
		if err != nil {
			return err
		}
		zeros := uint64(0)
		if n == 0 {
			if zeros, err = next(); err != nil {
				return err
			}
		}
		if n > maxInt64 || zeros > limit || first+uint64(len(h.counts))+max(zeros, 1) > limit {
			return errors.New("a bucket that does not exist, or a count that is too large")
		}
		if n == 0 {
			h.counts = append(h.counts, make([]int64, zeros)...)
		} else {
			h.counts = append(h.counts, int64(n))
		}
	}
	return nil
}

// check finds figures that contradict each other.
func (h *Histogram) check() error {
	if h.count < 0 || h.zeros < 0 || h.sum < 0 || h.min < 0 || h.max < h.min {
		return errors.New("a negative figure, or a largest value below the smallest")
	}
	total, ok := h.zeros, true
	for _, n := range h.counts {
		if total, ok = addInt64(total, n); !ok {
			return ErrOverflow
		}
	}
	if total != h.count {
		return fmt.Errorf("the buckets hold %d values, the count is %d", total, h.count)
	}
	if !sumWithin(h.sum, h.count, h.min, h.max) {
		return fmt.Errorf("%d values from %d to %d cannot add up to %d", h.count, h.min, h.max, h.sum)
	}
	low, high := h.occupied()
	switch {
	case h.count == 0 && h.max == 0:
		return nil
	case h.count == 0:
		return errors.New("a largest value without any value")
	case (h.min == 0) != (h.zeros > 0) || (h.max == 0) != (low > high):
		return errors.New("the smallest or largest value and the count of zeros contradict each other")
	case h.min > 0 && h.slot(h.min) != h.first+low:
		return fmt.Errorf("the smallest value %d is not in the first bucket", h.min)
	case h.max > 0 && h.slot(h.max) != h.first+high:
		return fmt.Errorf("the largest value %d is not in the last bucket", h.max)
	}
	return nil
}
