package monotone

import "github.com/dsp-go/dsp/structured/sys/instructions"

//go:generate go run github.com/dsp-go/dsp/structured/sys/vec/halve

// lanes is the number of float64 in a row that every kernel can read at once. Rows have that many numbers before the
// first and after the last source item.
const lanes = 8

// kernels are the inner loops of this package for one vector width. A row has a number for each source item i, of the
// pairs (i, d−i) for some d. Kernels compute places lo to hi−1 of rows, whole vectors, from rows of d−1 (one) and d−2
// (two), where a predecessor by ↓ or ↘ is a place before.
//
//	best    to_i = x_i + max(one_i, one_{i−1} + down_i, two_{i−1} + diagonal_i)
//	sum     the same with sums of exponentials in place of numbers and maxima
//	spread  shares of the three predecessors of a pair in its sum, times its probability p_i, are added to theirs,
//	        and to those of steps
//
// All kernels give the same bits.
type kernels struct {
	name string

	best   func(to, one, two, x, down, diagonal []float64, lo, hi int)
	sum    func(to, one, two scaled, x []float64, down, diagonal scaled, lo, hi int)
	spread func(p, one, two, downs, diagonals []float64, fromOne, fromTwo, down, diagonal scaled, lo, hi int)
}

// scaled are rows of numbers f·2^e with 1 ≤ f < 2 and an integer e, which no sum or product of exponentials leaves. The
// number 0 has e = −∞, and any f. Weights of steps have a factor f a little below 1 or above, too.
type scaled struct{ f, e []float64 }

// row returns row d of tables with rows of stride numbers.
func (s scaled) row(d, stride int) scaled {
	return scaled{s.f[d*stride:][:stride], s.e[d*stride:][:stride]}
}

// available are the kernels that this build and machine can run, the fastest first.
var available = instructions.Available(&plain, avx2, avx512)

var fastest = available[0]
