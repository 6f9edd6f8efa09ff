package tree_test

import (
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/oracles/tree"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees"
)

// Heads and relations of the samples of sentences too long to enumerate are as frequent as their marginals say. In some
// of them neighbours want each other for a head so much that a plain random walk would not end.
func TestSamplesHaveMarginals(t *testing.T) {
	each(t, func(t *testing.T, form trees.SpanningTree, o *tree.Oracle) {
		const n, count, relations, draws = 14, 4, 3, 3000
		θ := sentences(form, n, count, relations)
		arc := func(b, d, h int) *float32 { return &θ.Parts[0].Of(b)[d*n+h] }
		for d := range n {
			*arc(1, d, d^1) += 50             // pairs
			*arc(2, d, (d+1)%n) += 30         // a ring
			*arc(3, d, rand.IntN(n)) += 1_000 // too much for exponentials
		}
		var u structured.Marginals
		var s oracles.Samples
		o.Exp(θ, 1, make([]float64, count), &u)
		seed := make([]uint64, count)
		for b := range seed {
			seed[b] = rand.Uint64()
		}
		o.Sample(θ, 1, draws, seed, &s)
		for b := range count {
			for d := range n {
				counts, p := make([]int, n*relations), make([]float64, n*relations)
				for i := range p {
					p[i] = float64(u.Parts[1].Of(b)[d*n*relations+i])
				}
				for k := range draws {
					y := s.Output(k, θ.Outputs[b], θ.Outputs[b+1])
					if err := trees.Check(y[:n]); err != nil || !form.NonProjective && !trees.Projective(y[:n]) {
						t.Fatalf("sentence %d: sample %v: %v", b, y, err)
					}
					counts[(trees.Row(n, d, y[d])-d*n)*relations+int(y[n+d])]++
				}
				const falseAlarm = 1e-9
				if got, most := oracletest.Divergence(counts, p), oracletest.MostDivergence(len(p), falseAlarm); !(got <= most) {
					t.Errorf("sentence %d, token %d: samples diverge by %v, more than %v\n%v\n%v", b, d, got, most, counts, p)
				}
			}
		}
	})
}
