//go:build goexperiment.simd && amd64

package kernels

import (
	"simd/archsimd"

	"github.com/dsp-go/dsp/structured/sys/simd"
)

// The row loops of attention in eight lanes: see attention.go. Sums and maxima over the lanes stay in vectors.

// lanesFrom holds, for distances 4, 2 and 1, the lane at that distance of each lane.
var lanesFrom = [3][8]uint32{{4, 5, 6, 7, 0, 1, 2, 3}, {2, 3, 0, 1, 6, 7, 4, 5}, {1, 0, 3, 2, 5, 4, 7, 6}}

// total8 returns the sum over the lanes in every lane, in the order of sumLanes.
func total8(v archsimd.Float32x8) archsimd.Float32x8 {
	v = v.Add(v.Permute(archsimd.LoadUint32x8(&lanesFrom[0])))
	v = v.Add(v.Permute(archsimd.LoadUint32x8(&lanesFrom[1])))
	return v.Add(v.Permute(archsimd.LoadUint32x8(&lanesFrom[2])))
}

func top8(v archsimd.Float32x8) archsimd.Float32x8 {
	v = v.Max(v.Permute(archsimd.LoadUint32x8(&lanesFrom[0])))
	v = v.Max(v.Permute(archsimd.LoadUint32x8(&lanesFrom[1])))
	return v.Max(v.Permute(archsimd.LoadUint32x8(&lanesFrom[2])))
}

func subtractTops8(x []float32, width int) {
	for at := 0; at < len(x); at += width {
		row := x[at : at+width]
		v := simd.Get8(row, 0)
		for i := 8; i < len(row); i += 8 {
			v = v.Max(simd.Get8(row, i))
		}
		v = top8(v)
		for i := 0; i < len(row); i += 8 {
			simd.Put8(row, i, simd.Get8(row, i).Sub(v))
		}
	}
	archsimd.ClearAVXUpperBits()
}

func normalise8(x []float32, width int) {
	one := simd.Fill8(1)
	for at := 0; at < len(x); at += width {
		row, v := x[at:at+width], archsimd.Float32x8{}
		for i := 0; i < len(row); i += 8 {
			v = v.Add(simd.Get8(row, i))
		}
		v = one.Div(total8(v))
		for i := 0; i < len(row); i += 8 {
			simd.Put8(row, i, simd.Get8(row, i).Mul(v))
		}
	}
	archsimd.ClearAVXUpperBits()
}

func softmaxPull8(d, p []float32, width int) {
	for at := 0; at < len(d); at += width {
		x, y, v := d[at:at+width], p[at:at+width], archsimd.Float32x8{}
		for i := 0; i < len(x); i += 8 {
			v = v.Add(simd.Get8(x, i).Mul(simd.Get8(y, i)))
		}
		v = total8(v)
		for i := 0; i < len(x); i += 8 {
			simd.Put8(x, i, simd.Get8(y, i).Mul(simd.Get8(x, i).Sub(v)))
		}
	}
	archsimd.ClearAVXUpperBits()
}

func rotate8(out, x, cos, sin []float32, sign float32) {
	n := len(cos)
	if n%8 != 0 {
		rotate(out, x, cos, sin, sign)
		return
	}
	v := simd.Fill8(sign)
	for at := 0; at < len(out); at += 2 * n {
		x, to := x[at:at+2*n], out[at:at+2*n]
		for i := 0; i < n; i += 8 {
			a, b, c, s := simd.Get8(x, i), simd.Get8(x, i+n), simd.Get8(cos, i), v.Mul(simd.Get8(sin, i))
			simd.Put8(to, i, a.Mul(c).Sub(b.Mul(s)))
			simd.Put8(to, i+n, a.Mul(s).Add(b.Mul(c)))
		}
	}
	archsimd.ClearAVXUpperBits()
}
