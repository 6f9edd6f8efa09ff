package train_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/ranks"
	"github.com/dsp-go/dsp/train/ranks/rankstest"
	"github.com/dsp-go/dsp/train/traintest"
)

// engineFor returns an engine for a regulariser alone; its data are never read.
func engineFor(o engine.Objective) *engine.Engine {
	p := traintest.LinearProblem(1, 1, 1, 1)
	o.Data, o.Scorer = p.Data, p.Scorer
	return engine.NewEngine(&o, 1)
}

// recordDual adds a dual point to a certificate.
func recordDual(t rapid.TB, c *train.Certificate, e *engine.Engine, u engine.Recomposed) {
	t.Helper()
	if err := c.RecordDual(context.Background(), e, u); err != nil {
		t.Fatal(err)
	}
}

// Whatever pieces the bundle is given, its bound is at least each piece's and never falls. No better mixture exists
// between any two of its pieces.
func TestBundle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.SampledFrom([]int{1, 2, 5, 40}).Draw(t, "dim")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		o := engine.Objective{Lambda: math.Exp(rapid.Float64Range(-4, 2).Draw(t, "log λ")), Center: traintest.DrawWeights(r, dim, 1), Constant: 0.2}
		e := engineFor(o)
		var c train.Certificate
		last, best := math.Inf(-1), math.Inf(-1)
		for range rapid.IntRange(1, 50).Draw(t, "pieces") {
			g, a := traintest.DrawWeights(r, dim, 1), r.NormFloat64()
			recordDual(t, &c, e, engine.Recomposed{Grad: g, Linear: a, Central: a + vec.Dot64(g, o.Center)})
			margin := 1e-6 * (1 + math.Abs(c.Dual()))
			raw := mixed(&c, e.Objective)
			mix, values, _, grads, rounded := c.Bundle()
			if d := traintest.DualValue(e.Objective, a, g); raw < d-margin {
				t.Fatalf("the mixture is worth %g, the piece alone %g", raw, d)
			}
			if raw < last-margin {
				t.Fatalf("the mixture's worth fell from %g to %g", last, raw)
			}
			last = raw
			best = max(best, raw)
			if !(rounded > 0 && c.Dual() < best && c.Dual() > best-1e-4*(1+math.Abs(best))) {
				t.Fatalf("bound %g, the mixtures were worth %g at most", c.Dual(), best)
			}

			// The mixture's value computed from its parts, and the values of nearby mixtures.
			value := func(q []float64) float64 {
				sum, v := make([]float32, dim), 0.0
				for k, x := range q {
					vec.Axpy(float32(x), grads[k], sum)
					v += x * values[k]
				}
				return v - vec.Norm2(sum)/(2*o.Lambda)
			}
			worth := value(mix)
			if math.Abs(worth-raw) > 10*margin || len(mix) > train.BundlePieces {
				t.Fatalf("the mixture is worth %g, by its books %g", worth, raw)
			}
			for range 10 {
				q := append([]float64(nil), mix...)
				j, k := r.IntN(len(q)), r.IntN(len(q))
				move := q[k] * r.Float64()
				q[k] -= move
				q[j] += move
				if v := value(q); v > worth+1e-5*(1+math.Abs(worth)) {
					t.Fatalf("moving %g from piece %d to %d raises %g to %g", move, k, j, worth, v)
				}
			}
		}
	})
}

// Ranks share the products of a bundle, and with λ₁ one tells the others the bound: bounds have the same bits for any
// number of ranks and threads.
func TestBundleOfRanks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	grads := make([][]float32, 40) // more than the bundle holds, so that pieces merge
	for k := range grads {
		grads[k] = traintest.DrawWeights(r, 100_000, 1) // several ranges
	}
	bounds := func(ctx context.Context, g ranks.Group, threads int, l1 float64) ([]float64, error) {
		o := traintest.LinearProblem(600, 1, 1, 1).Objective
		o.L1 = l1
		e := engine.NewEngine(o, threads)
		if err := e.Join(g); err != nil {
			return nil, err
		}
		var c train.Certificate
		var duals []float64
		for _, x := range grads {
			if err := c.RecordDual(ctx, e, engine.Recomposed{Grad: x, Central: 1}); err != nil {
				return nil, err
			}
			duals = append(duals, c.Dual())
		}
		return duals, nil
	}
	for _, l1 := range []float64{0, 0.5} {
		want, err := bounds(t.Context(), ranks.Alone{}, 1, l1)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{1, 2, 3} {
			if err := rankstest.InProcess(t.Context(), n, func(ctx context.Context, g ranks.Group) error {
				got, err := bounds(ctx, g, 1+g.Rank(), l1)
				if err == nil && !slices.Equal(got, want) {
					err = fmt.Errorf("bounds %v, expected %v", got, want)
				}
				return err
			}); err != nil {
				t.Errorf("λ₁ = %g, %d ranks: %v", l1, n, err)
			}
		}
	}
}

// Large gradients may cancel in a mixture, and their roundings to float32 do not: the bundle's bound is still one of
// the function that it bounds, which has the gradients as they were. It is convex, and any weights are above its least
// value.
func TestBundleOfLargeGradients(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.IntRange(1, 5).Draw(t, "dim")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		size := math.Pow(10, rapid.Float64Range(0, 12).Draw(t, "log size"))
		e := engineFor(engine.Objective{Lambda: math.Pow(10, rapid.Float64Range(-6, 1).Draw(t, "log λ"))})
		var c train.Certificate
		grads, heights := make([][]float64, rapid.IntRange(2, 40).Draw(t, "pieces")), []float64(nil)
		large := make([]float64, dim)
		for j := range large {
			large[j] = size * r.NormFloat64()
		}
		for k := range grads {
			grads[k] = make([]float64, dim)
			rounded, share := make([]float32, dim), r.NormFloat64()
			for j := range large {
				grads[k][j] = share*large[j] + r.NormFloat64()
				rounded[j] = float32(grads[k][j])
			}
			heights = append(heights, r.NormFloat64())
			recordDual(t, &c, e, engine.Recomposed{Grad: rounded, Central: heights[k]})
		}
		// Frank-Wolfe steps of the exact dual find weights close to the optimum.
		mean, height, least := slices.Clone(grads[0]), heights[0], slices.Max(heights) // at w = 0
		w, d := make([]float64, dim), make([]float64, dim)
		for range 300 {
			square := 0.0
			for j, g := range mean {
				w[j] = -g / e.Lambda
				square += w[j] * w[j]
			}
			best, most := 0, math.Inf(-1)
			for k, g := range grads {
				if h := heights[k] + floats.Dot(g, w); h > most {
					best, most = k, h
				}
			}
			least = min(least, most+e.Lambda/2*square) // the function at w
			bend := 0.0
			for j := range d {
				d[j] = grads[best][j] - mean[j]
				bend += d[j] * d[j] / e.Lambda
			}
			rise := heights[best] - height + floats.Dot(d, w)
			if !(rise > 0 && bend > 0) {
				break
			}
			γ := min(1, rise/bend)
			floats.AddScaled(mean, γ, d)
			height += γ * (heights[best] - height)
		}
		if c.Dual() > least+1e-9*math.Abs(least) {
			t.Fatalf("bound %.12g, but a value is %.12g, with gradients of about %g and λ = %g", c.Dual(), least, size, e.Lambda)
		}
	})
}

// The bundle drops pieces rather than grow without limit.
func TestBundleOfManyWeights(t *testing.T) {
	e := engineFor(engine.Objective{Lambda: 1})
	var c train.Certificate
	g := make([]float32, train.BundleFloats/2)
	for k := range 5 {
		g[k] = float32(k + 1)
		recordDual(t, &c, e, engine.Recomposed{Grad: g})
	}
	if mix, _, _, _, _ := c.Bundle(); len(mix) != 2 {
		t.Errorf("%d pieces of %d weights", len(mix), len(g))
	}
}

// mixed returns the value of the bundle's mixture, without any allowance and ignoring earlier values.
func mixed(c *train.Certificate, o *engine.Objective) float64 {
	d := 0.0
	mix, value, gram, _, _ := c.Bundle()
	for j, q := range mix {
		d += q * value[j]
		for k, r := range mix {
			d -= q * r * gram[j][k] / (2 * o.Lambda)
		}
	}
	return d
}

// With one example, a chain's mixture of two opposite answers has a better value than either.
func TestBundleMixes(t *testing.T) {
	e := engineFor(engine.Objective{Lambda: 2})
	var c train.Certificate
	recordDual(t, &c, e, engine.Recomposed{Grad: []float32{3}, Central: 1})
	recordDual(t, &c, e, engine.Recomposed{Grad: []float32{-1}, Central: 1})
	traintest.Near(t, "bound", c.Dual(), 1, 1e-6)
	mix, _, _, _, _ := c.Bundle()
	traintest.Near(t, "weight", mix[0], 0.25, 1e-9)
}

// A bundle moves weight between its pieces until hardly one is worth more than the mixture, to first order: its
// worth is concave, so that no mixture is better by more than that. As many gradients as weights may take
// hundreds of moves.
func TestBundleOfManyMoves(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 4))
		e := engineFor(engine.Objective{Lambda: 0.1})
		var c train.Certificate
		for range train.BundlePieces {
			recordDual(t, &c, e, engine.Recomposed{Grad: traintest.DrawWeights(r, train.BundlePieces, 1),
				Central: r.NormFloat64()})
		}
		mix, value, gram, _, _ := c.Bundle()
		best, own := math.Inf(-1), 0.0
		for j, q := range mix {
			slope := value[j] - floats.Dot(gram[j], mix)/e.Lambda
			best = max(best, slope)
			own += q * slope
		}
		if worth := mixed(&c, e.Objective); best-own > 2e-5*math.Abs(worth) {
			t.Errorf("draw %d: a mixture worth %g may be worth %g more", seed, worth, best-own)
		}
	}
}
