package models

import (
	"fmt"
	"math/rand/v2"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured"
)

// The batch on which Layers measures: examples of equal length with drawn inputs.
const (
	layerExamples = 32
	layerLength   = 20 // positions of each example
)

// Layers returns the table of the model's network. The share of time of a layer is measured: in computing the potentials of a drawn
// batch on one thread, without the oracle.
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
