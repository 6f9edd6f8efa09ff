package selftest

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
)

// output is one output of an example with its score.
type output struct {
	values []int32
	score  float64
}

// enumerate returns every allowed output of example b, best first.
func enumerate(θ *structured.Potentials, b int) []output {
	var all []output
	θ.Structure.Each(θ, b, func(y []int32) {
		if s := θ.Score(b, y); !math.IsInf(s, -1) {
			all = append(all, output{slices.Clone(y), s})
		}
	})
	slices.SortStableFunc(all, func(a, b output) int { return cmp.Compare(b.score, a.score) })
	return all
}

// gibbs returns μ·log Σ exp(score/μ) over all outputs of example b, and their marginals, part by part.
func gibbs(θ *structured.Potentials, b int, all []output, μ float64) (value float64, marginals [][]float64) {
	var indicator structured.Marginals
	indicator.Like(θ)
	indicator.Clear()
	for k := range indicator.Parts {
		marginals = append(marginals, make([]float64, len(indicator.Parts[k].Of(b))))
	}
	if len(all) == 0 {
		return math.Inf(-1), marginals
	}
	z := 0.0
	for _, o := range all {
		z += math.Exp((o.score - all[0].score) / μ)
	}
	for _, o := range all {
		p := math.Exp((o.score-all[0].score)/μ) / z
		indicator.Add(b, o.values, 1)
		for k := range marginals {
			for i, v := range indicator.Parts[k].Of(b) {
				marginals[k][i] += p * float64(v)
			}
		}
		indicator.Add(b, o.values, -1)
	}
	return all[0].score + μ*math.Log(z), marginals
}

// drawSmall draws potentials of a few examples whose outputs can be enumerated, with ties and forbidden parts here and
// there.
func drawSmall(kind registry.Kind, r *rand.Rand) *structured.Potentials {
	θ := kind.Small(r)
	whole, forbid := r.IntN(3) == 0, r.IntN(3) == 0
	for k := range θ.Parts {
		x := θ.Parts[k].Values
		for i := range x {
			x[i] = float32(r.NormFloat64() * 2)
			if whole {
				x[i] = float32(math.Round(float64(x[i])))
			}
			if forbid && r.IntN(6) == 0 {
				x[i] = float32(math.Inf(-1))
			}
		}
	}
	kind.Prepare(θ)
	return θ
}
