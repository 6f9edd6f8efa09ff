package matching_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/matching"
	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/matchings"
)

// each runs a check on both kinds of matchings, with all kernels that this build and machine have.
func each(t *testing.T, check func(t *testing.T, s matchings.Matching, o *matching.Oracle)) {
	for _, name := range matching.Kernels() {
		for _, s := range []matchings.Matching{{}, {Complete: true}} {
			t.Run(s.Name()+", "+name, func(t *testing.T) {
				defer matching.Use(name)()
				check(t, s, matching.New())
			})
		}
	}
}

func TestContract(t *testing.T) {
	each(t, func(t *testing.T, s matchings.Matching, o *matching.Oracle) { oracletest.Run(t, registry.Of(s), o) })
}

// draw draws one example with some forbidden pairs. Integer scores have many ties.
func draw(s matchings.Matching, n, m int, integers bool, forbidden float64, r *rand.Rand) *structured.Potentials {
	θ := new(structured.Potentials)
	s.Resize(θ, []int{n}, []int{m})
	for k := range θ.Parts {
		for i := range θ.Parts[k].Values {
			x := float32(1e4 * r.NormFloat64())
			if integers {
				x = float32(r.IntN(7) - 3)
			}
			if r.Float64() < forbidden {
				x = float32(math.Inf(-1))
			}
			θ.Parts[k].Values[i] = x
		}
	}
	return θ
}

// murty ranks matchings by partitioning (Murty 1968), a reference for BMMF: a cell fixes the first numbers of an output
// and forbids some at the next place. The best output of a cell splits the rest of it into one cell per place.
func murty(θ *structured.Potentials, k int) (scores []float64) {
	o := matching.New()
	type cell struct {
		θ     *structured.Potentials
		y     []int32
		fixed int
		score float64
	}
	var cells []cell
	add := func(θ *structured.Potentials, fixed int) {
		c := cell{θ: θ, y: make([]int32, θ.OutputSize()), fixed: fixed}
		value := []float64{0}
		if o.Max(θ, c.y, value); !math.IsInf(value[0], -1) {
			c.score = value[0]
			cells = append(cells, c)
		}
	}
	add(θ, 0)
	for len(scores) < k && len(cells) > 0 {
		at := 0
		for c := range cells {
			if cells[c].score > cells[at].score {
				at = c
			}
		}
		best := cells[at]
		cells = slices.Delete(cells, at, at+1)
		scores = append(scores, best.score)
		for v := best.fixed; v < len(best.y); v++ {
			next := new(structured.Potentials)
			next.Copy(best.θ)
			m := len(θ.Parts[0].Values) / len(best.y)
			gold := structured.Gold{Output: slices.Repeat([]int32{-1}, len(best.y)), Sets: [][]int32{nil, {}}}
			copy(gold.Output, best.y[:v])
			for j := range int32(m + 1) {
				if j != best.y[v] {
					gold.Sets[1] = append(gold.Sets[1], j)
				}
			}
			gold.Output[v] = -2
			matchings.Matching{Complete: len(θ.Parts) == 1}.Restrict(next, 0, gold)
			add(next, v)
		}
	}
	return scores
}

// BMMF and Murty's partitioning agree on matchings that are too many to enumerate, with and without ties.
func TestTopKIsMurtys(t *testing.T) {
	each(t, func(t *testing.T, s matchings.Matching, o *matching.Oracle) {
		for seed := range uint64(40) {
			r := rand.New(rand.NewPCG(seed, 1))
			n, m, k := r.IntN(13), r.IntN(13), 1+r.IntN(40)
			if s.Complete && n > m {
				n, m = m, n
			}
			θ := draw(s, n, m, r.IntN(2) == 0, 0.1*float64(r.IntN(4)), r)
			var best oracles.KBest
			o.TopK(θ, k, &best)
			want := murty(θ, k)
			if best.Count[0] != len(want) {
				t.Fatalf("%d outputs, want %d", best.Count[0], len(want))
			}
			seen := map[string]bool{}
			for i, w := range want {
				y := best.Output(i, 0, n)
				seen[fmt.Sprint(y)] = true
				oracletest.Near(t, "score", best.Score[i], w, 1e-9*math.Abs(w))
				oracletest.Near(t, "score of the output", θ.Score(0, y), best.Score[i], 0)
				if err := matchings.Check(y, m); err != nil {
					t.Fatal(err)
				}
			}
			if len(seen) != len(want) {
				t.Fatalf("%d different outputs of %d", len(seen), len(want))
			}
		}
	})
}

// Max-marginals of large examples equal the best scores with the pair forced, found by solving again. The largest of
// every source is the best score.
func TestMaxMarginalsOfLarge(t *testing.T) {
	each(t, func(t *testing.T, s matchings.Matching, o *matching.Oracle) {
		for seed, size := range [][2]int{{40, 40}, {30, 47}, {47, 30}, {1, 60}, {60, 1}, {33, 33}} {
			if s.Complete && size[0] > size[1] {
				continue
			}
			r := rand.New(rand.NewPCG(uint64(seed), 2))
			n, m := size[0], size[1]
			integers := seed%2 == 0
			θ := draw(s, n, m, integers, 0.1, r)
			y, value := make([]int32, n), []float64{0}
			var table oracles.MaxMarginals
			o.MaxMarginals(θ, y, value, &table)
			best := value[0]
			forced, again := new(structured.Potentials), matching.New()
			for v := range n {
				scores := table.Of(0)[v*(m+1) : (v+1)*(m+1)]
				if slices.Max(scores) != best {
					t.Fatalf("the best score of source %d is %g, of all %g", v, slices.Max(scores), best)
				}
				for j := v % 5; j <= m; j += 5 {
					forced.Copy(θ)
					gold := structured.Gold{Output: slices.Repeat([]int32{-1}, n), Sets: [][]int32{nil}}
					gold.Output[v] = int32(j)
					s.Restrict(forced, 0, gold)
					if s.Complete && j == 0 {
						value[0] = math.Inf(-1)
					} else {
						again.Max(forced, y, value)
					}
					tolerance := 1e-6
					if integers {
						tolerance = 0
					}
					oracletest.Near(t, fmt.Sprintf("max-marginal (%d, %d) of %v", v, j, size), scores[j], value[0], tolerance)
				}
			}
		}
	})
}

// The kernels give the same bits, and so do transposed and repeated problems the same values.
func TestKernelsAgree(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 3))
		n, m := 1+r.IntN(60), 1+r.IntN(400)
		s := matchings.Matching{Complete: n <= m && r.IntN(2) == 0}
		if seed%3 == 0 {
			n, m = 290, 290
		}
		θ := draw(s, n, m, r.IntN(2) == 0, 0.05, r)
		var want []int32
		var scores []float64
		for _, name := range matching.Kernels() {
			restore := matching.Use(name)
			y, value := make([]int32, n), []float64{0}
			var table oracles.MaxMarginals
			matching.New().MaxMarginals(θ, y, value, &table)
			restore()
			if want == nil {
				want, scores = y, table.Score
			} else if !slices.Equal(y, want) || !slices.Equal(table.Score, scores) {
				t.Fatalf("%s: %d×%d: other bits", name, n, m)
			}
		}
	}
}

// There is no complete matching of more sources than targets, nor of targets that all but one source forbid.
func TestInfeasible(t *testing.T) {
	o, s := matching.New(), matchings.Matching{Complete: true}
	y, value := make([]int32, 3), []float64{0}
	var best oracles.KBest
	var table oracles.MaxMarginals
	narrow := draw(s, 3, 3, true, 0, rand.New(rand.NewPCG(1, 1)))
	for _, k := range []int{0, 1, 3, 4} {
		narrow.Parts[0].Values[k] = float32(math.Inf(-1)) // sources 0 and 1 have target 2 only
	}
	for name, θ := range map[string]*structured.Potentials{"3×2": draw(s, 3, 2, true, 0, rand.New(rand.NewPCG(1, 1))),
		"narrow": narrow} {
		o.Max(θ, y, value)
		if !math.IsInf(value[0], -1) || !slices.Equal(y, []int32{0, 0, 0}) {
			t.Errorf("%s: value %g, output %v", name, value[0], y)
		}
		o.TopK(θ, 3, &best)
		o.MaxMarginals(θ, y, value, &table)
		if best.Count[0] != 0 || slices.Max(table.Of(0)) != math.Inf(-1) {
			t.Errorf("%s: %d outputs, max-marginals %g", name, best.Count[0], table.Of(0))
		}
		for _, smoothing := range []oracles.Smoothing{{}, {Kind: oracles.L2, Mu: 1}} {
			var a oracles.Answer
			if smoothing.Answer(o, θ, &a, true); !math.IsInf(a.Value[0], -1) || !a.U.Zero(0) {
				t.Errorf("%s: %v", name, a.Value)
			}
		}
	}
}

// Entropy smoothing is refused, with the reason and what to use instead.
func TestEntropyIsRefused(t *testing.T) {
	err := oracles.Smoothing{Kind: oracles.Entropy, Mu: 1}.Check(matching.New(), "matching")
	if !structured.IsBadInput(err) ||
		!strings.Contains(err.Error(), "#P-complete (Pillutla et al. 2019, Proposition 14); it supports l2") {
		t.Errorf("%v", err)
	}
}

// The oracle does not allocate once scratch memory has grown.
func TestAllocations(t *testing.T) {
	each(t, func(t *testing.T, s matchings.Matching, o *matching.Oracle) {
		θ := normal(s, 17, 19, 4)
		y, value := make([]int32, θ.OutputSize()), make([]float64, θ.Len())
		var best oracles.KBest
		var m oracles.MaxMarginals
		for name, ask := range map[string]func(){
			"Max": func() { o.Max(θ, y, value) }, "TopK": func() { o.TopK(θ, 6, &best) },
			"MaxMarginals": func() { o.MaxMarginals(θ, y, value, &m) },
		} {
			if n := testing.AllocsPerRun(20, ask); n > 0 {
				t.Errorf("%s allocates %g times", name, n)
			}
		}
	})
}
