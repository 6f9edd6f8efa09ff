package inputs

import (
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

// VectorsTensor is the tensor of a model file that holds the vectors of words [V×Dim].
const VectorsTensor = "word_vectors"

// loadVectors returns the vectors of words in a model file.
func loadVectors(f *safetensors.File, frozen bool) (*graph.WordVectors, error) {
	rows, err := safetensors.Values[float32](f, VectorsTensor, -1, -1)
	if err != nil {
		return nil, err
	}
	return &graph.WordVectors{Dim: f.Tensors[VectorsTensor].Shape[1], Rows: rows, Frozen: frozen}, nil
}
