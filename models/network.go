package models

import (
	"cmp"
	"slices"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured"
)

// net returns the part of c that chooses and sizes the network.
func (c Config) net() nets.Config {
	return nets.Config{
		Net: c.Net, Hidden: c.Hidden, Activation: graph.Activation(c.Activation), Window: c.Window,
		Channels: c.Channels, Recurrent: c.Recurrent, Layers: c.Layers, Heads: c.Heads, BlockUnits: c.BlockUnits, Embed: c.Embed,
		Dropout: c.Dropout, Edges: c.Edges, ArcUnits: c.ArcUnits, LabelUnits: c.LabelUnits,
		Stack: c.Stack, StackFile: c.stackFile,
		CharEmbed: c.CharEmbed, CharWindow: c.CharWindow, CharChannels: c.CharChannels, AttributeUnits: c.AttributeUnits,
	}
}

// output returns what the network scores.
func (c Config) output(labels int) nets.Output {
	if c.Task == "parse" {
		return nets.Output{Labels: labels, Form: c.structure().Form(labels)}
	}
	return nets.ChainOutput(labels, c.Edges)
}

// chooseNetwork chooses the network that reads the inputs, or dim dense features per position, its sizes, and the loss, where c leaves
// them open. A network that does not read such inputs, or does not score such outputs, is refused.
func (c Config) chooseNetwork(in Inputs, dim, labels int) (networkChoice, error) {
	choice := networkChoice{net: c.net(), features: cmp.Or(in.Features, c.Features), loss: c.chooseLoss(in)}
	shape, attributes := in.shape(dim), in.Dictionary != nil || in.arcs != nil
	n := &choice.net
	if n.Net == "auto" {
		switch {
		case attributes:
			n.Net = "linear"
		case c.Task == "parse":
			n.Net = "biaffine"
		case len(shape.Vocab) > 0:
			n.Net = "embed"
		case dim == nets.ImageHeight*nets.ImageWidth:
			n.Net = "cnn-image"
		default:
			n.Net = "mlp"
		}
	}
	switch {
	case n.ReadsAttributes(): // and words
	case in.Dictionary != nil && n.Net != "linear":
		return choice, structured.BadInput("--net %s does not read attributes; use --net linear or deep", n.Net)
	case in.Dictionary != nil && c.Window != 0:
		return choice, structured.BadInput("--window %d is for dense features; the attributes of neighbouring tokens are named in a --template", c.Window)
	case attributes:
		return choice, nil
	case c.Task == "parse" && slices.Contains(nets.PositionNets, n.Net):
		return choice, structured.BadInput("--net %s does not score trees; use --net linear or biaffine", n.Net)
	}
	var err error
	choice.net, err = n.ResolveFor(shape, c.output(labels))
	return choice, err
}

// chooseLoss returns the loss: unless c names it, or a method that is for the hinge, the log-likelihood of attributes, trees
// and net deep.
func (c Config) chooseLoss(in Inputs) string {
	switch {
	case c.Loss != "auto":
		return c.Loss
	case c.Method == "bcfw" || c.Method == "bcpfw" || in.Dictionary == nil && c.Net != "deep" && c.Task != "parse":
		return "hinge"
	}
	return "crf"
}

// network makes the network of a resolved configuration, on inputs or on dim dense features per position.
func (c Config) network(in Inputs, dim, labels int) (nets.Network, error) {
	switch {
	case in.arcs != nil:
		return sparse.New(c.structure().Form(labels), []sparse.Part{
			{Attributes: in.arcs.dictionary.Arc.Len(), Weights: "arc_attributes"},
			{Attributes: in.arcs.dictionary.Label.Len(), Weights: "label_attributes"},
		}), nil
	case in.Dictionary != nil && !c.net().ReadsAttributes():
		return sparse.NewChain(in.Dictionary.Nodes(), in.Dictionary.Edges(), labels, c.Edges)
	}
	net, err := nets.Make(c.net(), in.shape(dim), c.output(labels))
	if err != nil {
		return nil, err // not a nil *Net
	}
	return net, nil
}
