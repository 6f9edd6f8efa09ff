package oracletest

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"pgregory.net/rapid"
)

func maxIsBestOfAll(t *rapid.T, o oracles.Oracle) {
	θ := drawPotentials(t, integers)
	y, value := make([]int32, θ.Positions()), make([]float64, θ.Len())
	o.Max(θ, y, value)
	for b := range value {
		all := Enumerate(θ, b)
		if len(all) == 0 {
			Near(t, "value", value[b], math.Inf(-1), 0)
			continue
		}
		Near(t, "value", value[b], all[0].Score, 0)
		if got := y[θ.Offsets[b]:θ.Offsets[b+1]]; !slices.Equal(got, all[0].Labels) {
			t.Fatalf("labels %v, want %v", got, all[0].Labels)
		}
	}
}

func topKIsBestOfAll(t *rapid.T, o oracles.Oracle) {
	θ := drawPotentials(t, values(rapid.IntRange(0, 1).Draw(t, "kind")))
	k := rapid.OneOf(rapid.IntRange(1, 9), rapid.IntRange(10, 600)).Draw(t, "K")
	var best oracles.KBest
	o.TopK(θ, k, &best)
	for b := range θ.Len() {
		checkList(t, θ, b, &best, Enumerate(θ, b))
	}
}

// checkList compares a k-best list with all outputs: as many as there are, different ones, the same scores in order.
func checkList(t *rapid.T, θ *structured.Potentials, b int, best *oracles.KBest, all []Output) {
	t.Helper()
	if want := min(best.K, len(all)); best.Count[b] != want {
		t.Fatalf("%d outputs, want %d", best.Count[b], want)
	}
	seen := map[string]bool{}
	for k := range best.Count[b] {
		labels, score := best.Output(k, θ.Offsets[b], θ.Offsets[b+1]), best.Score[b*best.K+k]
		Near(t, "score of the labels", θ.Score(b, labels), score, 0)
		Near(t, "score in order", score, all[k].Score, 1e-5)
		if k > 0 && score > best.Score[b*best.K+k-1] {
			t.Fatalf("score %d rises", k)
		}
		if name := fmt.Sprint(labels); seen[name] {
			t.Fatalf("%s twice", name)
		} else {
			seen[name] = true
		}
	}
}

// Longer chains and more labels than enumeration can do.
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
	for i := range θ.Node {
		θ.Node[i] += 1e6 + float32(i%7)
	}
	for i := range θ.Edge {
		θ.Edge[i] *= 1e-3
	}
	var best oracles.KBest
	o.TopK(θ, 30, &best)
	if !slices.IsSortedFunc(best.Score, func(a, b float64) int { return cmp.Compare(b, a) }) {
		t.Fatalf("scores %v", best.Score)
	}
}
