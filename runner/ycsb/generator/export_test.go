package generator

// What the tests of the package look at beside its exported parts.
var (
	Group      = group
	PrecisePow = precisePow
)

// Parameters returns a zipfian's derived parameters.
func (z *Zipfian) Parameters() (eta, alpha, zetan float64) {
	return z.eta, z.law.power.exponent, z.zetan
}

// Ranks returns the zipfian that is scrambled.
func (s *Scrambled) Ranks() *Zipfian { return &s.zipfian }

// FloorPow returns a function for ⌊n·x^y⌋.
func FloorPow(y float64) func(n, x float64) int64 { return newPower(y).floor }

// Permute returns where a rank from 0 on is.
func (p *Permuted) Permute(x uint64) uint64 { return p.permute(x) }
