package choice

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/choices"
)

// drawPotentials draws choices with the given number of candidates, with ties.
func drawPotentials(examples, candidates int) *structured.Potentials {
	r := rand.New(rand.NewPCG(1, 1))
	rows, outputs := []int{0}, []int{0}
	for b := range examples {
		rows, outputs = append(rows, (b+1)*candidates), append(outputs, b+1)
	}
	θ := new(structured.Potentials)
	θ.Reshape(choices.Form(), outputs, func(string) []int { return rows })
	for i := range θ.Parts[0].Values {
		θ.Parts[0].Values[i] = float32(r.IntN(4000)) / 16
	}
	return θ
}

// The K best of many candidates are those of a stable sort.
func TestTopKOfMany(t *testing.T) {
	θ, o := drawPotentials(3, 2000), New()
	for _, k := range []int{1, 2, 7, 100, 1999, 2000, 2500} {
		var best oracles.KBest
		o.TopK(θ, k, &best)
		for b := range θ.Len() {
			scores := θ.Parts[0].Of(b)
			order := make([]int32, len(scores))
			for c := range order {
				order[c] = int32(c)
			}
			slices.SortStableFunc(order, func(c, d int32) int { return cmp.Compare(scores[d], scores[c]) })
			if want := min(k, len(scores)); best.Count[b] != want {
				t.Fatalf("%d candidates, want %d", best.Count[b], want)
			}
			for i := range best.Count[b] {
				if c := best.Output(i, b, b+1)[0]; c != order[i] || best.Score[b*k+i] != float64(scores[c]) {
					t.Fatalf("K = %d: candidate %d is %d with score %g, want %d", k, i, c, best.Score[b*k+i], order[i])
				}
			}
		}
	}
}

func TestAllocations(t *testing.T) {
	θ, o := drawPotentials(3, 50), New()
	y, value := make([]int32, 3), make([]float64, 3)
	var best oracles.KBest
	var u structured.Marginals
	if n := testing.AllocsPerRun(3, func() {
		o.Max(θ, y, value)
		o.TopK(θ, 10, &best)
		o.Exp(θ, 1, value, &u)
		o.Exp(θ, 1, value, nil)
	}); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

// BenchmarkOracle measures choices among 1000 candidates; an iteration is 100 choices.
func BenchmarkOracle(b *testing.B) {
	θ, o := drawPotentials(100, 1000), New()
	y, value := make([]int32, 100), make([]float64, 100)
	var best oracles.KBest
	var u structured.Marginals
	b.Run("max", func(b *testing.B) {
		for range b.N {
			o.Max(θ, y, value)
		}
	})
	b.Run("K=10", func(b *testing.B) {
		for range b.N {
			o.TopK(θ, 10, &best)
		}
	})
	b.Run("exp", func(b *testing.B) {
		for range b.N {
			o.Exp(θ, 1, value, &u)
		}
	})
}
