package vec

import "math"

// Narrow sets to_i to a·x_i, rounded, and returns Σ a x_i w_i and Σ |a x_i w_i|, of products that are not rounded to
// float32.
func Narrow(a float64, x []float64, w, to []float32) (dot, sizes float64) {
	n := len(to)
	return fastest.narrow(a, x[:n], w[:n], to)
}

// Rounded is what ToGrid has done: with x before and x' after, and δ = |x' − x|, it has sums over the numbers.
type Rounded struct {
	Sum    float64 // Σ x', exact
	Moved  float64 // Σ δ
	Linear float64 // Σ (x' − x)θ; a θ whose number stays may be −∞
	Lost   float64 // Σ min(δ²/u, 35δ) with u = x − c·least: bounds what −Σ u log u loses beside its slope
}

// ToGrid rounds each x to the nearest multiple of grid, or to the least multiple that is not below c·least, if that is
// more. grid is a power of 2, and at least 2⁻²⁴ of the largest |x|.
func ToGrid(grid, c float64, least, θ, x []float32) Rounded {
	n := len(x)
	return fastest.toGrid(grid, c, least[:n], θ[:n], x)
}

// ToGrid rounds by adding a number whose last bit is grid: 1.5·2⁵² of them, which leaves room on both sides. A
// probability whose logarithm counts is at least tiniest, so that u is never 0, and e⁻³⁵ of it is nothing.
const (
	lastBit  = 1.5 * (1 << 52)
	tiniest  = 1e-300
	steepest = 35
)

// fewPartials are the partial sums of toGrid and narrow: number i counts in sum i%8.
type fewPartials [8]float64

// total is pairwise of them.
func (s *fewPartials) total() float64 {
	return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

// Products are rounded before they are added, on every processor: hence the conversions.
func toGrid(grid, c float64, least, θ, x []float32) Rounded {
	var sum, moved, linear, lost fewPartials
	magic := lastBit * grid
	for i, v := range x {
		from, below := float64(v), float64(c*float64(least[i]))
		to, l := from+magic-magic, below+magic-magic
		if l < below {
			l += grid
		}
		if l > to {
			to = l
		}
		change := to - from
		δ := math.Abs(change)
		sum[i%8] += to
		moved[i%8] += δ
		if change != 0 {
			linear[i%8] += float64(change * float64(θ[i]))
		}
		lost[i%8] += min(float64(δ*δ)/max(from-below, tiniest), float64(steepest*δ))
		x[i] = float32(to) // exact
	}
	return Rounded{sum.total(), moved.total(), linear.total(), lost.total()}
}

func narrow(a float64, x []float64, w, to []float32) (float64, float64) {
	var dot, sizes fewPartials
	narrowFrom(&dot, &sizes, 0, a, x, w, to)
	return dot.total(), sizes.total()
}

func narrowFrom(dot, sizes *fewPartials, from int, a float64, x []float64, w, to []float32) {
	for i := from; i < len(to); i++ {
		v := a * x[i]
		to[i] = float32(v)
		v = float64(v * float64(w[i]))
		dot[i%8] += v
		sizes[i%8] += math.Abs(v)
	}
}
