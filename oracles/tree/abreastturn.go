//go:build goexperiment.simd && amd64

package tree

import (
	"simd/archsimd"
	"unsafe"
)

// turnAbreast and turnBackAbreast turn squares of four numbers of four sentences, for both widths of kernels.

func turnAbreast(to []float64, x, y [][]float32) {
	lanes, n := len(x), len(x[0])
	whole := n &^ 3
	for l := 0; l < lanes; l += half8 {
		for h := 0; h < whole; h += half8 {
			a, b := sum4Of(x[l], y[l], h), sum4Of(x[l+1], y[l+1], h)
			c, d := sum4Of(x[l+2], y[l+2], h), sum4Of(x[l+3], y[l+3], h)
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

// sum4Of returns four sums from number i on.
func sum4Of(x, y []float32, i int) double8 {
	return archsimd.LoadFloat32x4((*[4]float32)(x[i:])).ConvertToFloat64().Add(archsimd.LoadFloat32x4((*[4]float32)(y[i:])).ConvertToFloat64())
}

func turnBackAbreast(to [][]float32, from []float64) {
	n := len(to[0])
	lanes := len(from) / n
	whole, l := n&^3, 0
	for ; l+half8 <= len(to); l += half8 {
		for h := 0; h < whole; h += half8 {
			p, step := unsafe.Pointer(&from[h*lanes+l]), 8*lanes
			a, b := get8(p, 0), get8(unsafe.Add(p, step), 0)
			c, d := get8(unsafe.Add(p, 2*step), 0), get8(unsafe.Add(p, 3*step), 0)
			ab0, ab1 := a.SelectFromPairGrouped(0, 2, b), a.SelectFromPairGrouped(1, 3, b)
			cd0, cd1 := c.SelectFromPairGrouped(0, 2, d), c.SelectFromPairGrouped(1, 3, d)
			ab0.Select128FromPair(0, 2, cd0).ConvertToFloat32().Store((*[4]float32)(to[l][h:]))
			ab1.Select128FromPair(0, 2, cd1).ConvertToFloat32().Store((*[4]float32)(to[l+1][h:]))
			ab0.Select128FromPair(1, 3, cd0).ConvertToFloat32().Store((*[4]float32)(to[l+2][h:]))
			ab1.Select128FromPair(1, 3, cd1).ConvertToFloat32().Store((*[4]float32)(to[l+3][h:]))
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
