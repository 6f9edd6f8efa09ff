package nets_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/encoders"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/nets/netstest"
)

// tuned opens a tiny encoder to be trained.
func tuned(t *testing.T, family, layers string, how encoders.Tuning) *encoders.Tuned {
	t.Helper()
	e, err := encoders.Open(filepath.Join("encoders", "testdata", family))
	if err != nil {
		t.Fatal(err)
	}
	if how.Read, err = e.Layers(layers); err != nil {
		t.Fatal(err)
	}
	tuned, err := encoders.NewTuned(e, how)
	if err != nil {
		t.Fatal(err)
	}
	return tuned
}

// under returns an input whose last dense features are the encoder's.
func under(in graph.Input, e *encoders.Tuned) graph.Input {
	in.Encoder, in.Encoded, in.Dim = e, e.Width(), in.Dim+e.Width()
	return in
}

// Networks on encoders that are trained have the derivatives of all weights, whatever stays as it is.
func TestTunedEncoders(t *testing.T) {
	for _, c := range []struct {
		family, layers string
		how            encoders.Tuning
		net            nets.Config
		input          graph.Input
		trees          bool
	}{
		{family: "bert", layers: "last", how: encoders.Tuning{Frozen: -1}, net: nets.Config{Net: "linear"}},
		{family: "bert", layers: "mean2", how: encoders.Tuning{Frozen: 0, Recompute: true},
			net: nets.Config{Net: "mlp", Hidden: []int{5}}, input: graph.Input{Dim: 3}},
		{family: "roberta", layers: "mean3", how: encoders.Tuning{Frozen: -1, Recompute: true},
			net:   nets.Config{Net: "deep", Embed: []int{4}, Channels: []int{5}, CharEmbed: 2, CharChannels: 3},
			input: graph.Input{Vocab: []int{11}, Characters: 7, Attributes: 9}},
		{family: "distilbert", layers: "last", how: encoders.Tuning{Frozen: 1}, net: nets.Config{Net: "linear", Window: 3}},
		{family: "electra", layers: "last", how: encoders.Tuning{Frozen: -1},
			net: nets.Config{Net: "biaffine", Channels: []int{6}, ArcUnits: 4, LabelUnits: 3}, trees: true},
		{family: "xlm-roberta", layers: "1", how: encoders.Tuning{Frozen: -1},
			net: nets.Config{Net: "stack", Stack: "- features\n- dense: 5\n"}},
		{family: "mpnet", layers: "last", how: encoders.Tuning{Frozen: -1}, net: nets.Config{Net: "linear"}},
		{family: "modernbert", layers: "last", how: encoders.Tuning{Frozen: 0}, net: nets.Config{Net: "linear"}},
		{family: "modernbert", layers: "mean4", how: encoders.Tuning{Frozen: -1, Recompute: true},
			net: nets.Config{Net: "linear"}},
		{family: "deberta-v2", layers: "last", how: encoders.Tuning{Frozen: -1}, net: nets.Config{Net: "linear"}},
		{family: "bert", layers: "mean2", how: encoders.Tuning{Frozen: -1, Adapter: encoders.Adapter{Rank: 2, Alpha: 3}},
			net: nets.Config{Net: "linear"}},
		{family: "modernbert", layers: "last",
			how: encoders.Tuning{Frozen: 1, Recompute: true, Adapter: encoders.Adapter{Rank: 1, Alpha: 1}},
			net: nets.Config{Net: "linear"}},
		{family: "deberta-v2", layers: "last", how: encoders.Tuning{Adapter: encoders.Adapter{Rank: 3, Alpha: 6}},
			net: nets.Config{Net: "mlp", Hidden: []int{5}}, input: graph.Input{Dim: 3}},
		{family: "deberta-v2-xlarge", layers: "mean2", how: encoders.Tuning{Frozen: -1}, net: nets.Config{Net: "linear"}},
		{family: "deberta-v2-own-keys", layers: "last", how: encoders.Tuning{Frozen: -1}, net: nets.Config{Net: "linear"}},
	} {
		t.Run(fmt.Sprint(c.family, " ", c.layers, " under ", c.net.Net), func(t *testing.T) {
			e := tuned(t, c.family, c.layers, c.how)
			out := nets.ChainOutput(3, nets.EdgesTransition)
			if c.trees {
				out = nets.Output{Labels: 3, Form: arcs(3)}
			}
			net, err := nets.Make(c.net, under(c.input, e), out)
			if err != nil {
				t.Fatal(err)
			}
			if net.Affine() {
				t.Error("affine")
			}
			netstest.CheckNet(t, net)
		})
	}
}
