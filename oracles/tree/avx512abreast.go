//go:build goexperiment.simd && amd64

package tree

import (
	"math"
	"simd/archsimd"
	"unsafe"

	"github.com/dsp-go/dsp/structured/sys/simd"
)

var abreast16 = abreastKernels{
	lanes: simd.Doubles16, largest: largestAbreast16, exps: expsAbreast16, sum: sumAbreast16, divide: divideAbreast16,
	eliminate: eliminateAbreast16, combine: combineAbreast16, share: shareAbreast16,
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

// sumAbreast16 adds in the order of sum4, whose four partial sums begin with the numbers behind the last whole vector.
func sumAbreast16(to, x []float64) {
	p, n := simd.At(x), len(x)/simd.Doubles16
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
	put16(simd.At(to), 0, s0.Add(s2).Add(s1.Add(s3)))
	archsimd.ClearAVXUpperBits()
}

func divideAbreast16(x, by []float64) {
	p, d := simd.At(x), get16(simd.At(by), 0)
	for i := range len(x) / simd.Doubles16 {
		put16(p, i, get16(p, i).Div(d))
	}
	archsimd.ClearAVXUpperBits()
}

// eliminateAbreast16 adds row k to two rows at a time.
func eliminateAbreast16(m, e []float64, stride, k, lo, hi int) {
	pm, pe := simd.At(m), simd.At(e)
	ek, row := get16(pe, k), k*stride
	i := lo
	for ; i+1 < hi; i += 2 {
		a, b := i*stride, (i+1)*stride
		t, u := get16(pm, a+k), get16(pm, b+k)
		put16(pe, i, get16(pe, i).Add(t.Mul(ek)))
		put16(pe, i+1, get16(pe, i+1).Add(u.Mul(ek)))
		for j := lo; j < hi; j++ {
			r := get16(pm, row+j)
			put16(pm, a+j, t.MulAdd(r, get16(pm, a+j)))
			put16(pm, b+j, u.MulAdd(r, get16(pm, b+j)))
		}
	}
	if i < hi {
		a := i * stride
		t := get16(pm, a+k)
		put16(pe, i, get16(pe, i).Add(t.Mul(ek)))
		for j := lo; j < hi; j++ {
			put16(pm, a+j, t.MulAdd(get16(pm, row+j), get16(pm, a+j)))
		}
	}
	archsimd.ClearAVXUpperBits()
}

// combineAbreast16 adds in the order of combine4: one number after another, but for up to four numbers of to at the
// end, which have two partial sums.
func combineAbreast16(to, c, g []float64, stride int) {
	pt, pc, pg := simd.At(to), simd.At(c), simd.At(g)
	n, lanes := len(c)/simd.Doubles16, len(to)/simd.Doubles16
	split := 0
	for split+4 < lanes {
		split += 8
	}
	split = min(split, lanes)
	j := 0
	for ; j+3 < split; j += 4 {
		s0, s1, s2, s3 := get16(pt, j), get16(pt, j+1), get16(pt, j+2), get16(pt, j+3)
		at := j
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
	for ; j < split; j++ {
		s, at := get16(pt, j), j
		for i := range n {
			s = get16(pc, i).MulAdd(get16(pg, at), s)
			at += stride
		}
		put16(pt, j, s)
	}
	for ; j < lanes; j++ {
		var odd archsimd.Float64x8
		even, at, i := get16(pt, j), j, 0
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
