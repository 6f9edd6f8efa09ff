package traintest

import (
	"math/rand/v2"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// DrawGraphs draws n graphs of 1 to 8 variables with 3 labels and two types of edges. The graphs are forests, or have a
// few more edges. Neighbours tend to have the same label. The features of a variable tell its label, those of an edge
// whether its ends differ, both with noise.
func DrawGraphs(n int, forest bool) *structured.Dataset {
	const labels, dim = 3, 2
	r := rand.New(rand.NewPCG(6, uint64(n)))
	d := &structured.Dataset{Name: "graphs", Offsets: []int{0}, Dim: labels, Alphabet: structured.NewAlphabet()}
	for _, name := range []string{"a", "b", "c"} {
		d.Alphabet.Add(name)
	}
	t := &structured.Table{Name: structured.Edges, Offsets: []int{0}, Dim: dim}
	for range n {
		g, size := &structured.Graph{}, 1+r.IntN(8)
		y := make([]int32, size)
		join := func(u, v int) { g.Ends = append(g.Ends, [2]int32{int32(u), int32(v)}) }
		for v := range y {
			y[v] = r.Int32N(labels)
			if v > 0 && r.IntN(6) > 0 {
				u := r.IntN(v)
				if join(u, v); r.IntN(4) > 0 {
					y[v] = y[u]
				}
			}
		}
		if !forest && size > 2 {
			for range size / 2 {
				u := r.IntN(size - 1)
				join(u+1+r.IntN(size-1-u), u)
			}
		}
		for _, uv := range g.Ends {
			differ := 0.0
			if y[uv[0]] != y[uv[1]] {
				differ = 1
			}
			g.Types = append(g.Types, r.Int32N(2))
			t.Features = append(t.Features, float32(differ+0.5*r.NormFloat64()), float32(r.NormFloat64()))
		}
		for _, l := range y {
			for k := range int32(labels) {
				x := r.NormFloat64()
				if k == l {
					x++
				}
				d.Features = append(d.Features, float32(x))
			}
		}
		d.Labels = append(d.Labels, y...)
		d.Graphs, d.Offsets = append(d.Graphs, g), append(d.Offsets, len(d.Labels))
		t.Offsets = append(t.Offsets, t.Offsets[len(t.Offsets)-1]+len(g.Ends))
	}
	d.Tables = []*structured.Table{t}
	return d
}

// GraphNet makes the network that c chooses, for the graphs of DrawGraphs. It panics on errors, for tests.
func GraphNet(c nets.Config, edges graphs.Edges) nets.Scorer {
	net, err := nets.Make(c, graph.Input{Dim: 3, EdgeDim: 2}, nets.Output{Form: graphs.Pairwise{Edges: edges}.Form(3, 2)})
	if err != nil {
		panic(err)
	}
	return network{net}
}

// GraphProblem is the problem of scoring n drawn graphs linearly.
func GraphProblem(n int, forest bool, edges graphs.Edges, loss engine.Loss, s oracles.Smoothing, λ float64) *train.Problem {
	o := &engine.Objective{Scorer: GraphNet(nets.Config{Net: "linear"}, edges), Data: DrawGraphs(n, forest), Loss: loss, Lambda: λ}
	return &train.Problem{Engine: engine.NewEngine(o, 1), Smoothing: s, Seed: 3}
}
