//go:build goexperiment.simd && amd64

package monotone

import (
	"simd/archsimd"
	"unsafe"

	"github.com/dsp-go/dsp/structured/sys/simd"
)

var avx512 = &kernels{name: "AVX-512", best: best16, sum: sum16, spread: spread16}

func best16(to, one, two, x, down, diagonal []float64, lo, hi int) {
	pt, p1, p2, px, pd, pg := simd.At(to), simd.At(one), simd.At(two), simd.At(x), simd.At(down), simd.At(diagonal)
	for i := lo; i < hi; i += simd.Doubles16 {
		below, across := simd.LoadDouble16(p1, i-1).Add(simd.LoadDouble16(pd, i)),
			simd.LoadDouble16(p2, i-1).Add(simd.LoadDouble16(pg, i))
		simd.StoreDouble16(pt, i, simd.LoadDouble16(px, i).Add(simd.LoadDouble16(p1, i).Max(below).Max(across)))
	}
	archsimd.ClearAVXUpperBits()
}

func sum16(to, one, two scaled, x []float64, down, diagonal scaled, lo, hi int) {
	c := unsafe.Pointer(&constants)
	f, e, f1, e1, f2, e2 := simd.At(to.f), simd.At(to.e), simd.At(one.f), simd.At(one.e), simd.At(two.f), simd.At(two.e)
	fd, ed, fg, eg, px := simd.At(down.f), simd.At(down.e), simd.At(diagonal.f), simd.At(diagonal.e), simd.At(x)
	round, low := simd.LoadDouble16(c, placeRounder), simd.LoadDouble16(c, placePower)
	unit, floor := simd.LoadDouble16(c, placeOne).AsUint64x8(), simd.LoadDouble16(c, placeFloor).AsUint64x8()
	for i := lo; i < hi; i += simd.Doubles16 {
		a, b, d := simd.LoadDouble16(e1, i), simd.LoadDouble16(e1, i-1).Add(simd.LoadDouble16(ed, i)),
			simd.LoadDouble16(e2, i-1).Add(simd.LoadDouble16(eg, i))
		top := a.Max(b).Max(d)
		a, b, d = a.Sub(top), b.Sub(top), d.Sub(top)
		right := power16(a, round, low, unit).Mul(simd.LoadDouble16(f1, i))
		below := simd.LoadDouble16(f1, i-1).Mul(simd.LoadDouble16(fd, i)).Mul(power16(b, round, low, unit))
		across := simd.LoadDouble16(f2, i-1).Mul(simd.LoadDouble16(fg, i)).Mul(power16(d, round, low, unit))

		v := simd.LoadDouble16(px, i)
		n := v.MulAdd(simd.LoadDouble16(c, placeLog2E), round).Sub(round)
		r := n.MulAdd(simd.LoadDouble16(c, placeLn2Lo), n.MulAdd(simd.LoadDouble16(c, placeLn2Hi), v))
		r = r.Masked(n.Greater(simd.LoadDouble16(c, placeLeast)).And(n.Less(simd.LoadDouble16(c, placeMost))))
		p := r.MulAdd(simd.LoadDouble16(c, placeTaylor), simd.LoadDouble16(c, placeTaylor+constantWidth))
		p = p.MulAdd(r, simd.LoadDouble16(c, placeTaylor+2*constantWidth)).
			MulAdd(r, simd.LoadDouble16(c, placeTaylor+3*constantWidth))
		p = p.MulAdd(r, simd.LoadDouble16(c, placeTaylor+4*constantWidth)).
			MulAdd(r, simd.LoadDouble16(c, placeTaylor+5*constantWidth))
		p = p.MulAdd(r, simd.LoadDouble16(c, placeTaylor+6*constantWidth)).
			MulAdd(r, simd.LoadDouble16(c, placeTaylor+7*constantWidth))
		p = p.MulAdd(r, simd.LoadDouble16(c, placeTaylor+8*constantWidth)).
			MulAdd(r, simd.LoadDouble16(c, placeTaylor+9*constantWidth))
		p = p.MulAdd(r, simd.LoadDouble16(c, placeTaylor+10*constantWidth)).
			MulAdd(r, simd.LoadDouble16(c, placeTaylor+11*constantWidth))
		p = p.MulAdd(r, simd.LoadDouble16(c, placeTaylor+12*constantWidth))

		t := right.Add(below).Add(across).Mul(p).AsUint64x8()
		simd.StoreDouble16(f, i, t.And(simd.LoadDouble16(c, placeMantissa).AsUint64x8()).Or(unit).AsFloat64x8())
		simd.StoreDouble16(e, i, top.Add(n).Add(t.ShiftRight(simd.LoadDouble16(c, placeExponent).AsUint64x8()).Or(floor).
			AsFloat64x8().Sub(simd.LoadDouble16(c, placeBias))))
	}
	archsimd.ClearAVXUpperBits()
}

func spread16(p, one, two, downs, diagonals []float64, fromOne, fromTwo, down, diagonal scaled, lo, hi int) {
	c := unsafe.Pointer(&constants)
	f1, e1, f2, e2 := simd.At(fromOne.f), simd.At(fromOne.e), simd.At(fromTwo.f), simd.At(fromTwo.e)
	fd, ed, fg, eg := simd.At(down.f), simd.At(down.e), simd.At(diagonal.f), simd.At(diagonal.e)
	pp, p1, p2, pd, pg := simd.At(p), simd.At(one), simd.At(two), simd.At(downs), simd.At(diagonals)
	round, low, zero := simd.LoadDouble16(c, placeRounder), simd.LoadDouble16(c, placePower), simd.FillDouble16(0)
	unit := simd.LoadDouble16(c, placeOne).AsUint64x8()
	for i := lo; i < hi; i += simd.Doubles16 {
		a, b, d := simd.LoadDouble16(e1, i), simd.LoadDouble16(e1, i-1).Add(simd.LoadDouble16(ed, i)),
			simd.LoadDouble16(e2, i-1).Add(simd.LoadDouble16(eg, i))
		top := a.Max(b).Max(d)
		a, b, d = a.Sub(top), b.Sub(top), d.Sub(top)
		right := power16(a, round, low, unit).Mul(simd.LoadDouble16(f1, i))
		below := simd.LoadDouble16(f1, i-1).Mul(simd.LoadDouble16(fd, i)).Mul(power16(b, round, low, unit))
		across := simd.LoadDouble16(f2, i-1).Mul(simd.LoadDouble16(fg, i)).Mul(power16(d, round, low, unit))

		v := simd.LoadDouble16(pp, i)
		some := v.Greater(zero)
		q := v.Div(right.Add(below).Add(across))
		right, below, across = right.Mul(q).Masked(some), below.Mul(q).Masked(some), across.Mul(q).Masked(some)
		simd.AddToDouble16(p1, i, right)
		simd.AddToDouble16(p1, i-1, below)
		simd.AddToDouble16(p2, i-1, across)
		simd.AddToDouble16(pd, i, below)
		simd.AddToDouble16(pg, i, across)
	}
	archsimd.ClearAVXUpperBits()
}

// power16 returns 2^k for integers k ≤ 0, and 0 for very low ones and for NaN.
func power16(k, round, low archsimd.Float64x8, unit archsimd.Uint64x8) archsimd.Float64x8 {
	return k.Add(round).AsUint64x8().ShiftAllLeft(52).Add(unit).AsFloat64x8().Masked(k.Greater(low))
}
