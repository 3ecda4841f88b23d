package generator

import "math"

// A double is an unevaluated sum of two float64, the second below half a unit in the last place of the first: about 106
// bits.
type double struct{ high, low float64 }

// sum returns a+b exactly, for |a| ≥ |b| or any a = 0.
func sum(a, b float64) double {
	s := a + b
	return double{s, b - (s - a)}
}

// exact returns a+b exactly.
func exact(a, b float64) double {
	s := a + b
	t := s - a
	return double{s, (a - (s - t)) + (b - t)}
}

func (a double) plus(b double) double {
	s := exact(a.high, b.high)
	return sum(s.high, s.low+a.low+b.low)
}

func (a double) times(b double) double {
	p := a.high * b.high
	return sum(p, math.FMA(a.high, b.high, -p)+(a.high*b.low+a.low*b.high))
}

func (a double) timesFloat(b float64) double { return a.times(double{b, 0}) }

// ln2 is the logarithm of 2 in 106 bits.
var ln2 = double{math.Ln2, 2.3190468138462996e-17}

// precisePow returns x^y rounded to the nearest float64, for x > 0 and results that are normal numbers. It takes about a
// microsecond. Java's pow is within one unit in the last place and nearly always the same; Go's is not as near for large y.
func precisePow(x, y float64) float64 {
	log := preciseLog(x)
	power := preciseExp(log.timesFloat(y))
	return power.high + power.low
}

// preciseLog corrects a logarithm by one step of Newton's method.
func preciseLog(x float64) double {
	l := math.Log(x)
	ratio := preciseExp(double{-l, 0}).timesFloat(x) // 1 plus the small error
	delta := ratio.plus(double{-1, 0})
	// log(1+d) = d - d²/2 + …, and d is about 1e-16.
	delta = delta.plus(double{-delta.high * delta.high / 2, 0})
	return double{l, 0}.plus(delta)
}

// preciseExp takes out the powers of 2, adds up the series of a 512th and squares it nine times.
func preciseExp(p double) double {
	const halvings = 9
	k := math.Round(p.high / math.Ln2)
	r := p.plus(ln2.timesFloat(-k))
	r.high, r.low = math.Ldexp(r.high, -halvings), math.Ldexp(r.low, -halvings)
	term, series := double{1, 0}, double{1, 0}
	for i := 1.0; i <= 11; i++ {
		term = term.times(r).times(inverse(i))
		series = series.plus(term)
	}
	for range halvings {
		series = series.times(series)
	}
	return double{math.Ldexp(series.high, int(k)), math.Ldexp(series.low, int(k))}
}

// inverse returns 1/i.
func inverse(i float64) double {
	q := 1 / i
	return double{q, math.FMA(-q, i, 1) / i}
}
