// Package matching is the inference of matchings (matchings.Matching): the best one by a dense assignment solver, the
// best one through every pair by shortest paths in the residual graph, and the K best ones by repeated max-marginals.
//
// The solver takes float32 scores and computes in float64. Its inner loops have vector versions, which give the same
// bits as the plain ones.
package matching

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/matchings"
)

// Oracle is the oracle of matchings (matchings.Matching). It finds the best matching, all max-marginals, and the K best
// matchings, each in O(n²m) at most. There is no sum over all matchings: see WhyNoSums. The answer for an example has
// the same bits in every batch.
type Oracle struct {
	guard    oracles.Guard
	problem  assignment
	residual residual
	ranking  oracles.BMMF
}

// New returns an oracle of matchings, complete or not: the structure of the potentials tells.
func New() *Oracle {
	o := new(Oracle)
	o.ranking.Oracle = o
	return o
}

// WhyNoSums implements oracles.Unsummable.
func (*Oracle) WhyNoSums() string {
	return "the sum over all matchings is #P-complete (Pillutla et al. 2019, Proposition 14)"
}

// Max implements oracles.Maximiser.
func (o *Oracle) Max(θ *structured.Potentials, y []int32, value []float64) {
	o.guard.Begin(θ)
	for b := range θ.Len() {
		value[b] = o.solve(θ, b, y[θ.Outputs[b]:θ.Outputs[b+1]])
	}
}

// solve finds the best output of example b and returns its score.
func (o *Oracle) solve(θ *structured.Potentials, b int, y []int32) float64 {
	complete := len(θ.Parts) == 1
	if !o.guard.Valid(θ, b) {
		value := oracles.Refuse(y)
		if complete { // zeros are no output: every item has a partner
			for i := range y {
				y[i] = int32(i) + 1
			}
		}
		return value
	}
	pair, alone := θ.Parts[0].Of(b), []float32(nil)
	if !complete {
		alone = θ.Parts[1].Of(b)
	}
	n, m := matchings.Sizes(len(y), len(pair))
	o.problem.reset(n, m, pair, alone)
	if !o.problem.solve(complete) {
		clear(y)
		return math.Inf(-1)
	}
	for i, j := range o.problem.target {
		y[i] = j + 1
	}
	return θ.Score(b, y)
}

// MaxMarginals implements oracles.MaxMarginaler.
func (o *Oracle) MaxMarginals(θ *structured.Potentials, y []int32, value []float64, m *oracles.MaxMarginals) {
	m.Resize(θ, func(b int) int {
		_, targets := matchings.Sizes(θ.Outputs[b+1]-θ.Outputs[b], len(θ.Parts[0].Of(b)))
		return targets + 1
	})
	o.guard.Begin(θ)
	for b := range θ.Len() {
		value[b] = o.solve(θ, b, y[θ.Outputs[b]:θ.Outputs[b+1]])
		to := m.Of(b)
		if math.IsInf(value[b], -1) || math.IsNaN(value[b]) {
			for k := range to {
				to[k] = value[b]
			}
			continue
		}
		o.residual.find(&o.problem)
		o.residual.scores(&o.problem, value[b], to)
	}
}

// TopK implements oracles.Ranker.
func (o *Oracle) TopK(θ *structured.Potentials, k int, best *oracles.KBest) {
	o.ranking.TopK(θ, k, best)
}
