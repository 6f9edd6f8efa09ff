package query

import (
	"context"

	"github.com/dsp-go/dsp/oracles/branching"
	"github.com/dsp-go/dsp/oracles/factors"
)

// searchBest looks for the best assignment until it is proven or the context ends.
func searchBest(ctx context.Context, m *factors.Model, s Settings) *Answer {
	limits := branching.Settings{Entries: s.Table, Seed: s.Seed}
	stop := func() bool { return ctx.Err() != nil }
	translate := func(b *branching.Answer) *Answer {
		return &Answer{Oracle: Search, Exact: b.Proven, Value: b.Value, Bound: b.Bound, Width: b.Width, States: b.States, Rounding: b.Error, Doing: b.Doing, Nodes: b.Nodes}
	}
	return translate(branching.New(m, limits).Solve(limits, stop, func(b *branching.Answer) { s.report(translate(b)) }))
}
