//go:build goexperiment.simd && amd64

package tree

import (
	"simd/archsimd"
	"unsafe"

	"github.com/dsp-go/dsp/structured/sys/simd"
)

// turnAbreast and turnBackAbreast turn squares of four numbers of four sentences, for both widths of kernels.

func turnAbreast(to []float64, x, y [][]float32) {
	lanes, n := len(x), len(x[0])
	whole := n &^ 3
	for l := 0; l < lanes; l += simd.Doubles8 {
		x0, x1, x2, x3 := start(x[l]), start(x[l+1]), start(x[l+2]), start(x[l+3])
		y0, y1, y2, y3 := start(y[l]), start(y[l+1]), start(y[l+2]), start(y[l+3])
		for h := 0; h < whole; h += simd.Doubles8 {
			a, b := widened(x0, h).Add(widened(y0, h)), widened(x1, h).Add(widened(y1, h))
			c, d := widened(x2, h).Add(widened(y2, h)), widened(x3, h).Add(widened(y3, h))
			ab0, ab1 := a.SelectFromPairGrouped(0, 2, b), a.SelectFromPairGrouped(1, 3, b)
			cd0, cd1 := c.SelectFromPairGrouped(0, 2, d), c.SelectFromPairGrouped(1, 3, d)
			p, step := unsafe.Pointer(&to[h*lanes+l]), 8*lanes
			put8(p, 0, ab0.Select128FromPair(0, 2, cd0))
			put8(unsafe.Add(p, step), 0, ab1.Select128FromPair(0, 2, cd1))
			put8(unsafe.Add(p, 2*step), 0, ab0.Select128FromPair(1, 3, cd0))
			put8(unsafe.Add(p, 3*step), 0, ab1.Select128FromPair(1, 3, cd1))
		}
	}
	archsimd.ClearAVXUpperBits()
	for l := range x {
		for h := whole; h < n; h++ {
			to[h*lanes+l] = float64(x[l][h]) + float64(y[l][h])
		}
	}
}

func start(x []float32) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(x)) }

// widened loads four numbers from number i on.
func widened(p unsafe.Pointer, i int) archsimd.Float64x4 {
	return archsimd.LoadFloat32x4((*[4]float32)(unsafe.Add(p, 4*i))).ConvertToFloat64()
}

// narrowed stores four numbers from number i on.
func narrowed(p unsafe.Pointer, i int, v archsimd.Float64x4) {
	v.ConvertToFloat32().Store((*[4]float32)(unsafe.Add(p, 4*i)))
}

func turnBackAbreast(to [][]float32, from []float64) {
	n := len(to[0])
	lanes := len(from) / n
	whole, l := n&^3, 0
	for ; l+simd.Doubles8 <= len(to); l += simd.Doubles8 {
		to0, to1, to2, to3 := start(to[l]), start(to[l+1]), start(to[l+2]), start(to[l+3])
		for h := 0; h < whole; h += simd.Doubles8 {
			p, step := unsafe.Pointer(&from[h*lanes+l]), 8*lanes
			a, b := get8(p, 0), get8(unsafe.Add(p, step), 0)
			c, d := get8(unsafe.Add(p, 2*step), 0), get8(unsafe.Add(p, 3*step), 0)
			ab0, ab1 := a.SelectFromPairGrouped(0, 2, b), a.SelectFromPairGrouped(1, 3, b)
			cd0, cd1 := c.SelectFromPairGrouped(0, 2, d), c.SelectFromPairGrouped(1, 3, d)
			narrowed(to0, h, ab0.Select128FromPair(0, 2, cd0))
			narrowed(to1, h, ab1.Select128FromPair(0, 2, cd1))
			narrowed(to2, h, ab0.Select128FromPair(1, 3, cd0))
			narrowed(to3, h, ab1.Select128FromPair(1, 3, cd1))
		}
	}
	archsimd.ClearAVXUpperBits()
	for k := range to {
		h := whole
		if k >= l {
			h = 0
		}
		for ; h < n; h++ {
			to[k][h] = float32(from[h*lanes+k])
		}
	}
}
