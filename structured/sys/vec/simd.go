//go:build goexperiment.simd && amd64

package vec

import (
	"math"
	"simd/archsimd"

	"github.com/dsp-go/dsp/structured/sys/simd"
)

// avx2 processes eight numbers at a time (sums: sixteen) and leaves the remainder to plain. At the end it clears the
// upper halves of the registers; dirty halves slow down the scalar floating-point code that follows.
var avx2 = &loops{
	lanes:           8,
	axpby:           axpby8,
	mix:             mix8,
	scale:           scale8,
	addScaledDiff:   addScaledDiff8,
	standardise:     standardise8,
	exp:             exps8,
	dot:             dot8,
	differ:          differ8,
	single:          single8,
	dist2:           dist2By8,
	sum:             sum8,
	observe:         observe8,
	observeTempered: observeTempered8,
	descend:         descend8,
	decay:           decay8,
	descendMean:     descendMean8,
	dot3:            dot3By8,
	within:          within8,
	expDoubles:      expDoubles4,
	largest:         largest8,
	toGrid:          toGrid8,
	narrow:          narrow8,
}

// avx512 is avx2 but for what gains by wider vectors.
var avx512 = func() *loops {
	l := *avx2
	l.exp, l.expDoubles, l.dot, l.differ, l.single = exps16, expDoublesBy8, dot16, differ16, single16
	l.toGrid, l.narrow = toGrid16, narrow16
	return &l
}()

func axpby8(a float32, x []float32, b float32, y []float32) {
	n, va, vb := len(y)&^7, simd.Fill8(a), simd.Fill8(b)
	if b == 1 {
		for i := 0; i < n; i += 8 {
			simd.Put8(y, i, simd.Get8(y, i).Add(va.Mul(simd.Get8(x, i))))
		}
	} else {
		for i := 0; i < n; i += 8 {
			simd.Put8(y, i, va.Mul(simd.Get8(x, i)).Add(vb.Mul(simd.Get8(y, i))))
		}
	}
	archsimd.ClearAVXUpperBits()
	axpby(a, x[n:], b, y[n:])
}

func mix8(a float32, x []float32, b float32, y, to []float32) {
	n, va, vb := len(to)&^7, simd.Fill8(a), simd.Fill8(b)
	for i := 0; i < n; i += 8 {
		simd.Put8(to, i, va.Mul(simd.Get8(x, i)).Add(vb.Mul(simd.Get8(y, i))))
	}
	archsimd.ClearAVXUpperBits()
	mix(a, x[n:], b, y[n:], to[n:])
}

func scale8(a float32, x []float32) {
	n, va := len(x)&^7, simd.Fill8(a)
	for i := 0; i < n; i += 8 {
		simd.Put8(x, i, va.Mul(simd.Get8(x, i)))
	}
	archsimd.ClearAVXUpperBits()
	scale(a, x[n:])
}

func addScaledDiff8(a float32, x, z, y []float32) {
	n, va := len(y)&^7, simd.Fill8(a)
	for i := 0; i < n; i += 8 {
		simd.Put8(y, i, simd.Get8(y, i).Add(va.Mul(simd.Get8(x, i).Sub(simd.Get8(z, i)))))
	}
	archsimd.ClearAVXUpperBits()
	addScaledDiff(a, x[n:], z[n:], y[n:])
}

func standardise8(mean, scale, x []float32) {
	n := len(x) &^ 7
	for i := 0; i < n; i += 8 {
		simd.Put8(x, i, simd.Get8(x, i).Sub(simd.Get8(mean, i)).Mul(simd.Get8(scale, i)))
	}
	archsimd.ClearAVXUpperBits()
	standardise(mean[n:], scale[n:], x[n:])
}

func exps8(x, to []float32) {
	n := len(x) &^ 7
	for i := 0; i < n; i += 8 {
		simd.Put8(to, i, exp8(simd.Get8(x, i)))
	}
	archsimd.ClearAVXUpperBits()
	exps(x[n:], to[n:])
}

// exps16 computes the same steps as exp, with the constants in registers.
func exps16(x, to []float32) {
	n, by := len(x)&^15, simd.Fill16
	scale, round, hi, lo := by(log2e), by(rounder), by(ln2Hi), by(ln2Lo)
	c0, c1, c2, c3, c4, c5, one := by(p0), by(p1), by(p2), by(p3), by(p4), by(p5), by(1)
	low, high, infinite := by(tooSmall), by(tooLarge), by(float32(math.Inf(1)))
	for i := 0; i < n; i += 16 {
		x := simd.Get16(x, i)
		shifted := x.Mul(scale).Add(round)
		n := shifted.Sub(round)
		r := x.Sub(n.Mul(hi))
		r = r.Sub(n.Mul(lo))
		p := r.Mul(c0).Add(c1)
		p = p.Mul(r).Add(c2)
		p = p.Mul(r).Add(c3)
		p = p.Mul(r).Add(c4)
		p = p.Mul(r).Add(c5)
		p = p.Mul(r.Mul(r)).Add(r).Add(one)
		y := p.AsInt32x16().Add(shifted.AsInt32x16().ShiftAllLeft(23)).AsFloat32x16()
		y = y.Masked(x.GreaterEqual(low))
		y = infinite.Merge(y, x.Greater(high))
		simd.Put16(to, i, x.Merge(y, x.IsNaN()))
	}
	archsimd.ClearAVXUpperBits()
	exps8(x[n:], to[n:])
}

// expDoubles4 computes the same steps as expDouble.
func expDoubles4(x []float64) {
	by, n := simd.FillDouble8, len(x)&^3
	log2e, round, hi, lo, least := by(math.Log2E), by(doubleRounder), by(-doubleHi), by(-doubleLo), by(leastDouble)
	c0, c1, c2, c3, c4, c5, c6 := by(taylor[0]), by(taylor[1]), by(taylor[2]), by(taylor[3]), by(taylor[4]), by(taylor[5]),
		by(taylor[6])
	c7, c8, c9, c10, one := by(taylor[7]), by(taylor[8]), by(taylor[9]), by(taylor[10]), by(1)
	for i := 0; i < n; i += 4 {
		v := archsimd.LoadFloat64x4((*[4]float64)(x[i:]))
		shifted := v.MulAdd(log2e, round)
		n := shifted.Sub(round)
		r := n.MulAdd(lo, n.MulAdd(hi, v))
		p := c0.MulAdd(r, c1).MulAdd(r, c2).MulAdd(r, c3).MulAdd(r, c4).MulAdd(r, c5).MulAdd(r, c6)
		p = p.MulAdd(r, c7).MulAdd(r, c8).MulAdd(r, c9).MulAdd(r, c10).MulAdd(r, one).MulAdd(r, one)
		y := simd.LdexpDouble8(p, shifted)
		y.Masked(v.Greater(least)).Store((*[4]float64)(x[i:]))
	}
	archsimd.ClearAVXUpperBits()
	expDoubles(x[n:])
}

// expDoublesBy8 computes the same steps as expDouble. Constants come from memory: in registers they would leave too
// few.
func expDoublesBy8(x []float64) {
	by, n := simd.FillDouble16, len(x)&^7
	for i := 0; i < n; i += 8 {
		v := archsimd.LoadFloat64x8((*[8]float64)(x[i:]))
		s := v.MulAdd(by(math.Log2E), by(doubleRounder))
		m := s.Sub(by(doubleRounder))
		r := m.MulAdd(by(-doubleLo), m.MulAdd(by(-doubleHi), v))
		p := by(1.0/479001600).MulAdd(r, by(1.0/39916800))
		p = p.MulAdd(r, by(1.0/3628800))
		p = p.MulAdd(r, by(1.0/362880))
		p = p.MulAdd(r, by(1.0/40320))
		p = p.MulAdd(r, by(1.0/5040))
		p = p.MulAdd(r, by(1.0/720))
		p = p.MulAdd(r, by(1.0/120))
		p = p.MulAdd(r, by(1.0/24))
		p = p.MulAdd(r, by(1.0/6))
		p = p.MulAdd(r, by(0.5))
		p = p.MulAdd(r, by(1))
		p = p.MulAdd(r, by(1))
		p = p.AsInt64x8().Add(s.AsInt64x8().ShiftAllLeft(52)).AsFloat64x8()
		p.Masked(v.Greater(by(leastDouble))).Store((*[8]float64)(x[i:]))
	}
	archsimd.ClearAVXUpperBits()
	if n < len(x) {
		var last [8]float64
		copy(last[:], x[n:])
		expDoublesBy8(last[:])
		copy(x[n:], last[:])
	}
}

// exp8 computes the same steps as exp.
func exp8(x archsimd.Float32x8) archsimd.Float32x8 {
	shifted := x.Mul(simd.Fill8(log2e)).Add(simd.Fill8(rounder))
	n := shifted.Sub(simd.Fill8(rounder))
	r := x.Sub(n.Mul(simd.Fill8(ln2Hi)))
	r = r.Sub(n.Mul(simd.Fill8(ln2Lo)))
	p := r.Mul(simd.Fill8(p0)).Add(simd.Fill8(p1))
	p = p.Mul(r).Add(simd.Fill8(p2))
	p = p.Mul(r).Add(simd.Fill8(p3))
	p = p.Mul(r).Add(simd.Fill8(p4))
	p = p.Mul(r).Add(simd.Fill8(p5))
	p = p.Mul(r.Mul(r)).Add(r).Add(simd.Fill8(1))
	y := p.AsInt32x8().Add(shifted.AsInt32x8().ShiftAllLeft(23)).AsFloat32x8()
	y = y.Masked(x.GreaterEqual(simd.Fill8(tooSmall)))
	y = simd.Fill8(float32(math.Inf(1))).Merge(y, x.Greater(simd.Fill8(tooLarge)))
	return x.Merge(y, x.IsNaN())
}

// sums holds the 16 partial sums in four vectors.
type sums [4]archsimd.Float64x4

func (s *sums) partials() (p partials) {
	for k := range s {
		s[k].Store((*[4]float64)(p[4*k:]))
	}
	archsimd.ClearAVXUpperBits()
	return p
}

func dot8(x, y []float32) float64 {
	n := len(x) &^ 15
	var s0, s1, s2, s3 archsimd.Float64x4
	for i := 0; i < n; i += 16 {
		s0 = simd.GetWidened8(x, i).MulAdd(simd.GetWidened8(y, i), s0)
		s1 = simd.GetWidened8(x, i+4).MulAdd(simd.GetWidened8(y, i+4), s1)
		s2 = simd.GetWidened8(x, i+8).MulAdd(simd.GetWidened8(y, i+8), s2)
		s3 = simd.GetWidened8(x, i+12).MulAdd(simd.GetWidened8(y, i+12), s3)
	}
	p := (&sums{s0, s1, s2, s3}).partials()
	dotFrom(&p, n, x, y)
	return p.total()
}

func differ8(x, y, p, q, d []float32) (float64, float64) {
	n := len(d) &^ 15
	var s0, s1, s2, s3, t0, t1, t2, t3 archsimd.Float64x4
	for i := 0; i < n; i += 16 {
		low, high := simd.Get8(x, i).Sub(simd.Get8(y, i)), simd.Get8(x, i+8).Sub(simd.Get8(y, i+8))
		simd.Put8(d, i, low)
		simd.Put8(d, i+8, high)
		e := low.GetLo().ConvertToFloat64()
		s0, t0 = e.MulAdd(simd.GetWidened8(p, i), s0), e.MulAdd(simd.GetWidened8(q, i), t0)
		e = low.GetHi().ConvertToFloat64()
		s1, t1 = e.MulAdd(simd.GetWidened8(p, i+4), s1), e.MulAdd(simd.GetWidened8(q, i+4), t1)
		e = high.GetLo().ConvertToFloat64()
		s2, t2 = e.MulAdd(simd.GetWidened8(p, i+8), s2), e.MulAdd(simd.GetWidened8(q, i+8), t2)
		e = high.GetHi().ConvertToFloat64()
		s3, t3 = e.MulAdd(simd.GetWidened8(p, i+12), s3), e.MulAdd(simd.GetWidened8(q, i+12), t3)
	}
	s, t := (&sums{s0, s1, s2, s3}).partials(), (&sums{t0, t1, t2, t3}).partials()
	differFrom(&s, &t, n, x, y, p, q, d)
	return s.total(), t.total()
}

// dot16 has the partial sums of dot8 in two vectors. Beyond the end it adds zeros to them.
func dot16(x, y []float32) float64 {
	var s0, s1 archsimd.Float64x8
	n, i := len(x), 0
	for ; i+16 <= n; i += 16 {
		s0 = simd.Get8(x, i).ConvertToFloat64().MulAdd(simd.Get8(y, i).ConvertToFloat64(), s0)
		s1 = simd.Get8(x, i+8).ConvertToFloat64().MulAdd(simd.Get8(y, i+8).ConvertToFloat64(), s1)
	}
	for ; i < n; i += 8 {
		in := simd.First8(n - i)
		s0, s1 = s1, simd.LoadFirst8(simd.At(x), i, in).ConvertToFloat64().
			MulAdd(simd.LoadFirst8(simd.At(y), i, in).ConvertToFloat64(), s0)
	}
	if n&15 > 0 && n&15 <= 8 {
		s0, s1 = s1, s0
	}
	return total16(s0, s1)
}

// differ16 is to differ8 what dot16 is to dot8.
func differ16(x, y, p, q, d []float32) (float64, float64) {
	var s0, s1, t0, t1 archsimd.Float64x8
	n, i := len(d), 0
	for ; i+16 <= n; i += 16 {
		low, high := simd.Get8(x, i).Sub(simd.Get8(y, i)), simd.Get8(x, i+8).Sub(simd.Get8(y, i+8))
		simd.Put8(d, i, low)
		simd.Put8(d, i+8, high)
		e, f := low.ConvertToFloat64(), high.ConvertToFloat64()
		s0, t0 = e.MulAdd(simd.Get8(p, i).ConvertToFloat64(), s0), e.MulAdd(simd.Get8(q, i).ConvertToFloat64(), t0)
		s1, t1 = f.MulAdd(simd.Get8(p, i+8).ConvertToFloat64(), s1), f.MulAdd(simd.Get8(q, i+8).ConvertToFloat64(), t1)
	}
	for ; i < n; i += 8 {
		in := simd.First8(n - i)
		low := simd.LoadFirst8(simd.At(x), i, in).Sub(simd.LoadFirst8(simd.At(y), i, in))
		simd.StoreFirst8(simd.At(d), i, low, in)
		e := low.ConvertToFloat64()
		s0, s1 = s1, e.MulAdd(simd.LoadFirst8(simd.At(p), i, in).ConvertToFloat64(), s0)
		t0, t1 = t1, e.MulAdd(simd.LoadFirst8(simd.At(q), i, in).ConvertToFloat64(), t0)
	}
	if n&15 > 0 && n&15 <= 8 {
		s0, s1, t0, t1 = s1, s0, t1, t0
	}
	return total16(s0, s1), total16(t0, t1)
}

// total16 is partials.total of sums 0 to 7 and 8 to 15.
func total16(low, high archsimd.Float64x8) float64 {
	var s [8]float64
	low.Add(high).Store(&s)
	archsimd.ClearAVXUpperBits()
	return pairwise(s[:])
}

func largest8(x []float32) int32 {
	n, most := len(x)&^7, archsimd.BroadcastInt32x8(0)
	mask, none := archsimd.BroadcastInt32x8(magnitude), archsimd.BroadcastInt32x8(minusForever)
	for i := 0; i < n; i += 8 {
		b := simd.Get8(x, i).AsInt32x8()
		most = most.Max(b.And(mask).Masked(b.NotEqual(none)))
	}
	half := most.GetLo().Max(most.GetHi())
	var s [4]int32
	half.Store(&s)
	archsimd.ClearAVXUpperBits()
	return max(s[0], s[1], s[2], s[3], largest(x[n:]))
}

func single8(x, y []float32) float32 {
	n := len(x) &^ 31
	var s0, s1, s2, s3 archsimd.Float32x8
	for i := 0; i < n; i += 32 {
		s0 = s0.Add(simd.Get8(x, i).Mul(simd.Get8(y, i)))
		s1 = s1.Add(simd.Get8(x, i+8).Mul(simd.Get8(y, i+8)))
		s2 = s2.Add(simd.Get8(x, i+16).Mul(simd.Get8(y, i+16)))
		s3 = s3.Add(simd.Get8(x, i+24).Mul(simd.Get8(y, i+24)))
	}
	if n == len(x) {
		return total8(s0.Add(s2), s1.Add(s3))
	}
	var s singles
	simd.Put8(s[:], 0, s0)
	simd.Put8(s[:], 8, s1)
	simd.Put8(s[:], 16, s2)
	simd.Put8(s[:], 24, s3)
	archsimd.ClearAVXUpperBits()
	singleFrom(&s, n, x, y)
	return s.total()
}

// total8 is the rest of singles.total, from the first 16 sums on.
func total8(low, high archsimd.Float32x8) float32 {
	var s [8]float32
	low.Add(high).Store(&s)
	archsimd.ClearAVXUpperBits()
	return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

func single16(x, y []float32) float32 {
	n := len(x) &^ 31
	var s0, s1 archsimd.Float32x16
	for i := 0; i < n; i += 32 {
		s0 = s0.Add(simd.Get16(x, i).Mul(simd.Get16(y, i)))
		s1 = s1.Add(simd.Get16(x, i+16).Mul(simd.Get16(y, i+16)))
	}
	if n == len(x) {
		s := s0.Add(s1)
		return total8(s.GetLo(), s.GetHi())
	}
	var s singles
	s0.Store((*[16]float32)(s[:]))
	s1.Store((*[16]float32)(s[16:]))
	archsimd.ClearAVXUpperBits()
	singleFrom(&s, n, x, y)
	return s.total()
}

func within8(most float32, x []float32) bool {
	n := len(x) &^ 7
	hi, lo, least := simd.Fill8(most), simd.Fill8(-most), simd.Fill8(float32(math.Inf(-1)))
	right := hi.Equal(hi)
	for i := 0; i < n; i += 8 {
		v := simd.Get8(x, i)
		right = right.And(v.LessEqual(hi)).And(v.GreaterEqual(lo).Or(v.Equal(least)))
	}
	all := right.ToBits() == 0xff
	archsimd.ClearAVXUpperBits()
	return all && within(most, x[n:])
}

func dist2By8(x, y []float32) float64 {
	n := len(x) &^ 15
	var s0, s1, s2, s3 archsimd.Float64x4
	for i := 0; i < n; i += 16 {
		d0, d1 := simd.GetWidened8(x, i).Sub(simd.GetWidened8(y, i)), simd.GetWidened8(x, i+4).Sub(simd.GetWidened8(y, i+4))
		d2, d3 := simd.GetWidened8(x, i+8).Sub(simd.GetWidened8(y, i+8)),
			simd.GetWidened8(x, i+12).Sub(simd.GetWidened8(y, i+12))
		s0, s1 = s0.Add(d0.Mul(d0)), s1.Add(d1.Mul(d1))
		s2, s3 = s2.Add(d2.Mul(d2)), s3.Add(d3.Mul(d3))
	}
	p := (&sums{s0, s1, s2, s3}).partials()
	dist2From(&p, n, x, y)
	return p.total()
}

func sum8(x []float32) float64 {
	n := len(x) &^ 15
	var s0, s1, s2, s3 archsimd.Float64x4
	for i := 0; i < n; i += 16 {
		s0, s1 = s0.Add(simd.GetWidened8(x, i)), s1.Add(simd.GetWidened8(x, i+4))
		s2, s3 = s2.Add(simd.GetWidened8(x, i+8)), s3.Add(simd.GetWidened8(x, i+12))
	}
	p := (&sums{s0, s1, s2, s3}).partials()
	sumFrom(&p, n, x)
	return p.total()
}
