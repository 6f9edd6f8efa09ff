//go:build goexperiment.simd && amd64

package chain

import (
	"math"
	"simd/archsimd"
	"unsafe"

	"github.com/dsp-go/dsp/structured/sys/simd"
)

var doubles16 = sumKernels[float64]{
	widest:        widestDouble,
	expError:      0x1p-50,
	leastPositive: leastPositiveDouble16,
	exps:          expsDouble16,
	matVec:        matVecDouble16,
	matDots:       matDotsDouble16,
	normalise:     normaliseDouble16,
	combine:       combineDouble16,
	edgeSums:      edgeSumsDouble16,
}

func leastPositiveDouble16(x []float64) float64 {
	var zero archsimd.Float64x8
	p, inf := unsafe.Pointer(&x[0]), simd.FillDouble16(math.Inf(1))
	lo := inf
	for i := 0; i < len(x); i += simd.Doubles16 {
		v := simd.LoadDouble16(p, i)
		lo = lo.Min(v.Merge(inf, v.Greater(zero)))
	}
	least := simd.SmallestDouble16(lo)
	archsimd.ClearAVXUpperBits()
	return least
}

func expsDouble16(to []float64, from []float32, rows, y, stride int, shift float32, scale float64) {
	if shift == minusInf {
		shift = 0
	}
	top, times := simd.FillDouble16(float64(shift)), simd.FillDouble16(scale)
	for i := range rows {
		row, end := to[i*stride:(i+1)*stride], from[i*y:(i+1)*y]
		p := unsafe.Pointer(&row[0])
		for j := 0; j < y; j += simd.Doubles16 {
			simd.StoreDouble16(p, j, expDouble16(simd.WidenPart16(end[j:]).Sub(top).Mul(times)))
		}
		clear(row[y:])
	}
	archsimd.ClearAVXUpperBits()
}

// expDouble16 returns exp(x) for x ≤ 0 up to two units, and 0 if the result is subnormal: 2^n exp(r) with
// n = round(x log₂e), |r| ≤ ln2/2, and the Taylor polynomial of degree 12.
func expDouble16(x archsimd.Float64x8) archsimd.Float64x8 {
	normal, rounder := x.Greater(simd.FillDouble16(-708)), simd.FillDouble16(3<<51)
	shifted := x.MulAdd(simd.FillDouble16(math.Log2E), rounder)
	n := shifted.Sub(rounder)
	r := n.MulAdd(simd.FillDouble16(-0x1.62e42feep-1), x) // few bits of ln2 make the product exact
	r = n.MulAdd(simd.FillDouble16(-0x1.a39ef35793c76p-33), r)
	p := r.MulAdd(simd.FillDouble16(1.0/479001600), simd.FillDouble16(1.0/39916800))
	p = p.MulAdd(r, simd.FillDouble16(1.0/3628800)).MulAdd(r, simd.FillDouble16(1.0/362880)).
		MulAdd(r, simd.FillDouble16(1.0/40320))
	p = p.MulAdd(r, simd.FillDouble16(1.0/5040)).MulAdd(r, simd.FillDouble16(1.0/720)).
		MulAdd(r, simd.FillDouble16(1.0/120))
	p = p.MulAdd(r, simd.FillDouble16(1.0/24)).MulAdd(r, simd.FillDouble16(1.0/6)).MulAdd(r, simd.FillDouble16(0.5))
	p = p.MulAdd(r, simd.FillDouble16(1)).MulAdd(r, simd.FillDouble16(1))
	return simd.LdexpDouble16(p, shifted).Masked(normal)
}

// matVecDouble16 keeps four vectors of next in registers while it iterates over the rows.
func matVecDouble16(next, prev, m []float64, y int) {
	to, p := unsafe.Pointer(&next[0]), unsafe.Pointer(&prev[0])
	stride := len(next)
	step := 8 * stride
	j := 0
	for ; j+3*simd.Doubles16 < stride; j += 4 * simd.Doubles16 {
		row := unsafe.Pointer(&m[j])
		var s0, s1, s2, s3 archsimd.Float64x8
		for i := range y {
			v := simd.BroadcastDouble16(p, i)
			s0 = v.MulAdd(simd.LoadDouble16(row, 0), s0)
			s1 = v.MulAdd(simd.LoadDouble16(row, simd.Doubles16), s1)
			s2 = v.MulAdd(simd.LoadDouble16(row, 2*simd.Doubles16), s2)
			s3 = v.MulAdd(simd.LoadDouble16(row, 3*simd.Doubles16), s3)
			row = unsafe.Add(row, step)
		}
		simd.StoreDouble16(to, j, s0)
		simd.StoreDouble16(to, j+simd.Doubles16, s1)
		simd.StoreDouble16(to, j+2*simd.Doubles16, s2)
		simd.StoreDouble16(to, j+3*simd.Doubles16, s3)
	}
	for ; j < stride; j += 2 * simd.Doubles16 {
		row := unsafe.Pointer(&m[j])
		var s0, s1 archsimd.Float64x8
		for i := range y {
			v := simd.BroadcastDouble16(p, i)
			s0 = v.MulAdd(simd.LoadDouble16(row, 0), s0)
			s1 = v.MulAdd(simd.LoadDouble16(row, simd.Doubles16), s1)
			row = unsafe.Add(row, step)
		}
		simd.StoreDouble16(to, j, s0)
		simd.StoreDouble16(to, j+simd.Doubles16, s1)
	}
	archsimd.ClearAVXUpperBits()
}

func matDotsDouble16(next, prev, m []float64, y int) {
	to, p, row := unsafe.Pointer(&next[0]), unsafe.Pointer(&prev[0]), unsafe.Pointer(&m[0])
	stride := len(next)
	for i := range y {
		var s archsimd.Float64x8
		for j := 0; j < stride; j += simd.Doubles16 {
			s = simd.LoadDouble16(p, j).MulAdd(simd.LoadDouble16(row, j), s)
		}
		simd.StoreSumDouble16(to, i, s)
		row = unsafe.Add(row, 8*stride)
	}
	archsimd.ClearAVXUpperBits()
	clear(next[y:])
}

func normaliseDouble16(x, a, b []float64) float64 {
	to, p, q := unsafe.Pointer(&x[0]), unsafe.Pointer(&a[0]), unsafe.Pointer(&b[0])
	var s archsimd.Float64x8
	for j := 0; j < len(x); j += simd.Doubles16 {
		v := simd.LoadDouble16(p, j).Mul(simd.LoadDouble16(q, j))
		simd.StoreDouble16(to, j, v)
		s = s.Add(v)
	}
	scale, sum := simd.OverSumDouble16(s)
	for j := 0; j < len(x); j += simd.Doubles16 {
		simd.StoreDouble16(to, j, simd.LoadDouble16(to, j).Mul(scale))
	}
	c := sum.GetElem(0)
	archsimd.ClearAVXUpperBits()
	return c
}

func combineDouble16(g []float64, p []float32, n, s, β []float64) {
	var zero archsimd.Float64x8
	to, pn, ps, pβ := unsafe.Pointer(&g[0]), unsafe.Pointer(&n[0]), unsafe.Pointer(&s[0]), unsafe.Pointer(&β[0])
	var sum archsimd.Float64x8
	for j := 0; j < len(g); j += simd.Doubles16 {
		v := simd.LoadDouble16(ps, j)
		w := simd.LoadDouble16(pn, j).Mul(simd.LoadDouble16(pβ, j)).Masked(v.Greater(zero))
		simd.StoreDouble16(to, j, w)
		sum = v.MulAdd(w, sum)
	}
	scale, _ := simd.OverSumDouble16(sum)
	for j := 0; j < len(g); j += simd.Doubles16 {
		w := simd.LoadDouble16(to, j).Mul(scale)
		simd.StoreDouble16(to, j, w)
		simd.StoreNarrowedPart16(p[j:], w.Mul(simd.LoadDouble16(ps, j)))
	}
	archsimd.ClearAVXUpperBits()
}

// edgeSumsDouble16 is a matrix product in blocks of 4 rows and two vectors, which stay in registers while t runs.
func edgeSumsDouble16(to []float32, α, g, edge []float64, y, stride, steps int) {
	from, step := unsafe.Pointer(unsafe.SliceData(g)), 8*stride
	for i := 0; i < y; i += 4 {
		for j := 0; j < stride; j += 2 * simd.Doubles16 {
			a, b := unsafe.Pointer(&α[i]), unsafe.Add(from, 8*j)
			var s00, s10, s20, s30 archsimd.Float64x8
			var s01, s11, s21, s31 archsimd.Float64x8
			for range steps {
				g0, g1 := simd.LoadDouble16(b, 0), simd.LoadDouble16(b, simd.Doubles16)
				v := simd.BroadcastDouble16(a, 0)
				s00, s01 = v.MulAdd(g0, s00), v.MulAdd(g1, s01)
				v = simd.BroadcastDouble16(a, 1)
				s10, s11 = v.MulAdd(g0, s10), v.MulAdd(g1, s11)
				v = simd.BroadcastDouble16(a, 2)
				s20, s21 = v.MulAdd(g0, s20), v.MulAdd(g1, s21)
				v = simd.BroadcastDouble16(a, 3)
				s30, s31 = v.MulAdd(g0, s30), v.MulAdd(g1, s31)
				a, b = unsafe.Add(a, step), unsafe.Add(b, step)
			}
			storeTimesDouble16(to, edge, i, j, y, stride, s00, s10, s20, s30)
			storeTimesDouble16(to, edge, i, j+simd.Doubles16, y, stride, s01, s11, s21, s31)
		}
	}
	archsimd.ClearAVXUpperBits()
}

// storeTimesDouble16 writes a vector of columns from j on, times edge, of up to 4 rows from i on.
func storeTimesDouble16(to []float32, edge []float64, i, j, y, stride int, s0, s1, s2, s3 archsimd.Float64x8) {
	if j >= y {
		return
	}
	storeRowTimesDouble16(to, edge, i, j, y, stride, s0)
	storeRowTimesDouble16(to, edge, i+1, j, y, stride, s1)
	storeRowTimesDouble16(to, edge, i+2, j, y, stride, s2)
	storeRowTimesDouble16(to, edge, i+3, j, y, stride, s3)
}

func storeRowTimesDouble16(to []float32, edge []float64, i, j, y, stride int, s archsimd.Float64x8) {
	if i < y {
		simd.StoreNarrowedPart16(to[i*y+j:(i+1)*y], s.Mul(simd.LoadDouble16(unsafe.Pointer(&edge[i*stride+j]), 0)))
	}
}
