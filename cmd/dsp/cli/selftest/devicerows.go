package selftest

import (
	"math/rand/v2"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/matchings"
	"github.com/dsp-go/dsp/structured/windows"
)

// rowChecks check networks whose outputs are neither labels of chains nor trees: matchings, windows of a grid of cells,
// and graphs.
func (g *rig) rowChecks() []Check {
	const attributes, features = 5, 5
	matching := nets.Output{Form: matchings.Matching{}.Form()}
	words, byPair := graph.Input{Vocab: []int{30, 5}, PairAttributes: attributes}, graph.Input{PairAttributes: attributes}
	bilinear := nets.Config{Net: "bilinear", Channels: []int{5}, Window: 3, PairUnits: 4, Dropout: 0.2}
	pairs := func(r *rand.Rand, input graph.Input) *structured.Dataset {
		return randomItems(r, input, 3, 1, 0, 9, 2, g.pick(40, 5))
	}

	const height, width = 3, 4
	window := nets.Output{Form: windows.Window{Height: height, Width: width}.Form()}
	cells := graph.Input{Dim: 3, Grid: graph.Grid{Height: height, Width: width}}
	cnn := nets.Config{Net: "cnn", Channels: []int{4, 3}, Window: 3, Dropout: 0.2}
	grids := func(r *rand.Rand, input graph.Input) *structured.Dataset {
		const n = height * width
		return randomGrids(r, input, n, 0, n, n, n, n)
	}

	joined := func(r *rand.Rand, input graph.Input) *structured.Dataset {
		return randomGraphs(r, input, 3, 1, 0, 9, 2, g.pick(40, 5))
	}
	edges := graph.Input{Dim: 4, EdgeDim: features}
	const labels = 3
	tables := nets.Output{Labels: labels, Form: graphs.Pairwise{Edges: graphs.Own}.Form(labels, 0)} // so that the order of an edge's ends matters
	units := nets.Config{Net: "mlp", Hidden: []int{4}, EdgeUnits: 6, Dropout: 0.2}

	var all []Check
	for _, c := range []struct {
		name   string
		config nets.Config
		input  graph.Input
		out    nets.Output
		draw   func(*rand.Rand, graph.Input) *structured.Dataset
	}{
		{"net linear, matchings", nets.Config{Net: "linear"}, byPair, matching, pairs},
		{"net bilinear, matchings, dropout", bilinear, words, matching, pairs},
		{"net cnn, windows of a grid, dropout", cnn, cells, window, grids},
		{"net linear, graphs", nets.Config{Net: "linear"}, edges, tables, joined},
		{"net mlp, graphs with units of edges, dropout", units, edges, tables, joined},
	} {
		seed := uint64(0)
		if c.config.Dropout > 0 {
			seed = 7
		}
		all = append(all, Check{c.name, g.parts(seed, func(r *rand.Rand) (*nets.Net, *structured.Dataset, error) {
			net, err := nets.Make(c.config, c.input, c.out)
			return net, c.draw(r, c.input), err
		})})
	}
	return all
}

// randomItems draws matchings with this many items each. The first half of them, rounded down, are source items, and
// pairs have attributes.
func randomItems(r *rand.Rand, input graph.Input, lengths ...int) *structured.Dataset {
	d := randomChains(r, input, netLabels, lengths...)
	d.Labels = nil
	first, pairs := []int{0}, []int{0}
	for i, n := range lengths {
		first, pairs = append(first, first[i]+n/2), append(pairs, pairs[i]+n/2*(n-n/2))
	}
	asRows := &structured.Dataset{Offsets: pairs} // a position for each pair
	attributes := drawSparse(r, asRows, input.PairAttributes, 4, true, false)
	d.Tables = []*structured.Table{{Name: matchings.SourceRows, Offsets: first}, {Name: matchings.PairRows, Offsets: pairs, Attributes: attributes}}
	return d
}

// randomGrids draws examples whose positions are the cells of a grid. Lengths are 0 or the number of cells.
func randomGrids(r *rand.Rand, input graph.Input, lengths ...int) *structured.Dataset {
	d := randomChains(r, input, netLabels, lengths...)
	d.Labels = nil
	return d
}

// randomGraphs draws graphs with this many variables each. There may be several edges between two variables, and none
// between those of an example of two.
func randomGraphs(r *rand.Rand, input graph.Input, lengths ...int) *structured.Dataset {
	d := randomChains(r, input, netLabels, lengths...)
	d.Labels = nil
	t := &structured.Table{Name: graphs.EdgeRows, Offsets: []int{0}, Dim: input.EdgeDim}
	for _, n := range lengths {
		g := &structured.Graph{}
		for range 3 * n {
			if u, v := r.IntN(n), r.IntN(n); u != v && n > 2 {
				g.Ends = append(g.Ends, [2]int32{int32(u), int32(v)})
				t.Features = append(t.Features, normals(r, input.EdgeDim)...)
			}
		}
		d.Graphs, t.Offsets = append(d.Graphs, g), append(t.Offsets, t.Offsets[len(t.Offsets)-1]+len(g.Ends))
	}
	d.Tables = []*structured.Table{t}
	return d
}
