package measure

import (
	"context"
	"math"
	"math/bits"
	"sync/atomic"
	"time"
)

// A Rate is a part of an offered load: Part of Whole of Milli thousandths of an arrival per second. All are positive;
// Milli·Part and Whole stay below 9·10^18 and 9·10^6 each.
type Rate struct {
	Milli, Part, Whole int64
}

// A Pacer is the schedule of arrivals that a rate asks for. Arrival k, from 0, is due at origin + phase + k intervals,
// computed for each k anew from whole numbers, so that no error adds up. Threads take arrivals in turn: one that is held up
// delays its own arrival only. All methods may be called concurrently.
type Pacer struct {
	origin time.Time
	// An arrival's time after the origin is (k·num + phase) / den nanoseconds, rounded down; phase < num.
	num, den, phase uint64
	next            atomic.Int64
}

const nanosPerMilliArrival = 1_000_000_000_000 // of one arrival at a rate of a thousandth per second

// NewPacer returns a schedule from origin on, whose phase within the first interval is what random, evenly distributed over
// all values, makes of it.
func NewPacer(origin time.Time, rate Rate, random uint64) *Pacer {
	part, whole := uint64(rate.Part), uint64(rate.Whole)
	if d := gcd(part, whole); d > 1 {
		part, whole = part/d, whole/d
	}
	p := &Pacer{origin: origin, num: nanosPerMilliArrival * whole, den: uint64(rate.Milli) * part}
	if d := gcd(p.num, p.den); d > 1 {
		p.num, p.den = p.num/d, p.den/d
	}
	p.phase, _ = bits.Mul64(random, p.num)
	return p
}

func gcd(a, b uint64) uint64 {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

// Claim takes the next arrival.
func (p *Pacer) Claim() int64 { return p.next.Add(1) - 1 }

// At is when arrival k is due; centuries ahead it stands still.
func (p *Pacer) At(k int64) time.Time {
	high, low := bits.Mul64(uint64(k), p.num)
	low, carry := bits.Add64(low, p.phase, 0)
	high += carry
	if high >= p.den {
		return p.origin.Add(math.MaxInt64)
	}
	after, _ := bits.Div64(high, low, p.den)
	return p.origin.Add(time.Duration(min(after, math.MaxInt64)))
}

// Due is how many arrivals are due at t or before.
func (p *Pacer) Due(t time.Time) int64 {
	after := t.Sub(p.origin)
	if after < 0 {
		return 0
	}
	// Arrival k is due iff k·num + phase < (after+1)·den.
	high, low := bits.Mul64(uint64(after)+1, p.den)
	low, borrow := bits.Sub64(low, p.phase, 0)
	if borrow > high {
		return 0
	}
	high -= borrow
	// Rounded up, since every k below the quotient is due.
	low, carry := bits.Add64(low, p.num-1, 0)
	high += carry
	if high >= p.num {
		return math.MaxInt64
	}
	due, _ := bits.Div64(high, low, p.num)
	return int64(min(due, math.MaxInt64))
}

// Wait returns at the instant t or, with the context's cause, when the context ends. It does not spin: with many threads
// waiting, that would take the CPU from those that measure. By how much it is late counts into the intended latency.
func (p *Pacer) Wait(ctx context.Context, clock Clock, t time.Time) error {
	for {
		left := t.Sub(clock.Now())
		if left <= 0 {
			return context.Cause(ctx)
		}
		if left > short {
			left -= short / 2 // a long wait may end late; the rest is short
		}
		if err := clock.Wait(ctx, left); err != nil {
			return err
		}
	}
}
