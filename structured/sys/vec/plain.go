package vec

import "math"

var plain = loops{
	lanes:           1,
	axpby:           axpby,
	mix:             mix,
	scale:           scale,
	addScaledDiff:   addScaledDiff,
	standardise:     standardise,
	exp:             exps,
	dot:             dot,
	differ:          differ,
	toGrid:          toGrid,
	narrow:          narrow,
	single:          single,
	dist2:           dist2,
	sum:             sum,
	observe:         observe,
	observeTempered: observeTempered,
	descend:         descend,
	decay:           decay,
	descendMean:     descendMean,
	dot3:            dot3,
	within:          within,
	expDoubles:      expDoubles,
	largest:         largest,
}

// The conversions float32(a·x) stop the compiler from fusing a product with an addition.

func axpby(a float32, x []float32, b float32, y []float32) {
	x = x[:len(y)]
	if b == 1 {
		for i, v := range x {
			y[i] += float32(a * v)
		}
		return
	}
	for i, v := range x {
		y[i] = float32(a*v) + float32(b*y[i])
	}
}

func mix(a float32, x []float32, b float32, y, to []float32) {
	x, y = x[:len(to)], y[:len(to)]
	for i := range to {
		to[i] = float32(a*x[i]) + float32(b*y[i])
	}
}

func scale(a float32, x []float32) {
	for i := range x {
		x[i] *= a
	}
}

func addScaledDiff(a float32, x, z, y []float32) {
	x, z = x[:len(y)], z[:len(y)]
	for i := range y {
		y[i] += float32(a * (x[i] - z[i]))
	}
}

func standardise(mean, scale, x []float32) {
	mean, scale = mean[:len(x)], scale[:len(x)]
	for i := range x {
		x[i] = (x[i] - mean[i]) * scale[i]
	}
}

func within(most float32, x []float32) bool {
	const sign, allowed = 1 << 31, 0xff800000
	limit, wrong := math.Float32bits(most), 0
	for _, v := range x {
		b := math.Float32bits(v)
		if b&^sign > limit && b != allowed {
			wrong++
		}
	}
	return wrong == 0
}

// partials holds 16 partial sums: s_i sums the terms whose index is i modulo 16.
type partials [16]float64

func (s *partials) total() float64 { return pairwise(s[:]) }

// pairwise adds the partial sums in pairs, a half of them to the other half, until one is left. Their number is a power
// of 2.
func pairwise[T float32 | float64](s []T) T {
	for half := len(s) / 2; half > 0; half /= 2 {
		for i := range half {
			s[i] += s[i+half]
		}
	}
	return s[0]
}

// A product of two float32 numbers is exact in float64, so fusing it with an addition changes no bit.
func dot(x, y []float32) float64 {
	var s partials
	dotFrom(&s, 0, x, y)
	return s.total()
}

func dotFrom(s *partials, from int, x, y []float32) {
	y = y[:len(x)]
	for i := from; i < len(x); i++ {
		s[i%16] += float64(x[i]) * float64(y[i])
	}
}

func differ(x, y, p, q, d []float32) (float64, float64) {
	var s, t partials
	differFrom(&s, &t, 0, x, y, p, q, d)
	return s.total(), t.total()
}

func differFrom(s, t *partials, from int, x, y, p, q, d []float32) {
	for i := from; i < len(d); i++ {
		d[i] = x[i] - y[i]
		s[i%16] += float64(d[i]) * float64(p[i])
		t[i%16] += float64(d[i]) * float64(q[i])
	}
}

// The bits of |x|, as integers, are in the order of |x|, and those of NaN are above those of +∞.
const (
	magnitude    = math.MaxInt32
	minusForever = math.MinInt32 | 0x7f800000 // −∞
)

func largest(x []float32) int32 {
	most := int32(0)
	for _, v := range x {
		if b := int32(math.Float32bits(v)); b != minusForever {
			most = max(most, b&magnitude)
		}
	}
	return most
}

// singles holds 32 partial sums in float32: s_i sums the rounded products whose index is i modulo 32.
type singles [32]float32

func (s *singles) total() float32 { return pairwise(s[:]) }

func single(x, y []float32) float32 {
	var s singles
	singleFrom(&s, 0, x, y)
	return s.total()
}

func singleFrom(s *singles, from int, x, y []float32) {
	y = y[:len(x)]
	for i := from; i < len(x); i++ {
		s[i%32] += float32(x[i] * y[i])
	}
}

func dist2(x, y []float32) float64 {
	var s partials
	dist2From(&s, 0, x, y)
	return s.total()
}

func dist2From(s *partials, from int, x, y []float32) {
	y = y[:len(x)]
	for i := from; i < len(x); i++ {
		d := float64(x[i]) - float64(y[i])
		s[i%16] += float64(d * d)
	}
}

func sum(x []float32) float64 {
	var s partials
	sumFrom(&s, 0, x)
	return s.total()
}

func sumFrom(s *partials, from int, x []float32) {
	for i := from; i < len(x); i++ {
		s[i%16] += float64(x[i])
	}
}
