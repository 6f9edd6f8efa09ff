package chain

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

var _ oracles.Rounder = (*Oracle)(nil)

// Rounding implements oracles.Rounder. It takes O(T·Y), plus O(Y²) for each different table of edges.
func (c *Oracle) Rounding(θ *structured.Potentials, b int, μ float64) float64 {
	return c.rounding(θ, b, μ, false)
}

// RoundingOfSingle is Rounding for an oracle that does the sums of this one in float32 whatever the range of the
// potentials, with exponents of their own where float32 cannot hold them, as devices do.
func (c *Oracle) RoundingOfSingle(θ *structured.Potentials, b int, μ float64) float64 {
	return c.rounding(θ, b, μ, true)
}

func (c *Oracle) rounding(θ *structured.Potentials, b int, μ float64, single bool) float64 {
	in := chains.Of(θ)
	if in.Offsets[b] == in.Offsets[b+1] {
		return 0
	}
	e := errors{k: c.k, θ: &in, y: in.Y, lo: in.Offsets[b], n: in.Offsets[b+1] - in.Offsets[b]}
	e.read()
	switch {
	case μ > 0 && single:
		return e.ofSums(μ, oracles.Single, max(e.k.single.expError, 4*oracles.Single), depth(e.y)) + 10*oracles.Double*float64(e.n)*e.size
	case μ > 0:
		return e.ofExp(μ)
	}
	return e.ofMax()
}

// errors bounds the rounding errors of one chain.
type errors struct {
	k        *kernels
	θ        *chains.Potentials
	y, lo, n int
	span
	greedy float64 // score of the path of each position's best label; −∞ if it is forbidden
	size   float64 // Σ_t max |node_t| + max |edge_t|
}

func (e *errors) read() {
	k, y, n := e.k, e.y, e.n
	e.node = k.bounds(e.θ.Node[e.lo*y : (e.lo+n)*y])
	switch {
	case !e.θ.PerPosition:
		e.edge = k.bounds(e.θ.Edge)
	default:
		e.edge = k.bounds(e.θ.Edge[(e.lo+1)*y*y : (e.lo+n)*y*y])
	}
	last := 0
	for t := range n {
		row := e.row(t)
		at := argmax(row)
		e.greedy += float64(row[at])
		e.size += oracles.Largest(row)
		if t > 0 {
			e.greedy += float64(e.θ.EdgeAt(e.lo + t)[last*y+at])
			e.size += e.edge.largest()
		}
		last = at
	}
}

// row returns the node potentials of position t of the chain.
func (e *errors) row(t int) []float32 { return e.θ.Node[(e.lo+t)*e.y:][:e.y] }

// largest returns the largest |x|.
func (b bounds) largest() float64 {
	if b.hi == minusInf {
		return 0
	}
	return max(math.Abs(float64(b.lo)), math.Abs(float64(b.hi)))
}

// expArgument is the relative error of an exponential's argument, in units of one operation.
const expArgument = 3

// ofExp bounds the error of Exp. All numbers that forward-backward adds and multiplies are positive, so relative errors
// add up along each output and never cancel digits. Let u be the largest error of an operation. In scaledSums, the
// product Π_t c_t is Σ_y Π_t n_t E_t with a relative error for every output y of at most
//
//   - expError (of the kernels) + expArgument·|x| units for each of its exponentials, with x the exponent relative to the largest of its kind;
//   - depth(Y) + 1 units for each sum s_t over labels, with its products;
//   - 3 units for each α_t: the product with n_t, the division by c_t, and the product with its inverse;
//   - depth(Y) + 1 for the last sum.
//
// Products that underflow in a sum are smaller than 2⁻¹⁴⁹, and the sum is at least exp(−75) (see forward), so they add
// Y·2⁻⁴⁰ per step. The exponents enter with their mean over all outputs, X = E Σ|x|: by Jensen's inequality in one
// direction, and in the other because log E exp(ηX) ≤ E X·(exp(η max X) − 1)/max X. It is at most the range of the
// potentials, T·(range of nodes + range of edges)/μ. It is also Σ_t (largest node + largest edge)/μ less E⟨θ, 1_y⟩/μ =
// log Z − entropy, where log Z is at least the score of any path, and the entropy at most T·log Y.
//
// So log Z errs by at most T·(2·expError + depth(Y) + 5) + depth(Y) + expArgument·X units.
func (e *errors) ofExp(μ float64) float64 {
	worst := (e.node.width() + e.edge.width()) / μ
	all := e.node.all && e.edge.all
	single, double := e.ofSums(μ, oracles.Single, e.k.single.expError, depth(e.y)), e.ofSums(μ, oracles.Double, e.k.double.expError, float64(e.y))
	switch {
	case worst <= widestSingle && all:
		return single
	case worst <= widestSingle:
		return max(single, double, e.ofLogs(μ))
	case worst <= widestDouble && all:
		return double
	}
	return max(double, e.ofLogs(μ)) // NaN stays NaN
}

// depth bounds the units of error of a sum of y products: as many as additions lie between a term and the sum (Higham
// 2002, section 4.2). There are those of a run, those of the other runs, and those of up to 16 lanes by halves.
func depth(y int) float64 { return float64(min(y, run+(y+run-1)/run+4)) }

// ofSums bounds the error of scaledSums with operations of the given unit, and exponentials with a relative error of
// expError.
func (e *errors) ofSums(μ, unit, expError, depth float64) float64 {
	T, logY := float64(e.n), math.Log(float64(e.y))
	tops := T*float64(e.node.hi) + (T-1)*e.edge.top()
	most := (T*e.node.width() + (T-1)*e.edge.width()) / μ
	mean := most
	if !math.IsInf(e.greedy, -1) {
		mean = min(most, max(0, tops-e.greedy)/μ+T*logY)
	}
	units := T*(2*expError/unit+depth+5+0x1p-40*float64(e.y)/oracles.Single) + depth + expArgument*mean*math.Exp(expArgument*unit*most)
	// The scales' logarithms, and the sum that moves the result back by the largest potentials, are float64.
	double := 4*(math.Abs(T*float64(e.node.hi))+math.Abs((T-1)*e.edge.top())) + μ*(4*T+4*(most+T*logY))
	return μ*unit*units + oracles.Double*double
}

// top returns the largest potential, 0 if all are −∞.
func (b bounds) top() float64 {
	if b.hi == minusInf {
		return 0
	}
	return float64(b.hi)
}

// ofLogs bounds the error of logSums' backward pass, in which β has an absolute error. Each step adds, in float32 units
// of a relative error of a sum over labels: depth(Y), expError, 3 for the products with w and its rounding, and the
// exponents' x, cut at −40 and each with the weight of its term, which makes at most log Y + log weightLimit. What is
// cut is at most Y·weightLimit·exp(−40). The scores are float64: no more than 10 operations per step on numbers up to
// the size of a whole path.
func (e *errors) ofLogs(μ float64) float64 {
	steps, logY := float64(e.n+1), math.Log(float64(e.y))
	units := depth(e.y) + e.k.single.expError/oracles.Single + 3 + expArgument*min(-negligible, logY+math.Log(weightLimit)) +
		float64(e.y)*weightLimit*math.Exp(negligible)/oracles.Single
	return steps * (μ*oracles.Single*units + 10*oracles.Double*(e.size+μ*steps*logY+μ*math.Log(weightLimit)))
}

// ofMax bounds how much the best path may score above the one that Viterbi's recurrence in float32 finds. The
// recurrence computes the score of every path with an error and maximises exactly, since backtrack repeats its sums. So
// the difference is at most the errors of two paths: the one it finds, and the best one. An addition errs by at most
// 2⁻²⁴ of its result: the score of the prefix up to position t, with or without its node, less what rebase has taken
// off. That score is at most Σ (largest node + largest edge), and, of a best path, at least that of any other path to
// position t, less the range of the next edge. Where edges are forbidden the other path may have no way on, and only
// the range of the potentials bounds the score from below.
func (e *errors) ofMax() float64 {
	all := e.edge.all
	apart := e.edge.width() // of the edges into one label
	up, low, lack := 0.0, 0.0, 0.0
	sum := 0.0
	last := 0
	for t := range e.n {
		row := e.row(t)
		at := argmax(row)
		hi := float64(row[at])
		if hi == math.Inf(-1) {
			return 0 // no output is allowed
		}
		edge := e.edge.lo
		if t > 0 {
			if all && last >= 0 {
				edge = e.θ.EdgeAt(e.lo + t)[last*e.y+at]
			}
			up += e.edge.top()
			low += float64(edge)
			lack += e.edge.width()
		}
		up, low, last = up+hi, low+hi, at
		lack += hi - lowest(row)
		if t == 0 {
			continue
		}
		least := low - apart
		if !all {
			least = up - lack
		}
		size := max(math.Abs(up), math.Abs(least))
		sum += 2*size + oracles.Largest(row)
		if t%rebase == 0 {
			sum += size + apart
			up, low, last = 0, 0, -1
		}
	}
	later := 1 + 4*float64(e.n)*oracles.Single // the path found is best up to rounding
	return 2*oracles.Single*sum*later + 4*float64(e.n)*oracles.Double*e.size
}

// lowest returns the smallest number that is not −∞.
func lowest(row []float32) float64 {
	least := math.Inf(1)
	for _, x := range row {
		if x > minusInf && float64(x) < least {
			least = float64(x)
		}
	}
	return least
}
