package registry

import (
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/chain"
	"github.com/dsp-go/dsp/oracles/chart"
	"github.com/dsp-go/dsp/oracles/choice"
	"github.com/dsp-go/dsp/oracles/constituent"
	"github.com/dsp-go/dsp/oracles/cut"
	"github.com/dsp-go/dsp/oracles/exact"
	"github.com/dsp-go/dsp/oracles/matching"
	align "github.com/dsp-go/dsp/oracles/monotone"
	grammars "github.com/dsp-go/dsp/oracles/pcfg"
	"github.com/dsp-go/dsp/oracles/reweighted"
	"github.com/dsp-go/dsp/oracles/segment"
	"github.com/dsp-go/dsp/oracles/transcript"
	"github.com/dsp-go/dsp/oracles/tree"
	"github.com/dsp-go/dsp/oracles/window"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/choices"
	"github.com/dsp-go/dsp/structured/constituents"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/matchings"
	"github.com/dsp-go/dsp/structured/monotone"
	"github.com/dsp-go/dsp/structured/pcfg"
	"github.com/dsp-go/dsp/structured/segments"
	"github.com/dsp-go/dsp/structured/transcripts"
	"github.com/dsp-go/dsp/structured/trees"
	"github.com/dsp-go/dsp/structured/windows"
)

// The structures of dsp itself.
func init() {
	// Labels of sequences; further down, those that depend on the two before.
	builtin(Kind{Structure: chains.Chain{}, Oracle: func() oracles.Maximiser { return chain.New() }, Small: chains.Small,
		Chart: chain.Declare})
	// One of several candidates.
	builtin(Kind{Structure: choices.Choice{}, Oracle: func() oracles.Maximiser { return choice.New() },
		Small: choices.Small})
	// Trees of constituents.
	builtin(Kind{Structure: constituents.Tree{}, Oracle: func() oracles.Maximiser { return constituent.New() },
		Small: constituents.Small, Chart: constituent.Declare})
	// Paths through the pairs of two sequences.
	builtin(Kind{Structure: monotone.Alignment{}, Oracle: func() oracles.Maximiser { return align.New() },
		Small: monotone.Alignment{}.Small, Chart: align.Declare})
	moves := monotone.Alignment{Moves: true}
	builtin(Kind{Structure: moves, Oracle: func() oracles.Maximiser { return chart.New(align.Declare) },
		Small: moves.Small, Chart: align.Declare})
	// Derivations of sentences by grammars.
	builtin(Kind{Structure: pcfg.Tree{}, Oracle: func() oracles.Maximiser { return grammars.New() }, Small: pcfg.Small,
		Chart: grammars.Declare})
	builtin(Kind{Structure: chains.Second{}, Oracle: func() oracles.Maximiser { return chain.NewSecond() },
		Small: chains.SmallSecond, Chart: chain.DeclareSecond})
	// Labels of the frames of lines, which read as strings.
	builtin(Kind{Structure: transcripts.Frames{}, Oracle: func() oracles.Maximiser { return transcript.New() },
		Small: transcripts.Small})
	// Windows on a grid. Their structure says how long a search may take.
	builtin(Kind{Structure: windows.Window{}, Oracle: func() oracles.Maximiser { return window.New() },
		Small: windows.Small, OracleOf: func(s structured.Structure) oracles.Maximiser {
			return &window.Oracle{Limit: s.(windows.Window).Limit}
		}})
	addGraphs()
	// Links of source items with target items, where each source item has one, and where it may have none.
	for _, m := range []matchings.Matching{{}, {Complete: true}} {
		builtin(Kind{Structure: m, Oracle: func() oracles.Maximiser { return matching.New() }, Small: m.Small})
	}
	// Labelled segments of sequences, without and with a loss that counts them.
	builtin(Kind{Structure: segments.Segments{}, Oracle: func() oracles.Maximiser { return segment.New() },
		Small: segments.Small, Chart: segment.Declare})
	builtin(Kind{Structure: segments.Counted{}, Oracle: func() oracles.Maximiser { return segment.New() },
		Small: segments.SmallCounted})
	addTrees()
}

// addGraphs adds labels of the nodes of graphs, by the oracle that finds them and the form of the potentials of edges.
func addGraphs() {
	for _, by := range []struct {
		graphs.Inference
		oracle func() oracles.Maximiser
	}{
		{graphs.Exact, func() oracles.Maximiser { return exact.New() }},
		{graphs.Relaxed, func() oracles.Maximiser { return reweighted.New() }},
		{graphs.Cut, func() oracles.Maximiser { return cut.New() }},
	} {
		for _, edges := range []graphs.Edges{graphs.Own, graphs.Typed, graphs.Potts} {
			p := graphs.Pairwise{Edges: edges, By: by.Inference}
			builtin(Kind{Structure: p, Oracle: by.oracle, Small: p.Small})
		}
	}
}

// addTrees adds dependency trees, with and without crossing arcs, and with scores of siblings.
func addTrees() {
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
