package generator

// A power raises numbers from 1/2 to 1 to one exponent of about 100, quickly: by the nearest of 512 numbers whose powers are
// known, and the binomial series of what is left.
type power struct {
	exponent float64
	series   [9]float64 // the exponent's binomial coefficients
	inverse  [powerSteps / 2]float64
	value    [powerSteps / 2]float64
}

// powerSteps is how many known numbers there are between 0 and 1; those above 1/2 are kept.
const powerSteps = 1024

// powerTolerance is what a power differs by from the true one, relatively, with room to spare: the known number's is
// rounded, the series ends where terms are below 1e-16, and a few roundings are made on the way.
const powerTolerance = 4e-15

func newPower(exponent float64) *power {
	p := &power{exponent: exponent}
	p.series[0] = 1
	for k := 1; k < len(p.series); k++ {
		p.series[k] = p.series[k-1] * (exponent - float64(k-1)) / float64(k)
	}
	for i := range p.value {
		p.inverse[i] = 1 / known(i)
		p.value[i] = precisePow(known(i), exponent)
	}
	return p
}

// known returns the ith known number below 1.
func known(i int) float64 { return 1 - (float64(i)+0.5)/powerSteps }

// floor returns the integer part of n·x^exponent as Java computes it, for x in (1/2, 1]. The quick evaluation is right
// unless an integer lies within its tolerance; only then is the power evaluated to its last bit.
func (p *power) floor(n, x float64) int64 {
	i := int((1 - x) * powerSteps)
	r := (x - known(i)) * p.inverse[i]
	c, square := &p.series, r*r
	tail := c[5] + r*c[6] + square*(c[7]+r*c[8])
	head := c[1] + r*c[2] + square*(c[3]+r*c[4]+square*tail)
	v := n * p.value[i] * (1 + r*head)
	low := int64(v - v*powerTolerance)
	if low == int64(v+v*powerTolerance) {
		return low
	}
	return int64(n * precisePow(x, p.exponent))
}
