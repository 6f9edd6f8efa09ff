package train

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
)

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
			for i := range p.Len() {
				f, err := p.ValueOf(ctx, w, []int{i})
				if err != nil {
					t.Fatal(err)
				}
				for j, x := range w {
					d := float64(x) - float64(p.Center[j])
					f -= p.Lambda / 2 * d * d
				}
				f -= p.Constant
				_, err = p.overBatch(ctx, at(w), []int{i}, false, func(ln *lane) error {
					if err := p.potentials(ln, at(w)); err != nil {
						return err
					}
					memory.recall(ln)
					c, e := p.Data.Weight(i), 0.0
					h, linear := f+c*ln.θ.Score(0, p.Data.Gold(i)), c*ln.answer.U.Dot(0, &ln.θ)
					if p.Loss.Smooth() {
						e = h - linear
					}
					bias += h - linear - e
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
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
