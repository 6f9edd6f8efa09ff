package kinds

import (
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/segment"
	"github.com/dsp-go/dsp/structured/segments"
)

// Labelled segments of sequences.
var _ = builtin(Kind{Structure: segments.Segments{}, Oracle: func() oracles.Maximiser { return segment.New() }, Small: segments.Small})
