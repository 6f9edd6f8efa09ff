package traintest

import (
	"math/rand/v2"

	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/matchings"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// MatchingProblem draws n matchings of up to 6 sources and targets. Attributes of pairs tell, with errors, which ones
// are linked, and some false links cost nothing. The scorer is linear, with a price for unmatched sources unless
// matchings are complete.
func MatchingProblem(n int, complete bool, s oracles.Smoothing, λ float64) *train.Problem {
	const attributes = 9
	r := rand.New(rand.NewPCG(4, 9))
	x := &structured.Sparse{Offsets: []int{0}}
	pairs := &structured.Table{Name: matchings.PairRows, Offsets: []int{0}, Attributes: x}
	sources := &structured.Table{Name: matchings.SourceRows, Offsets: []int{0}}
	d := &structured.Dataset{Name: "matchings", Offsets: []int{0}, Outputs: []int{0}, Tables: []*structured.Table{pairs, sources}, CostRows: matchings.PairRows}
	for i := range n {
		rows, columns := 1+r.IntN(6), 1+r.IntN(6)
		if complete && rows > columns {
			rows, columns = columns, rows
		}
		order := r.Perm(columns)
		for k := range rows {
			gold := int32(0)
			if k < columns && (complete || r.IntN(4) > 0) {
				gold = int32(order[k]) + 1
			}
			d.Labels = append(d.Labels, gold)
			for j := range columns {
				a := r.IntN(6)
				if int32(j)+1 == gold && r.IntN(5) > 0 {
					a = 6 + r.IntN(3)
				}
				x.Index = append(x.Index, int32(a))
				x.Offsets = append(x.Offsets, len(x.Index))
				d.Costs = append(d.Costs, float32(min(1, r.IntN(5))))
			}
		}
		d.Offsets = append(d.Offsets, d.Offsets[i]+rows+columns)
		d.Outputs = append(d.Outputs, d.Outputs[i]+rows)
		pairs.Offsets, sources.Offsets = append(pairs.Offsets, len(x.Index)), d.Outputs
	}
	parts := []sparse.Part{{Attributes: attributes, Weights: "pairs"}, {Bias: "unmatched"}}
	if complete {
		parts = parts[:1]
	}
	o := &engine.Objective{Scorer: sparse.New(matchings.Matching{Complete: complete}.Form(), parts), Data: d, Lambda: λ}
	return &train.Problem{Engine: engine.NewEngine(o, 2), Smoothing: s, Seed: 3}
}
