package generator

import "math"

const (
	// zetaTerms is up to where sums are added up term by term; beyond, the Euler–Maclaurin formula's error is far below
	// that of a float64.
	zetaTerms = 64
	// preciseTerms is up to where NewZipfian adds up terms to the last bit as YCSB does, for scan and field lengths.
	preciseTerms = 4096
)

// Zeta returns the sum of i^-Theta over i from 1 to n, within a relative error of 1e-13, in constant time.
func Zeta(n int64) float64 { return zeta(n, zetaConstant()) }

// zeta is Zeta with the constant given, which stays the same for all n.
func zeta(n int64, constant float64) float64 {
	if n <= zetaTerms {
		return zetaSum(n, math.Pow)
	}
	return constant + zetaTail(float64(n))
}

// preciseZeta returns Zeta, for small n to the bit as YCSB adds it up.
func preciseZeta(n int64) float64 {
	if n <= preciseTerms {
		return zetaSum(n, precisePow)
	}
	return Zeta(n)
}

// zetaConstant returns the limit of zeta(n) - zetaTail(n), which is Riemann's zeta at Theta.
func zetaConstant() float64 {
	sum, lost := 0.0, 0.0 // Kahan's summation
	for i := range zetaTerms {
		term := math.Pow(float64(i+1), -Theta) - lost
		next := sum + term
		lost = (next - sum) - term
		sum = next
	}
	return sum - zetaTail(zetaTerms)
}

// zetaTail is what grows with n in the Euler–Maclaurin formula for the sum of i^-Theta.
func zetaTail(n float64) float64 {
	const t = Theta
	power := math.Pow(n, 1-t)
	last := power / n // n^-Theta
	inverse := 1 / (n * n)
	odd := t / 12 * inverse
	third := t * (t + 1) * (t + 2) / 720 * inverse * inverse
	fifth := t * (t + 1) * (t + 2) * (t + 3) * (t + 4) / 30240 * inverse * inverse * inverse
	return power/(1-t) + last*(0.5-n*(odd-third+fifth))
}

func zetaSum(n int64, pow func(x, y float64) float64) float64 {
	sum := 0.0
	for i := range n {
		sum += 1 / pow(float64(i+1), Theta)
	}
	return sum
}
