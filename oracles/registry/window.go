package registry

import (
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/window"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/windows"
)

// Windows on a grid. Their structure says how long a search may take.
var _ = builtin(Kind{
	Structure: windows.Window{},
	Oracle:    func() oracles.Maximiser { return window.New() },
	Small:     windows.Small,
	OracleOf: func(s structured.Structure) oracles.Maximiser {
		return &window.Oracle{Limit: s.(windows.Window).Limit}
	},
})
