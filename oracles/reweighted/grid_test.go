package reweighted

import (
	"math/rand/v2"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
)

// drawGrid draws a grid of h×w variables whose potentials have the given deviations.
func drawGrid(r *rand.Rand, kind graphs.Edges, h, w, labels int, node, edge float64) *structured.Potentials {
	const types = 2
	g := &structured.Graph{}
	join := func(a, b, kind int) {
		g.Ends, g.Types = append(g.Ends, [2]int32{int32(a), int32(b)}), append(g.Types, int32(kind))
	}
	for i := range h {
		for j := range w {
			v := i*w + j
			if j+1 < w {
				join(v, v+1, 0)
			}
			if i+1 < h {
				join(v+w, v, 1)
			}
		}
	}
	θ := new(structured.Potentials)
	θ.Reshape(graphs.Pairwise{Edges: kind, By: graphs.Relaxed}.Form(labels, types),
		[]int{0, h * w}, func(table string) []int {
			if table == graphs.EdgeRows {
				return []int{0, len(g.Ends)}
			}
			return []int{0, h * w}
		})
	θ.Graphs = []*structured.Graph{g}
	for k, scale := range []float64{node, edge} {
		for i := range θ.Parts[k].Values {
			θ.Parts[k].Values[i] = float32(scale * r.NormFloat64())
		}
	}
	return θ
}

// shifted returns θ plus a random direction of length h in every entry.
func shifted(r *rand.Rand, θ *structured.Potentials, h float32) (plus, minus *structured.Potentials) {
	plus, minus = new(structured.Potentials), new(structured.Potentials)
	plus.Copy(θ)
	minus.Copy(θ)
	for k := range θ.Parts {
		for i := range θ.Parts[k].Values {
			d := h * float32(r.IntN(3)-1)
			plus.Parts[k].Values[i] += d
			minus.Parts[k].Values[i] -= d
		}
	}
	return plus, minus
}

// exp returns the value and the marginals of the only example of θ.
func exp(o *Oracle, θ *structured.Potentials, μ float64) (float64, *structured.Marginals) {
	value, u := make([]float64, 1), new(structured.Marginals)
	o.Exp(θ, μ, value, u)
	return value[0], u
}
