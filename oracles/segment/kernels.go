package segment

import "github.com/dsp-go/dsp/structured/sys/instructions"

//go:generate go run github.com/dsp-go/dsp/structured/sys/vec/halve

// lanes is the number of float64 in a row that every kernel can read at once.
const lanes = 8

// kernels are the inner loops of this package for one vector width. Tables have rows of whole vectors, one number for
// each label. With to a row and t a position,
//
//	bestSegments   to_y = max_l h[t−l+1]_y + length[l−1]_y          for l ≤ longest with l ≤ reach_y
//	bestSteps      to_y = max_i x_i + m[i]_y                        for i < labels
//	sumSegments    the same maximum, or 0 for −∞, in to_y, and Σ_l exp(… − to_y) in sum_y
//	sumSteps       likewise for bestSteps
//	spreadSegments q_l = p_y·exp(h[t−l+1]_y + length[l−1]_y − a_y)  is added to starts[t−l+1]_y and to lengths[l−1]_y, for the same l
//	spreadSteps    q_i = p_y·exp(x_i + m[i]_y − b_y)                is added to edges[i]_y, and Σ_y q_i to to_i
//	exps           to_y = exp(x_y − top)
//	weigh          to_y = Σ_i w_i·m[i]_y
//	spreadWeights  q_i = w_i·m[i]_y·p_y                             is added to edges[i]_y, and Σ_y q_i to to_i
//
// Vector kernels clear the upper halves of the registers when they end, since dirty ones slow down the scalar code that
// follows.
type kernels struct {
	name string

	bestSegments   func(to, h, length, reach []float64, t, longest int)
	bestSteps      func(to, x, m []float64, labels int)
	sumSegments    func(to, sum, h, length, reach []float64, t, longest int)
	sumSteps       func(to, sum, x, m []float64, labels int)
	spreadSegments func(starts, lengths, p, h, length, a, reach []float64, t, longest int)
	spreadSteps    func(to, edges, x, m, b, p []float64, labels int)
	exps           func(to, x []float64, top float64)
	weigh          func(to, w, m []float64, labels int)
	spreadWeights  func(to, edges, w, m, p []float64, labels int)
}

// available are the kernels that this build and machine can run, the fastest first.
var available = instructions.Available(&plain, avx2, avx512)

var fastest = available[0]
