package transcript

import "math"

// wide is a number m·2^(512·e) ≥ 0: sums of products of thousands of probabilities stay within the range of e, and need
// no logarithms. m is 0, or at least 2^−256 and below 2^258.
type wide struct {
	m float64
	e int64
}

const (
	octaves = 512 // of one step of e
	step    = octaves * math.Ln2
	large   = 1 << 256
	small   = 1.0 / large
	down    = small * small // 2^−512
	up      = 1 / down
	none    = math.MinInt64 / 4 // e of zero: below all others
	lowest  = -1e15             // exponents below count as this one: potentials are never that far apart
)

var (
	zero = wide{0, none}
	one  = wide{1, 0}
)

// exponential returns exp(x) for x ≤ 0.
func exponential(x float64) wide {
	switch {
	case x > -step/2:
		return wide{math.Exp(x), 0}
	case math.IsInf(x, -1):
		return zero
	}
	x = max(x, lowest)
	e := math.Round(x / step)
	return wide{math.Exp(x - e*step), int64(e)}
}

// log returns the natural logarithm.
func (a wide) log() float64 {
	if a.m == 0 {
		return math.Inf(-1)
	}
	return math.Log(a.m) + float64(a.e)*step
}

func (a wide) plus(b wide) wide {
	switch d := a.e - b.e; d {
	case 0:
		a.m += b.m
	case 1:
		a.m += b.m * down
	case -1:
		b.m += a.m * down
		return b
	default:
		if d < 0 {
			return b
		}
	}
	return a
}

func (a wide) times(b wide) wide {
	if a.m == 0 || b.m == 0 {
		return zero
	}
	c := wide{a.m * b.m, a.e + b.e}
	switch {
	case c.m < small:
		c.m *= up
		c.e--
	case c.m >= large:
		c.m *= down
		c.e++
	}
	return c
}

// over returns a/b as a number, for a ≤ b up to rounding.
func (a wide) over(b wide) float64 {
	switch d := a.e - b.e; d {
	case 0:
		return a.m / b.m
	case -1:
		return a.m / b.m * down
	case 1: // a little above 1 at most
		return a.m / b.m * up
	}
	return 0
}
