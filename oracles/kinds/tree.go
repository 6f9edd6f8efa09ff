package kinds

import (
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/tree"
	"github.com/dsp-go/dsp/structured/trees"
)

// Dependency trees, with and without crossing arcs.
func init() {
	for _, t := range []trees.SpanningTree{{}, {NonProjective: true}} {
		builtin(Kind{Structure: t, Oracle: func() oracles.Maximiser { return tree.New(t.NonProjective) }, Small: t.Small})
	}
}
