package models

import (
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
)

// Model is a trained model: a network with its weights, and what it takes to read inputs and name outputs.
type Model struct {
	Config      Config                  // resolved: everything says what was used
	Version     string                  // of the dsp that trained it
	Labels      *structured.Alphabet    // the outputs
	Vocab       []*structured.Alphabet  // what each discrete input numbers; nil for dense features
	Dim         int                     // dense features a position; 0 for discrete inputs
	Width       int                     // columns of the text files; 0 for other formats
	Constraints *structured.Constraints // of the outputs, or nil
	Net         nets.Network
	W           []float32 // [Net.Dim()]
}

// NewModel returns an untrained model for the data, with W drawn from c.Seed, and settles the network's settings in
// Config.
func NewModel(c Config, data *Data) (*Model, error) {
	m := &Model{
		Config: c,
		Labels: data.Train.Alphabet, Vocab: data.Train.Vocab, Dim: data.Train.Dim, Width: len(data.Train.Columns),
	}
	if err := m.assemble(); err != nil {
		return nil, err
	}
	m.W = m.Net.Init(c.Seed)
	return m, nil
}

// assemble makes the network and the constraints that Config asks for.
func (m *Model) assemble() error {
	in := inputOf(m.Dim, m.Vocab)
	if err := m.Config.resolveNet(in); err != nil {
		return err
	}
	var err error
	if m.Net, err = nets.New(m.Config.net(), in, m.Labels.Len()); err != nil {
		return err
	}
	if m.Config.Constraints != "none" {
		m.Constraints, err = structured.SchemeConstraints(m.Labels, m.Config.Constraints)
	}
	return err
}

// net returns the part of c that chooses and sizes the network.
func (c *Config) net() nets.Config {
	return nets.Config{
		Net: c.Net, Hidden: c.Hidden, Activation: nets.Activation(c.Activation), Window: c.Window,
		Channels: c.Channels, Embed: c.Embed, Dropout: c.Dropout, Edges: c.Edges,
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
	if err := c.Validate(); err != nil {
		return err
	}
	c.Hidden, c.Window, c.Channels, c.Embed = n.Hidden, n.Window, n.Channels, n.Embed
	return nil
}

// ReadData reads a data file as the model's training data was read; format and columns, where not empty, say how else.
// Labels are required, or else read where there are any. Format builtin draws the test words of the model's own seed, and
// path must be empty.
func (m *Model) ReadData(path, format, columns string, needLabels bool) (*structured.Dataset, error) {
	c := m.Config
	if format != "" {
		if err := oneOf("--format", format, []string{formatBuiltin, formatLetters, formatConll, formatNPZ}); err != nil {
			return nil, err
		}
	}
	if format == formatBuiltin {
		if path != "" {
			return nil, structured.BadInput("--format builtin draws its own words, but %s is to be read; give one or the other", path)
		}
		d, err := c.builtin()
		if err != nil {
			return nil, err
		}
		return d.Test, m.accepts(d.Test)
	}
	s := source{format: format, columns: columns, width: m.Width, labels: m.Labels, vocab: m.Vocab, dim: m.Dim}
	if s.format == "" && c.Format != formatBuiltin {
		s.format = c.Format
	}
	if s.columns == "" {
		s.columns = c.Columns
	} else {
		s.width = 0
	}
	d, err := s.read(path, needLabels)
	if err != nil {
		return nil, err
	}
	return d, m.accepts(d)
}

// accepts refuses data that is not of the kind the model was trained on.
func (m *Model) accepts(d *structured.Dataset) error {
	switch {
	case m.Dim != d.Dim:
		return structured.BadInput("%s: %d dense features a position, the model expects %d", d.Name, d.Dim, m.Dim)
	case len(m.Vocab) != len(d.Vocab):
		return structured.BadInput("%s: %d discrete inputs a position, the model expects %d", d.Name, len(d.Vocab), len(m.Vocab))
	}
	return nil
}
