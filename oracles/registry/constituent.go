package registry

import (
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/constituent"
	"github.com/dsp-go/dsp/structured/constituents"
)

// Trees of constituents.
var _ = builtin(Kind{Structure: constituents.Tree{}, Oracle: func() oracles.Maximiser { return constituent.New() },
	Small: constituents.Small, Chart: constituent.Declare})
