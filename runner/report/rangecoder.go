package report

// A range coder turns decisions, each with an estimate of how likely it is, into close to as few bits as they carry. The
// estimates are learned from the decisions before, alike on both sides. It is the coder of LZMA, without its first byte,
// which is always zero, and without the zeros at the end.

const (
	probabilityBits = 16
	leastRange      = 1 << 24 // below it a byte is shifted out
)

// estimate is the probability of a zero, and how often it was learned from.
type estimate struct {
	zero uint16
	seen uint8
}

// of is the probability of a zero in units of 2^-16, never so small or large that a decision could not be told.
func (e *estimate) of() uint64 {
	if e.seen == 0 {
		return 1 << (probabilityBits - 1)
	}
	return uint64(e.zero)
}

// learn moves the estimate towards what came: fast at first, then by 1/64.
func (e *estimate) learn(bit int) {
	const slowest, margin = 62, 64
	p, rate := int(e.of()), int(e.seen)+2
	if bit == 0 {
		p += (1<<probabilityBits - margin - p) / rate
	} else {
		p -= (p - margin) / rate
	}
	e.zero = uint16(p)
	e.seen = min(e.seen+1, slowest)
}

// A coder writes decisions, or reads them: bit is given when writing and ignored when reading, and returned by both. So one
// description of a format serves both ways.
type coder interface {
	code(bit int, e *estimate) int
}

// encoder writes. The zero value is not usable: see newEncoder.
type encoder struct {
	low     uint64
	span    uint32
	pending int // bytes 0xFF held back after last, which a carry may yet change
	last    byte
	begun   bool
	out     []byte
}

func newEncoder() *encoder { return &encoder{span: 1<<32 - 1} }

func (c *encoder) code(bit int, e *estimate) int {
	bound := uint32(uint64(c.span) * e.of() >> probabilityBits)
	if bit == 0 {
		c.span = bound
	} else {
		c.low += uint64(bound)
		c.span -= bound
	}
	e.learn(bit)
	for c.span < leastRange {
		c.span <<= 8
		c.shift()
	}
	return bit
}

// shift moves the top byte of low out, once no carry can change it any more.
func (c *encoder) shift() {
	if c.low < 0xFF<<24 || c.low >= 1<<32 {
		carry := byte(c.low >> 32)
		if c.begun {
			c.out = append(c.out, c.last+carry)
		}
		for ; c.pending > 0; c.pending-- {
			c.out = append(c.out, 0xFF+carry)
		}
		c.last, c.begun = byte(c.low>>24), true
	} else {
		c.pending++
	}
	c.low = c.low << 8 & (1<<32 - 1)
}

// finish returns what was written, in as few bytes as tell it.
func (c *encoder) finish() []byte {
	// Any number of [low, low+span) will do; the one with the most zeros at its end is shortest.
	for bits := 32; bits > 0; bits-- {
		mask := uint64(1)<<bits - 1
		if v := (c.low + mask) &^ mask; v < c.low+uint64(c.span) {
			c.low = v
			break
		}
	}
	for range 5 {
		c.shift()
	}
	for len(c.out) > 0 && c.out[len(c.out)-1] == 0 {
		c.out = c.out[:len(c.out)-1]
	}
	return c.out
}

// decoder reads what an encoder wrote.
type decoder struct {
	code32, span uint32
	in           []byte
}

func newDecoder(in []byte) *decoder {
	c := &decoder{span: 1<<32 - 1, in: in}
	for range 4 {
		c.code32 = c.code32<<8 | uint32(c.next())
	}
	return c
}

func (c *decoder) next() byte {
	if len(c.in) == 0 {
		return 0 // zeros at the end are left out
	}
	b := c.in[0]
	c.in = c.in[1:]
	return b
}

func (c *decoder) code(_ int, e *estimate) int {
	bound := uint32(uint64(c.span) * e.of() >> probabilityBits)
	bit := 0
	if c.code32 < bound {
		c.span = bound
	} else {
		c.code32 -= bound
		c.span -= bound
		bit = 1
	}
	e.learn(bit)
	for c.span < leastRange {
		c.span <<= 8
		c.code32 = c.code32<<8 | uint32(c.next())
	}
	return bit
}
