// Package vec implements dense float32 vector arithmetic for optimisers: weights and gradients. Sums are float64, but
// for Dot.
//
// It uses SIMD where the build and the machine support it, and gives the same bits everywhere: element-wise operations
// round each product before the addition, and sums add 16 partial sums (Dot: 32) in a fixed order.
//
// Every function takes the length of the slice that it writes, or else of the first one; a shorter slice panics.
package vec

import (
	"math"

	"github.com/dsp-go/dsp/structured/sys/instructions"
)

// Axpy adds a·x to y.
func Axpy(a float32, x, y []float32) { fastest.axpby(a, x[:len(y)], 1, y) }

// Axpby sets y to a·x + b·y.
func Axpby(a float32, x []float32, b float32, y []float32) { fastest.axpby(a, x[:len(y)], b, y) }

// Mix sets to to a·x + b·y.
func Mix(a float32, x []float32, b float32, y, to []float32) {
	fastest.mix(a, x[:len(to)], b, y[:len(to)], to)
}

// Scale multiplies x by a.
func Scale(a float32, x []float32) { fastest.scale(a, x) }

// AddScaledDiff adds a·(x − z) to y.
func AddScaledDiff(a float32, x, z, y []float32) {
	fastest.addScaledDiff(a, x[:len(y)], z[:len(y)], y)
}

// Standardise sets x_i to (x_i − mean_i)·scale_i.
func Standardise(mean, scale, x []float32) { fastest.standardise(mean[:len(x)], scale[:len(x)], x) }

// Exp sets to_i to exp(x_i), within 2 units in the last place. Below −87.3, where the result is subnormal, it gives 0.
func Exp(x, to []float32) { fastest.exp(x[:len(to)], to) }

// ExpDoubles replaces each x by exp(x), for x up to 700. Below −708 it is 0.
func ExpDoubles(x []float64) { fastest.expDoubles(x) }

// Dot64 returns Σ x_i y_i in float64.
func Dot64(x, y []float32) float64 { return fastest.dot(x, y[:len(x)]) }

// Dot returns Σ x_i y_i in float32: 32 partial sums of rounded products, added pairwise.
func Dot(x, y []float32) float32 { return fastest.single(x, y[:len(x)]) }

// Differ sets d to x − y and returns Σ d_i p_i and Σ d_i q_i in float64.
func Differ(x, y, p, q, d []float32) (dp, dq float64) {
	n := len(d)
	return fastest.differ(x[:n], y[:n], p[:n], q[:n], d)
}

// Norm2 returns ‖x‖² = Σ x_i² in float64.
func Norm2(x []float32) float64 { return fastest.dot(x, x) }

// Dist2 returns ‖x − y‖² in float64, including the differences.
func Dist2(x, y []float32) float64 { return fastest.dist2(x, y[:len(x)]) }

// Sum returns Σ x_i in float64.
func Sum(x []float32) float64 { return fastest.sum(x) }

// Within reports whether all numbers are within ±most, or −∞.
func Within(most float32, x []float32) bool { return fastest.within(most, x) }

// Largest returns the largest |x| that is not infinite, NaN if some x is NaN, and +∞ if some x is +∞. Of no numbers it
// is 0.
func Largest(x []float32) float32 { return math.Float32frombits(uint32(fastest.largest(x))) }

// loops is one implementation of the loops of this package: plain or SIMD.
type loops struct {
	lanes           int
	axpby           func(a float32, x []float32, b float32, y []float32)
	mix             func(a float32, x []float32, b float32, y, to []float32)
	scale           func(a float32, x []float32)
	addScaledDiff   func(a float32, x, z, y []float32)
	standardise     func(mean, scale, x []float32)
	exp             func(x, to []float32)
	dot             func(x, y []float32) float64
	differ          func(x, y, p, q, d []float32) (dp, dq float64)
	single          func(x, y []float32) float32
	dist2           func(x, y []float32) float64
	sum             func(x []float32) float64
	observe         func(β, unbias float32, g, v, q []float32)
	observeTempered func(β, unbias, common, shift float32, g, v, q []float32)
	descend         func(a float32, g []float32, b float32, q, w []float32)
	decay           func(x float32, v, w []float32)
	descendMean     func(β, ρ, a float32, g, q, m, w []float32)
	dot3            func(x, y, z []float32) float64
	within          func(most float32, x []float32) bool
	expDoubles      func(x []float64)
	largest         func(x []float32) int32 // its bits
	toGrid          func(grid, c float64, least, θ, x []float32) Rounded
	narrow          func(a float64, x []float64, w, to []float32) (dot, sizes float64)
}

// available are the loops that this build and machine can run, the fastest first.
var available = instructions.Available(&plain, avx2, avx512)

var fastest = available[0]

// Soften sets each w to the soft threshold of v, sign(v)·max(|v| − τ, 0). v and w may be the same.
func Soften(τ float32, v, w []float32) {
	w = w[:len(v)]
	for j, x := range v {
		w[j] = x - max(min(x, τ), -τ)
	}
}
