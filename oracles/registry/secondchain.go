package registry

import (
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/chain"
	"github.com/dsp-go/dsp/structured/chains"
)

// Labels of sequences that depend on the two before.
var _ = builtin(Kind{Structure: chains.Second{}, Oracle: func() oracles.Maximiser { return chain.NewSecond() },
	Small: chains.SmallSecond, Chart: chain.DeclareSecond})
