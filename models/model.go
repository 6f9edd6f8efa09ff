package models

import (
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
)

// Model is a trained model: a network with its weights, and what it takes to read inputs and name outputs.
type Model struct {
	Config      Config
	Version     string                  // of the dsp that trained it
	Labels      *structured.Alphabet    // the outputs
	Vocab       []*structured.Alphabet  // what each discrete input numbers; nil for dense features
	Dim         int                     // dense features a position; 0 for discrete inputs
	Constraints *structured.Constraints // of the outputs, or nil
	Net         nets.Scorer
	W           []float32
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
