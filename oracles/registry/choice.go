package registry

import (
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/choice"
	"github.com/dsp-go/dsp/structured/choices"
)

// One of several candidates.
var _ = builtin(Kind{Structure: choices.Choice{}, Oracle: func() oracles.Maximiser { return choice.New() },
	Small: choices.Small})
