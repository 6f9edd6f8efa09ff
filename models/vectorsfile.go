package models

import (
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured/safetensors"
)

// vectorsTensor is the tensor of a model file that holds the vectors of words [V×Dim].
const vectorsTensor = "word_vectors"

// loadVectors returns the vectors of words in a model file.
func loadVectors(f *safetensors.File, frozen bool) (*graph.WordVectors, error) {
	rows, err := safetensors.Values[float32](f, vectorsTensor, -1, -1)
	if err != nil {
		return nil, err
	}
	return &graph.WordVectors{Dim: f.Tensors[vectorsTensor].Shape[1], Rows: rows, Frozen: frozen}, nil
}
