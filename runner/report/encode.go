package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Errors of Decode and Encode. Test for them with errors.Is.
var (
	// ErrNotReport: the text is something else, or does not even hold a whole envelope.
	ErrNotReport = errors.New("not a report")
	// ErrVersion: the report's version is not the one this program reads.
	ErrVersion = errors.New("unknown version of the report")
	// ErrTruncated: the envelope is whole, what follows is cut.
	ErrTruncated = errors.New("the report is truncated")
	// ErrInvalid: the report is whole, but says what cannot be.
	ErrInvalid = errors.New("the report is invalid")
	// ErrTooBig: the report exceeds MaxBytes at the coarsest resolution.
	ErrTooBig = errors.New("the report is too big")
)

// maxInput bounds what Decode looks at: all the termination messages of a pod.
const maxInput = 12 << 10

// Encode makes the text of a report, at most MaxBytes long, the envelope first. If it would be longer, it gives up, in
// this order and no more than needed, resolution of the series, resolution of the histograms, the ends of texts, and the
// names of the rarest classes of errors, which are then counted together. No counter is dropped and r is not changed.
// The error is ErrTooBig if that is not enough, or ErrOverflow. Encode does not validate: a shard with an odd report had
// better deliver it, and Decode says what is odd about it.
func Encode(r *Report) ([]byte, error) {
	c := clone(r)
	limitTexts(c, limits{message: MaxMessage, remedy: MaxRemedy, first: MaxFirst})
	data, err := marshal(c)
	for _, squeeze := range squeezes() {
		for err == nil && len(data) > MaxBytes && squeeze(c) {
			data, err = marshal(c)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("encoding the report: %w", err)
	}
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("encoding the report: %w: %d bytes, at most %d are allowed", ErrTooBig, len(data), MaxBytes)
	}
	return data, nil
}

// marshal leaves <, > and & as they are: escaped they take six bytes each.
func marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// Decode reads the text of a report and validates it. With ErrTruncated and ErrInvalid the report is returned too: its
// envelope can be relied on as far as the identity goes, its body cannot.
func Decode(data []byte) (*Report, error) {
	if len(data) > maxInput {
		return nil, fmt.Errorf("decoding a report: %w: %d bytes", ErrNotReport, len(data))
	}
	d := json.NewDecoder(bytes.NewReader(data))
	r := new(Report)
	if err := decodeEnvelope(d, &r.Envelope); err != nil {
		return nil, fmt.Errorf("decoding a report: %w", err)
	}
	if err := decodeBody(d, &r.Body); err != nil {
		return r, fmt.Errorf("decoding the report of shard %d: %w", r.Envelope.Index, err)
	}
	if err := r.Validate(); err != nil {
		return r, fmt.Errorf("decoding the report of shard %d: %w", r.Envelope.Index, err)
	}
	return r, nil
}

// decodeEnvelope reads the report's beginning up to the end of the envelope.
func decodeEnvelope(d *json.Decoder, e *Envelope) error {
	if err := expect(d, json.Delim('{'), "envelope"); err != nil {
		return fmt.Errorf("%w: %w", ErrNotReport, err)
	}
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return fmt.Errorf("%w: reading the envelope: %w", ErrNotReport, err)
	}
	// The version goes first: another version's envelope may have another shape.
	var head struct {
		Version *int `json:"v"`
	}
	if err := json.Unmarshal(raw, &head); err != nil || head.Version == nil {
		return fmt.Errorf("%w: no version in the envelope", ErrNotReport)
	}
	if *head.Version != Version {
		return fmt.Errorf("%w: %d, this program reads %d", ErrVersion, *head.Version, Version)
	}
	if err := json.Unmarshal(raw, e); err != nil {
		return fmt.Errorf("%w: reading the envelope: %w", ErrNotReport, err)
	}
	return nil
}

// decodeBody reads the rest. What is cut is not JSON; what is JSON but no body is invalid.
func decodeBody(d *json.Decoder, b *Body) error {
	if err := expect(d, "body"); err != nil {
		return err
	}
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return fmt.Errorf("%w: reading the body: %w", ErrTruncated, err)
	}
	if err := expect(d, json.Delim('}')); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: more text after its end", ErrInvalid)
	}
	if err := json.Unmarshal(raw, b); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return nil
}

// expect reads the tokens that must come next.
func expect(d *json.Decoder, want ...json.Token) error {
	for _, w := range want {
		got, err := d.Token()
		if err != nil {
			return fmt.Errorf("%w: %w", ErrTruncated, err)
		}
		if got != w {
			return fmt.Errorf("%w: %v instead of %v", ErrInvalid, got, w)
		}
	}
	return nil
}
