package cell

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Limits of a cell, in bytes: what the lengths in its encoding can say.
const (
	MaxRow    = math.MaxInt16
	MaxFamily = math.MaxInt8
)

// Sizes of parts of an encoded cell. It is
//
//	int32 total, int32 key length, int32 value length, key, value
//
// and a key is
//
//	int16 row length, row, int8 family length, family, qualifier, int64 timestamp, type
const (
	totalSize   = 4
	lengthsSize = 4 + 4
	rowSize     = 2
	familySize  = 1
	tailSize    = 8 + 1
	minKey      = rowSize + familySize + tailSize
)

// Size is how many bytes Append adds.
func Size(c *Cell) int { return totalSize + lengthsSize + keySize(c) + len(c.Value) }

func keySize(c *Cell) int { return minKey + len(c.Row) + len(c.Family) + len(c.Qualifier) }

// Append appends a cell to a cellblock. It refuses one whose row has more than MaxRow or whose family more than MaxFamily
// bytes, or that has 2 GiB or more, and returns b as it was then.
func Append(b []byte, c *Cell) ([]byte, error) {
	key := keySize(c)
	total := lengthsSize + key + len(c.Value)
	if len(c.Row) > MaxRow || len(c.Family) > MaxFamily || total > math.MaxInt32 {
		return b, tooLarge(c)
	}
	b = binary.BigEndian.AppendUint32(b, uint32(total))
	b = binary.BigEndian.AppendUint32(b, uint32(key))
	b = binary.BigEndian.AppendUint32(b, uint32(len(c.Value)))
	b = binary.BigEndian.AppendUint16(b, uint16(len(c.Row)))
	b = append(b, c.Row...)
	b = append(b, byte(len(c.Family)))
	b = append(b, c.Family...)
	b = append(b, c.Qualifier...)
	b = binary.BigEndian.AppendUint64(b, uint64(c.Timestamp))
	b = append(b, byte(c.Type))
	return append(b, c.Value...), nil
}

func tooLarge(c *Cell) error {
	switch {
	case len(c.Row) > MaxRow:
		return fmt.Errorf("a row key has %d bytes, HBase takes at most %d", len(c.Row), MaxRow)
	case len(c.Family) > MaxFamily:
		return fmt.Errorf("a column family's name has %d bytes, HBase takes at most %d", len(c.Family), MaxFamily)
	}
	return fmt.Errorf("a cell has %d bytes, HBase takes at most %d", Size(c)-totalSize, math.MaxInt32)
}

// A Reader takes cells out of a cellblock, one after the other, without copying them. The zero value reads nothing.
type Reader struct {
	rest []byte
	err  error
}

// NewReader reads a cellblock. A Reader may be kept and assigned anew for each block.
func NewReader(block []byte) Reader { return Reader{rest: block} }

// Next fills c with the next cell, whose slices are parts of the block. It returns false at the block's end, or if what
// comes is no cell; then Err says so.
func (r *Reader) Next(c *Cell) bool {
	if len(r.rest) == 0 || r.err != nil {
		return false
	}
	r.rest, r.err = consume(r.rest, c)
	return r.err == nil
}

// Err is why Next found no further cell; nil at the block's end.
func (r *Reader) Err() error { return r.err }

// Left is how many bytes of the block were not read yet.
func (r *Reader) Left() int { return len(r.rest) }

var errLengths = errors.New("the lengths inside a cell contradict each other")

// consume cuts the first cell off a block.
func consume(block []byte, c *Cell) (rest []byte, err error) {
	if len(block) < totalSize {
		return block, cutOff(totalSize, len(block))
	}
	total, body := binary.BigEndian.Uint32(block), block[totalSize:]
	if uint64(total) > uint64(len(body)) {
		return block, cutOff(int64(total), len(body))
	}
	body, rest = body[:total], body[total:]
	if len(body) < lengthsSize+minKey {
		return block, errLengths
	}
	keyLength, valueLength := binary.BigEndian.Uint32(body), binary.BigEndian.Uint32(body[4:])
	if uint64(keyLength)+uint64(valueLength)+lengthsSize != uint64(total) || keyLength < minKey {
		return block, errLengths
	}
	key := body[lengthsSize : lengthsSize+keyLength]
	c.Value = body[lengthsSize+keyLength:]
	rowEnd := rowSize + int(binary.BigEndian.Uint16(key))
	tail := len(key) - tailSize
	if rowEnd+familySize > tail {
		return block, errLengths
	}
	familyEnd := rowEnd + familySize + int(key[rowEnd])
	if familyEnd > tail {
		return block, errLengths
	}
	c.Row, c.Family, c.Qualifier = key[rowSize:rowEnd], key[rowEnd+familySize:familyEnd], key[familyEnd:tail]
	c.Timestamp, c.Type = int64(binary.BigEndian.Uint64(key[tail:])), Type(key[len(key)-1])
	return rest, nil
}

func cutOff(need int64, have int) error {
	return fmt.Errorf("a cellblock ends within a cell: %d bytes are missing", need-int64(have))
}
