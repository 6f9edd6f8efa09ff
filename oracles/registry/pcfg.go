package registry

import (
	"github.com/dsp-go/dsp/oracles"
	grammars "github.com/dsp-go/dsp/oracles/pcfg"
	"github.com/dsp-go/dsp/structured/pcfg"
)

// Derivations of sentences by grammars.
var _ = builtin(Kind{
	Structure: pcfg.Tree{}, Oracle: func() oracles.Maximiser { return grammars.New() },
	Small: pcfg.Small, Chart: grammars.Declare,
})
