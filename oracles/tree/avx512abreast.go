//go:build goexperiment.simd && amd64

package tree

import (
	"math"
	"simd/archsimd"
	"unsafe"

	"github.com/dsp-go/dsp/structured/sys/simd"
)

var abreast16 = abreastKernels{
	lanes: simd.Doubles16, turn: turnAbreast, turnBack: turnBackAbreast, largest: largestAbreast16, exps: expsAbreast16,
	sum: sumAbreast16, divide: divideAbreast16, eliminate: eliminateAbreast16, combine: combineAbreast16,
	share: shareAbreast16,
}

// get16 loads vector i of those at p.
func get16(p unsafe.Pointer, i int) archsimd.Float64x8 {
	return simd.LoadDouble16(p, i*simd.Doubles16)
}

// put16 stores v as vector i of those at p.
func put16(p unsafe.Pointer, i int, v archsimd.Float64x8) {
	simd.StoreDouble16(p, i*simd.Doubles16, v)
}

func largestAbreast16(to, x []float64) {
	p, top := simd.At(x), simd.FillDouble16(math.Inf(-1))
	for i := range len(x) / simd.Doubles16 {
		top = top.Max(get16(p, i))
	}
	put16(simd.At(to), 0, top)
	archsimd.ClearAVXUpperBits()
}

// expsAbreast16 computes the steps of exp4.
func expsAbreast16(x, shift []float64, scale float64) {
	p, top, times := simd.At(x), get16(simd.At(shift), 0), simd.FillDouble16(scale)
	least, round, log2e := simd.FillDouble16(leastExponent), simd.FillDouble16(3<<51), simd.FillDouble16(math.Log2E)
	for i := range len(x) / simd.Doubles16 {
		v := get16(p, i).Sub(top).Mul(times)
		shifted := v.MulAdd(log2e, round)
		n := shifted.Sub(round)
		r := n.MulAdd(simd.FillDouble16(-0x1.62e42feep-1), v)
		r = n.MulAdd(simd.FillDouble16(-0x1.a39ef35793c76p-33), r)
		q := simd.FillDouble16(1.0 / 479001600)
		q = q.MulAdd(r, simd.FillDouble16(1.0/39916800)).MulAdd(r, simd.FillDouble16(1.0/3628800)).
			MulAdd(r, simd.FillDouble16(1.0/362880))
		q = q.MulAdd(r, simd.FillDouble16(1.0/40320)).MulAdd(r, simd.FillDouble16(1.0/5040)).
			MulAdd(r, simd.FillDouble16(1.0/720))
		q = q.MulAdd(r, simd.FillDouble16(1.0/120)).MulAdd(r, simd.FillDouble16(1.0/24)).MulAdd(r, simd.FillDouble16(1.0/6))
		q = q.MulAdd(r, simd.FillDouble16(0.5)).MulAdd(r, simd.FillDouble16(1)).MulAdd(r, simd.FillDouble16(1))
		put16(p, i, simd.LdexpDouble16(q, shifted).Masked(v.Greater(least)))
	}
	archsimd.ClearAVXUpperBits()
}

func sumAbreast16(to, x []float64) {
	put16(simd.At(to), 0, total16(simd.At(x), len(x)/simd.Doubles16))
	archsimd.ClearAVXUpperBits()
}

// total16 adds n vectors in the order of sum4, whose four partial sums begin with the numbers behind the last whole
// vector.
func total16(p unsafe.Pointer, n int) archsimd.Float64x8 {
	var s0, s1, s2, s3 archsimd.Float64x8
	whole := n &^ 3
	if whole < n {
		s0 = get16(p, whole)
	}
	if whole+1 < n {
		s1 = get16(p, whole+1)
	}
	if whole+2 < n {
		s2 = get16(p, whole+2)
	}
	for i := 0; i < whole; i += 4 {
		s0, s1, s2, s3 = s0.Add(get16(p, i)), s1.Add(get16(p, i+1)), s2.Add(get16(p, i+2)), s3.Add(get16(p, i+3))
	}
	return s0.Add(s2).Add(s1.Add(s3))
}

func divideAbreast16(x, by []float64) {
	p, d := simd.At(x), simd.FillDouble16(1).Div(get16(simd.At(by), 0))
	for i := range len(x) / simd.Doubles16 {
		put16(p, i, get16(p, i).Mul(d))
	}
	archsimd.ClearAVXUpperBits()
}

// eliminateAbreast16 adds the rows of both tokens to two rows at a time.
func eliminateAbreast16(m, e, divisor []float64, stride, j, k, lo, hi int) {
	pm, pe, ps := simd.At(m), simd.At(e), simd.At(divisor)
	rowJ, rowK := j*stride, k*stride
	if j == k {
		ej := divideRow16(pm, pe, ps, j, rowJ+lo, rowJ+hi)
		for i := lo; i < hi; i++ {
			a := i * stride
			t := get16(pm, a+j)
			put16(pe, i, get16(pe, i).Add(t.Mul(ej)))
			for c := lo; c < hi; c++ {
				put16(pm, a+c, t.MulAdd(get16(pm, rowJ+c), get16(pm, a+c)))
			}
		}
		archsimd.ClearAVXUpperBits()
		return
	}
	ej := divideRow16(pm, pe, ps, j, rowJ+min(lo, k), rowJ+max(hi, k+1))
	t := get16(pm, rowK+j)
	put16(pe, k, get16(pe, k).Add(t.Mul(ej)))
	for c := lo; c < hi; c++ {
		put16(pm, rowK+c, t.MulAdd(get16(pm, rowJ+c), get16(pm, rowK+c)))
	}
	ek := divideRow16(pm, pe, unsafe.Add(ps, 8*simd.Doubles16), k, rowK+lo, rowK+hi)
	between := get16(pm, rowJ+k)
	i := lo
	for ; i+1 < hi; i += 2 {
		a, b := i*stride, (i+1)*stride
		aj, bj := get16(pm, a+j), get16(pm, b+j)
		ak, bk := aj.MulAdd(between, get16(pm, a+k)), bj.MulAdd(between, get16(pm, b+k))
		put16(pe, i, get16(pe, i).Add(aj.Mul(ej)).Add(ak.Mul(ek)))
		put16(pe, i+1, get16(pe, i+1).Add(bj.Mul(ej)).Add(bk.Mul(ek)))
		for c := lo; c < hi; c++ {
			x, y := get16(pm, rowJ+c), get16(pm, rowK+c)
			put16(pm, a+c, ak.MulAdd(y, aj.MulAdd(x, get16(pm, a+c))))
			put16(pm, b+c, bk.MulAdd(y, bj.MulAdd(x, get16(pm, b+c))))
		}
	}
	if i < hi {
		a := i * stride
		aj := get16(pm, a+j)
		ak := aj.MulAdd(between, get16(pm, a+k))
		put16(pe, i, get16(pe, i).Add(aj.Mul(ej)).Add(ak.Mul(ek)))
		for c := lo; c < hi; c++ {
			put16(pm, a+c, ak.MulAdd(get16(pm, rowK+c), aj.MulAdd(get16(pm, rowJ+c), get16(pm, a+c))))
		}
	}
	archsimd.ClearAVXUpperBits()
}

// divideRow16 divides vectors from lo to hi−1 of those at pm by their sum, which it stores at ps, and number j of e,
// which it returns.
func divideRow16(pm, pe, ps unsafe.Pointer, j, lo, hi int) archsimd.Float64x8 {
	sum := total16(unsafe.Add(pm, 8*simd.Doubles16*lo), hi-lo)
	put16(ps, 0, sum)
	by, ej := simd.FillDouble16(1).Div(sum), get16(pe, j)
	ej = ej.Mul(by)
	put16(pe, j, ej)
	for c := lo; c < hi; c++ {
		put16(pm, c, get16(pm, c).Mul(by))
	}
	return ej
}

// combineAbreast16 adds in the order of combine4: one number after another, but for up to four numbers of to at the
// end, which have two partial sums.
func combineAbreast16(to, root, c, g []float64, stride int) {
	pt, pc, pg, start := simd.At(to), simd.At(c), simd.At(g), get16(simd.At(root), 0)
	n, lanes := len(c)/simd.Doubles16, len(to)/simd.Doubles16
	split := 0
	for split+4 < lanes {
		split += 8
	}
	split = min(split, lanes)
	for j := 0; j < split; j += 4 {
		if j+4 > split { // some once more
			j = split - 4
		}
		s0, s1, s2, s3, at := start, start, start, start, j
		for i := range n {
			t := get16(pc, i)
			s0, s1 = t.MulAdd(get16(pg, at), s0), t.MulAdd(get16(pg, at+1), s1)
			s2, s3 = t.MulAdd(get16(pg, at+2), s2), t.MulAdd(get16(pg, at+3), s3)
			at += stride
		}
		put16(pt, j, s0)
		put16(pt, j+1, s1)
		put16(pt, j+2, s2)
		put16(pt, j+3, s3)
	}
	for j := split; j < lanes; j++ {
		var odd archsimd.Float64x8
		even, at, i := start, j, 0
		for ; i+1 < n; i += 2 {
			even, odd = get16(pc, i).MulAdd(get16(pg, at), even), get16(pc, i+1).MulAdd(get16(pg, at+stride), odd)
			at += 2 * stride
		}
		if i < n {
			even = get16(pc, i).MulAdd(get16(pg, at), even)
		}
		put16(pt, j, even.Add(odd))
	}
	archsimd.ClearAVXUpperBits()
}

func shareAbreast16(to, x, g, scale []float64, stride int) {
	pt, px, pg, by := simd.At(to), simd.At(x), simd.At(g), get16(simd.At(scale), 0)
	for i := range len(to) / simd.Doubles16 {
		put16(pt, i, get16(px, i).Mul(get16(pg, i*stride)).Mul(by))
	}
	archsimd.ClearAVXUpperBits()
}
