// Package kinds is the registry of structures: each with the oracle that answers for it. Whoever adds a structure adds a line
// here; training, models and commands find it, and the contract suite tests it.
package kinds

import (
	"fmt"
	"math/rand/v2"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/chain"
	"github.com/dsp-go/dsp/oracles/tree"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/trees"
)

// Kind is a structure with what it takes to learn to predict it.
type Kind struct {
	structured.Structure
	// Oracle returns a new oracle of the structure, with scratch memory of its own. What it can answer beside Max is seen from its
	// interfaces.
	Oracle func() oracles.Maximiser
	// Small draws the form of potentials of a batch of small examples, whose outputs can be enumerated; their content is undefined.
	Small func(r *rand.Rand) *structured.Potentials
}

// All lists the registered kinds.
var All = []Kind{
	{chains.Chain{}, func() oracles.Maximiser { return chain.New() }, chains.Small},
	{trees.SpanningTree{}, func() oracles.Maximiser { return tree.New(false) }, trees.SpanningTree{}.Small},
	{trees.SpanningTree{NonProjective: true}, func() oracles.Maximiser { return tree.New(true) }, trees.SpanningTree{NonProjective: true}.Small},
}

// Of returns the kind of a structure. Asking for one that is not registered is a mistake in the program.
func Of(s structured.Structure) Kind {
	for _, k := range All {
		if k.Name() == s.Name() {
			return k
		}
	}
	panic(fmt.Sprintf("structure %q is not registered in oracles/kinds", s.Name()))
}
