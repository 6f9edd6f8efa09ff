// Package kinds is the registry of structures, each with its oracle. To add a structure, add a line to All: training, models,
// commands and the contract suite then include it. A program registers structures of its own (Register).
package kinds

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/chain"
	"github.com/dsp-go/dsp/oracles/choice"
	"github.com/dsp-go/dsp/oracles/cut"
	"github.com/dsp-go/dsp/oracles/exact"
	"github.com/dsp-go/dsp/oracles/matching"
	"github.com/dsp-go/dsp/oracles/reweighted"
	"github.com/dsp-go/dsp/oracles/segment"
	"github.com/dsp-go/dsp/oracles/tree"
	"github.com/dsp-go/dsp/oracles/window"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/choices"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/matchings"
	"github.com/dsp-go/dsp/structured/segments"
	"github.com/dsp-go/dsp/structured/trees"
	"github.com/dsp-go/dsp/structured/windows"
)

// Kind is a structure with everything that training needs.
type Kind struct {
	structured.Structure
	// Oracle returns a new oracle of the structure with its own scratch memory. The interfaces that it implements show its
	// capabilities beyond Max.
	Oracle func() oracles.Maximiser
	// Small draws the form of potentials of a batch of examples that are small enough to enumerate. The values are undefined.
	Small func(r *rand.Rand) *structured.Potentials
}

// Prepare makes drawn potentials those that the kind's oracle answers for exactly. Most oracles answer for all.
func (k Kind) Prepare(θ *structured.Potentials) {
	if s, ok := k.Structure.(interface{ Prepare(*structured.Potentials) }); ok {
		s.Prepare(θ)
	}
}

// All lists the registered kinds.
var All = []Kind{
	{chains.Chain{}, func() oracles.Maximiser { return chain.New() }, chains.Small},
	{segments.Segments{}, func() oracles.Maximiser { return segment.New() }, segments.Small},
	{choices.Choice{}, func() oracles.Maximiser { return choice.New() }, choices.Small},
	{trees.SpanningTree{}, func() oracles.Maximiser { return tree.New(false) }, trees.SpanningTree{}.Small},
	{trees.SpanningTree{NonProjective: true}, func() oracles.Maximiser { return tree.New(true) }, trees.SpanningTree{NonProjective: true}.Small},
	{matchings.Matching{}, func() oracles.Maximiser { return matching.New() }, matchings.Matching{}.Small},
	{matchings.Matching{Complete: true}, func() oracles.Maximiser { return matching.New() }, matchings.Matching{Complete: true}.Small},
	{windows.Window{}, func() oracles.Maximiser { return window.New() }, windows.Small},
	{graphs.Pairwise{Edges: graphs.Own}, func() oracles.Maximiser { return exact.New() }, graphs.Pairwise{Edges: graphs.Own}.Small},
	{graphs.Pairwise{Edges: graphs.Typed}, func() oracles.Maximiser { return exact.New() }, graphs.Pairwise{Edges: graphs.Typed}.Small},
	{graphs.Pairwise{Edges: graphs.Potts}, func() oracles.Maximiser { return exact.New() }, graphs.Pairwise{Edges: graphs.Potts}.Small},
	{graphs.Pairwise{Edges: graphs.Own, By: graphs.Relaxed}, func() oracles.Maximiser { return reweighted.New() }, graphs.Pairwise{Edges: graphs.Own, By: graphs.Relaxed}.Small},
	{graphs.Pairwise{Edges: graphs.Typed, By: graphs.Relaxed}, func() oracles.Maximiser { return reweighted.New() }, graphs.Pairwise{Edges: graphs.Typed, By: graphs.Relaxed}.Small},
	{graphs.Pairwise{Edges: graphs.Potts, By: graphs.Relaxed}, func() oracles.Maximiser { return reweighted.New() }, graphs.Pairwise{Edges: graphs.Potts, By: graphs.Relaxed}.Small},
	{graphs.Pairwise{Edges: graphs.Own, By: graphs.Cut}, func() oracles.Maximiser { return cut.New() }, graphs.Pairwise{Edges: graphs.Own, By: graphs.Cut}.Small},
	{graphs.Pairwise{Edges: graphs.Typed, By: graphs.Cut}, func() oracles.Maximiser { return cut.New() }, graphs.Pairwise{Edges: graphs.Typed, By: graphs.Cut}.Small},
	{graphs.Pairwise{Edges: graphs.Potts, By: graphs.Cut}, func() oracles.Maximiser { return cut.New() }, graphs.Pairwise{Edges: graphs.Potts, By: graphs.Cut}.Small},
}

// Register adds a structure of a program's own, with its oracle. A program registers its structures before it uses any. It is an error if
// the name is empty or taken, or if a function is missing.
func Register(k Kind) error {
	switch {
	case k.Structure == nil || k.Name() == "":
		return structured.BadInput("own structure: it has no name")
	case slices.ContainsFunc(All, func(other Kind) bool { return other.Name() == k.Name() }):
		return structured.BadInput("own structure %q: another one has this name", k.Name())
	case k.Oracle == nil || k.Small == nil:
		return structured.BadInput("own structure %q: it needs the functions Oracle and Small", k.Name())
	}
	All = append(All, k)
	return nil
}

// Of returns the kind of a structure, whose oracles keep to its limits. It panics if the structure is not registered, which is a bug in the caller.
func Of(s structured.Structure) Kind {
	for _, k := range All {
		if k.Name() == s.Name() {
			if w, ok := s.(windows.Window); ok {
				k.Oracle = func() oracles.Maximiser { return &window.Oracle{Limit: w.Limit} }
			}
			return k
		}
	}
	panic(fmt.Sprintf("structure %q is not registered (kinds.Register)", s.Name()))
}
