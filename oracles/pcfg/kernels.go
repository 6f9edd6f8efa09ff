package pcfg

import "github.com/dsp-go/dsp/structured/sys/instructions"

//go:generate go run github.com/dsp-go/dsp/structured/sys/vec/halve

// lanes is the number of float64 that every kernel can read at once. Rows are whole vectors.
const lanes = 8

// kernels are the inner loops of this package for one vector width.
//
//	dots    to_a = Σ_k x_k·r_ak
//	spread  y_k = Σ_a q_a·r_ak,   g_ak += q_a·x_k
//
// Rows of r and g have as many numbers as x.
type kernels struct {
	name string

	dots   func(to, x, r []float64)
	spread func(y, x, q, r, g []float64)
}

// available are the kernels that this build and machine can run, the fastest first.
var available = instructions.Available(&plain, avx2, avx512)

var fastest = available[0]
