package results

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"slices"

	"github.com/hadoop-bench/operator/runner/report"
)

// Keys of the document in the report's ConfigMap: as it is, or compressed if it has no room else.
const (
	documentKey = "report.json"
	packedKey   = documentKey + ".gz"
)

// MaxDocumentBytes bounds a document when it is read.
const MaxDocumentBytes = 32 << 20

// Packed is the content of the report's ConfigMap.
type Packed struct {
	Data   map[string]string
	Binary map[string][]byte
}

// Pack returns the document and, as a file of its own, the tool's text, in at most limit bytes together. A document that
// has no room is compressed. One that has none even so loses details that no figure depends on, and at last half the
// resolution of its histograms, as often as needed; what was left out is said in Omitted.
func (d *Document) Pack(textFile string, limit int) (*Packed, error) {
	text := d.Text()
	room := limit - len(text)
	doc, err := d.Encode()
	if err != nil {
		return nil, err
	}
	if len(doc) <= room {
		return &Packed{Data: map[string]string{documentKey: string(doc), textFile: text}}, nil
	}
	packed, err := compress(doc)
	if err != nil {
		return nil, err
	}
	for less := d; len(packed) > room; {
		if less = less.smaller(); less == nil {
			return nil, fmt.Errorf("report.json takes %d bytes and %s %d, of %d there is room for", len(packed), textFile, len(text), limit)
		}
		if doc, err = less.Encode(); err != nil {
			return nil, err
		}
		if packed, err = compress(doc); err != nil {
			return nil, err
		}
	}
	return &Packed{Data: map[string]string{textFile: text}, Binary: map[string][]byte{packedKey: packed}}, nil
}

// Unpack reads the document of a report's ConfigMap.
func Unpack(data map[string]string, binary map[string][]byte) (*Document, error) {
	packed, ok := binary[packedKey]
	if !ok {
		return ParseDocument([]byte(data[documentKey]))
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("decompress report.json: %w", err)
	}
	doc, err := io.ReadAll(io.LimitReader(z, MaxDocumentBytes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("decompress report.json: %w", err)
	case len(doc) > MaxDocumentBytes:
		return nil, fmt.Errorf("decompress report.json: more than %d bytes", MaxDocumentBytes)
	}
	return ParseDocument(doc)
}

func compress(doc []byte) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(doc); err != nil {
		return nil, fmt.Errorf("compress report.json: %w", err)
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("compress report.json: %w", err)
	}
	return b.Bytes(), nil
}

// What a document can do without, in the order in which it goes. Shards are in the rows, too.
const (
	omitShards     = "slowest and fastest shards"
	omitSeries     = "series"
	omitResolution = "resolution of histograms"
)

// smaller is the document with less in it; nil if it has nothing to spare.
func (d *Document) smaller() *Document {
	c := d.clone()
	omit := func(what string, drop func(m *report.Merged)) *Document {
		if !slices.Contains(c.Omitted, what) {
			c.Omitted = append(slices.Clone(c.Omitted), what)
		}
		for i, s := range c.Sections {
			if s.Merged != nil {
				m := *s.Merged
				drop(&m)
				c.Sections[i].Merged = &m
			}
		}
		return c
	}
	switch {
	case d.any(func(m *report.Merged) bool { return len(m.Slowest)+len(m.Fastest) > 0 }):
		return omit(omitShards, func(m *report.Merged) { m.Slowest, m.Fastest = nil, nil })
	case d.any(func(m *report.Merged) bool { return m.Series != nil }):
		return omit(omitSeries, func(m *report.Merged) { m.Series = nil })
	case d.any(anyResolved):
		return omit(omitResolution, coarserHistograms)
	}
	return nil
}

func anyResolved(m *report.Merged) bool {
	return resolved(m.Histogram) || resolved(m.IntendedHistogram) ||
		slices.ContainsFunc(m.Parts, func(p report.MergedPart) bool { return resolved(p.Histogram) || resolved(p.IntendedHistogram) })
}

// coarserHistograms halves the resolution of all histograms of a measurement, and shares none with it.
func coarserHistograms(m *report.Merged) {
	m.Histogram, m.IntendedHistogram = coarser(m.Histogram), coarser(m.IntendedHistogram)
	m.Parts = slices.Clone(m.Parts)
	for i := range m.Parts {
		p := &m.Parts[i]
		p.Histogram, p.IntendedHistogram = coarser(p.Histogram), coarser(p.IntendedHistogram)
	}
}

// resolved says whether a histogram can lose half its resolution and still tell factors of two apart.
func resolved(h *report.Histogram) bool { return h != nil && h.Scale() > 0 }

// coarser is the histogram with half its resolution, or as it is.
func coarser(h *report.Histogram) *report.Histogram {
	if !resolved(h) {
		return h
	}
	h = h.Clone()
	h.Downscale(h.Scale() - 1)
	return h
}

func (d *Document) any(has func(*report.Merged) bool) bool {
	return slices.ContainsFunc(d.Sections, func(s Section) bool { return s.Merged != nil && has(s.Merged) })
}
