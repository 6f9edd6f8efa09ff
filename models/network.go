package models

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/optimisers"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/segments"
)

// chooseNetwork chooses the network that reads the inputs, or dim dense features per position, its sizes, and the loss,
// where c leaves them open. A network that does not read such inputs, or does not score such outputs, is refused.
func chooseNetwork(c config.Config, in inputs.Inputs, dim, labels int) (networkChoice, error) {
	task := tasks.Of(&c)
	choice := networkChoice{net: c.Network(), features: cmp.Or(in.Features, c.Features), loss: chooseLoss(c, in)}
	shape, attributes := in.Shape(dim), in.Dictionary != nil || in.Own != nil
	n := &choice.net
	if n.Net == "auto" {
		switch {
		case attributes:
			n.Net = nets.LinearNet
		default:
			n.Net = task.Net(shape)
		}
	}
	beside := in.TunesEncoder() && n.Preset().Linear // attributes stand beside an encoder that is trained along, in a network
	if err := checkBeside(in); beside && err != nil {
		return choice, err
	}
	switch {
	case n.ReadsAttributes(): // and words
	case in.Dictionary != nil && !n.Preset().Linear:
		return choice, structured.BadInput("--net %s does not read attributes; use --net linear or deep", n.Net)
	case in.Dictionary != nil && c.Window != 0 && !beside: // a model file has --window 1 of the rows
		return choice, structured.BadInput("--window %d is for dense features; the attributes of neighbouring tokens are named in a --template", c.Window)
	case attributes && !beside && (shape.PairAttributes == 0 || n.Preset().Linear):
		return choice, nil
	}
	if task.CheckNet != nil && !n.ReadsAttributes() {
		if err := task.CheckNet(n.Net); err != nil {
			return choice, err
		}
	}
	var err error
	choice.net, err = n.ResolveFor(shape, task.Output(c, in, labels))
	return choice, err
}

// checkBeside refuses attributes that no network reads beside an encoder that is trained along.
func checkBeside(in inputs.Inputs) error {
	switch d := in.Dictionary; {
	case in.Own != nil:
		return structured.BadInput("--net linear with attributes of pairs reads the rows of an encoder that stays as it is; with --tune-encoder, use --net biaffine")
	case d != nil && d.Edges() > 0:
		return structured.BadInput("--net linear with --tune-encoder does not read the %d attributes of steps that the template makes; leave out its lines that begin with B", d.Edges())
	case d != nil && d.Segment != nil:
		return structured.BadInput("--net linear with --tune-encoder does not read attributes of whole segments; leave out the template's lines that begin with S")
	}
	return nil
}

// chooseLoss returns the loss: unless c names it, or a method that is for the hinge, the
// log-likelihood where the task has it.
func chooseLoss(c config.Config, in inputs.Inputs) string {
	method, chosen := c.Optimiser()
	switch {
	case c.Loss != "auto":
		return c.Loss
	case chosen && method.Losses == optimisers.HingeOnly || !tasks.Of(&c).LogLikelihood(c, in):
		return "hinge"
	}
	return "crf"
}

// network makes the network of a resolved configuration, on inputs, on dim dense features per position, or on both.
func network(c config.Config, in inputs.Inputs, dim, labels int) (nets.Network, error) {
	switch {
	case in.Own != nil && c.Preset().Linear:
		return in.Own.Network(tasks.Of(&c).Output(c, in, labels).Form, dim)
	case in.Dictionary != nil && !c.Network().ReadsAttributes() && !in.TunesEncoder():
		form := tasks.Of(&c).Output(c, in, labels).Form
		switch s := form.Structure; s.(type) {
		case chains.Chain:
		case chains.Second:
			if in.Steps.Labels != labels {
				return nil, structured.BadInput("%d labels, but steps between %d", labels, in.Steps.Labels)
			}
			return sparse.NewSecondChain(in.Dictionary.Nodes(), in.Dictionary.Edges(), dim, form)
		case segments.Segments, segments.Counted:
			return sparse.NewSegments(in.Dictionary.Nodes(), in.Dictionary.Edges(), in.Dictionary.Segments(), dim, form)
		default:
			return nil, structured.BadInput("net linear weights attributes of chains, and --task %s is about a %s: give dense features, or a network that reads words", c.Task, s.Name())
		}
		return sparse.NewDenseChain(in.Dictionary.Nodes(), in.Dictionary.Edges(), dim, labels, c.Edges)
	}
	net, err := nets.Make(c.Network(), in.Shape(dim), tasks.Of(&c).Output(c, in, labels))
	if err != nil {
		return nil, err // not a nil *Net
	}
	return net, nil
}

// networkChoice is what the training data decide about the network, where the settings leave it open.
type networkChoice struct {
	net      nets.Config // its name and its sizes
	features string      // the set of attributes
	loss     string      // that goes with it
}

func withNetwork(c config.Config, choice networkChoice) config.Config {
	n := choice.net
	c.Net, c.Features, c.Loss = n.Net, choice.features, choice.loss
	c.Hidden, c.Window, c.Channels, c.Recurrent, c.Embed = n.Hidden, n.Window, n.Channels, n.Recurrent, n.Embed
	c.Layers, c.Heads, c.BlockUnits = n.Layers, n.Heads, n.BlockUnits
	c.ArcUnits, c.LabelUnits, c.PairUnits = n.ArcUnits, n.LabelUnits, n.PairUnits
	c.CharEmbed, c.CharWindow, c.CharChannels = n.CharEmbed, n.CharWindow, n.CharChannels
	return c
}

// The batch on which Layers measures: examples of equal length with drawn inputs.
const (
	layerExamples = 32
	layerLength   = 20 // positions of each example
)

// Layers returns the table of the model's network. The share of time of a layer is measured: in computing the
// potentials of a drawn batch on one thread, without the oracle.
func (m *Model) Layers() ([]nets.Layer, error) {
	switch net := m.Net.(type) {
	case *sparse.Linear:
		return net.Layers(m.W)
	case *nets.Net:
		lengths, examples := make([]int, layerExamples), make([]int, layerExamples)
		for i := range lengths {
			lengths[i], examples[i] = layerLength, i
		}
		var batch structured.Batch
		batch.Reset(net.Draw(rand.New(rand.NewPCG(1, 1)), lengths...), examples)
		return net.Layers(m.W, &batch)
	}
	return nil, fmt.Errorf("models: no table of layers of a %T", m.Net)
}
