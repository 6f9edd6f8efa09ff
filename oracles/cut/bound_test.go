package cut_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/cut"
	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
)

// Many edges that lack next to nothing lack something together: the bound says so, and the answer does not count as the
// best.
func TestSlightLack(t *testing.T) {
	const pairs = 1860
	g, θ := &structured.Graph{}, new(structured.Potentials)
	for e := range int32(pairs) {
		g.Ends = append(g.Ends, [2]int32{2 * e, 2*e + 1})
	}
	θ.Reshape(graphs.Pairwise{Edges: graphs.Own, By: graphs.Cut}.Form(2, 0),
		[]int{0, 2 * pairs}, func(table string) []int {
			if table == graphs.EdgeRows {
				return []int{0, pairs}
			}
			return []int{0, 2 * pairs}
		})
	θ.Graphs = []*structured.Graph{g}
	clear(θ.Parts[0].Values)
	for e := range pairs {
		copy(θ.Parts[1].Values[4*e:], []float32{100, 100.00015, 100.00015, 100})
	}
	apart := make([]int32, 2*pairs)
	for e := range pairs {
		apart[2*e] = 1
	}
	best := θ.Score(0, apart)
	o, y, value := cut.New(), make([]int32, 2*pairs), make([]float64, 1)
	var list oracles.KBest
	o.Max(θ, y, value)
	for range 2 {
		if upper, exact := o.Bound(0); upper < best || exact && value[0] < best {
			t.Errorf("value %v, bound %v, exact %v, but labels with the score %v exist", value[0], upper, exact, best)
		}
		if o.Truncated() > 0 || o.Check(θ) != nil {
			t.Errorf("%d edges count as truncated, Check: %v", o.Truncated(), o.Check(θ))
		}
		o.TopK(θ, 1, &list)
	}
}

// With edges that lack nothing, next to nothing or much, no labels score above the bound, and answers that count as
// exact are the best: of Max, and every one of TopK.
func TestBoundsOfSlightLack(t *testing.T) {
	r, kind := rand.New(rand.NewPCG(4, 4)), graphs.Pairwise{Edges: graphs.Own, By: graphs.Cut}
	exactly, inexactly := 0, 0
	for range 400 {
		θ := kind.Small(r)
		for k := range θ.Parts {
			for i := range θ.Parts[k].Values {
				θ.Parts[k].Values[i] = float32(0.01 * r.NormFloat64())
			}
		}
		for e := θ.Parts[1].Values; len(e) > 0; e = e[4:] {
			e[0] = 100
			e[3] = float32(float64(e[1]) + float64(e[2]) - 100 + []float64{0, 1, -1e-5, 1e-5, -1}[r.IntN(5)]*r.Float64())
		}
		o, y, value := cut.New(), make([]int32, θ.OutputSize()), make([]float64, θ.Len())
		var list oracles.KBest
		check := func(what string, found func(b int) []float64) {
			for b := range θ.Len() {
				all, rounding := oracletest.Enumerate(θ, b), o.Rounding(θ, b, 0)
				upper, exact := o.Bound(b)
				scores := found(b)
				if len(scores) == 0 {
					continue
				}
				if best := all[0].Score; max(upper, scores[0]) < best-rounding {
					t.Fatalf("%s: bound %v is below the best score %v", what, upper, best)
				}
				for k, s := range scores {
					if exact && math.Abs(s-all[k].Score) > rounding {
						t.Fatalf("%s: score %d is %v and counts as exact, want %v", what, k, s, all[k].Score)
					}
				}
				if exact {
					exactly++
				} else {
					inexactly++
				}
			}
		}
		o.Max(θ, y, value)
		check("max", func(b int) []float64 { return value[b : b+1] })
		o.TopK(θ, 3, &list)
		check("top-K", func(b int) []float64 { return list.Score[3*b:][:list.Count[b]] })
	}
	if min(exactly, inexactly) < 100 {
		t.Errorf("%d answers count as exact, %d do not", exactly, inexactly)
	}
}
