package kernels

import "github.com/dsp-go/dsp/structured/sys/instructions"

// DenseLoops are the inner loops of products of a few dense rows and a tall, narrow block of weights, one set per
// instruction set. All sets agree up to rounding. A matrix is a list of its rows, so that rows can lie anywhere; a
// block of weights is one slice. Sums are taken one term after the other, so that their bits do not depend on how many
// rows there are.
type DenseLoops struct {
	Name string
	// Score adds z_r·W to each to_r [width], for z_r [dim] and W [dim×width].
	Score func(to, z [][]float32, w []float32)
	// Pull adds Σ_r z_rᵀ v_r to to [dim×width], for z_r [dim] and v_r [width].
	Pull func(to []float32, z, v [][]float32)
	// ScoreDouble and PullDouble are Score and Pull with sums in float64.
	ScoreDouble func(to [][]float64, z [][]float32, w []float32)
	PullDouble  func(to []float64, z [][]float32, v [][]float64)
}

// Dense are the fastest loops that this processor can run.
var Dense = AvailableDense()[0]

// AvailableDense returns the loops that this processor can run, the fastest first.
func AvailableDense() []*DenseLoops {
	return instructions.Available(&plainDense, avx2Dense, avx512Dense)
}

var plainDense = DenseLoops{
	Name:        "plain",
	Score:       denseScorePlain[float32],
	Pull:        densePullPlain[float32],
	ScoreDouble: denseScorePlain[float64],
	PullDouble:  densePullPlain[float64],
}

type number interface{ float32 | float64 }

// denseScorePlain takes four numbers of a row at a time.
func denseScorePlain[E number](to [][]E, z [][]float32, w []float32) {
	for r, sums := range to {
		y, d := len(sums), 0
		row := z[r]
		for ; d+4 <= len(row); d += 4 {
			x := (*[4]float32)(row[d:])
			x0, x1, x2, x3 := E(x[0]), E(x[1]), E(x[2]), E(x[3])
			w0, w1, w2, w3 := w[d*y:][:y], w[(d+1)*y:][:y], w[(d+2)*y:][:y], w[(d+3)*y:][:y]
			for j := range sums {
				sums[j] = sums[j] + x0*E(w0[j]) + x1*E(w1[j]) + x2*E(w2[j]) + x3*E(w3[j])
			}
		}
		for ; d < len(row); d++ {
			x, from := E(row[d]), w[d*y:][:y]
			for j := range sums {
				sums[j] += x * E(from[j])
			}
		}
	}
}

// densePullPlain takes four rows at a time.
func densePullPlain[E number](to []E, z [][]float32, v [][]E) {
	r := 0
	for ; r+4 <= len(v); r += 4 {
		y, dim := len(v[r]), len(z[r])
		v0, v1, v2, v3 := v[r], v[r+1][:y], v[r+2][:y], v[r+3][:y]
		z0, z1, z2, z3 := z[r], z[r+1][:dim], z[r+2][:dim], z[r+3][:dim]
		for d := range z0 {
			x0, x1, x2, x3 := E(z0[d]), E(z1[d]), E(z2[d]), E(z3[d])
			sums := to[d*y:][:y]
			for j := range sums {
				sums[j] = sums[j] + x0*v0[j] + x1*v1[j] + x2*v2[j] + x3*v3[j]
			}
		}
	}
	for ; r < len(v); r++ {
		from := v[r]
		for d, x := range z[r] {
			sums := to[d*len(from):][:len(from)]
			for j := range sums {
				sums[j] += E(x) * from[j]
			}
		}
	}
}
