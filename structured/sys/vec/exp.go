package vec

import "math"

// exp(x) = 2^n · exp(r) with n = round(x·log₂e) and |r| ≤ ln2/2; the polynomial is that of Cephes' expf (Moshier 1989).
const (
	log2e = 1.44269504088896341
	ln2Hi = 0.693359375 // few bits, so that n·ln2Hi is exact
	ln2Lo = -2.12194440e-4
	p0    = 1.9875691500e-4
	p1    = 1.3981999507e-3
	p2    = 8.3334519073e-3
	p3    = 4.1665795894e-2
	p4    = 1.6666665459e-1
	p5    = 5.0000001201e-1
	// adding 1.5·2²³ rounds to an integer in the low bits of the sum; subtracting it again gives the rounded number
	rounder  = 3 << 22
	tooSmall = -87.33654
	tooLarge = 88.72283
)

func exps(x, to []float32) {
	for i, v := range x {
		to[i] = exp(v)
	}
}

func exp(x float32) float32 {
	switch {
	case x != x:
		return x
	case x < tooSmall:
		return 0
	case x > tooLarge:
		return float32(math.Inf(1))
	}
	shifted := float32(x*log2e) + rounder
	n := shifted - rounder
	r := x - float32(n*ln2Hi)
	r -= float32(n * ln2Lo)
	p := float32(r*p0) + p1
	p = float32(p*r) + p2
	p = float32(p*r) + p3
	p = float32(p*r) + p4
	p = float32(p*r) + p5
	p = float32(p*float32(r*r)) + r + 1
	return math.Float32frombits(math.Float32bits(p) + math.Float32bits(shifted)<<23)
}

func expDoubles(x []float64) {
	for i, v := range x {
		x[i] = expDouble(v)
	}
}

// exp(x) = 2^n · exp(r) as above, with the Taylor polynomial of degree 12.
const (
	doubleHi      = 0x1.62e42feep-1 // few bits, so that n·doubleHi is exact
	doubleLo      = 0x1.a39ef35793c76p-33
	doubleRounder = 3 << 51
	leastDouble   = -708
)

var taylor = [...]float64{
	1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120,
	1.0 / 24, 1.0 / 6, 0.5, 1, 1,
}

func expDouble(x float64) float64 {
	if !(x > leastDouble) {
		return 0
	}
	shifted := math.FMA(x, math.Log2E, doubleRounder)
	n := shifted - doubleRounder
	r := math.FMA(n, -doubleLo, math.FMA(n, -doubleHi, x))
	p := taylor[0]
	for _, c := range taylor[1:] {
		p = math.FMA(p, r, c)
	}
	return math.Float64frombits(math.Float64bits(p) + math.Float64bits(shifted)<<52)
}
