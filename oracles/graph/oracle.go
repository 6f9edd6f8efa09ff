package graph

import (
	"github.com/dsp-go/dsp/oracles"
)

// Oracle answers max, top-K and exp for graphs.Pairwise. It keeps its scratch memory between calls.
type Oracle struct {
	below, above, scores, p []float64
}

// New returns an oracle.
func New() *Oracle { return new(Oracle) }

var _ oracles.Oracle = (*Oracle)(nil)
