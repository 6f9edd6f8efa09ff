package cudanets_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/cuda/cudanets"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
)

// join draws graphs for the examples of d, with loops and several edges between the same variables, and dim features of
// each edge.
func join(d *structured.Dataset, dim int) *structured.Dataset {
	rng := rand.New(rand.NewPCG(65, 66))
	t := &structured.Table{Name: structured.Edges, Offsets: []int{0}, Dim: dim}
	for i := range d.Len() {
		g, n := &structured.Graph{}, d.Length(i)
		for range 3 * n {
			if u, v := rng.IntN(n), rng.IntN(n); u != v && n > 2 { // examples of two variables have no edges
				g.Ends = append(g.Ends, [2]int32{int32(u), int32(v)})
			}
		}
		d.Graphs, t.Offsets = append(d.Graphs, g), append(t.Offsets, t.Offsets[i]+len(g.Ends))
	}
	for range t.Offsets[d.Len()] * dim {
		t.Features = append(t.Features, float32(rng.NormFloat64()))
	}
	d.Labels, d.Tables = nil, []*structured.Table{t}
	return d
}

// everyEdge has the ops on edges, both overwriting and accumulating.
var everyEdge = graph.Spec{
	Name: "edges", Form: graphs.Pairwise{}.Form(2, 0),
	Params: []graph.Param{{Name: "in", Shape: []int{3, 4}}, {Name: "of edges", Shape: []int{5, 4}},
		{Name: "out", Shape: []int{4, 2}}},
	Parts: func(g *graph.Graph) ([]*gorgonia.Node, error) {
		x := node(gorgonia.Mul(g.Features(), g.Param("in")))
		u, v, err := g.Ends(x)
		if err != nil {
			return nil, err
		}
		s, t, err := g.Ends(node(gorgonia.Tanh(x)))
		if err != nil {
			return nil, err
		}
		f := node(gorgonia.Mul(node(gorgonia.Tanh(node(g.EdgeFeatures()))), g.Param("of edges")))
		e := node(gorgonia.Add(node(gorgonia.HadamardProd(u, node(gorgonia.Tanh(v)))),
			node(gorgonia.Add(s, node(gorgonia.HadamardProd(t, f))))))
		return []*gorgonia.Node{node(gorgonia.Mul(x, g.Param("out"))), e}, nil
	},
}

// pixelStack reads the pixels of positions and the features beside them.
const pixelStack = "- pixels:\n  - conv: {channels: 3, kernel: 2, stride: 2, activation: tanh}\n  - pool\n" +
	"  - flatten\n- features\n- dense: {units: 3, activation: tanh}\n"

// Networks of graphs on the device equal the CPU's.
func TestEdgesEqualCPU(t *testing.T) {
	crops := graph.Map{Height: 5, Width: 6, Channels: 3}
	for name, c := range map[string]struct {
		config nets.Config
		input  graph.Input
		edges  string
		labels int
	}{
		"own":   {nets.Config{Net: "linear"}, graph.Input{Dim: 4, EdgeDim: 5}, nets.EdgesOwn, 3},
		"typed": {nets.Config{Net: "linear"}, graph.Input{Dim: 4, EdgeDim: 5}, nets.EdgesTyped, 3},
		"Potts": {nets.Config{Net: "linear"}, graph.Input{Dim: 4}, nets.EdgesPotts, 3},
		"own, units": {nets.Config{Net: "mlp", Hidden: []int{4, 3}, EdgeUnits: 6, Dropout: 0.2},
			graph.Input{Dim: 4, EdgeDim: 5}, nets.EdgesOwn, 3},
		"Potts, units": {nets.Config{Net: "conv-crop", Channels: []int{4}, Hidden: []int{5}, EdgeUnits: 6},
			graph.Input{Dim: crops.Len(), Map: crops, EdgeDim: 1}, nets.EdgesPotts, 2},
		"pixels, own": {nets.Config{Net: "conv-crop", Channels: []int{4}, Hidden: []int{5}, Dropout: 0.2},
			graph.Input{Dim: crops.Len() + 4, Map: crops, EdgeDim: 2}, nets.EdgesOwn, 3},
		"pixels, typed": {nets.Config{Net: nets.StackNet, Stack: pixelStack},
			graph.Input{Dim: crops.Len() + 1, Map: crops, EdgeDim: 2}, nets.EdgesTyped, 2},
		"Potts, pure": {nets.Config{Net: "mlp", Hidden: []int{4}, EdgeUnits: 6}, graph.Input{Dim: 4}, nets.EdgesPotts, 3},
		"submodular": {nets.Config{Net: "linear", Submodular: nets.SubmodularSoftplus}, graph.Input{Dim: 4, EdgeDim: 5},
			nets.EdgesOwn, 2},
		"positive Potts": {nets.Config{Net: "linear", Submodular: nets.SubmodularSoftplus}, graph.Input{Dim: 4, EdgeDim: 5},
			nets.EdgesPotts, 3},
		"every op": {input: graph.Input{Dim: 3, EdgeDim: 5}},
	} {
		for _, examples := range [][]int{{3, 0, 1, 2, 5, 4}, {4, 1}, {3}} {
			t.Run(fmt.Sprint(name, examples), func(t *testing.T) {
				net, err := nets.Build(everyEdge, graph.Input{Dim: 3, EdgeDim: 5})
				if c.edges != "" {
					out, err := nets.GraphOutput(c.labels, 2, c.edges)
					cudatest.Must(t, err)
					net, err = nets.Make(c.config, c.input, out)
					cudatest.Must(t, err)
				}
				cudatest.Must(t, err)
				data := join(cudatest.RandomData(rand.New(rand.NewPCG(3, 4)), c.input, 3, 3, 1, 0, 19, 2, 5), c.input.EdgeDim)
				checkParts(t, net, data, examples,
					cudanets.NewPairBatch(resident.NewData(cudatest.Device(t), data), data.Len()+1, 32, 19, 128))
			})
		}
	}
}

// Examples without any edge have room for padding, so that a network has rows to compute.
func TestCapacityWithoutEdges(t *testing.T) {
	data := join(cudatest.RandomData(rand.New(rand.NewPCG(3, 4)), graph.Input{Dim: 4}, 3, 1, 2, 5), 5)
	out, err := nets.GraphOutput(3, 0, nets.EdgesOwn)
	cudatest.Must(t, err)
	net, err := nets.Make(nets.Config{Net: "mlp", Hidden: []int{3}, EdgeUnits: 2}, graph.Input{Dim: 4, EdgeDim: 5}, out)
	cudatest.Must(t, err)
	on := resident.NewData(cudatest.Device(t), data)
	checkParts(t, net, data, []int{1, 0}, on.NewBatch(on.StepCapacity([]int{0, 1})))
}

// Graphs that do not fit their data, and features that the network does not read, are refused.
func TestEdgesRefused(t *testing.T) {
	d := cudatest.Device(t)
	net, err := nets.Build(everyEdge, graph.Input{Dim: 3, EdgeDim: 5})
	cudatest.Must(t, err)
	for message, spoil := range map[string]func(d *structured.Dataset){
		"edge 0 joins variables 5 and 0": func(d *structured.Dataset) { d.Graphs[0].Ends[0] = [2]int32{5, 0} },
		"has 0 graphs for 2 examples":    func(d *structured.Dataset) { d.Graphs = nil },
		"no table of rows":               func(d *structured.Dataset) { d.Tables = nil },
		"has 0 features for each of": func(d *structured.Dataset) {
			d.Tables[0].Features, d.Tables[0].Dim = nil, 0
		},
		"expected one for each edge of its graph": func(d *structured.Dataset) { d.Graphs[1].Ends = d.Graphs[1].Ends[1:] },
	} {
		data := join(cudatest.RandomData(rand.New(rand.NewPCG(1, 1)), graph.Input{Dim: 3}, 3, 5, 4), 5)
		spoil(data)
		err := cudanets.NewExecutor(d, net,
			device.NewBLAS(d, false)).Reserve(cudanets.NewPairBatch(resident.NewData(d, data), 2, 16, 5, 32))
		if !structured.IsBadInput(err) || !strings.Contains(err.Error(), message) {
			t.Errorf("%v, expected %q", err, message)
		}
	}
}
