package oracletest

import (
	"fmt"
	"math"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
)

// sameScore is the relative tolerance between two sums, in float64, of the same float32 numbers.
const sameScore = 1e-13

// nearScore checks that a score equals the structure's own up to the order of summation.
func nearScore(t Failer, what string, got, want float64) {
	t.Helper()
	Near(t, what, got, want, sameScore*(100+math.Abs(want)))
}

// Max finds an output as good as any, and its score.
func maxIsBestOfAll(t *rapid.T, kind registry.Kind, o oracles.Maximiser) {
	θ := drawPotentials(t, kind, anyNumbers)
	y, value := make([]int32, θ.OutputSize()), make([]float64, θ.Len())
	o.Max(θ, y, value)
	for b := range value {
		all := Enumerate(θ, b)
		if len(all) == 0 {
			Near(t, "value", value[b], math.Inf(-1), 0)
			continue
		}
		nearScore(t, "score of the output", θ.Score(b, y[θ.Outputs[b]:θ.Outputs[b+1]]), value[b])
		Near(t, "value", value[b], all[0].Score,
			tolerance(θ, oracles.Rounding(o, θ, b, 0)+referenceError(θ, b, all[0].Score)))
	}
}

// tolerance returns 0 if all potentials are integers, which makes scores exact, and else the given tolerance.
func tolerance(θ *structured.Potentials, otherwise float64) float64 {
	for k := range θ.Parts {
		for _, x := range θ.Parts[k].Values {
			if x != minusInf && float64(x) != math.Trunc(float64(x)) {
				return otherwise
			}
		}
	}
	return 0
}

func topKIsBestOfAll(t *rapid.T, kind registry.Kind, o oracles.Ranker) {
	θ := drawPotentials(t, kind, anyNumbers)
	k := rapid.OneOf(rapid.IntRange(1, 9), rapid.IntRange(10, 600)).Draw(t, "K")
	var best oracles.KBest
	o.TopK(θ, k, &best)
	for b := range θ.Len() {
		checkList(t, θ, b, &best, Enumerate(θ, b))
	}
}

// checkList compares a k-best list with all outputs: their number, that they are distinct, and their scores in order.
func checkList(t *rapid.T, θ *structured.Potentials, b int, best *oracles.KBest, all []Output) {
	t.Helper()
	if want := min(best.K, len(all)); best.Count[b] != want {
		t.Fatalf("%d outputs, want %d", best.Count[b], want)
	}
	seen := map[string]bool{}
	for k := range best.Count[b] {
		y, score := best.Output(k, θ.Outputs[b], θ.Outputs[b+1]), best.Score[b*best.K+k]
		nearScore(t, "score of the output", θ.Score(b, y), score)
		Near(t, "score in order", score, all[k].Score, tolerance(θ, 1e-5))
		if k > 0 && score > best.Score[b*best.K+k-1] {
			t.Fatalf("score %d rises", k)
		}
		if name := fmt.Sprint(y); seen[name] {
			t.Fatalf("%s twice", name)
		} else {
			seen[name] = true
		}
	}
}
