package registry

import (
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/matching"
	"github.com/dsp-go/dsp/structured/matchings"
)

// Links of source items with target items, where each source item has one, and where it may have none.
func init() {
	for _, m := range []matchings.Matching{{}, {Complete: true}} {
		builtin(Kind{Structure: m, Oracle: func() oracles.Maximiser { return matching.New() }, Small: m.Small})
	}
}
