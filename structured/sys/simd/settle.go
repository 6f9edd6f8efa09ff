//go:build goexperiment.simd && amd64

package simd

import "simd/archsimd"

var vectors = archsimd.X86.AVX()

// Settle marks the upper halves of vector registers as unused. When they are in use, which happens whenever the
// scheduler has interrupted and restored a goroutine, math.Exp and math.Log take ten times as long.
func Settle() {
	if vectors {
		archsimd.ClearAVXUpperBits()
	}
}
