package monotone

import "math"

var plain = kernels{name: "plain Go", best: best, sum: sum, spread: spread}

func best(to, one, two, x, down, diagonal []float64, lo, hi int) {
	for i := lo; i < hi; i++ {
		to[i] = x[i] + max(one[i], one[i-1]+down[i], two[i-1]+diagonal[i])
	}
}

func sum(to, one, two scaled, x []float64, down, diagonal scaled, lo, hi int) {
	for i := lo; i < hi; i++ {
		right, below, across, e := predecessors(one, two, down, diagonal, i)
		p, n := weight(x[i])
		t := math.Float64bits((right + below + across) * p)
		to.f[i] = math.Float64frombits(t&mantissa | oneBits)
		to.e[i] = e + n + (math.Float64frombits(t>>52|rounderBits) - (1<<52 + 1023))
	}
}

func spread(p, one, two, downs, diagonals []float64, fromOne, fromTwo, down, diagonal scaled, lo, hi int) {
	for i := lo; i < hi; i++ {
		if !(p[i] > 0) {
			continue
		}
		right, below, across, _ := predecessors(fromOne, fromTwo, down, diagonal, i)
		q := p[i] / (right + below + across)
		right, below, across = right*q, below*q, across*q
		one[i] += right
		one[i-1] += below
		two[i-1] += across
		downs[i] += below
		diagonals[i] += across
	}
}

// predecessors returns what the three predecessors of place i add to its sum, over 2^e.
func predecessors(one, two, down, diagonal scaled, i int) (right, below, across, e float64) {
	e1, e2, e3 := one.e[i], one.e[i-1]+down.e[i], two.e[i-1]+diagonal.e[i]
	e = max(e1, e2, e3)
	return one.f[i] * power(e1-e), one.f[i-1] * down.f[i] * power(e2-e), two.f[i-1] * diagonal.f[i] * power(e3-e), e
}

const (
	oneBits     = 0x3ff << 52
	mantissa    = 1<<52 - 1
	rounderBits = 0x433 << 52 // of 2⁵², whose low bits are a number that is added to it
	rounder     = 3 << 51     // adding it rounds to an integer, and subtracting it again gives that
	leastPower  = -1000       // lower powers of 2 are nothing beside 1
	mostExact   = 1 << 50     // beyond it, the distance of a number from the next multiple of log 2 is within its rounding
	ln2Hi       = -0x1.62e42feep-1
	ln2Lo       = -0x1.a39ef35793c76p-33
)

// power returns 2^k for an integer k ≤ 0, and 0 for a k that is very low, or NaN, the difference of two −∞.
func power(k float64) float64 {
	if k > leastPower {
		return math.Float64frombits(oneBits + math.Float64bits(k+rounder)<<52)
	}
	return 0
}

// weight returns exp(x) = p·2ⁿ: n is x·log₂e, rounded, and p the Taylor polynomial of degree 12 of what is left, up to
// two units. For −∞ it is 0·2^−∞ with another factor.
func weight(x float64) (p, n float64) {
	n = math.FMA(x, math.Log2E, rounder) - rounder
	r := math.FMA(n, ln2Lo, math.FMA(n, ln2Hi, x))
	if !(n > -mostExact && n < mostExact) {
		r = 0
	}
	p = taylor[0]
	for _, c := range taylor[1:] {
		p = math.FMA(p, r, c)
	}
	return p, n
}

// taylor are 1/12!, 1/11!, …, 1/0!.
var taylor = func() (all [13]float64) {
	for k := range all {
		all[12-k] = 1 / math.Gamma(float64(k+1))
	}
	return all
}()
