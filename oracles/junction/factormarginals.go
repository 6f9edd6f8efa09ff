package junction

import (
	"math"
)

// FactorMarginals returns the probability of every entry of factor f, after Marginals. If Z = 0 they are 0.
func (t *Tree) FactorMarginals(f int) []float64 {
	scope := t.model.Factors[f].Scope
	p := make([]float64, len(t.model.Factors[f].Table))
	t.reduce(t.place[f], scope, sums, p)
	normalise(p)
	return p
}

// normalise turns logarithms into probabilities that sum to 1, or to 0 if all are −∞.
func normalise(of []float64) {
	most, total := math.Inf(-1), 0.0
	for _, x := range of {
		most = max(most, x)
	}
	for k, x := range of {
		of[k] = 0
		if most > math.Inf(-1) {
			of[k] = math.Exp(x - most)
		}
		total += of[k]
	}
	for k := range of {
		if total > 0 {
			of[k] /= total
		}
	}
}
