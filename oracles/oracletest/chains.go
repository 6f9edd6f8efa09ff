package oracletest

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// LongChain returns a batch of one chain without forbidden parts, whose potentials are multiples of 1/8, so that
// float32 sums are exact below 2²¹.
func LongChain(r *rand.Rand, length, y int, perPosition bool) *structured.Potentials {
	θ := new(structured.Potentials)
	chains.Resize(θ, []int{0, length}, y, perPosition)
	for k := range θ.Parts {
		x := θ.Parts[k].Values
		for i := range x {
			x[i] = float32(r.IntN(64)) / 8
		}
	}
	return θ
}

// Max breaks ties by the smaller label, from the last position back.
func maxBreaksTies(t *rapid.T, o oracles.Oracle) {
	θ := drawPotentials(t, registry.Of(chains.Chain{}), integers)
	y, value := make([]int32, θ.OutputSize()), make([]float64, θ.Len())
	o.Max(θ, y, value)
	for b := range value {
		all := Enumerate(θ, b)
		if len(all) == 0 {
			continue
		}
		if got := y[θ.Outputs[b]:θ.Outputs[b+1]]; !slices.Equal(got, all[0].Values) {
			t.Fatalf("labels %v, want %v", got, all[0].Values)
		}
	}
}

// The scores of outputs have the same bits as the structure's Score.
func topKScoresAreExact(t *rapid.T, o oracles.Oracle) {
	θ := drawPotentials(t, registry.Of(chains.Chain{}), reals)
	var best oracles.KBest
	o.TopK(θ, rapid.IntRange(1, 600).Draw(t, "K"), &best)
	for b := range θ.Len() {
		for k := range best.Count[b] {
			score := θ.Score(b, best.Output(k, θ.Outputs[b], θ.Outputs[b+1]))
			Near(t, "score of the labels", score, best.Score[b*best.K+k], 0)
		}
	}
}

// Adding a number to all labels of a position adds it to the value and does not change the marginals.
func shift(t *rapid.T, o oracles.Oracle) {
	θ, μ := drawPotentials(t, registry.Of(chains.Chain{}), integers), drawMu(t)
	shifted, by := clone(θ), make([]float64, θ.Len())
	p := chains.Of(shifted)
	for b := range by {
		for at := p.Offsets[b]; at < p.Offsets[b+1]; at++ {
			s := rapid.IntRange(-1000, 1000).Draw(t, "shift")
			by[b] += float64(s)
			for l := range p.Y {
				p.Node[at*p.Y+l] += float32(s)
			}
		}
	}
	for _, s := range []oracles.Smoothing{{Kind: oracles.None}, {Kind: oracles.L2, Mu: μ, K: 3}, {Kind: oracles.L2, Mu: μ},
		{Kind: oracles.Entropy, Mu: μ}} {
		var before, after oracles.Answer
		s.Answer(o, θ, &before, true)
		s.Answer(o, shifted, &after, true)
		for b := range by {
			Near(t, "value", after.Value[b], before.Value[b]+by[b], 1e-5*max(1, μ))
			Near(t, "max", after.Max[b], before.Max[b]+by[b], 0)
		}
		if s.Kind != oracles.L2 { // the order of tied outputs may change
			NearMarginals(t, "marginal", &after.U, &before.U, 1e-5)
		}
	}
}

// Top-K on longer chains with more labels than enumeration allows.
func topKOfLongChains(t *rapid.T, o oracles.Oracle) {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	θ := LongChain(r, 1+r.IntN(150), 1+r.IntN(40), r.IntN(2) == 0)
	k := 1 + r.IntN(8)
	var best oracles.KBest
	o.TopK(θ, k, &best)
	want := bestScores(θ, 0, k)
	if best.Count[0] != len(want) {
		t.Fatalf("%d outputs, want %d", best.Count[0], len(want))
	}
	for i, s := range want {
		Near(t, "score", best.Score[i], s, 0)
		Near(t, "score of the labels", θ.Score(0, best.Output(i, 0, best.N)), s, 0)
	}
}

// Outputs that tie in float32 arithmetic still come best first.
func topKOrderBelowFloat32(t *rapid.T, o oracles.Oracle) {
	θ := LongChain(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)), 20, 3, false)
	for i := range θ.Parts[0].Values {
		θ.Parts[0].Values[i] += 1e6 + float32(i%7)
	}
	for i := range θ.Parts[1].Values {
		θ.Parts[1].Values[i] *= 1e-3
	}
	var best oracles.KBest
	o.TopK(θ, 30, &best)
	if !slices.IsSortedFunc(best.Score, func(a, b float64) int { return cmp.Compare(b, a) }) {
		t.Fatalf("scores %v", best.Score)
	}
}

// bestScores returns the k best scores of chain b in float64 by keeping k per cell: a reference for long chains.
func bestScores(θ *structured.Potentials, b, k int) []float64 {
	p := chains.Of(θ)
	lo, hi := p.Offsets[b], p.Offsets[b+1]
	keepBest := func(s []float64) []float64 {
		slices.SortFunc(s, func(a, b float64) int { return cmp.Compare(b, a) })
		return s[:min(k, len(s))]
	}
	cells := make([][]float64, p.Y)
	for l := range cells {
		cells[l] = []float64{float64(p.Node[lo*p.Y+l])}
	}
	for t := lo + 1; t < hi; t++ {
		next := make([][]float64, p.Y)
		for l := range next {
			for from, prefixes := range cells {
				for _, s := range prefixes {
					next[l] = append(next[l], s+float64(p.EdgeAt(t)[from*p.Y+l])+float64(p.Node[t*p.Y+l]))
				}
			}
			next[l] = keepBest(next[l])
		}
		cells = next
	}
	return keepBest(slices.Concat(cells...))
}
