package registry

import (
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/tree"
	"github.com/dsp-go/dsp/structured/trees"
)

// Dependency trees, with and without crossing arcs, and with scores of siblings.
func init() {
	for _, t := range []trees.SpanningTree{{}, {NonProjective: true}} {
		k := Kind{Structure: t, Oracle: func() oracles.Maximiser { return tree.New(t.NonProjective) }, Small: t.Small}
		if !t.NonProjective {
			k.Chart = tree.Declare
		}
		builtin(k)
	}
	siblings := trees.SpanningTree{Siblings: true}
	builtin(Kind{Structure: siblings, Oracle: func() oracles.Maximiser { return tree.NewSiblings() },
		Small: siblings.Small, Chart: tree.Declare})
}
