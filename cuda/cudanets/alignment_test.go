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
)

// links is the form of matchings: two scores of each pair, and the price of staying unmatched.
var links = structured.Form{Structure: cells{}, Parts: []structured.Shape{
	{Name: "pair", Rows: structured.Pairs, Width: 2}, {Name: "unmatched", Rows: structured.Sources, Width: 1}}}

// split makes the first half of each example's positions, rounded down, its source items, and draws attributes of
// pairs.
func split(d *structured.Dataset, attributes int) *structured.Dataset {
	rng := rand.New(rand.NewPCG(61, 62))
	first, pairs := []int{0}, []int{0}
	for i := range d.Len() {
		n := d.Length(i) / 2
		first, pairs = append(first, first[i]+n), append(pairs, pairs[i]+n*(d.Length(i)-n))
	}
	x := &structured.Sparse{Offsets: []int{0}}
	for range pairs[d.Len()] {
		for range rng.IntN(5) {
			x.Index, x.Value = append(x.Index, rng.Int32N(int32(attributes))), append(x.Value, float32(rng.NormFloat64()))
		}
		x.Offsets = append(x.Offsets, len(x.Index))
	}
	d.Labels = nil
	d.Tables = []*structured.Table{{Name: structured.Sources, Offsets: first},
		{Name: structured.Pairs, Offsets: pairs, Attributes: x}}
	return d
}

// everyAlignment has all ops on pairs of source and target items, both overwriting and accumulating.
var everyAlignment = graph.Spec{
	Name: "alignments", Form: links,
	Params: []graph.Param{{Name: "in", Shape: []int{3, 4}}, {Name: "forms", Shape: []int{4, 8}},
		{Name: "bag", Shape: []int{5, 2}}, {Name: "one", Shape: []int{4, 1}}},
	Parts: func(g *graph.Graph) ([]*gorgonia.Node, error) {
		x := node(gorgonia.Mul(g.Features(), g.Param("in")))
		forms := node(gorgonia.Mul(x, g.Param("forms")))
		s := node(gorgonia.Add(node(g.PairBag(g.Param("bag"))), node(g.Align(forms, node(gorgonia.Tanh(x))))))
		s = node(gorgonia.Add(node(g.Align(node(gorgonia.Tanh(forms)), x)), s))
		s = node(gorgonia.Add(s, node(g.PairBag(node(gorgonia.Tanh(g.Param("bag")))))))
		own := node(gorgonia.Mul(node(g.Sources(x)), g.Param("one")))
		own = node(gorgonia.Add(own,
			node(gorgonia.Mul(node(gorgonia.Tanh(node(g.Sources(node(gorgonia.Square(x)))))), g.Param("one")))))
		return []*gorgonia.Node{s, own}, nil
	},
}

// Networks of matchings on the device equal the CPU's.
func TestMatchingsEqualCPU(t *testing.T) {
	build := func(c nets.Config, in graph.Input) func() (*nets.Net, graph.Input, error) {
		return func() (*nets.Net, graph.Input, error) {
			net, err := nets.Make(c, in, nets.Output{Form: links})
			return net, in, err
		}
	}
	for name, make := range map[string]func() (*nets.Net, graph.Input, error){
		"linear": build(nets.Config{Net: "linear"}, graph.Input{PairAttributes: 5}),
		"mlp":    build(nets.Config{Net: "mlp", Hidden: []int{4, 3}}, graph.Input{Dim: 2, PairAttributes: 5}),
		"words": build(nets.Config{Net: "bilinear", Channels: []int{5}, Window: 5, PairUnits: 4, Dropout: 0.2},
			graph.Input{Vocab: []int{30, 5}, PairAttributes: 5}),
		"deep": build(nets.Config{Net: "bilinear", Recurrent: []int{4}, Layers: 1, Heads: 2, PairUnits: 3, CharChannels: 3,
			CharEmbed: 2}, graph.Input{Vocab: []int{30}, Characters: 8}),
		// few of which a batch reads
		"many": build(nets.Config{Net: "bilinear", Channels: []int{5}, PairUnits: 4},
			graph.Input{Vocab: []int{30}, PairAttributes: 50000}),
		"every op": func() (*nets.Net, graph.Input, error) {
			in := graph.Input{Dim: 3, PairAttributes: 5}
			net, err := nets.Build(everyAlignment, in)
			return net, in, err
		},
	} {
		for _, examples := range [][]int{{3, 0, 1, 2, 5, 4}, {4, 1}, {3}} {
			t.Run(fmt.Sprint(name, examples), func(t *testing.T) {
				net, in, err := make()
				cudatest.Must(t, err)
				data := split(cudatest.RandomData(rand.New(rand.NewPCG(3, 4)), in, 3, 3, 1, 0, 19, 2, 5), max(1, in.PairAttributes))
				checkParts(t, net, data, examples,
					cudanets.NewPairBatch(resident.NewData(cudatest.Device(t), data), data.Len()+1, 32, 19, 128))
			})
		}
	}
}

// Networks of other structures on the device equal the CPU's: a part per position, a tied one, and one per example.
func TestCellsEqualCPU(t *testing.T) {
	form := structured.Form{Structure: cells{},
		Parts: []structured.Shape{{Name: "cell", Rows: structured.Positions, Width: 1},
			{Name: "size", Rows: structured.Tied, Width: 5}, {Name: "loss", Rows: structured.Examples, Width: 1}}}
	crops := graph.Map{Height: 5, Width: 6, Channels: 3}
	for name, c := range map[string]struct {
		config nets.Config
		input  graph.Input
	}{
		"linear": {nets.Config{Net: "linear"}, graph.Input{Dim: 4}},
		"mlp":    {nets.Config{Net: "mlp", Hidden: []int{3}}, graph.Input{Dim: 4}},
		"conv-map": {nets.Config{Net: "conv-map", Channels: []int{3}},
			graph.Input{Dim: 12, Map: graph.Map{Height: 2, Width: 3, Channels: 2}}},
		"conv-crop": {nets.Config{Net: "conv-crop", Channels: []int{4, 3}, Hidden: []int{5}, Dropout: 0.2},
			graph.Input{Dim: crops.Len(), Map: crops}},
	} {
		t.Run(name, func(t *testing.T) {
			net, err := nets.Make(c.config, c.input, nets.Output{Form: form})
			cudatest.Must(t, err)
			data := cudatest.RandomData(rand.New(rand.NewPCG(3, 4)), c.input, 3, 3, 1, 0, 19, 2)
			checkParts(t, net, data, []int{3, 0, 2, 4}, resident.NewBatch(resident.NewData(cudatest.Device(t), data), 6, 40, 19))
		})
	}
}

// Attributes of pairs that the network does not know, and data without any, are refused.
func TestPairAttributesRefused(t *testing.T) {
	d := cudatest.Device(t)
	net, err := nets.Build(everyAlignment, graph.Input{Dim: 3, PairAttributes: 5})
	cudatest.Must(t, err)
	for message, spoil := range map[string]func(x *structured.Table){
		"attribute number 5 of pairs; the network knows 0 to 4": func(x *structured.Table) { x.Attributes.Index[1] = 5 },
		"has no attributes of pairs":                            func(x *structured.Table) { x.Attributes = nil },
	} {
		data := split(cudatest.RandomData(rand.New(rand.NewPCG(1, 1)), graph.Input{Dim: 3}, 3, 5, 4), 5)
		spoil(data.Tables[1])
		err := cudanets.NewExecutor(d, net,
			device.NewBLAS(d, false)).Reserve(cudanets.NewPairBatch(resident.NewData(d, data), 2, 16, 5, 16))
		if !structured.IsBadInput(err) || !strings.Contains(err.Error(), message) {
			t.Errorf("%v, expected %q", err, message)
		}
	}
}
