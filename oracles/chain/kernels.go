package chain

import "strconv"

//go:generate go run github.com/dsp-go/dsp/structured/vec/halve

// kernels are the inner loops of the oracles, one set for each kind of vector. All sets agree: bit for bit where there is
// only max and +, to rounding where there are sums.
//
// A row holds Y numbers and is readable in whole vectors: rows of scratch are padded with −∞ to a multiple of lanes, and
// whatever follows Y numbers of node or edge potentials is read and ignored. Rows of a matrix lie stride ≥ Y apart. A kernel
// on vectors clears the registers' upper halves when it ends, since they slow down scalar code that follows.
type kernels struct {
	name  string
	lanes int // float32 numbers in a vector

	// maxPlus sets next_j = node_j + max_i (prev_i + edge_ij) for j < y, and pads.
	maxPlus func(next, prev, edge, node []float32, y, stride int)
	// argmax returns the first i with the largest x_i. The row is padded.
	argmax func(x []float32) int
	// exchange sets x_i = v, then x_j = −∞, then does as argmax.
	exchange func(x []float32, i int, v float32, j int) int
	// addArgmax sets sum_i = x_i + y_i and returns the first i with the largest. The rows are padded, and so will sum be.
	addArgmax func(sum, x, y []float32) int

	// bounds returns the bounds of the x_i.
	bounds func(x []float32) bounds

	single sumKernels[float32]
	double sumKernels[float64]

	// logSum returns m = max_j v_j, with v = edge + score, and Σ_j w_j exp(rate·(v_j − m)), or 0 if m is −∞. Scores are
	// padded with −∞.
	logSum func(edge []float32, score []float64, w []float32, rate float64) (m, sum float64)
	// logSpread adds p·w_j·exp(rate·(v_j − m)), with v = edge + score, to both a_j and b_j.
	logSpread func(a, b, edge []float32, score []float64, w []float32, m, rate float64, p float32)
}

// sumKernels are the loops of forward-backward on probabilities in F. Rows are padded with zeros, and those of a matrix lie
// the length of next, or stride, apart.
type sumKernels[F real] struct {
	// widest is the largest R for which F, whose least normal number is exp(−87.3) or exp(−708.4), holds exp(−R) and a step of
	// the recurrences from it.
	widest float64
	// leastPositive returns the least of the x_i that are above 0, +∞ if there is none. x is in whole vectors.
	leastPositive func(x []F) F
	// exps sets row i of to, stride apart, to exp(scale·(from_ij − shift)), for exponents ≤ 0. Rows of from have y numbers.
	exps func(to []F, from []float32, rows, y, stride int, shift float32, scale float64)
	// matVec sets next = mᵀ prev, for a matrix of y rows.
	matVec func(next, prev, m []F, y int)
	// matDots sets next = m prev.
	matDots func(next, prev, m []F, y int)
	// normalise sets x = a∘b / c with c = Σ_j a_j b_j, and returns c.
	normalise func(x, a, b []F) F
	// combine sets g = n∘β / z with z = Σ_j s_j n_j β_j, and p = s∘g. Where s_j = 0, so is g_j, whatever β_j.
	combine func(g []F, p []float32, n, s, β []F)
	// edgeSums sets to_ij = edge_ij Σ_t α_ti g_tj for steps t. Rows of to, which are not padded, have y numbers.
	edgeSums func(to []float32, α, g, edge []F, y, stride, steps int)
}

// widest of either kind.
const (
	widestSingle = 75
	widestDouble = 690
)

var fastest = choose()

// Vector names what the oracles' inner loops run on: "AVX-512, 16 lanes", "AVX2, 8 lanes" or "plain Go".
func Vector() string {
	if fastest.lanes == 1 {
		return fastest.name
	}
	return fastest.name + ", " + strconv.Itoa(fastest.lanes) + " lanes"
}
