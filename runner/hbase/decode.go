package hbase

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// errAnswer is wrapped by errors about answers that are not as they should be.
var errAnswer = errors.New("unusable answer")

var errCellsInMessage = fmt.Errorf("%w: cells inside the message instead of beside it; does the server lack KeyValueCodec?", errAnswer)

// fields goes through the fields of an encoded message without allocating.
type fields struct {
	rest   []byte
	num    protowire.Number
	kind   protowire.Type
	number uint64 // of a varint
	bytes  []byte // of bytes
	err    error
}

// next reads a field; false at the end and on an error, which err then is.
func (f *fields) next() bool {
	if len(f.rest) == 0 || f.err != nil {
		return false
	}
	num, kind, n := protowire.ConsumeTag(f.rest)
	if n < 0 {
		return f.fail(n)
	}
	f.num, f.kind, f.rest = num, kind, f.rest[n:]
	f.number, f.bytes = 0, nil
	switch kind {
	case protowire.VarintType:
		f.number, n = protowire.ConsumeVarint(f.rest)
	case protowire.BytesType:
		f.bytes, n = protowire.ConsumeBytes(f.rest)
	default:
		n = protowire.ConsumeFieldValue(num, kind, f.rest)
	}
	if n < 0 {
		return f.fail(n)
	}
	f.rest = f.rest[n:]
	return true
}

func (f *fields) fail(code int) bool {
	f.err = fmt.Errorf("%w: %w", errAnswer, protowire.ParseError(code))
	return false
}

// is tells whether the field is num, and of the kind that num has.
func (f *fields) is(num protowire.Number, kind protowire.Type) bool {
	return f.num == num && f.kind == kind
}

func (f *fields) isBytes(num protowire.Number) bool  { return f.is(num, protowire.BytesType) }
func (f *fields) isVarint(num protowire.Number) bool { return f.is(num, protowire.VarintType) }

// maxCells bounds what an answer may say that it has beside it.
const maxCells = 1 << 28

// parseResult reads a Result: how many cells it has beside the message.
func parseResult(b []byte) (cells int, err error) {
	f := fields{rest: b}
	for f.next() {
		switch {
		case f.isBytes(1):
			return 0, errCellsInMessage
		case f.isVarint(2):
			if f.number > maxCells {
				return 0, fmt.Errorf("%w: a row of %d cells", errAnswer, int64(f.number))
			}
			cells = int(f.number)
		}
	}
	return cells, f.err
}

// parseGetResponse reads a GetResponse: how many cells it has beside it.
func parseGetResponse(b []byte) (cells int, err error) {
	f := fields{rest: b}
	for f.next() && err == nil {
		if f.isBytes(1) {
			cells, err = parseResult(f.bytes)
		}
	}
	if err == nil {
		err = f.err
	}
	return cells, err
}

// parseMutateResponse checks a MutateResponse.
func parseMutateResponse(b []byte) error {
	f := fields{rest: b}
	for f.next() {
		if f.isVarint(2) && f.number == 0 {
			return fmt.Errorf("%w: the server says that it did not carry out the mutation", errAnswer)
		}
	}
	return f.err
}

// A scanAnswer is a ScanResponse. more and moreInRegion are true where the server says nothing.
type scanAnswer struct {
	cells        []int // of each row
	scanner      uint64
	hasScanner   bool
	more         bool
	moreInRegion bool
	saysInRegion bool
}

// parse reads the message into a, whose memory is used again.
func (a *scanAnswer) parse(b []byte) error {
	*a = scanAnswer{cells: a.cells[:0], more: true, moreInRegion: true}
	f := fields{rest: b}
	for f.next() {
		switch {
		case f.num == 1:
			if err := a.addCells(&f); err != nil {
				return err
			}
		case f.isVarint(2):
			a.scanner, a.hasScanner = f.number, true
		case f.isVarint(3):
			a.more = f.number != 0
		case f.isBytes(5):
			return errCellsInMessage
		case f.isVarint(7) && f.number != 0, f.isBytes(7) && holdsTrue(f.bytes):
			return fmt.Errorf("%w: part of a row, where whole rows were asked for", errAnswer)
		case f.isVarint(8):
			a.moreInRegion, a.saysInRegion = f.number != 0, true
		}
	}
	return f.err
}

// addCells takes a number of cells, or several, packed.
func (a *scanAnswer) addCells(f *fields) error {
	if f.kind == protowire.VarintType {
		return a.addCount(f.number)
	}
	for b := f.bytes; len(b) > 0; {
		v, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return fmt.Errorf("%w: %w", errAnswer, protowire.ParseError(n))
		}
		if err := a.addCount(v); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

func (a *scanAnswer) addCount(v uint64) error {
	if v > maxCells {
		return fmt.Errorf("%w: a row of %d cells", errAnswer, int64(v))
	}
	a.cells = append(a.cells, int(v))
	return nil
}

// holdsTrue says whether packed booleans hold a true one.
func holdsTrue(packed []byte) bool {
	for _, b := range packed {
		if b != 0 {
			return true
		}
	}
	return false
}

// A nameBytes is a NameBytesPair, as which exceptions come within answers: class and stack trace.
type nameBytes struct {
	name, value []byte
	set         bool
}

func parseNameBytes(b []byte) (p nameBytes, err error) {
	p.set = true
	f := fields{rest: b}
	for f.next() {
		switch {
		case f.isBytes(1):
			p.name = f.bytes
		case f.isBytes(2):
			p.value = f.bytes
		}
	}
	return p, f.err
}

// An outcome is one action's part of a MultiResponse.
type outcome struct {
	region    int // which RegionAction, from 0
	index     int // the action's index as it was sent; -1: the exception is that of the whole region
	cells     int // beside the message
	exception nameBytes
}

// parseMultiResponse reads a MultiResponse and hands each outcome to visit, in the answer's order, in which the cells lie
// too.
func parseMultiResponse(b []byte, visit func(outcome) error) error {
	f := fields{rest: b}
	for region := 0; f.next(); {
		if !f.isBytes(1) {
			continue
		}
		if err := parseRegionResult(f.bytes, region, visit); err != nil {
			return err
		}
		region++
	}
	return f.err
}

func parseRegionResult(b []byte, region int, visit func(outcome) error) error {
	f := fields{rest: b}
	for f.next() {
		o := outcome{region: region, index: -1}
		var err error
		switch {
		case f.isBytes(1):
			err = o.parse(f.bytes)
		case f.isBytes(2):
			o.exception, err = parseNameBytes(f.bytes)
		default:
			continue
		}
		if err == nil {
			err = visit(o)
		}
		if err != nil {
			return err
		}
	}
	return f.err
}

// parse reads a ResultOrException.
func (o *outcome) parse(b []byte) (err error) {
	o.index = 0
	f := fields{rest: b}
	for f.next() && err == nil {
		switch {
		case f.isVarint(1):
			if f.number >= maxCells {
				return fmt.Errorf("%w: index %d of an action", errAnswer, int64(f.number))
			}
			o.index = int(f.number)
		case f.isBytes(2):
			o.cells, err = parseResult(f.bytes)
		case f.isBytes(3):
			o.exception, err = parseNameBytes(f.bytes)
		}
	}
	if err == nil {
		err = f.err
	}
	return err
}
