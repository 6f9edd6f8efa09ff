package train

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/vec"
)

func drawWeights(r *rand.Rand, dim int, scale float64) []float32 {
	w := make([]float32, dim)
	for j := range w {
		w[j] = float32(scale * r.NormFloat64())
	}
	return w
}

// dualValue returns D of the dual point with linear part a and gradient g, for λ > 0.
func dualValue(o *Objective, a float64, g []float32) float64 {
	return o.AtCenter(a, g) - vec.Norm2(g)/(2*o.Lambda)
}

var fullPassCases = []struct {
	name      string
	loss      Loss
	smoothing oracles.Smoothing
}{
	{"hinge, entropy", Hinge, oracles.Smoothing{Kind: oracles.Entropy, Mu: 0.7}},
	{"hinge, l2", Hinge, oracles.Smoothing{Kind: oracles.L2, Mu: 2, MaxK: 4096}},
	{"hinge, l2 on 3", Hinge, oracles.Smoothing{Kind: oracles.L2, Mu: 2, K: 3}},
	{"hinge", Hinge, oracles.Smoothing{}},
	{"crf", CRF, oracles.Smoothing{}},
	{"softmax-margin", SoftmaxMargin, oracles.Smoothing{}},
}

// The certificate of one pass is the textbook's duality gap, example by example, and bounds F at any other weights.
func TestOnePassCertificate(t *testing.T) {
	ctx := context.Background()
	for _, c := range fullPassCases {
		t.Run(c.name, func(t *testing.T) {
			p := shifted(noisyProblem(20, c.loss, c.smoothing, 0.3))
			r := rand.New(rand.NewPCG(1, 2))
			w := drawWeights(r, p.Scorer.Dim(), 0.5)
			memory := NewMemory(p.Objective)
			pass, err := p.FullPass(ctx, w, c.smoothing, memory)
			if err != nil {
				t.Fatal(err)
			}
			if f, err := p.Value(ctx, w); err != nil || math.Abs(f-pass.Primal) > 1e-9*f {
				t.Errorf("F(w) is %g by a full pass and %g (%v) alone", pass.Primal, f, err)
			}

			// (1/n) Σ c_i [H_i − ⟨u_i,θ_i+ℓ_i⟩ − entropy] + ‖g + λ(w−c)‖²/2λ
			bias, norm := 0.0, 0.0
			ln := p.lanes[0]
			for i := range p.Len() {
				ln.batch.Reset(p.Data, []int{i})
				ln.sums = Sums{}
				if err := p.ask(ln, at(w), c.smoothing, true); err != nil {
					t.Fatal(err)
				}
				memory.recall(ln)
				e := 0.0
				if c.loss.Smooth() {
					e = ln.sums.Entropy
				}
				h := ln.sums.Primal + p.Data.Weight(i)*ln.θ.Score(0, p.Data.Gold(i))
				bias += h - p.Data.Weight(i)*ln.answer.U.Dot(0, &ln.θ) - e
			}
			bias /= float64(p.Len())
			for j := range w {
				h := float64(pass.Grad[j]) + p.Lambda*(float64(w[j])-float64(p.Center[j]))
				norm += h * h
			}
			dual := dualValue(p.Objective, pass.Linear, pass.Grad)
			near(t, "gap", pass.Primal-dual, bias+norm/(2*p.Lambda), 1e-6)
			b, e := split(p.Objective, w, pass)
			near(t, "bias of smoothing", b, bias, 1e-6)
			near(t, "error of optimisation", e, norm/(2*p.Lambda), 1e-6)

			if g, linear, err := pulled(p.Recompose(ctx, w, memory)); err != nil {
				t.Fatal(err)
			} else if !c.loss.Smooth() {
				near(t, "recomposed dual", dualValue(p.Objective, linear, g), dual, 1e-6)
			} else if dualValue(p.Objective, linear, g) > dual {
				t.Error("the memory's bound, without its entropy, is above that of the pass")
			}
			for range 50 {
				at := drawWeights(r, len(w), 0.3)
				if f, err := p.Value(ctx, at); err != nil || f < dual {
					t.Fatalf("F is %g (%v), below the bound %g", f, err, dual)
				}
			}
		})
	}
}

// The gradient of a full pass is that of the smoothed objective.
func TestFullPassGradient(t *testing.T) {
	ctx := context.Background()
	for _, c := range fullPassCases {
		if c.smoothing.Kind == oracles.None && !c.loss.Smooth() || c.smoothing.K > 0 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			p := shifted(noisyProblem(12, c.loss, c.smoothing, 0))
			w := drawWeights(rand.New(rand.NewPCG(3, 4)), p.Scorer.Dim(), 0.3)
			pass, err := p.FullPass(ctx, w, c.smoothing, nil)
			if err != nil {
				t.Fatal(err)
			}
			for j := range w {
				var f [2]float64
				var at [2]float32
				for k, h := range []float32{-0.01, 0.01} {
					v := append([]float32(nil), w...)
					v[j] += h
					at[k] = v[j]
					pass, err := p.FullPass(ctx, v, c.smoothing, nil)
					if err != nil {
						t.Fatal(err)
					}
					f[k] = pass.Smoothed
				}
				near(t, "∂F_μ", float64(pass.Grad[j]), (f[1]-f[0])/(float64(at[1])-float64(at[0])), 3e-3)
			}
		})
	}
}

// Whatever pieces the bundle is given, its bound is at least each piece's and never falls, and its best mixture has no
// better one between any two of its pieces.
func TestBundle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.SampledFrom([]int{1, 2, 5, 40}).Draw(t, "dim")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		o := &Objective{Lambda: math.Exp(rapid.Float64Range(-4, 2).Draw(t, "log λ")), Center: drawWeights(r, dim, 1), Constant: 0.2}
		e := &Engine{Objective: o}
		var c Certificate
		last, best := math.Inf(-1), math.Inf(-1)
		for range rapid.IntRange(1, 50).Draw(t, "pieces") {
			g, a := drawWeights(r, dim, 1), r.NormFloat64()
			c.SeeDual(e, Recomposed{Grad: g, Linear: a})
			margin := 1e-6 * (1 + math.Abs(c.Dual()))
			raw := mixed(&c, o)
			if d := dualValue(o, a, g); raw < d-margin {
				t.Fatalf("the mixture is worth %g, the piece alone %g", raw, d)
			}
			if raw < last-margin {
				t.Fatalf("the mixture's worth fell from %g to %g", last, raw)
			}
			last = raw
			best = max(best, raw)
			if !(c.rounded > 0 && c.Dual() < best && c.Dual() > best-1e-4*(1+math.Abs(best))) {
				t.Fatalf("bound %g, the mixtures were worth %g at most", c.Dual(), best)
			}

			// The mixture's value from its parts, and of mixtures near by.
			value := func(q []float64) float64 {
				sum, v := make([]float32, dim), 0.0
				for k, x := range q {
					vec.Axpy(float32(x), c.grads[k], sum)
					v += x * c.value[k]
				}
				return v - vec.Norm2(sum)/(2*o.Lambda)
			}
			worth := value(c.mix)
			if math.Abs(worth-raw) > 10*margin || len(c.mix) > bundlePieces {
				t.Fatalf("the mixture is worth %g, by its books %g", worth, raw)
			}
			for range 10 {
				q := append([]float64(nil), c.mix...)
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

// The bundle gives up pieces rather than take memory without end.
func TestBundleOfManyWeights(t *testing.T) {
	e := &Engine{Objective: &Objective{Lambda: 1}}
	var c Certificate
	g := make([]float32, bundleFloats/2)
	for k := range 5 {
		g[k] = float32(k + 1)
		c.SeeDual(e, Recomposed{Grad: g})
	}
	if len(c.mix) != 2 {
		t.Errorf("%d pieces of %d weights", len(c.mix), len(g))
	}
}

// mixed returns what the bundle's mixture is worth, with no allowance taken off and whatever was seen before.
func mixed(c *Certificate, o *Objective) float64 {
	d := 0.0
	for j, q := range c.mix {
		d += q * c.value[j]
		for k, r := range c.mix {
			d -= q * r * c.gram[j][k] / (2 * o.Lambda)
		}
	}
	return d
}

// With one example a chain's mixture of two opposite answers is worth more than either.
func TestBundleMixes(t *testing.T) {
	e := &Engine{Objective: &Objective{Lambda: 2}}
	var c Certificate
	c.SeeDual(e, Recomposed{Grad: []float32{3}, Linear: 1})
	c.SeeDual(e, Recomposed{Grad: []float32{-1}, Linear: 1})
	near(t, "bound", c.Dual(), 1, 1e-6)
	near(t, "weight", c.mix[0], 0.25, 1e-9)
}
