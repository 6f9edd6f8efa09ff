//go:build goexperiment.simd && amd64

package kernels

import (
	"simd/archsimd"
	"unsafe"

	"github.com/dsp-go/dsp/structured/sys/simd"
)

var avx512Dense = &DenseLoops{
	Name:        "AVX-512",
	Score:       denseScore16,
	Pull:        densePull16,
	ScoreDouble: denseScoreDouble16,
	PullDouble:  densePullDouble16,
}

// denseScore16 keeps the sums of four rows, two vectors of each, in registers while it goes through the weights. The
// last vector of a row is masked.
func denseScore16(to, z [][]float32, w []float32) {
	dim, y, ok := denseSize(z, to, len(w))
	if !ok {
		return
	}
	for r := 0; r < len(to); r += 4 {
		t0, t1, t2, t3 := four(to, r, y)
		z0, z1, z2, z3 := four(z, r, dim)
		for j := 0; j < y; j += 2 * simd.Singles16 {
			n, p := y-j, unsafe.Pointer(&w[j])
			if n > simd.Singles16 {
				tail := simd.First16(min(n, 2*simd.Singles16) - simd.Singles16)
				a0, a1, a2, a3 := simd.Load16(t0, j), simd.Load16(t1, j), simd.Load16(t2, j), simd.Load16(t3, j)
				b0, b1 := simd.LoadFirst16(t0, j+simd.Singles16, tail), simd.LoadFirst16(t1, j+simd.Singles16, tail)
				b2, b3 := simd.LoadFirst16(t2, j+simd.Singles16, tail), simd.LoadFirst16(t3, j+simd.Singles16, tail)
				for d := range dim {
					w0, w1 := simd.Load16(p, d*y), simd.LoadFirst16(p, d*y+simd.Singles16, tail)
					x := simd.Broadcast16(z0, d)
					a0, b0 = x.MulAdd(w0, a0), x.MulAdd(w1, b0)
					x = simd.Broadcast16(z1, d)
					a1, b1 = x.MulAdd(w0, a1), x.MulAdd(w1, b1)
					x = simd.Broadcast16(z2, d)
					a2, b2 = x.MulAdd(w0, a2), x.MulAdd(w1, b2)
					x = simd.Broadcast16(z3, d)
					a3, b3 = x.MulAdd(w0, a3), x.MulAdd(w1, b3)
				}
				simd.Store16(t0, j, a0)
				simd.Store16(t1, j, a1)
				simd.Store16(t2, j, a2)
				simd.Store16(t3, j, a3)
				simd.StoreFirst16(t0, j+simd.Singles16, b0, tail)
				simd.StoreFirst16(t1, j+simd.Singles16, b1, tail)
				simd.StoreFirst16(t2, j+simd.Singles16, b2, tail)
				simd.StoreFirst16(t3, j+simd.Singles16, b3, tail)
			} else {
				tail := simd.First16(n)
				a0, a1, a2, a3 := simd.LoadFirst16(t0, j, tail), simd.LoadFirst16(t1, j, tail), simd.LoadFirst16(t2, j, tail),
					simd.LoadFirst16(t3, j, tail)
				for d := range dim {
					w0 := simd.LoadFirst16(p, d*y, tail)
					a0 = simd.Broadcast16(z0, d).MulAdd(w0, a0)
					a1 = simd.Broadcast16(z1, d).MulAdd(w0, a1)
					a2 = simd.Broadcast16(z2, d).MulAdd(w0, a2)
					a3 = simd.Broadcast16(z3, d).MulAdd(w0, a3)
				}
				simd.StoreFirst16(t0, j, a0, tail)
				simd.StoreFirst16(t1, j, a1, tail)
				simd.StoreFirst16(t2, j, a2, tail)
				simd.StoreFirst16(t3, j, a3, tail)
			}
		}
	}
	archsimd.ClearAVXUpperBits()
}

// densePull16 keeps the sums for four numbers of the rows z, two vectors of each, in registers while it goes through
// the rows.
func densePull16(to []float32, z, v [][]float32) {
	if len(v) > rowsAtOnce {
		densePull16(to, z[:rowsAtOnce], v[:rowsAtOnce])
		densePull16(to, z[rowsAtOnce:], v[rowsAtOnce:])
		return
	}
	dim, y, ok := denseSize(z, v, len(to))
	if !ok {
		return
	}
	for j := 0; j < y; j += 2 * simd.Singles16 {
		first, rest := min(y-j, simd.Singles16), max(0, min(y-j, 2*simd.Singles16)-simd.Singles16)
		m0, m1 := simd.First16(first), simd.First16(rest)
		for d := 0; d < dim; d += 4 {
			d1, d2, d3 := min(d+1, dim-1), min(d+2, dim-1), min(d+3, dim-1) // those beyond the end repeat the last one
			p0, p1, p2, p3 := unsafe.Pointer(&to[d*y+j]), unsafe.Pointer(&to[d1*y+j]), unsafe.Pointer(&to[d2*y+j]),
				unsafe.Pointer(&to[d3*y+j])
			a0, a1, a2, a3 := simd.LoadFirst16(p0, 0, m0), simd.LoadFirst16(p1, 0, m0), simd.LoadFirst16(p2, 0, m0),
				simd.LoadFirst16(p3, 0, m0)
			if rest > 0 {
				b0, b1 := simd.LoadFirst16(p0, simd.Singles16, m1), simd.LoadFirst16(p1, simd.Singles16, m1)
				b2, b3 := simd.LoadFirst16(p2, simd.Singles16, m1), simd.LoadFirst16(p3, simd.Singles16, m1)
				for r, row := range z {
					from, at := unsafe.Pointer(&v[r][j]), unsafe.Pointer(&row[:dim][0])
					v0, v1 := simd.LoadFirst16(from, 0, m0), simd.LoadFirst16(from, simd.Singles16, m1)
					x := simd.Broadcast16(at, d)
					a0, b0 = x.MulAdd(v0, a0), x.MulAdd(v1, b0)
					x = simd.Broadcast16(at, d1)
					a1, b1 = x.MulAdd(v0, a1), x.MulAdd(v1, b1)
					x = simd.Broadcast16(at, d2)
					a2, b2 = x.MulAdd(v0, a2), x.MulAdd(v1, b2)
					x = simd.Broadcast16(at, d3)
					a3, b3 = x.MulAdd(v0, a3), x.MulAdd(v1, b3)
				}
				simd.StoreFirst16(p0, simd.Singles16, b0, m1)
				simd.StoreFirst16(p1, simd.Singles16, b1, m1)
				simd.StoreFirst16(p2, simd.Singles16, b2, m1)
				simd.StoreFirst16(p3, simd.Singles16, b3, m1)
			} else {
				for r, row := range z {
					v0, at := simd.LoadFirst16(unsafe.Pointer(&v[r][j]), 0, m0), unsafe.Pointer(&row[:dim][0])
					a0, a1 = simd.Broadcast16(at, d).MulAdd(v0, a0), simd.Broadcast16(at, d1).MulAdd(v0, a1)
					a2, a3 = simd.Broadcast16(at, d2).MulAdd(v0, a2), simd.Broadcast16(at, d3).MulAdd(v0, a3)
				}
			}
			simd.StoreFirst16(p0, 0, a0, m0)
			simd.StoreFirst16(p1, 0, a1, m0)
			simd.StoreFirst16(p2, 0, a2, m0)
			simd.StoreFirst16(p3, 0, a3, m0)
		}
	}
	archsimd.ClearAVXUpperBits()
}

// denseScoreDouble16 is denseScore16 in float64. It takes widened at a time as many numbers of the rows, and their
// weights, so that it widens the weights once for all rows, and finds both in the first cache.
func denseScoreDouble16(to [][]float64, z [][]float32, w []float32) {
	dim, y, ok := denseSize(z, to, len(w))
	if !ok {
		return
	}
	var weights [2 * simd.Doubles16 * widenedAtOnce]float64
	var row [4 * widenedAtOnce]float64
	for j := 0; j < y; j += 2 * simd.Doubles16 {
		first, rest := min(y-j, simd.Doubles16), max(0, min(y-j, 2*simd.Doubles16)-simd.Doubles16)
		for lo := 0; lo < dim; lo += widenedAtOnce {
			n := min(dim-lo, widenedAtOnce)
			widenBlock16(&weights, unsafe.Pointer(&w[lo*y+j]), n, y, first, rest)
			for r := 0; r < len(to); r += 4 {
				t0, t1, t2, t3 := four(to, r, y)
				z0, z1, z2, z3 := four(z, r, dim)
				for k, from := range [4]unsafe.Pointer{z0, z1, z2, z3} {
					widenRow16(row[k*widenedAtOnce:][:widenedAtOnce], from, lo, n)
				}
				if rest > 0 {
					tail := simd.FirstDouble16(rest)
					a0, a1, a2, a3 := simd.LoadDouble16(t0, j), simd.LoadDouble16(t1, j), simd.LoadDouble16(t2, j),
						simd.LoadDouble16(t3, j)
					b0, b1 := simd.LoadFirstDouble16(t0, j+simd.Doubles16, tail), simd.LoadFirstDouble16(t1, j+simd.Doubles16, tail)
					b2, b3 := simd.LoadFirstDouble16(t2, j+simd.Doubles16, tail), simd.LoadFirstDouble16(t3, j+simd.Doubles16, tail)
					p, q := unsafe.Pointer(&weights), unsafe.Pointer(&row)
					for d := range n {
						w0, w1 := simd.LoadDouble16(p, 2*simd.Doubles16*d), simd.LoadDouble16(p, 2*simd.Doubles16*d+simd.Doubles16)
						x := simd.BroadcastDouble16(q, d)
						a0, b0 = x.MulAdd(w0, a0), x.MulAdd(w1, b0)
						x = simd.BroadcastDouble16(q, d+widenedAtOnce)
						a1, b1 = x.MulAdd(w0, a1), x.MulAdd(w1, b1)
						x = simd.BroadcastDouble16(q, d+2*widenedAtOnce)
						a2, b2 = x.MulAdd(w0, a2), x.MulAdd(w1, b2)
						x = simd.BroadcastDouble16(q, d+3*widenedAtOnce)
						a3, b3 = x.MulAdd(w0, a3), x.MulAdd(w1, b3)
					}
					simd.StoreDouble16(t0, j, a0)
					simd.StoreDouble16(t1, j, a1)
					simd.StoreDouble16(t2, j, a2)
					simd.StoreDouble16(t3, j, a3)
					simd.StoreFirstDouble16(t0, j+simd.Doubles16, b0, tail)
					simd.StoreFirstDouble16(t1, j+simd.Doubles16, b1, tail)
					simd.StoreFirstDouble16(t2, j+simd.Doubles16, b2, tail)
					simd.StoreFirstDouble16(t3, j+simd.Doubles16, b3, tail)
				} else {
					tail := simd.FirstDouble16(first)
					a0, a1 := simd.LoadFirstDouble16(t0, j, tail), simd.LoadFirstDouble16(t1, j, tail)
					a2, a3 := simd.LoadFirstDouble16(t2, j, tail), simd.LoadFirstDouble16(t3, j, tail)
					p, q := unsafe.Pointer(&weights), unsafe.Pointer(&row)
					for d := range n {
						w0 := simd.LoadDouble16(p, 2*simd.Doubles16*d)
						a0 = simd.BroadcastDouble16(q, d).MulAdd(w0, a0)
						a1 = simd.BroadcastDouble16(q, d+widenedAtOnce).MulAdd(w0, a1)
						a2 = simd.BroadcastDouble16(q, d+2*widenedAtOnce).MulAdd(w0, a2)
						a3 = simd.BroadcastDouble16(q, d+3*widenedAtOnce).MulAdd(w0, a3)
					}
					simd.StoreFirstDouble16(t0, j, a0, tail)
					simd.StoreFirstDouble16(t1, j, a1, tail)
					simd.StoreFirstDouble16(t2, j, a2, tail)
					simd.StoreFirstDouble16(t3, j, a3, tail)
				}
			}
		}
	}
	archsimd.ClearAVXUpperBits()
}

// widenBlock16 sets n rows of a block of weights, two vectors each, to the first and the rest of the columns at from,
// whose rows are y apart.
func widenBlock16(to *[2 * simd.Doubles16 * widenedAtOnce]float64, from unsafe.Pointer, n, y, first, rest int) {
	m0, m1, p := simd.FirstWidened16(first), simd.FirstWidened16(rest), unsafe.Pointer(to)
	for d := range n {
		simd.StoreDouble16(p, 2*simd.Doubles16*d, simd.LoadFirstWidened16(from, d*y, m0))
		if rest > 0 {
			simd.StoreDouble16(p, 2*simd.Doubles16*d+simd.Doubles16, simd.LoadFirstWidened16(from, d*y+simd.Doubles16, m1))
		}
	}
}

// widenRow16 sets to [widenedAtOnce] to the n numbers at from + 4·lo.
func widenRow16(to []float64, from unsafe.Pointer, lo, n int) {
	p, d := unsafe.Pointer(&to[:widenedAtOnce][0]), 0
	for ; d+simd.Doubles16 <= n; d += simd.Doubles16 {
		simd.StoreDouble16(p, d, simd.LoadWidened16(from, lo+d))
	}
	if d < n {
		simd.StoreDouble16(p, d, simd.LoadFirstWidened16(from, lo+d, simd.FirstWidened16(n-d)))
	}
}

// densePullDouble16 is densePull16 in float64.
func densePullDouble16(to []float64, z [][]float32, v [][]float64) {
	if len(v) > rowsAtOnce {
		densePullDouble16(to, z[:rowsAtOnce], v[:rowsAtOnce])
		densePullDouble16(to, z[rowsAtOnce:], v[rowsAtOnce:])
		return
	}
	dim, y, ok := denseSize(z, v, len(to))
	if !ok {
		return
	}
	for j := 0; j < y; j += 2 * simd.Doubles16 {
		first, rest := min(y-j, simd.Doubles16), max(0, min(y-j, 2*simd.Doubles16)-simd.Doubles16)
		m0, m1 := simd.FirstDouble16(first), simd.FirstDouble16(rest)
		for d := 0; d < dim; d += 4 {
			d1, d2, d3 := min(d+1, dim-1), min(d+2, dim-1), min(d+3, dim-1) // those beyond the end repeat the last one
			p0, p1, p2, p3 := unsafe.Pointer(&to[d*y+j]), unsafe.Pointer(&to[d1*y+j]), unsafe.Pointer(&to[d2*y+j]),
				unsafe.Pointer(&to[d3*y+j])
			a0, a1, a2, a3 := simd.LoadFirstDouble16(p0, 0, m0), simd.LoadFirstDouble16(p1, 0, m0),
				simd.LoadFirstDouble16(p2, 0, m0), simd.LoadFirstDouble16(p3, 0, m0)
			if rest > 0 {
				b0, b1 := simd.LoadFirstDouble16(p0, simd.Doubles16, m1), simd.LoadFirstDouble16(p1, simd.Doubles16, m1)
				b2, b3 := simd.LoadFirstDouble16(p2, simd.Doubles16, m1), simd.LoadFirstDouble16(p3, simd.Doubles16, m1)
				for r, row := range z {
					from, at := unsafe.Pointer(&v[r][j]), unsafe.Pointer(&row[:dim][0])
					v0, v1 := simd.LoadFirstDouble16(from, 0, m0), simd.LoadFirstDouble16(from, simd.Doubles16, m1)
					x := simd.BroadcastWidened16(at, d)
					a0, b0 = x.MulAdd(v0, a0), x.MulAdd(v1, b0)
					x = simd.BroadcastWidened16(at, d1)
					a1, b1 = x.MulAdd(v0, a1), x.MulAdd(v1, b1)
					x = simd.BroadcastWidened16(at, d2)
					a2, b2 = x.MulAdd(v0, a2), x.MulAdd(v1, b2)
					x = simd.BroadcastWidened16(at, d3)
					a3, b3 = x.MulAdd(v0, a3), x.MulAdd(v1, b3)
				}
				simd.StoreFirstDouble16(p0, simd.Doubles16, b0, m1)
				simd.StoreFirstDouble16(p1, simd.Doubles16, b1, m1)
				simd.StoreFirstDouble16(p2, simd.Doubles16, b2, m1)
				simd.StoreFirstDouble16(p3, simd.Doubles16, b3, m1)
			} else {
				for r, row := range z {
					v0, at := simd.LoadFirstDouble16(unsafe.Pointer(&v[r][j]), 0, m0), unsafe.Pointer(&row[:dim][0])
					a0, a1 = simd.BroadcastWidened16(at, d).MulAdd(v0, a0), simd.BroadcastWidened16(at, d1).MulAdd(v0, a1)
					a2, a3 = simd.BroadcastWidened16(at, d2).MulAdd(v0, a2), simd.BroadcastWidened16(at, d3).MulAdd(v0, a3)
				}
			}
			simd.StoreFirstDouble16(p0, 0, a0, m0)
			simd.StoreFirstDouble16(p1, 0, a1, m0)
			simd.StoreFirstDouble16(p2, 0, a2, m0)
			simd.StoreFirstDouble16(p3, 0, a3, m0)
		}
	}
	archsimd.ClearAVXUpperBits()
}
