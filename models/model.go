package models

import (
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// Model is a trained model: a network with its weights, and what it takes to read inputs and name outputs.
type Model struct {
	Config      Config               // resolved: everything says what was used
	Version     string               // of the dsp that trained it
	Labels      *structured.Alphabet // the outputs
	Inputs                           // made of the columns of text
	Dim         int                  // dense features per position; 0 for other inputs
	Width       int                  // columns of the text files; 0 for other formats
	Constraints *chains.Constraints  // of the outputs, or nil
	Net         nets.Network
	W           []float32 // [Net.Dim()]

	device *onDevice // that runs the network and the oracles, or nil for the CPU
}

// NewModel returns an untrained model for the data, with W drawn from c.Seed, and resolves the network's settings in
// Config.
func NewModel(c Config, data *Data) (*Model, error) {
	m := &Model{
		Config: c,
		Labels: data.Train.Alphabet, Inputs: data.inputs, Dim: data.Train.Dim, Width: len(data.Train.Columns),
	}
	m.Vocab, m.Dictionary = data.Train.Vocab, data.Train.Dictionary
	if m.Inputs.Features != "" {
		m.Config.Features = m.Inputs.Features
	}
	if err := m.assemble(); err != nil {
		return nil, err
	}
	m.W = m.Net.Init(c.Seed)
	return m, nil
}

// WithDictionary returns a model like m for the attributes in d, with zero weights.
func (m *Model) WithDictionary(d *structured.Dictionary) (*Model, error) {
	other := *m
	other.Dictionary = d
	if err := other.assemble(); err != nil {
		return nil, err
	}
	other.W = make([]float32, other.Net.Dim())
	return &other, nil
}

// assemble makes the network and the constraints that Config asks for.
func (m *Model) assemble() error {
	var err error
	if m.Net, err = m.Config.network(m.Inputs, m.Dim, m.Labels.Len()); err != nil {
		return err
	}
	if m.Config.Constraints != "none" {
		m.Constraints, err = chains.SchemeConstraints(m.Labels, m.Config.Constraints)
	}
	return err
}

// net returns the part of c that chooses and sizes the network.
func (c *Config) net() nets.Config {
	return nets.Config{
		Net: c.Net, Hidden: c.Hidden, Activation: nets.Activation(c.Activation), Window: c.Window,
		Channels: c.Channels, Recurrent: c.Recurrent, Layers: c.Layers, Heads: c.Heads, BlockUnits: c.BlockUnits, Embed: c.Embed, Dropout: c.Dropout, Edges: c.Edges, ArcUnits: c.ArcUnits, LabelUnits: c.LabelUnits,
	}
}

// resolveNet chooses the network where that is left to the data, and fills in its sizes. Settings that the chosen
// network does not have are refused.
func (c *Config) resolveNet(in nets.Input) error {
	if c.Net == "auto" {
		switch {
		case len(in.Vocab) > 0:
			c.Net = "embed"
		case in.Dim == nets.ImageHeight*nets.ImageWidth:
			c.Net = "cnn-image"
		default:
			c.Net = "mlp"
		}
	}
	n, err := c.net().Resolve(in)
	if err != nil {
		return err
	}
	c.Net = n.Net
	if err := c.resolveLoss(); err != nil {
		return err
	}
	c.Hidden, c.Window, c.Channels, c.Recurrent, c.Embed = n.Hidden, n.Window, n.Channels, n.Recurrent, n.Embed
	c.Layers, c.Heads, c.BlockUnits = n.Layers, n.Heads, n.BlockUnits
	return nil
}
