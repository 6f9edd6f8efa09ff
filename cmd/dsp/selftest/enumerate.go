package selftest

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// potentials are those of chains, as an oracle takes them and as arrays.
type potentials struct {
	chains.Potentials
	all *structured.Potentials
}

func newPotentials(offsets []int, labels int, perPosition bool) *potentials {
	θ := &potentials{all: new(structured.Potentials)}
	chains.Resize(θ.all, offsets, labels, perPosition)
	θ.Potentials = chains.Of(θ.all)
	return θ
}

// output is one labeling of a chain with its score.
type output struct {
	labels []int32
	score  float64
}

// enumerate returns every allowed output of chain b, best first.
func enumerate(θ *potentials, b int) []output {
	length := θ.Offsets[b+1] - θ.Offsets[b]
	var all []output
	labels := make([]int32, length)
	for {
		if s := θ.Score(b, labels); !math.IsInf(s, -1) {
			all = append(all, output{slices.Clone(labels), s})
		}
		t := length - 1
		for ; t >= 0; t-- {
			if labels[t]++; int(labels[t]) < θ.Y {
				break
			}
			labels[t] = 0
		}
		if t < 0 {
			break
		}
	}
	slices.SortStableFunc(all, func(a, b output) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	return all
}

// gibbs returns μ·log Σ exp(score/μ) over all outputs and their marginals as those of chain 0 of a batch of one.
func gibbs(θ *potentials, b int, all []output, μ float64) (value float64, node, edge []float64) {
	length, y := θ.Offsets[b+1]-θ.Offsets[b], θ.Y
	node, edge = make([]float64, length*y), make([]float64, y*y)
	if θ.PerPosition {
		edge = make([]float64, length*y*y)
	}
	if len(all) == 0 {
		return math.Inf(-1), node, edge
	}
	z := 0.0
	for _, o := range all {
		z += math.Exp((o.score - all[0].score) / μ)
	}
	for _, o := range all {
		p := math.Exp((o.score-all[0].score)/μ) / z
		for t, l := range o.labels {
			node[t*y+int(l)] += p
			if t > 0 {
				at := int(o.labels[t-1])*y + int(l)
				if θ.PerPosition {
					at += t * y * y
				}
				edge[at] += p
			}
		}
	}
	return all[0].score + μ*math.Log(z), node, edge
}

// smallChains draws a ragged batch of chains that can be enumerated, with ties and forbidden parts here and there.
func smallChains(r *rand.Rand) *potentials {
	offsets := []int{0}
	for range 1 + r.IntN(4) {
		offsets = append(offsets, offsets[len(offsets)-1]+r.IntN(6))
	}
	θ := newPotentials(offsets, 1+r.IntN(4), r.IntN(2) == 0)
	whole, forbid := r.IntN(3) == 0, r.IntN(3) == 0
	draw := func(x []float32) {
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
	draw(θ.Node)
	draw(θ.Edge)
	return θ
}

// longChains draws a ragged batch of n chains of 30 to 60 positions with Y labels.
func longChains(r *rand.Rand, n, y int) *potentials {
	offsets := []int{0}
	for range n {
		offsets = append(offsets, offsets[len(offsets)-1]+30+r.IntN(31))
	}
	θ := newPotentials(offsets, y, false)
	for i := range θ.Node {
		θ.Node[i] = float32(r.NormFloat64())
	}
	for i := range θ.Edge {
		θ.Edge[i] = float32(r.NormFloat64())
	}
	return θ
}
