package tree

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
)

var _ oracles.Rounder = (*Oracle)(nil)

// Rounding implements oracles.Rounder, in O(n²R).
func (o *Oracle) Rounding(θ *structured.Potentials, b int, μ float64) float64 {
	s := sentenceOf(θ, b)
	if s.n == 0 {
		return 0
	}
	o.bestRelations(&s)
	e := errors{n: s.n, relations: s.relations}
	e.read(o.arc)
	for i := range o.arc {
		e.relation = max(e.relation, oracles.Largest(s.row(i)))
	}
	_, all := o.solver.(*NonProjective)
	_, siblings := o.solver.(*Siblings)
	switch {
	case siblings:
		return e.ofSiblings(θ.Parts[2].Of(b), μ)
	case μ > 0:
		return e.ofRelations(μ) + e.ofExp(μ, all)
	case all:
		return e.ofAllTrees()
	}
	return e.ofProjective()
}

// errors bounds the rounding errors of one sentence. Scores of arcs include those of their best relations.
type errors struct {
	n, relations int
	size         float64 // Σ_d max |score|
	ranges       float64 // Σ_d (largest − smallest score)
	lack         float64 // what some projective tree, or any tree, scores below the sum of every token's largest score
	relation     float64 // the largest score of a relation
	forbids      bool
}

func (e *errors) read(arc []float32) {
	n := e.n
	right, left := 0.0, 0.0 // of the trees whose arcs all go one way
	for d := range n {
		row := arc[d*n:][:n]
		hi, lo := math.Inf(-1), math.Inf(1)
		for _, v := range row {
			if v := float64(v); v > minusInf {
				hi, lo = max(hi, v), min(lo, v)
			} else {
				e.forbids = true
			}
		}
		if hi == minusInf {
			continue // there is no tree
		}
		e.ranges += hi - lo
		e.size += oracles.Largest(row)
		right += hi - float64(row[max(d-1, 0)]) // column d of row d is the root
		if d == n-1 {
			left += hi - float64(row[d])
		} else {
			left += hi - float64(row[d+1])
		}
	}
	e.lack = min(e.ranges, right, left)
}

// ofProjective bounds how much a projective tree may score above the one that the chart in float32 finds. An arc's
// score with its relation is rounded once, and once more where it is made relative to its dependent's largest. All
// scores are then at most 0. So the sums for parts of a tree are at most as large as that of the tree itself: for the
// best tree no larger than what any other tree lacks, and for the tree that is found the same up to rounding. 3n
// additions lie on the way to it.
func (e *errors) ofProjective() float64 {
	n := float64(e.n)
	path := (3*n+1)*e.lack*(1+4*n*oracles.Single) + e.size
	return 2*oracles.Single*path + 8*n*oracles.Double*(e.size+n*e.relation)
}

// ofAllTrees is ofProjective for contractions, which subtract in float64: every entry at most n times, and numbers of
// at most the size of n scores.
func (e *errors) ofAllTrees() float64 {
	n := float64(e.n)
	return 2*oracles.Single*e.size + 8*n*n*oracles.Double*(e.size+n*e.relation)
}

// ofRelations bounds the error of the logarithms of sums over relations, which are float32: each exponential errs by 4
// units, and by 3 of its exponent, whose mean over relations is at most log R; the sums in runs of 32 vectors of 8
// lanes by min(R/8, 32) + R/256 + 5 units; and shares below 1e-37 are lost.
func (e *errors) ofRelations(μ float64) float64 {
	if e.relations == 1 {
		return 0
	}
	R, n := float64(e.relations), float64(e.n)
	units := 4 + 3.01*math.Log(R) + min(R/8, 32) + R/256 + 5
	return n * (μ*(oracles.Single*units+R*1e-37) + 4*oracles.Double*(e.size+2*e.relation))
}

// ofExp bounds the error of sums over trees, which are float64. All weights are positive and nothing is subtracted, so
// relative errors add up.
//
// In the chart of projective trees, at most 3n sums of at most n terms and as many products lie on the way to the
// total. The elimination for all trees errs, while m tokens remain, by at most m+4 units in each of their rates, which
// m rates of every tree share, and by m units in the rate that it divides by (Grassmann, Taksar and Heyman's
// subtraction-free scheme; O'Cinneide 1993). The sum over m < n is less than n³/3 + 3n².
//
// Exponents err by 3 units. In the log domain every operation errs by a unit of the logarithms, which are at most those
// of the weights of n arcs and the number of trees.
func (e *errors) ofExp(μ float64, all bool) float64 {
	n := float64(e.n)
	operations := 3*n*n + 20*n
	if all {
		operations = n*n*n/3 + 3*n*n + 20*n
	}
	logs := 0.0
	log := n * math.Log(n+1)
	if e.forbids || e.ranges/μ+log > 300 {
		logs = 4 * operations * (2*e.size + μ*log)
	}
	return oracles.Double * (μ*operations + 8*(e.ranges+e.size+n*e.relation+μ*log) + logs)
}

// ofSiblings bounds the errors of trees with siblings, whose tables are float64; the scores of arcs with their best
// relations are rounded to float32 once for Max. A tree is made of at most 5n entries, each of a few additions of
// numbers no larger than the size of the scores, or, for Exp, of that over μ and the logarithm of the number of trees;
// a sum of at most n exponentials errs by n + 8 units more. Max compares two trees.
func (e *errors) ofSiblings(sibling []float32, μ float64) float64 {
	n := float64(e.n)
	size := e.size + n*(e.relation+oracles.Largest(sibling))
	if μ == 0 {
		return 2 * (oracles.Single*e.size + 32*n*oracles.Double*size)
	}
	return e.ofRelations(μ) + 5*n*oracles.Double*(8*(size+3*μ*n)+2*μ*(n+8))
}
