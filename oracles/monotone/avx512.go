//go:build goexperiment.simd && amd64

package monotone

import (
	"simd/archsimd"
	"unsafe"
)

var avx512 = kernels{name: "AVX-512", best: best16, sum: sum16, spread: spread16}

func best16(to, one, two, x, down, diagonal []float64, lo, hi int) {
	pt, p1, p2, px, pd, pg := at(to), at(one), at(two), at(x), at(down), at(diagonal)
	for i := lo; i < hi; i += half16 {
		below, across := load16(p1, i-1).Add(load16(pd, i)), load16(p2, i-1).Add(load16(pg, i))
		store16(pt, i, load16(px, i).Add(load16(p1, i).Max(below).Max(across)))
	}
	archsimd.ClearAVXUpperBits()
}

func sum16(to, one, two scaled, x []float64, down, diagonal scaled, lo, hi int) {
	c := unsafe.Pointer(&constants)
	f, e, f1, e1, f2, e2 := at(to.f), at(to.e), at(one.f), at(one.e), at(two.f), at(two.e)
	fd, ed, fg, eg, px := at(down.f), at(down.e), at(diagonal.f), at(diagonal.e), at(x)
	round, low := load16(c, placeRounder), load16(c, placePower)
	unit, floor := load16(c, placeOne).AsUint64x8(), load16(c, placeFloor).AsUint64x8()
	for i := lo; i < hi; i += half16 {
		a, b, d := load16(e1, i), load16(e1, i-1).Add(load16(ed, i)), load16(e2, i-1).Add(load16(eg, i))
		top := a.Max(b).Max(d)
		a, b, d = a.Sub(top), b.Sub(top), d.Sub(top)
		right := power16(a, round, low, unit).Mul(load16(f1, i))
		below := load16(f1, i-1).Mul(load16(fd, i)).Mul(power16(b, round, low, unit))
		across := load16(f2, i-1).Mul(load16(fg, i)).Mul(power16(d, round, low, unit))

		v := load16(px, i)
		n := v.MulAdd(load16(c, placeLog2E), round).Sub(round)
		r := n.MulAdd(load16(c, placeLn2Lo), n.MulAdd(load16(c, placeLn2Hi), v))
		r = r.Masked(n.Greater(load16(c, placeLeast)).And(n.Less(load16(c, placeMost))))
		p := r.MulAdd(load16(c, placeTaylor), load16(c, placeTaylor+constantWidth))
		p = p.MulAdd(r, load16(c, placeTaylor+2*constantWidth)).MulAdd(r, load16(c, placeTaylor+3*constantWidth))
		p = p.MulAdd(r, load16(c, placeTaylor+4*constantWidth)).MulAdd(r, load16(c, placeTaylor+5*constantWidth))
		p = p.MulAdd(r, load16(c, placeTaylor+6*constantWidth)).MulAdd(r, load16(c, placeTaylor+7*constantWidth))
		p = p.MulAdd(r, load16(c, placeTaylor+8*constantWidth)).MulAdd(r, load16(c, placeTaylor+9*constantWidth))
		p = p.MulAdd(r, load16(c, placeTaylor+10*constantWidth)).MulAdd(r, load16(c, placeTaylor+11*constantWidth))
		p = p.MulAdd(r, load16(c, placeTaylor+12*constantWidth))

		t := right.Add(below).Add(across).Mul(p).AsUint64x8()
		store16(f, i, t.And(load16(c, placeMantissa).AsUint64x8()).Or(unit).AsFloat64x8())
		store16(e, i, top.Add(n).Add(t.ShiftRight(load16(c, placeExponent).AsUint64x8()).Or(floor).AsFloat64x8().Sub(load16(c, placeBias))))
	}
	archsimd.ClearAVXUpperBits()
}

func spread16(p, one, two, downs, diagonals []float64, fromOne, fromTwo, down, diagonal scaled, lo, hi int) {
	c := unsafe.Pointer(&constants)
	f1, e1, f2, e2 := at(fromOne.f), at(fromOne.e), at(fromTwo.f), at(fromTwo.e)
	fd, ed, fg, eg := at(down.f), at(down.e), at(diagonal.f), at(diagonal.e)
	pp, p1, p2, pd, pg := at(p), at(one), at(two), at(downs), at(diagonals)
	round, low, zero := load16(c, placeRounder), load16(c, placePower), archsimd.BroadcastFloat64x8(0)
	unit := load16(c, placeOne).AsUint64x8()
	for i := lo; i < hi; i += half16 {
		a, b, d := load16(e1, i), load16(e1, i-1).Add(load16(ed, i)), load16(e2, i-1).Add(load16(eg, i))
		top := a.Max(b).Max(d)
		a, b, d = a.Sub(top), b.Sub(top), d.Sub(top)
		right := power16(a, round, low, unit).Mul(load16(f1, i))
		below := load16(f1, i-1).Mul(load16(fd, i)).Mul(power16(b, round, low, unit))
		across := load16(f2, i-1).Mul(load16(fg, i)).Mul(power16(d, round, low, unit))

		v := load16(pp, i)
		some := v.Greater(zero)
		q := v.Div(right.Add(below).Add(across))
		right, below, across = right.Mul(q).Masked(some), below.Mul(q).Masked(some), across.Mul(q).Masked(some)
		add16(p1, i, right)
		add16(p1, i-1, below)
		add16(p2, i-1, across)
		add16(pd, i, below)
		add16(pg, i, across)
	}
	archsimd.ClearAVXUpperBits()
}

// power16 returns 2^k for integers k ≤ 0, and 0 for very low ones and for NaN.
func power16(k, round, low double16, unit bits16) double16 {
	return k.Add(round).AsUint64x8().ShiftAllLeft(52).Add(unit).AsFloat64x8().Masked(k.Greater(low))
}
