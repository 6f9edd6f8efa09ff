package endtoend

import (
	"errors"
	"os"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
)

// registerNetworks registers networks like a program of a user's own does: one of chains, one with an own op,
// one of trees, and some that fail.
func registerNetworks() {
	nets.Register("wordy", nets.Config{Embed: []int{6}, Dropout: 0.1}, wordy)
	nets.Register("softsign", nets.Config{Hidden: []int{8}}, withOp)
	nets.Register("arcs", nets.Config{Embed: []int{6}, ArcUnits: 5}, arcs)
	nets.Register("fails", nets.Config{}, func(nets.Config, graph.Input, nets.Output) (graph.Spec, error) {
		return graph.Spec{}, errors.New("out of order")
	})
	nets.Register("overruns", nets.Config{}, func(_ nets.Config, in graph.Input, out nets.Output) (graph.Spec, error) {
		return overruns(in, out), nil
	})
	if name := os.Getenv("REGISTER"); name != "" {
		nets.Register(name, nets.Config{}, wordy)
	}
}

// wordy embeds the first discrete input.
func wordy(c nets.Config, in graph.Input, out nets.Output) (graph.Spec, error) {
	if len(in.Vocab) == 0 {
		return graph.Spec{}, errors.New("it reads words, the data has none")
	}
	return graph.Spec{
		Params: []graph.Param{
			{Name: "table", Shape: []int{in.Vocab[0], c.Embed[0]}, Init: graph.Gaussian(0.1)},
			{Name: "node", Shape: []int{3 * c.Embed[0], out.Labels}, Init: graph.Glorot}, {Name: "edge", Shape: []int{out.Labels, out.Labels}},
		},
		Build: func(g *graph.Graph) (node, edge *gorgonia.Node, err error) {
			e := must(g.Dropout(must(g.Embed(g.Param("table"), 0)), c.Dropout))
			return must(gorgonia.Mul(must(g.Window(e, 3)), g.Param("node"))), g.Param("edge"), nil
		},
	}, nil
}

// softsign is x/(1+|x|).
func softsign(width int) graph.RowOp {
	abs := func(x float32) float32 { return max(x, -x) }
	slope := func(x float32) float32 { return 1 / ((1 + abs(x)) * (1 + abs(x))) }
	return graph.RowOp{
		Name: "softsign", Width: width,
		Forward: func(x [][]float32, y []float32) {
			for j, v := range x[0] {
				y[j] = v / (1 + abs(v))
			}
		},
		Pullback: func(x [][]float32, _, dy []float32, dx [][]float32) {
			for j, v := range x[0] {
				dx[0][j] += dy[j] * slope(v)
			}
		},
		Push: func(x, dx [][]float32, _, dy []float32) {
			for j, v := range x[0] {
				dy[j] = dx[0][j] * slope(v)
			}
		},
	}
}

// withOp has one hidden layer, with softsign as its activation.
func withOp(c nets.Config, in graph.Input, out nets.Output) (graph.Spec, error) {
	return oneLayer(in, out, c.Hidden[0], softsign(c.Hidden[0])), nil
}

// overruns has an op with a mistake: it reads a number that is not there.
func overruns(in graph.Input, out nets.Output) graph.Spec {
	op := softsign(3)
	op.Name = "overrun"
	op.Forward = func(x [][]float32, y []float32) { y[0] = x[0][len(y)] }
	return oneLayer(in, out, 3, op)
}

func oneLayer(in graph.Input, out nets.Output, hidden int, op graph.RowOp) graph.Spec {
	return graph.Spec{
		Params: []graph.Param{
			{Name: "hidden", Shape: []int{in.Dim, hidden}, Init: graph.Glorot}, {Name: "node", Shape: []int{hidden, out.Labels}, Init: graph.Glorot},
			{Name: "edge", Shape: []int{out.Labels, out.Labels}},
		},
		Build: func(g *graph.Graph) (node, edge *gorgonia.Node, err error) {
			h := must(g.Own(op, must(gorgonia.Mul(g.Features(), g.Param("hidden")))))
			return must(gorgonia.Mul(h, g.Param("node"))), g.Param("edge"), nil
		},
	}
}

// arcs scores the arcs of trees by one bilinear form, and every relation alike.
func arcs(c nets.Config, in graph.Input, out nets.Output) (graph.Spec, error) {
	return graph.Spec{
		Params: []graph.Param{
			{Name: "table", Shape: []int{in.Vocab[0], c.Embed[0]}, Init: graph.Gaussian(0.1)},
			{Name: "root", Shape: []int{c.ArcUnits}, Init: graph.Gaussian(1)},
			{Name: "dependent", Shape: []int{c.Embed[0], c.ArcUnits}, Init: graph.Glorot},
			{Name: "head", Shape: []int{c.Embed[0], c.ArcUnits}, Init: graph.Glorot},
		},
		Form: out.Form,
		Parts: func(g *graph.Graph) ([]*gorgonia.Node, error) {
			x := must(g.Embed(g.Param("table"), 0))
			d, h := must(gorgonia.Mul(x, g.Param("dependent"))), must(gorgonia.Mul(x, g.Param("head")))
			return []*gorgonia.Node{must(g.Bilinear(d, h, g.Param("root"))), nil}, nil
		},
	}, nil
}

func must(n *gorgonia.Node, err error) *gorgonia.Node {
	if err != nil {
		panic(err) // compiling the network returns it as an error
	}
	return n
}
