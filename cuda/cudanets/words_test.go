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

// everyWord has all ops on characters and attributes, both overwriting and accumulating.
var everyWord = graph.Spec{
	Name: "words",
	Params: []graph.Param{{Name: "characters", Shape: []int{7, 4}}, {Name: "filters", Shape: []int{12, 4}},
		{Name: "side by side", Shape: []int{4, 12}},
		{Name: "attributes", Shape: []int{300, 4}}, {Name: "out", Shape: []int{4, 3}}},
	Build: func(g *graph.Graph) (*gorgonia.Node, *gorgonia.Node, error) {
		x := node(g.Characters(g.Param("characters")))
		window := node(gorgonia.Mul(node(g.CharacterWindow(node(gorgonia.Tanh(x)), 3)), g.Param("filters")))
		parts := node(g.CharacterConvolution(node(gorgonia.Mul(g.Param("characters"), g.Param("side by side"))), 3))
		words := node(gorgonia.Add(node(g.SegmentMax(node(gorgonia.Add(window, parts)))),
			node(g.SegmentMax(node(gorgonia.Neg(window))))))
		words = node(gorgonia.Add(words, node(g.Bag(g.Param("attributes")))))
		words = node(gorgonia.Add(node(gorgonia.Tanh(words)), node(g.Bag(node(gorgonia.Tanh(g.Param("attributes")))))))
		return node(gorgonia.Mul(words, g.Param("out"))), nil, nil
	},
}

// Ops on characters and attributes equal the CPU's, in small batches and in those that are pulled back through all
// attributes of the data.
func TestWordsEqualCPU(t *testing.T) {
	input := graph.Input{Characters: 7, Attributes: 300}
	for _, lengths := range [][]int{{3, 1, 0, 4, 2}, {40, 60, 7}, {1}} {
		t.Run(fmt.Sprint(lengths), func(t *testing.T) {
			d := cudatest.Device(t)
			net, err := nets.Build(everyWord, input)
			cudatest.Must(t, err)
			data := cudatest.RandomData(rand.New(rand.NewPCG(13, 4)), input, 3, lengths...)
			r := newRig(t, d, net, data, graph.Bucket(data.Positions()+3))
			all := make([]int, len(lengths))
			for i := range all {
				all[i] = len(all) - 1 - i
			}
			r.check(all, 0)
			r.check(all[:1], 0)
		})
	}
}

// An executor serves several data sets, each with its own attributes.
func TestBagsOfTwoDataSets(t *testing.T) {
	d := cudatest.Device(t)
	input := graph.Input{Characters: 7, Attributes: 300}
	net, err := nets.Build(everyWord, input)
	cudatest.Must(t, err)
	w := cudatest.Vector(rand.New(rand.NewPCG(1, 5)), net.Dim(), 0.5)
	e := cudanets.NewExecutor(d, net, device.NewBLAS(d, false))
	defer e.Free()
	for seed := range uint64(2) {
		data := cudatest.RandomData(rand.New(rand.NewPCG(14, seed)), input, 3, 3, 4)
		r := newRig(t, d, net, data, 8)
		cudatest.Must(t, e.Reserve(r.batch))
		r.batch.Set([]int{1, 0})
		var batch structured.Batch
		batch.Reset(data, []int{1, 0})
		v, node, edge := r.cotangent(&batch)
		worker, grad := net.NewNetWorker(), make([]float32, net.Dim())
		cudatest.Must(t, worker.Score(w, &batch, new(structured.Potentials)))
		cudatest.Must(t, worker.Pullback(v, grad))
		g := r.upload(make([]float32, net.Dim()))
		e.Score(r.upload(w), r.batch, r.θ.Parts())
		e.Pullback(cudanets.Parts{node, edge}, g)
		cudatest.Near(t, "gradient", r.download(g), grad, 1e-5)
	}
}

func TestWordsRefused(t *testing.T) {
	d := cudatest.Device(t)
	input := graph.Input{Characters: 7, Attributes: 300}
	net, err := nets.Build(everyWord, input)
	cudatest.Must(t, err)
	for want, spoil := range map[string]func(d *structured.Dataset){
		"no characters":  func(d *structured.Dataset) { d.Characters = nil },
		"no attributes":  func(d *structured.Dataset) { d.Attributes = nil },
		"knows 0 to 6":   func(d *structured.Dataset) { d.Characters.Ids[0] = -1 },
		"knows 0 to 299": func(d *structured.Dataset) { d.Attributes.Index[0] = 300 },
	} {
		data := cudatest.RandomData(rand.New(rand.NewPCG(15, 4)), input, 3, 9)
		spoil(data)
		err := cudanets.NewExecutor(d, net,
			device.NewBLAS(d, false)).Reserve(resident.NewBatch(resident.NewData(d, data), 1, 16, 9))
		if err == nil || !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
}
