package encoders

import (
	"path/filepath"
	"testing"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/nets/netstest"
	"github.com/dsp-go/dsp/structured"
)

// Encoders are networks with right derivatives, and their forward programs compute what these networks compute.
func TestEncodersAreNetworks(t *testing.T) {
	for _, dir := range folders(t) {
		if filepath.Dir(dir) != "testdata" {
			continue
		}
		t.Run(filepath.Base(dir), func(t *testing.T) {
			e, err := Open(dir)
			must(t, err)
			layers, err := e.Layers("mean2")
			must(t, err)
			spec := graph.Spec{Name: "encoder", Build: func(g *graph.Graph) (*gorgonia.Node, *gorgonia.Node, error) {
				return e.Build(g, layers), nil, nil
			}}
			for _, a := range e.Layout() {
				spec.Params = append(spec.Params, graph.Param{Name: a.Name, Shape: a.Shape, Init: graph.Gaussian(0.5)})
			}
			net, err := nets.Build(spec, graph.Input{Vocab: []int{e.Vocabulary()}})
			must(t, err)
			netstest.CheckNet(t, net)

			want := expected(t, dir)
			data := &structured.Dataset{Name: "pieces", Ids: want.ids, Offsets: want.offsets,
				Vocab: []*structured.Alphabet{structured.NewAlphabet()}}
			var batch structured.Batch
			for i := range data.Len() {
				batch.Reset(data, []int{i})
				var θ structured.Potentials
				must(t, net.NewWorker().Score(e.Weights(), &batch, &θ))
				lo, hi := want.offsets[i], want.offsets[i+1]
				if off := relative(encode(t, e, "mean2", want.ids[lo:hi], []int{0, hi - lo}), θ.Parts[0].Values); off > 1e-5 {
					t.Errorf("sequence %d: the forward program differs from the network by %.2g", i, off)
				}
			}
		})
	}
}
