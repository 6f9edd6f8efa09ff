package benchmarks

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/dsp-go/dsp/oracles/cut"
	"github.com/dsp-go/dsp/oracles/exact"
	"github.com/dsp-go/dsp/oracles/reweighted"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
)

// graphMeasures measures every answer of the oracle of graphs: on paths of 16 variables with 32 labels for each kind of
// edges, and on grids of 6×6 variables with 3 labels, which have loops.
func graphMeasures() []measure {
	names := answerNames{max: "max", topK: "top-5", exp: "exp"}
	var all []measure
	for _, edges := range []graphs.Edges{graphs.Own, graphs.Typed, graphs.Potts} {
		s := graphs.Pairwise{Edges: edges}
		all = append(all, oracleMeasures(fmt.Sprintf("oracle, %s, paths of 16, 32 labels", s.Name()), exact.New(), randomGraphs(s, 64, 32, 16, pathOf(16)), names)...)
		all = append(all, oracleMeasures(fmt.Sprintf("oracle, %s, grids of 6×6, 3 labels", s.Name()), exact.New(), randomGraphs(s, 8, 3, 36, gridOf(6, 6)), names)...)
	}
	return slices.Concat(all, cutMeasures(), relaxedMeasures())
}

// cutMeasures measures every answer of the oracle of cuts on grids of 8×8 and of 16×16 variables with two labels, whose
// edges favour equal labels.
func cutMeasures() []measure {
	var all []measure
	for _, edges := range []graphs.Edges{graphs.Own, graphs.Typed, graphs.Potts} {
		s := graphs.Pairwise{Edges: edges, By: graphs.Cut}
		for _, size := range []struct{ side, examples int }{{8, 8}, {16, 2}} {
			θ := randomGraphs(s, size.examples, 2, size.side*size.side, gridOf(size.side, size.side))
			s.Prepare(θ)
			all = append(all, oracleMeasures(fmt.Sprintf("oracle, %s, grids of %d×%[2]d", s.Name(), size.side), cut.New(), θ,
				answerNames{max: "max (minimum cut)", topK: "top-5 (BMMF)"})...)
		}
	}
	return all
}

// relaxedMeasures measures every answer of the oracle of relaxed graphs on grids of 6×6 and of 16×16 variables with 3
// labels.
func relaxedMeasures() []measure {
	var all []measure
	for _, edges := range []graphs.Edges{graphs.Own, graphs.Typed, graphs.Potts} {
		s := graphs.Pairwise{Edges: edges, By: graphs.Relaxed}
		for _, size := range []struct{ side, examples int }{{6, 4}, {16, 1}} {
			θ := randomGraphs(s, size.examples, 3, size.side*size.side, gridOf(size.side, size.side))
			all = append(all, oracleMeasures(fmt.Sprintf("oracle, %s, grids of %d×%[2]d, 3 labels", s.Name(), size.side), reweighted.New(), θ,
				answerNames{max: "max (bound)", exp: "exp (bound)"})...)
		}
	}
	return all
}

// randomGraphs draws the potentials of a batch of examples with the same n variables and edges.
func randomGraphs(structure graphs.Pairwise, examples, labels, n int, ends [][2]int32) *structured.Potentials {
	θ, nodes, edges := &structured.Potentials{}, make([]int, examples+1), make([]int, examples+1)
	for b := range nodes {
		nodes[b], edges[b] = b*n, b*len(ends)
	}
	θ.Reshape(structure.Form(labels, 1), nodes, func(table string) []int {
		if table == graphs.EdgeRows {
			return edges
		}
		return nodes
	})
	for range examples {
		θ.Graphs = append(θ.Graphs, &structured.Graph{Ends: ends, Types: make([]int32, len(ends))})
	}
	return drawNormal(θ, rand.New(rand.NewPCG(1, 1)))
}

// pathOf returns the edges of a path of n variables.
func pathOf(n int) (ends [][2]int32) {
	for v := 1; v < n; v++ {
		ends = append(ends, [2]int32{int32(v - 1), int32(v)})
	}
	return ends
}

// gridOf returns the edges of a grid of h by w variables.
func gridOf(h, w int) (ends [][2]int32) {
	for v := range h * w {
		if v%w > 0 {
			ends = append(ends, [2]int32{int32(v - 1), int32(v)})
		}
		if v >= w {
			ends = append(ends, [2]int32{int32(v - w), int32(v)})
		}
	}
	return ends
}
