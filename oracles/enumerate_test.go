package oracles

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dsp-go/dsp/structured"
	"pgregory.net/rapid"
)

// output is one labeling of a chain and its score.
type output struct {
	labels []int32
	score  float64
}

// enumerate lists every allowed output of chain b, best first, ties in the oracles' order.
func enumerate(θ *structured.Potentials, b int) []output {
	var all []output
	labels := make([]int32, θ.Offsets[b+1]-θ.Offsets[b])
	var visit func(t int)
	visit = func(t int) {
		if t < 0 {
			if s := θ.Score(b, labels); !math.IsInf(s, -1) {
				all = append(all, output{slices.Clone(labels), s})
			}
			return
		}
		for l := range θ.Y {
			labels[t] = int32(l)
			visit(t - 1)
		}
	}
	visit(len(labels) - 1)
	slices.SortStableFunc(all, func(a, b output) int { return cmp.Compare(b.score, a.score) })
	return all
}

// logPartition returns μ·log Σ exp(score/μ).
func logPartition(all []output, μ float64) float64 {
	if len(all) == 0 {
		return math.Inf(-1)
	}
	s := 0.0
	for _, o := range all {
		s += math.Exp((o.score - all[0].score) / μ)
	}
	return all[0].score + μ*math.Log(s)
}

// gibbs returns the expectation of 1_y over all outputs at temperature μ, zero for chains without any.
func gibbs(θ *structured.Potentials, μ float64) *structured.Marginals {
	u := new(structured.Marginals)
	u.Resize(θ.Offsets, θ.Y, θ.PerPosition)
	node, edge := make([]float64, len(u.Node)), make([]float64, len(u.Edge))
	for b := range θ.Len() {
		all := enumerate(θ, b)
		value := logPartition(all, μ)
		for _, o := range all {
			p := math.Exp((o.score - value) / μ)
			for t, l := range o.labels {
				at := θ.Offsets[b] + t
				node[at*θ.Y+int(l)] += p
				if t > 0 {
					if !θ.PerPosition {
						at = b
					}
					edge[(at*θ.Y+int(o.labels[t-1]))*θ.Y+int(l)] += p
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

// values says which numbers potentials are drawn from.
type values int

const (
	integers values = iota // small: sums are exact and ties are many
	reals
)

// drawPotentials draws a few short chains: lengths from 0, a single label, forbidden labels and transitions. The shapes
// and numbers follow from one seed, which spreads them better than drawing each.
func drawPotentials(t *rapid.T, kind values) *structured.Potentials {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	y := 1 + r.IntN(5)
	longest := []int{0, 9, 9, 6, 5, 4}[y]
	offsets := []int{0}
	for range 1 + r.IntN(3) {
		offsets = append(offsets, offsets[len(offsets)-1]+r.IntN(longest+1))
	}
	θ := new(structured.Potentials)
	θ.Resize(offsets, y, r.IntN(2) == 0)
	forbidden := 0.1 * float64(max(0, r.IntN(6)-2))
	draw := func(x []float32) {
		for i := range x {
			switch {
			case r.Float64() < forbidden:
				x[i] = never
			case kind == integers:
				x[i] = float32(r.IntN(5) - 2)
			default:
				x[i] = 6*r.Float32() - 3
			}
		}
	}
	draw(θ.Node)
	draw(θ.Edge)
	return θ
}

// longChain returns a batch of one chain without forbidden parts, with numbers in steps of 1/8 that float32 sums exactly
// as long as they stay below 2²¹.
func longChain(r *rand.Rand, length, y int, perPosition bool) *structured.Potentials {
	θ := new(structured.Potentials)
	θ.Resize([]int{0, length}, y, perPosition)
	for _, x := range [][]float32{θ.Node, θ.Edge} {
		for i := range x {
			x[i] = float32(r.IntN(64)) / 8
		}
	}
	return θ
}
