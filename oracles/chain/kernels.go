package chain

import (
	"strconv"

	"github.com/dsp-go/dsp/structured/sys/instructions"
)

//go:generate go run github.com/dsp-go/dsp/structured/sys/vec/halve

// kernels are the inner loops of the oracles, one set per vector width. All sets give the same results: bit for bit for
// max and +, up to rounding for sums.
//
// A row holds Y numbers and is readable in whole vectors: rows of scratch are padded with −∞ to a multiple of lanes,
// and kernels read and ignore what follows Y numbers of node or edge potentials. Rows of a matrix are stride ≥ Y apart.
// Vector kernels clear the upper halves of the registers when they end, since dirty ones slow down the scalar code that
// follows.
type kernels struct {
	name  string
	lanes int // float32 numbers per vector

	// maxPlus sets next_j = node_j + max_i (prev_i + edge_ij) for j < y, and pads next.
	maxPlus func(next, prev, edge, node []float32, y, stride int)
	// argmax returns the first i with the largest x_i. The row is padded.
	argmax func(x []float32) int
	// exchange sets x_i = v and x_j = −∞, and then returns argmax(x).
	exchange func(x []float32, i int, v float32, j int) int
	// addArgmax sets sum_i = x_i + y_i and returns the first i with the largest sum. The rows are padded, and so is
	// sum.
	addArgmax func(sum, x, y []float32) int

	// bounds returns the bounds of the x_i.
	bounds func(x []float32) bounds
	// grandTotal returns Σ_i x_i, in any order: NaN or +∞ if some x_i is.
	grandTotal func(x []float32) float32

	single sumKernels[float32]
	double sumKernels[float64]

	// logSum returns m = max_j v_j with v = edge + score, and Σ_j w_j exp(rate·(v_j − m)), or 0 if m is −∞. Scores are
	// padded with −∞.
	logSum func(edge []float32, score []float64, w []float32, rate float64) (m, sum float64)
	// logSpread adds p·w_j·exp(rate·(v_j − m)), with v = edge + score, to both a_j and b_j.
	logSpread func(a, b, edge []float32, score []float64, w []float32, m, rate float64, p float32)
}

// sumKernels are the loops of forward-backward on probabilities of type F. Rows are padded with zeros. The rows of a
// matrix are stride apart, or else the length of next.
type sumKernels[F real] struct {
	// widest is the largest R such that F, whose smallest normal number is exp(−87.3) or exp(−708.4), can represent
	// exp(−R) and one step of the recurrences from it.
	widest float64
	// expError bounds the relative error of exps, besides that of the exponents, which is at most 3 units of F of their
	// size.
	expError float64
	// leastPositive returns the smallest x_i > 0, or +∞ if there is none. x consists of whole vectors.
	leastPositive func(x []F) F
	// exps sets row i of to, stride apart, to exp(scale·(from_ij − shift)); exponents must be ≤ 0. Rows of from have y
	// numbers.
	exps func(to []F, from []float32, rows, y, stride int, shift float32, scale float64)
	// matVec sets next = mᵀ prev, for a matrix m of y rows.
	matVec func(next, prev, m []F, y int)
	// matDots sets next = m prev.
	matDots func(next, prev, m []F, y int)
	// normalise sets x = a∘b / c with c = Σ_j a_j b_j, and returns c.
	normalise func(x, a, b []F) F
	// combine sets g = n∘β / z with z = Σ_j s_j n_j β_j, and p = s∘g. If s_j = 0, then g_j = 0 for any β_j.
	combine func(g []F, p []float32, n, s, β []F)
	// edgeSums sets to_ij = edge_ij Σ_t α_ti g_tj, summed over steps. Rows of to have y numbers and are not padded.
	edgeSums func(to []float32, α, g, edge []F, y, stride, steps int)
}

// run is how many terms of a sum over labels are added one after another, before the sum joins those of other runs. A
// plain loop over Y labels errs by up to Y−1 units, one way if its terms are about equal; runs err by about 32 + Y/32.
// Vectors add their lanes last, by halves.
const run = 32

// Values of widest for float32 and float64.
const (
	widestSingle = 75
	widestDouble = 690
)

// available are the kernels that this build and machine can run, the fastest first.
var available = instructions.Available(&plain, avx2, avx512)

var fastest = available[0]

// Vector names the vectors that the oracles' inner loops use: "AVX-512, 16 lanes", "AVX2, 8 lanes" or "plain Go".
func Vector() string {
	if fastest.lanes == 1 {
		return fastest.name
	}
	return fastest.name + ", " + strconv.Itoa(fastest.lanes) + " lanes"
}

// Lanes returns how many numbers the kernels compute at once; 1 without vector instructions.
func Lanes() int { return fastest.lanes }
