package oracletest

import (
	"cmp"
	"math"
	"slices"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
)

// Output is one output of an example and its score.
type Output struct {
	Values []int32
	Score  float64
}

// everyOutput lists every output of example b, forbidden or not.
func everyOutput(θ *structured.Potentials, b int) [][]int32 {
	var all [][]int32
	θ.Structure.Each(θ, b, func(y []int32) { all = append(all, slices.Clone(y)) })
	return all
}

// Enumerate lists every allowed output of example b, best first, ties in the order of the structure's Each.
func Enumerate(θ *structured.Potentials, b int) []Output {
	var all []Output
	θ.Structure.Each(θ, b, func(y []int32) {
		if s := θ.Score(b, y); !math.IsInf(s, -1) {
			all = append(all, Output{slices.Clone(y), s})
		}
	})
	slices.SortStableFunc(all, func(a, b Output) int { return cmp.Compare(b.Score, a.Score) })
	return all
}

// logPartition returns μ·log Σ exp(score/μ).
func logPartition(all []Output, μ float64) float64 {
	if len(all) == 0 {
		return math.Inf(-1)
	}
	s := 0.0
	for _, o := range all {
		s += math.Exp((o.Score - all[0].Score) / μ)
	}
	return all[0].Score + μ*math.Log(s)
}

// referenceError bounds the error of enumeration in float64, whose scores are sums over all parts.
func referenceError(θ *structured.Potentials, b int, value float64) float64 {
	return 1e-15 * float64(len(θ.Parts)*θ.OutputSize()+10) * (oracles.Magnitude(θ, b) + math.Abs(value))
}

// Gibbs returns the expectation of 1_y over all outputs at temperature μ, or zero for examples without an allowed
// output.
func Gibbs(θ *structured.Potentials, μ float64) *structured.Marginals {
	u, indicator := zeros(θ), zeros(θ)
	for b := range θ.Len() {
		sums := make([][]float64, len(u.Parts))
		for k := range sums {
			sums[k] = make([]float64, len(u.Parts[k].Of(b)))
		}
		all := Enumerate(θ, b)
		value := logPartition(all, μ)
		for _, o := range all {
			p := math.Exp((o.Score - value) / μ)
			indicator.Add(b, o.Values, 1)
			for k := range sums {
				for i, v := range indicator.Parts[k].Of(b) {
					sums[k][i] += p * float64(v)
				}
			}
			indicator.Scale(b, 0)
		}
		for k := range sums {
			for i, v := range sums[k] {
				u.Parts[k].Of(b)[i] = float32(v)
			}
		}
	}
	return u
}
