package exact

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
)

var _ oracles.Rounder = (*Oracle)(nil)

// Rounding implements oracles.Rounder. All recurrences are float64. Let S be the sum of the largest |θ| of every
// variable and edge, which bounds every partial score, and n the number of variables and edges.
//
// Max adds at most 4n of them, for each of the two labelings that it compares. Exp multiplies exponentials of them: the
// exponents err by at most 3 units of S/μ in all, and each of n exponentials by 4, or by what
// the kernels state. A sum over labels errs by a unit per term. In a forest there are two sums over labels for each
// edge at most; in a graph with loops, those behind the value have as many terms as all tables together have entries.
// In the log domain, 16n operations at most on logarithms up to S/μ + n·log Y err by a unit of them each.
func (o *Oracle) Rounding(θ *structured.Potentials, b int, μ float64) float64 {
	k, x := o.k, exampleOf(θ, b)
	if k == nil {
		k = fastest
	}
	n := float64(x.n + len(x.graph.Ends))
	size := oracles.Magnitude(θ, b)
	if μ <= 0 {
		return 8 * n * oracles.Double * size
	}
	terms := n * float64(2*x.labels+8)
	if !x.plan.forest {
		entries, _ := Fits(x.graph, x.n, x.labels, math.MaxFloat64)
		terms += entries
	}
	logs := size + μ*n*math.Log(float64(x.labels+1))
	return oracles.Double*(μ*terms+16*n*logs) + μ*n*k.expError*1.001
}
