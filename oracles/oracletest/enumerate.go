package oracletest

import (
	"cmp"
	"math"
	"slices"

	"github.com/dsp-go/dsp/structured"
)

// Output is one labeling of a chain and its score.
type Output struct {
	Labels []int32
	Score  float64
}

// Enumerate lists every allowed output of chain b, best first, ties in the oracles' order.
func Enumerate(θ *structured.Potentials, b int) []Output {
	var all []Output
	labels := make([]int32, θ.Offsets[b+1]-θ.Offsets[b])
	var visit func(t int)
	visit = func(t int) {
		if t < 0 {
			if s := θ.Score(b, labels); !math.IsInf(s, -1) {
				all = append(all, Output{slices.Clone(labels), s})
			}
			return
		}
		for l := range θ.Y {
			labels[t] = int32(l)
			visit(t - 1)
		}
	}
	visit(len(labels) - 1)
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

// gibbs returns the expectation of 1_y over all outputs at temperature μ, zero for chains without any.
func gibbs(θ *structured.Potentials, μ float64) *structured.Marginals {
	u := new(structured.Marginals)
	u.Resize(θ.Offsets, θ.Y, θ.PerPosition)
	node, edge := make([]float64, len(u.Node)), make([]float64, len(u.Edge))
	for b := range θ.Len() {
		all := Enumerate(θ, b)
		value := logPartition(all, μ)
		for _, o := range all {
			p := math.Exp((o.Score - value) / μ)
			for t, l := range o.Labels {
				at := θ.Offsets[b] + t
				node[at*θ.Y+int(l)] += p
				if t > 0 {
					if !θ.PerPosition {
						at = b
					}
					edge[(at*θ.Y+int(o.Labels[t-1]))*θ.Y+int(l)] += p
				}
			}
		}
	}
	narrow(u.Node, node)
	narrow(u.Edge, edge)
	return u
}

func narrow(to []float32, from []float64) {
	for i, v := range from {
		to[i] = float32(v)
	}
}

// bestScores returns the k best scores of chain b by keeping k in every cell, in float64: a reference for long chains.
func bestScores(θ *structured.Potentials, b, k int) []float64 {
	lo, hi := θ.Offsets[b], θ.Offsets[b+1]
	keep := func(s []float64) []float64 {
		slices.SortFunc(s, func(a, b float64) int { return cmp.Compare(b, a) })
		return s[:min(k, len(s))]
	}
	cells := make([][]float64, θ.Y)
	for l := range cells {
		cells[l] = []float64{float64(θ.Node[lo*θ.Y+l])}
	}
	for t := lo + 1; t < hi; t++ {
		next := make([][]float64, θ.Y)
		for l := range next {
			for from, prefixes := range cells {
				for _, s := range prefixes {
					next[l] = append(next[l], s+float64(θ.EdgeAt(t)[from*θ.Y+l])+float64(θ.Node[t*θ.Y+l]))
				}
			}
			next[l] = keep(next[l])
		}
		cells = next
	}
	return keep(slices.Concat(cells...))
}
