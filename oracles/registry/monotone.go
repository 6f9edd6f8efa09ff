package registry

import (
	"github.com/dsp-go/dsp/oracles"
	align "github.com/dsp-go/dsp/oracles/monotone"
	"github.com/dsp-go/dsp/structured/monotone"
)

// Paths through the pairs of two sequences.
var _ = builtin(Kind{Structure: monotone.Alignment{}, Oracle: func() oracles.Maximiser { return align.New() },
	Small: monotone.Small, Chart: align.Declare})
