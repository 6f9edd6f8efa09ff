//go:build goexperiment.simd && amd64

package kernels

import (
	"simd/archsimd"
	"unsafe"
)

var avx512Dense = DenseLoops{
	Name:        "AVX-512",
	Score:       denseScore16,
	Pull:        densePull16,
	ScoreDouble: denseScoreDouble16,
	PullDouble:  densePullDouble16,
}

// denseScore16 keeps the sums of four rows, two vectors of each, in registers while it goes through the weights. The last vector of a row
// is masked.
func denseScore16(to, z [][]float32, w []float32) {
	dim, y, ok := denseSize(z, to, len(w))
	if !ok {
		return
	}
	for r := 0; r < len(to); r += 4 {
		t0, t1, t2, t3 := four(to, r, y)
		z0, z1, z2, z3 := four(z, r, dim)
		for j := 0; j < y; j += 2 * lanes16 {
			n, p := y-j, unsafe.Pointer(&w[j])
			if n > lanes16 {
				tail := first16(min(n, 2*lanes16) - lanes16)
				a0, a1, a2, a3 := load16(t0, j), load16(t1, j), load16(t2, j), load16(t3, j)
				b0, b1 := loadFirst16(t0, j+lanes16, tail), loadFirst16(t1, j+lanes16, tail)
				b2, b3 := loadFirst16(t2, j+lanes16, tail), loadFirst16(t3, j+lanes16, tail)
				for d := range dim {
					w0, w1 := load16(p, d*y), loadFirst16(p, d*y+lanes16, tail)
					x := spread16(z0, d)
					a0, b0 = x.MulAdd(w0, a0), x.MulAdd(w1, b0)
					x = spread16(z1, d)
					a1, b1 = x.MulAdd(w0, a1), x.MulAdd(w1, b1)
					x = spread16(z2, d)
					a2, b2 = x.MulAdd(w0, a2), x.MulAdd(w1, b2)
					x = spread16(z3, d)
					a3, b3 = x.MulAdd(w0, a3), x.MulAdd(w1, b3)
				}
				store16(t0, j, a0)
				store16(t1, j, a1)
				store16(t2, j, a2)
				store16(t3, j, a3)
				storeFirst16(t0, j+lanes16, b0, tail)
				storeFirst16(t1, j+lanes16, b1, tail)
				storeFirst16(t2, j+lanes16, b2, tail)
				storeFirst16(t3, j+lanes16, b3, tail)
			} else {
				tail := first16(n)
				a0, a1, a2, a3 := loadFirst16(t0, j, tail), loadFirst16(t1, j, tail), loadFirst16(t2, j, tail), loadFirst16(t3, j, tail)
				for d := range dim {
					w0 := loadFirst16(p, d*y, tail)
					a0 = spread16(z0, d).MulAdd(w0, a0)
					a1 = spread16(z1, d).MulAdd(w0, a1)
					a2 = spread16(z2, d).MulAdd(w0, a2)
					a3 = spread16(z3, d).MulAdd(w0, a3)
				}
				storeFirst16(t0, j, a0, tail)
				storeFirst16(t1, j, a1, tail)
				storeFirst16(t2, j, a2, tail)
				storeFirst16(t3, j, a3, tail)
			}
		}
	}
	archsimd.ClearAVXUpperBits()
}

// densePull16 keeps the sums for four numbers of the rows z, two vectors of each, in registers while it goes through the rows.
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
	for j := 0; j < y; j += 2 * lanes16 {
		first, rest := min(y-j, lanes16), max(0, min(y-j, 2*lanes16)-lanes16)
		m0, m1 := first16(first), first16(rest)
		for d := 0; d < dim; d += 4 {
			d1, d2, d3 := min(d+1, dim-1), min(d+2, dim-1), min(d+3, dim-1) // those beyond the end repeat the last one
			p0, p1, p2, p3 := unsafe.Pointer(&to[d*y+j]), unsafe.Pointer(&to[d1*y+j]), unsafe.Pointer(&to[d2*y+j]), unsafe.Pointer(&to[d3*y+j])
			a0, a1, a2, a3 := loadFirst16(p0, 0, m0), loadFirst16(p1, 0, m0), loadFirst16(p2, 0, m0), loadFirst16(p3, 0, m0)
			if rest > 0 {
				b0, b1 := loadFirst16(p0, lanes16, m1), loadFirst16(p1, lanes16, m1)
				b2, b3 := loadFirst16(p2, lanes16, m1), loadFirst16(p3, lanes16, m1)
				for r, row := range z {
					from, at := unsafe.Pointer(&v[r][j]), unsafe.Pointer(&row[:dim][0])
					v0, v1 := loadFirst16(from, 0, m0), loadFirst16(from, lanes16, m1)
					x := spread16(at, d)
					a0, b0 = x.MulAdd(v0, a0), x.MulAdd(v1, b0)
					x = spread16(at, d1)
					a1, b1 = x.MulAdd(v0, a1), x.MulAdd(v1, b1)
					x = spread16(at, d2)
					a2, b2 = x.MulAdd(v0, a2), x.MulAdd(v1, b2)
					x = spread16(at, d3)
					a3, b3 = x.MulAdd(v0, a3), x.MulAdd(v1, b3)
				}
				storeFirst16(p0, lanes16, b0, m1)
				storeFirst16(p1, lanes16, b1, m1)
				storeFirst16(p2, lanes16, b2, m1)
				storeFirst16(p3, lanes16, b3, m1)
			} else {
				for r, row := range z {
					v0, at := loadFirst16(unsafe.Pointer(&v[r][j]), 0, m0), unsafe.Pointer(&row[:dim][0])
					a0, a1 = spread16(at, d).MulAdd(v0, a0), spread16(at, d1).MulAdd(v0, a1)
					a2, a3 = spread16(at, d2).MulAdd(v0, a2), spread16(at, d3).MulAdd(v0, a3)
				}
			}
			storeFirst16(p0, 0, a0, m0)
			storeFirst16(p1, 0, a1, m0)
			storeFirst16(p2, 0, a2, m0)
			storeFirst16(p3, 0, a3, m0)
		}
	}
	archsimd.ClearAVXUpperBits()
}

// denseScoreDouble16 is denseScore16 in float64. It takes widened at a time as many numbers of the rows, and their weights, so that it widens the weights
// once for all rows, and finds both in the first cache.
func denseScoreDouble16(to [][]float64, z [][]float32, w []float32) {
	dim, y, ok := denseSize(z, to, len(w))
	if !ok {
		return
	}
	var weights [2 * doubles16 * widenedAtOnce]float64
	var row [4 * widenedAtOnce]float64
	for j := 0; j < y; j += 2 * doubles16 {
		first, rest := min(y-j, doubles16), max(0, min(y-j, 2*doubles16)-doubles16)
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
					tail := firstDoubles16(rest)
					a0, a1, a2, a3 := loadDoubles16(t0, j), loadDoubles16(t1, j), loadDoubles16(t2, j), loadDoubles16(t3, j)
					b0, b1 := loadFirstDoubles16(t0, j+doubles16, tail), loadFirstDoubles16(t1, j+doubles16, tail)
					b2, b3 := loadFirstDoubles16(t2, j+doubles16, tail), loadFirstDoubles16(t3, j+doubles16, tail)
					p, q := unsafe.Pointer(&weights), unsafe.Pointer(&row)
					for d := range n {
						w0, w1 := loadDoubles16(p, 2*doubles16*d), loadDoubles16(p, 2*doubles16*d+doubles16)
						x := spreadWide16(q, d)
						a0, b0 = x.MulAdd(w0, a0), x.MulAdd(w1, b0)
						x = spreadWide16(q, d+widenedAtOnce)
						a1, b1 = x.MulAdd(w0, a1), x.MulAdd(w1, b1)
						x = spreadWide16(q, d+2*widenedAtOnce)
						a2, b2 = x.MulAdd(w0, a2), x.MulAdd(w1, b2)
						x = spreadWide16(q, d+3*widenedAtOnce)
						a3, b3 = x.MulAdd(w0, a3), x.MulAdd(w1, b3)
					}
					storeDoubles16(t0, j, a0)
					storeDoubles16(t1, j, a1)
					storeDoubles16(t2, j, a2)
					storeDoubles16(t3, j, a3)
					storeFirstDoubles16(t0, j+doubles16, b0, tail)
					storeFirstDoubles16(t1, j+doubles16, b1, tail)
					storeFirstDoubles16(t2, j+doubles16, b2, tail)
					storeFirstDoubles16(t3, j+doubles16, b3, tail)
				} else {
					tail := firstDoubles16(first)
					a0, a1 := loadFirstDoubles16(t0, j, tail), loadFirstDoubles16(t1, j, tail)
					a2, a3 := loadFirstDoubles16(t2, j, tail), loadFirstDoubles16(t3, j, tail)
					p, q := unsafe.Pointer(&weights), unsafe.Pointer(&row)
					for d := range n {
						w0 := loadDoubles16(p, 2*doubles16*d)
						a0 = spreadWide16(q, d).MulAdd(w0, a0)
						a1 = spreadWide16(q, d+widenedAtOnce).MulAdd(w0, a1)
						a2 = spreadWide16(q, d+2*widenedAtOnce).MulAdd(w0, a2)
						a3 = spreadWide16(q, d+3*widenedAtOnce).MulAdd(w0, a3)
					}
					storeFirstDoubles16(t0, j, a0, tail)
					storeFirstDoubles16(t1, j, a1, tail)
					storeFirstDoubles16(t2, j, a2, tail)
					storeFirstDoubles16(t3, j, a3, tail)
				}
			}
		}
	}
	archsimd.ClearAVXUpperBits()
}

// widenBlock16 sets n rows of a block of weights, two vectors each, to the first and the rest of the columns at from, whose rows are y apart.
func widenBlock16(to *[2 * doubles16 * widenedAtOnce]float64, from unsafe.Pointer, n, y, first, rest int) {
	m0, m1, p := narrow16(first), narrow16(rest), unsafe.Pointer(to)
	for d := range n {
		storeDoubles16(p, 2*doubles16*d, widenFirst16(from, d*y, m0))
		if rest > 0 {
			storeDoubles16(p, 2*doubles16*d+doubles16, widenFirst16(from, d*y+doubles16, m1))
		}
	}
}

// widenRow16 sets to [widenedAtOnce] to the n numbers at from + 4·lo.
func widenRow16(to []float64, from unsafe.Pointer, lo, n int) {
	p, d := unsafe.Pointer(&to[:widenedAtOnce][0]), 0
	for ; d+doubles16 <= n; d += doubles16 {
		storeDoubles16(p, d, widen16(from, lo+d))
	}
	if d < n {
		storeDoubles16(p, d, widenFirst16(from, lo+d, narrow16(n-d)))
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
	for j := 0; j < y; j += 2 * doubles16 {
		first, rest := min(y-j, doubles16), max(0, min(y-j, 2*doubles16)-doubles16)
		m0, m1 := firstDoubles16(first), firstDoubles16(rest)
		for d := 0; d < dim; d += 4 {
			d1, d2, d3 := min(d+1, dim-1), min(d+2, dim-1), min(d+3, dim-1) // those beyond the end repeat the last one
			p0, p1, p2, p3 := unsafe.Pointer(&to[d*y+j]), unsafe.Pointer(&to[d1*y+j]), unsafe.Pointer(&to[d2*y+j]), unsafe.Pointer(&to[d3*y+j])
			a0, a1, a2, a3 := loadFirstDoubles16(p0, 0, m0), loadFirstDoubles16(p1, 0, m0), loadFirstDoubles16(p2, 0, m0), loadFirstDoubles16(p3, 0, m0)
			if rest > 0 {
				b0, b1 := loadFirstDoubles16(p0, doubles16, m1), loadFirstDoubles16(p1, doubles16, m1)
				b2, b3 := loadFirstDoubles16(p2, doubles16, m1), loadFirstDoubles16(p3, doubles16, m1)
				for r, row := range z {
					from, at := unsafe.Pointer(&v[r][j]), unsafe.Pointer(&row[:dim][0])
					v0, v1 := loadFirstDoubles16(from, 0, m0), loadFirstDoubles16(from, doubles16, m1)
					x := spreadDouble16(at, d)
					a0, b0 = x.MulAdd(v0, a0), x.MulAdd(v1, b0)
					x = spreadDouble16(at, d1)
					a1, b1 = x.MulAdd(v0, a1), x.MulAdd(v1, b1)
					x = spreadDouble16(at, d2)
					a2, b2 = x.MulAdd(v0, a2), x.MulAdd(v1, b2)
					x = spreadDouble16(at, d3)
					a3, b3 = x.MulAdd(v0, a3), x.MulAdd(v1, b3)
				}
				storeFirstDoubles16(p0, doubles16, b0, m1)
				storeFirstDoubles16(p1, doubles16, b1, m1)
				storeFirstDoubles16(p2, doubles16, b2, m1)
				storeFirstDoubles16(p3, doubles16, b3, m1)
			} else {
				for r, row := range z {
					v0, at := loadFirstDoubles16(unsafe.Pointer(&v[r][j]), 0, m0), unsafe.Pointer(&row[:dim][0])
					a0, a1 = spreadDouble16(at, d).MulAdd(v0, a0), spreadDouble16(at, d1).MulAdd(v0, a1)
					a2, a3 = spreadDouble16(at, d2).MulAdd(v0, a2), spreadDouble16(at, d3).MulAdd(v0, a3)
				}
			}
			storeFirstDoubles16(p0, 0, a0, m0)
			storeFirstDoubles16(p1, 0, a1, m0)
			storeFirstDoubles16(p2, 0, a2, m0)
			storeFirstDoubles16(p3, 0, a3, m0)
		}
	}
	archsimd.ClearAVXUpperBits()
}

// spread16 repeats the number at p + 4i in all lanes.
func spread16(p unsafe.Pointer, i int) archsimd.Float32x16 {
	return archsimd.BroadcastFloat32x16(*(*float32)(unsafe.Add(p, 4*i)))
}

// spreadWide16 repeats the number at p + 8i in all lanes.
func spreadWide16(p unsafe.Pointer, i int) archsimd.Float64x8 {
	return archsimd.BroadcastFloat64x8(*(*float64)(unsafe.Add(p, 8*i)))
}
