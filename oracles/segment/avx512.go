//go:build goexperiment.simd && amd64

package segment

import (
	"simd/archsimd"
	"unsafe"

	"github.com/dsp-go/dsp/structured/sys/simd"
)

var avx512 = &kernels{
	name:         "AVX-512",
	bestSegments: bestSegments16, bestSteps: bestSteps16,
	sumSegments: sumSegments16, sumSteps: sumSteps16,
	spreadSegments: spreadSegments16, spreadSteps: spreadSteps16,
	exps: exps16, weigh: weigh16, spreadWeights: spreadWeights16,
}

func bestSegments16(to, h, length, reach []float64, t, longest int) {
	stride := len(to)
	pt, pr := unsafe.Pointer(&to[0]), unsafe.Pointer(&reach[0])
	never := simd.FillDouble16(minusInf)
	for j := 0; j < stride; j += simd.Doubles16 {
		x, y, limit := unsafe.Pointer(&h[t*stride+j]), unsafe.Pointer(&length[j]), simd.LoadDouble16(pr, j)
		best, l, one := never, simd.FillDouble16(1), simd.FillDouble16(1)
		for range longest {
			v := simd.LoadDouble16(x, 0).Add(simd.LoadDouble16(y, 0)).Merge(never, l.LessEqual(limit))
			best = best.Max(v)
			x, y, l = unsafe.Add(x, -8*stride), unsafe.Add(y, 8*stride), l.Add(one)
		}
		simd.StoreDouble16(pt, j, best)
	}
	archsimd.ClearAVXUpperBits()
}

func bestSteps16(to, x, m []float64, labels int) {
	stride := len(to)
	pt, px := unsafe.Pointer(&to[0]), unsafe.Pointer(&x[0])
	for j := 0; j < stride; j += simd.Doubles16 {
		best, row := simd.FillDouble16(minusInf), unsafe.Pointer(&m[j])
		for i := range labels {
			best = best.Max(simd.BroadcastDouble16(px, i).Add(simd.LoadDouble16(row, 0)))
			row = unsafe.Add(row, 8*stride)
		}
		simd.StoreDouble16(pt, j, best)
	}
	archsimd.ClearAVXUpperBits()
}

func sumSegments16(to, sum, h, length, reach []float64, t, longest int) {
	bestSegments16(to, h, length, reach, t, longest)
	stride := len(to)
	pt, ps, pr := unsafe.Pointer(&to[0]), unsafe.Pointer(&sum[0]), unsafe.Pointer(&reach[0])
	never, zero := simd.FillDouble16(minusInf), simd.FillDouble16(0)
	for j := 0; j < stride; j += simd.Doubles16 {
		x, y, limit := unsafe.Pointer(&h[t*stride+j]), unsafe.Pointer(&length[j]), simd.LoadDouble16(pr, j)
		top := simd.LoadDouble16(pt, j)
		top = top.Merge(zero, top.Greater(never))
		total, l, one := zero, simd.FillDouble16(1), simd.FillDouble16(1)
		for range longest {
			total = total.Add(exp16(simd.LoadDouble16(x, 0).Add(simd.LoadDouble16(y, 0)).Sub(top)).Masked(l.LessEqual(limit)))
			x, y, l = unsafe.Add(x, -8*stride), unsafe.Add(y, 8*stride), l.Add(one)
		}
		simd.StoreDouble16(pt, j, top)
		simd.StoreDouble16(ps, j, total)
	}
	archsimd.ClearAVXUpperBits()
}

func sumSteps16(to, sum, x, m []float64, labels int) {
	bestSteps16(to, x, m, labels)
	stride := len(to)
	pt, ps, px := unsafe.Pointer(&to[0]), unsafe.Pointer(&sum[0]), unsafe.Pointer(&x[0])
	never, zero := simd.FillDouble16(minusInf), simd.FillDouble16(0)
	for j := 0; j < stride; j += simd.Doubles16 {
		top, row := simd.LoadDouble16(pt, j), unsafe.Pointer(&m[j])
		top = top.Merge(zero, top.Greater(never))
		total := zero
		for i := range labels {
			total = total.Add(exp16(simd.BroadcastDouble16(px, i).Add(simd.LoadDouble16(row, 0)).Sub(top)))
			row = unsafe.Add(row, 8*stride)
		}
		simd.StoreDouble16(pt, j, top)
		simd.StoreDouble16(ps, j, total)
	}
	archsimd.ClearAVXUpperBits()
}

func spreadSegments16(starts, lengths, p, h, length, a, reach []float64, t, longest int) {
	stride := len(p)
	pp, pa, pr := unsafe.Pointer(&p[0]), unsafe.Pointer(&a[0]), unsafe.Pointer(&reach[0])
	for j := 0; j < stride; j += simd.Doubles16 {
		x, y, limit := unsafe.Pointer(&h[t*stride+j]), unsafe.Pointer(&length[j]), simd.LoadDouble16(pr, j)
		to, by := unsafe.Pointer(&starts[t*stride+j]), unsafe.Pointer(&lengths[j])
		mass, top, l, one := simd.LoadDouble16(pp, j), simd.LoadDouble16(pa, j), simd.FillDouble16(1), simd.FillDouble16(1)
		for range longest {
			q := exp16(simd.LoadDouble16(x, 0).Add(simd.LoadDouble16(y, 0)).Sub(top)).Mul(mass).Masked(l.LessEqual(limit))
			simd.StoreDouble16(to, 0, simd.LoadDouble16(to, 0).Add(q))
			simd.StoreDouble16(by, 0, simd.LoadDouble16(by, 0).Add(q))
			x, y, l = unsafe.Add(x, -8*stride), unsafe.Add(y, 8*stride), l.Add(one)
			to, by = unsafe.Add(to, -8*stride), unsafe.Add(by, 8*stride)
		}
	}
	archsimd.ClearAVXUpperBits()
}

func spreadSteps16(to, edges, x, m, b, p []float64, labels int) {
	stride := len(to)
	px, pb, pp, pt, zero := unsafe.Pointer(&x[0]), unsafe.Pointer(&b[0]), unsafe.Pointer(&p[0]), unsafe.Pointer(&to[0]),
		simd.FillDouble16(0)
	for i := range labels {
		row, by := unsafe.Pointer(&m[i*stride]), unsafe.Pointer(&edges[i*stride])
		v, total := simd.BroadcastDouble16(px, i), zero
		for j := 0; j < stride; j += simd.Doubles16 {
			q := exp16(v.Add(simd.LoadDouble16(row, j)).Sub(simd.LoadDouble16(pb, j))).Mul(simd.LoadDouble16(pp, j))
			simd.StoreDouble16(by, j, simd.LoadDouble16(by, j).Add(q))
			total = total.Add(q)
		}
		simd.AddSumDouble16(pt, i, total)
	}
	archsimd.ClearAVXUpperBits()
}

func exps16(to, x []float64, top float64) {
	pt, px, shift := unsafe.Pointer(&to[0]), unsafe.Pointer(&x[0]), simd.FillDouble16(top)
	for j := 0; j < len(to); j += simd.Doubles16 {
		simd.StoreDouble16(pt, j, exp16(simd.LoadDouble16(px, j).Sub(shift)))
	}
	archsimd.ClearAVXUpperBits()
}

func weigh16(to, w, m []float64, labels int) {
	stride := len(to)
	pt, pw, zero := unsafe.Pointer(&to[0]), unsafe.Pointer(&w[0]), simd.FillDouble16(0)
	for j := 0; j < stride; j += simd.Doubles16 {
		total, row := zero, unsafe.Pointer(&m[j])
		for i := range labels {
			total = simd.BroadcastDouble16(pw, i).MulAdd(simd.LoadDouble16(row, 0), total)
			row = unsafe.Add(row, 8*stride)
		}
		simd.StoreDouble16(pt, j, total)
	}
	archsimd.ClearAVXUpperBits()
}

func spreadWeights16(to, edges, w, m, p []float64, labels int) {
	stride := len(to)
	pw, pp, pt, zero := unsafe.Pointer(&w[0]), unsafe.Pointer(&p[0]), unsafe.Pointer(&to[0]), simd.FillDouble16(0)
	for i := range labels {
		row, by := unsafe.Pointer(&m[i*stride]), unsafe.Pointer(&edges[i*stride])
		v, total := simd.BroadcastDouble16(pw, i), zero
		for j := 0; j < stride; j += simd.Doubles16 {
			q := v.Mul(simd.LoadDouble16(row, j)).Mul(simd.LoadDouble16(pp, j))
			simd.StoreDouble16(by, j, simd.LoadDouble16(by, j).Add(q))
			total = total.Add(q)
		}
		simd.AddSumDouble16(pt, i, total)
	}
	archsimd.ClearAVXUpperBits()
}

// exp16 returns exp(x) for x ≤ 0 up to two units, and 0 if the result is subnormal: 2ⁿ exp(r) with n = round(x log₂e),
// |r| ≤ ln2/2, and the Taylor polynomial of degree 12.
func exp16(x archsimd.Float64x8) archsimd.Float64x8 {
	c := unsafe.Pointer(&expConstants)
	normal, rounder := x.Greater(simd.LoadDouble16(c, expNormal)), simd.LoadDouble16(c, expRounder)
	shifted := x.MulAdd(simd.LoadDouble16(c, expLog2E), rounder)
	n := shifted.Sub(rounder)
	r := n.MulAdd(simd.LoadDouble16(c, expLn2Hi), x)
	r = n.MulAdd(simd.LoadDouble16(c, expLn2Lo), r)
	p := r.MulAdd(simd.LoadDouble16(c, expTaylor), simd.LoadDouble16(c, expTaylor+constantWidth))
	p = p.MulAdd(r, simd.LoadDouble16(c, expTaylor+2*constantWidth)).
		MulAdd(r, simd.LoadDouble16(c, expTaylor+3*constantWidth))
	p = p.MulAdd(r, simd.LoadDouble16(c, expTaylor+4*constantWidth)).
		MulAdd(r, simd.LoadDouble16(c, expTaylor+5*constantWidth))
	p = p.MulAdd(r, simd.LoadDouble16(c, expTaylor+6*constantWidth)).
		MulAdd(r, simd.LoadDouble16(c, expTaylor+7*constantWidth))
	p = p.MulAdd(r, simd.LoadDouble16(c, expTaylor+8*constantWidth)).
		MulAdd(r, simd.LoadDouble16(c, expTaylor+9*constantWidth))
	p = p.MulAdd(r, simd.LoadDouble16(c, expTaylor+10*constantWidth)).
		MulAdd(r, simd.LoadDouble16(c, expTaylor+11*constantWidth)).
		MulAdd(r, simd.LoadDouble16(c, expTaylor+11*constantWidth))
	return simd.LdexpDouble16(p, shifted).Masked(normal)
}
