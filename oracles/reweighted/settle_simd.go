//go:build goexperiment.simd && amd64

package reweighted

import "simd/archsimd"

var vectors = archsimd.X86.AVX()

// settle marks the upper halves of vector registers as unused. When they are in use, which happens whenever the scheduler has interrupted
// and restored a goroutine, math.Exp and math.Log take ten times as long.
func settle() {
	if vectors {
		archsimd.ClearAVXUpperBits()
	}
}
