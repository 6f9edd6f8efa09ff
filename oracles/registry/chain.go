package registry

import (
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/chain"
	"github.com/dsp-go/dsp/structured/chains"
)

// Labels of sequences.
var _ = builtin(Kind{Structure: chains.Chain{}, Oracle: func() oracles.Maximiser { return chain.New() },
	Small: chains.Small, Chart: chain.Declare})
