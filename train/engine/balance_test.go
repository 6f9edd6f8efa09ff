package engine_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/choices"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// A full pass pulls back a point of the polytope, however many candidates an example has: with equal scores the
// roundings of all go in the same direction.
func TestManyCandidatesStayAPoint(t *testing.T) {
	for _, n := range []int{1, 2, 3, 1000, 11000, 60000} {
		for _, c := range []float32{1, 0.3, 3} {
			t.Run(fmt.Sprint(n, "/", c), func(t *testing.T) {
				data := &structured.Dataset{
					Name: "choices", Dim: 1, Offsets: []int{0, n}, Outputs: []int{0, 1}, Labels: []int32{int32(n / 2)},
					Features: make([]float32, n), Weights: []float64{float64(c)},
				}
				o := &engine.Objective{Scorer: &traintest.Linear{Inputs: 1, Structure: choices.Form()}, Data: data, Loss: engine.CRF, Lambda: 1}
				e := engine.NewEngine(o, 1)
				if _, err := e.FullPass(t.Context(), make([]float32, o.Scorer.Dim()), oracles.Smoothing{}, nil); err != nil {
					t.Fatal(err)
				}
				sum := 0.0
				for k, v := range e.Lane(0).V.Parts[0].Of(0) {
					sum += float64(v)
					if k == n/2 {
						v += c
					}
					if v < 0 || v > c {
						t.Fatalf("candidate %d has the probability %g, times the weight %g", k, v, c)
					}
				}
				if sum != 0 {
					t.Errorf("the entries of v sum to %g", sum)
				}
			})
		}
	}
}

// Rows whose sums are off by roundings are balanced. Others are of outputs that leave rows out, or targets that are no
// distribution: they stay as they are.
func TestOnlyRoundingsAreSettled(t *testing.T) {
	sum := func(row []float32) (total float64) {
		for _, x := range row {
			total += float64(x)
		}
		return total
	}
	θ := []float32{1, 2, 3}
	for _, c := range []float32{1, 0.3, 3} {
		for _, off := range []float32{1e-6, -1e-4, 2e-3, -0.5} {
			rounding := math.Abs(float64(off)) < 1e-3
			v := []float32{0.25 * c, (0.5 + off) * c, -0.75 * c}
			before := slices.Clone(v)
			moved := engine.BalanceRow(v, []float32{0, 0, -1}, θ, float64(c))
			if balanced := sum(v) == 0 && moved > 0; balanced != rounding || !rounding && !slices.Equal(v, before) {
				t.Errorf("weight %g, a sum off by %g: %v becomes %v, moved by %g", c, off, before, v, moved)
			}
		}
	}
	for _, uses := range []float32{1, 7} { // tied rows are used several times
		for _, off := range []float32{1e-6, -1e-4, 2e-3, -0.4} {
			rounding := math.Abs(float64(off)) < 1e-3
			u := []float32{0.25 * uses, (0.5 + off) * uses, 0.25 * uses}
			before := slices.Clone(u)
			engine.BalanceTarget(u)
			if balanced := sum(u) == float64(uses); balanced != rounding || !rounding && !slices.Equal(u, before) {
				t.Errorf("%g uses, a sum off by %g: %v becomes %v", uses, off, before, u)
			}
		}
	}
}

// A balanced row is a difference of points of a simplex, whatever the weight of the example: where the gold output has
// lost all its probability, its entry is not below −c.
func TestSettledRowsStayPoints(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	for range 20000 {
		width, c, uses := 2+r.IntN(5), float32(math.Exp(r.NormFloat64()*3)), 1.
		if r.IntN(3) == 0 {
			uses = float64(1 + r.IntN(9))
		}
		v, negated, θ := make([]float32, width), make([]float32, width), make([]float32, width)
		reference, u := distribution(r, width), distribution(r, width)
		for y := range v {
			negated[y] = float32(-uses * reference[y])
			v[y] = (float32(uses*u[y]) + negated[y]) * c
			θ[y] = float32(r.NormFloat64())
		}
		engine.BalanceRow(v, negated, θ, float64(c))
		sum := 0.0
		for y, x := range v {
			sum += float64(x)
			if least := float64(c) * float64(negated[y]); float64(x) < least {
				t.Fatalf("seed %d, weight %g: entry %d of %v is %g, below %g", seed, c, y, v, x, least)
			}
		}
		if sum != 0 {
			t.Fatalf("seed %d, weight %g: %v sums to %g", seed, c, v, sum)
		}
	}
}

// distribution draws one, often of few entries.
func distribution(r *rand.Rand, width int) []float64 {
	u, total := make([]float64, width), 0.0
	for y := range u {
		if r.IntN(2) == 0 {
			u[y] = r.Float64()
		}
		total += u[y]
	}
	if total == 0 {
		u[r.IntN(width)], total = 1, 1
	}
	for y := range u {
		u[y] /= total
	}
	return u
}

// A row of v of 17 labels, as a certificate balances it for every token.
func BenchmarkBalanceRow(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	v, negated, θ := make([]float32, 17), make([]float32, 17), make([]float32, 17)
	negated[3] = -1
	total := 0.0
	for k := range v {
		u := math.Exp(5 * r.NormFloat64())
		v[k], θ[k] = float32(u), float32(r.NormFloat64())
		total += u
	}
	for k := range v {
		v[k] = float32(float64(v[k])/total) + negated[k]
	}
	row := make([]float32, len(v))
	for b.Loop() {
		copy(row, v)
		engine.BalanceRow(row, negated, θ, 1)
	}
}
