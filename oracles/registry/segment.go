package registry

import (
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/segment"
	"github.com/dsp-go/dsp/structured/segments"
)

// Labelled segments of sequences, without and with a loss that counts them.
func init() {
	builtin(Kind{Structure: segments.Segments{}, Oracle: func() oracles.Maximiser { return segment.New() },
		Small: segments.Small, Chart: segment.Declare})
	builtin(Kind{Structure: segments.Counted{}, Oracle: func() oracles.Maximiser { return segment.New() },
		Small: segments.SmallCounted})
}
