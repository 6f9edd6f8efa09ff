//go:build goexperiment.simd && amd64

package pcfg

import "simd/archsimd"

var avx512 = kernels{name: "AVX-512", dots: dots16, spread: spread16}

// dots16 takes four rows at a time.
func dots16(to, x, r []float64) {
	px, n := at(x), len(x)
	a := 0
	for ; a+3 < len(to); a += 4 {
		r0, r1, r2, r3 := at(r[a*n:]), at(r[(a+1)*n:]), at(r[(a+2)*n:]), at(r[(a+3)*n:])
		var s0, s1, s2, s3 double16
		for i := 0; i < n; i += half16 {
			v := load16(px, i)
			s0, s1 = v.MulAdd(load16(r0, i), s0), v.MulAdd(load16(r1, i), s1)
			s2, s3 = v.MulAdd(load16(r2, i), s2), v.MulAdd(load16(r3, i), s3)
		}
		to[a], to[a+1], to[a+2], to[a+3] = total16(s0), total16(s1), total16(s2), total16(s3)
	}
	for ; a < len(to); a++ {
		row := at(r[a*n:])
		var s double16
		for i := 0; i < n; i += half16 {
			s = load16(px, i).MulAdd(load16(row, i), s)
		}
		to[a] = total16(s)
	}
	archsimd.ClearAVXUpperBits()
}

func spread16(y, x, q, r, g []float64) {
	py, px, pr, pg, n := at(y), at(x), at(r), at(g), len(x)
	for i := 0; i < n; i += half16 {
		v, row := load16(px, i), i
		var sum double16
		for _, p := range q {
			by := fill16(p)
			sum = by.MulAdd(load16(pr, row), sum)
			store16(pg, row, by.MulAdd(v, load16(pg, row)))
			row += n
		}
		store16(py, i, sum)
	}
	archsimd.ClearAVXUpperBits()
}
