package report

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
)

// Bits of a mask of histograms.
const (
	hasLatency  = 1 << 0
	hasIntended = 1 << 1
)

// bodyJSON is a body as text: the figures, and at the end all its histograms in one stream, in base64 without padding.
// Which there are, masks tell: 1 for latency, 2 for intended latency, 3 for both.
type bodyJSON struct {
	bodyFields
	Parts      []partJSON `json:"parts,omitempty"`
	Has        int        `json:"h,omitempty"` // of all operations
	Histograms string     `json:"histograms,omitempty"`
}

// bodyFields is a Body without its methods.
type bodyFields Body

// partJSON is a part as text.
type partJSON struct {
	Part
	Has int `json:"h,omitempty"`
}

// histograms are where the histograms of a body are kept, those of all operations first, then those of its parts.
func (b *Body) histograms() []**Histogram {
	places := []**Histogram{&b.Latency, &b.Intended}
	for i := range b.Parts {
		places = append(places, &b.Parts[i].Latency, &b.Parts[i].Intended)
	}
	return places
}

func maskOf(latency, intended *Histogram) int {
	mask := 0
	if latency != nil {
		mask |= hasLatency
	}
	if intended != nil {
		mask |= hasIntended
	}
	return mask
}

// MarshalJSON encodes the body. It refuses histograms that overflowed.
func (b Body) MarshalJSON() ([]byte, error) {
	j := bodyJSON{bodyFields: bodyFields(b), Has: maskOf(b.Latency, b.Intended)}
	for _, p := range b.Parts {
		j.Parts = append(j.Parts, partJSON{Part: p, Has: maskOf(p.Latency, p.Intended)})
	}
	var hs []*Histogram
	var masks []bool
	for _, place := range b.histograms() {
		masks = append(masks, *place != nil)
		if *place != nil {
			hs = append(hs, *place)
		}
	}
	stream, err := encodeStream(hs, familyOf(masks))
	if err != nil {
		return nil, err
	}
	j.Histograms = base64.RawStdEncoding.EncodeToString(stream)
	return marshal(j)
}

// UnmarshalJSON decodes what MarshalJSON makes, and refuses histograms that no recorder can have made.
func (b *Body) UnmarshalJSON(data []byte) error {
	var j bodyJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	if len(j.Parts) > MaxParts {
		return fmt.Errorf("%d parts, at most %d are allowed", len(j.Parts), MaxParts)
	}
	masks := []bool{j.Has&hasLatency > 0, j.Has&hasIntended > 0}
	d := Body(j.bodyFields)
	for _, p := range j.Parts {
		d.Parts = append(d.Parts, p.Part)
		masks = append(masks, p.Has&hasLatency > 0, p.Has&hasIntended > 0)
	}
	stream, err := base64.RawStdEncoding.Strict().DecodeString(j.Histograms)
	if err != nil {
		return fmt.Errorf("decoding the histograms: %w", err)
	}
	hs, err := decodeStream(stream, familyOf(masks))
	if err != nil {
		return err
	}
	for i, place := range d.histograms() {
		if masks[i] {
			*place, hs = hs[0], hs[1:]
		}
	}
	*b = d
	return nil
}

// familyOf says how the histograms of a body that are there are likely to be related: the service times of parts are
// parts of those of all operations, and so are intended latencies. The intended latencies of all resemble their service
// times.
func familyOf(there []bool) []kin {
	var family []kin
	kins := [2]kin{{whole: -1}, {whole: -1}}
	for i, is := range there {
		if !is {
			continue
		}
		sort, own := i%2, len(family)
		family = append(family, kin{kins[sort].whole, kins[sort].taken[:len(kins[sort].taken):len(kins[sort].taken)]})
		switch {
		case i == 0:
			kins[0].whole, kins[1].whole = own, own
		case i == 1:
			kins[1].whole = own
		default:
			kins[sort].taken = append(kins[sort].taken, own)
		}
	}
	return family
}
