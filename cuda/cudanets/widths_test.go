package cudanets_test

import (
	"testing"

	"github.com/dsp-go/dsp/cuda/cudanets"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured/trees"
)

// The widths are those of layers, whatever the number of weights.
func TestWidths(t *testing.T) {
	mlp := nets.Config{Net: "mlp", Hidden: []int{32768, 3}}
	wide, err := nets.New(mlp, graph.Input{Dim: 700}, 4)
	cudatest.Must(t, err)
	narrow, err := nets.New(nets.Config{Net: "linear"}, graph.Input{Dim: 30}, 4)
	cudatest.Must(t, err)
	pairs, err := nets.Make(nets.Config{Net: "biaffine", Channels: []int{9}, Window: 1, ArcUnits: 5, LabelUnits: 4},
		graph.Input{Dim: 3},
		nets.Output{Labels: 7, Form: trees.SpanningTree{}.Form(7)})
	cudatest.Must(t, err)
	words, err := nets.Build(everyWord, graph.Input{Characters: 7, Attributes: 300})
	cudatest.Must(t, err)
	for _, c := range []struct {
		net  *nets.Net
		want resident.Widths
	}{
		{wide, resident.Widths{Row: 32768}},
		{narrow, resident.Widths{Row: 30}},
		{pairs, resident.Widths{Row: 7 * 15, Other: 7}}, // each label's forms
		{words, resident.Widths{Row: 4, Char: 12}},      // windows of three characters
	} {
		if w, err := cudanets.NewExecutor(nil, c.net, nil).Widths(); err != nil || w != c.want {
			t.Errorf("%s: widths %+v, %v; expected %+v", c.net.Name(), w, err, c.want)
		}
	}
}
