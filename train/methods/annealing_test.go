package methods

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// The certificate of one pass equals the textbook's duality gap, example by example, and bounds F at any other weights.
func TestOnePassCertificate(t *testing.T) {
	ctx := context.Background()
	for _, c := range traintest.FullPassCases {
		t.Run(c.Name, func(t *testing.T) {
			p := traintest.Shifted(traintest.NoisyProblem(20, c.Loss, c.Smoothing, 0.3))
			r := rand.New(rand.NewPCG(1, 2))
			w := traintest.DrawWeights(r, p.Scorer.Dim(), 0.5)
			memory := engine.NewMemory(p.Objective)
			pass, err := p.FullPass(ctx, w, c.Smoothing, memory)
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
				_, err = p.OverBatch(ctx, engine.At(w), []int{i}, false, func(ln *engine.Lane) error {
					if err := p.Potentials(ln, engine.At(w)); err != nil {
						return err
					}
					memory.Load(ln)
					c, e := p.Data.Weight(i), 0.0
					h, linear := f+c*ln.Theta.Score(0, p.Data.Gold(i)), c*ln.Answer.U.Dot(0, &ln.Theta)
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
			dual := traintest.DualValue(p.Objective, pass.Linear, pass.Grad)
			traintest.Near(t, "gap", pass.Primal-dual, bias+norm/(2*p.Lambda), 1e-6)
			b, e := split(p.Objective, w, pass)
			traintest.Near(t, "bias of smoothing", b, bias, 1e-6)
			traintest.Near(t, "error of optimisation", e, norm/(2*p.Lambda), 1e-6)

			if g, linear, err := traintest.Pulled(p.Recompose(ctx, w, memory)); err != nil {
				t.Fatal(err)
			} else if !c.Loss.Smooth() {
				traintest.Near(t, "recomposed dual", traintest.DualValue(p.Objective, linear, g), dual, 1e-6)
			} else if traintest.DualValue(p.Objective, linear, g) > dual {
				t.Error("the memory's bound, without its entropy, is above that of the pass")
			}
			for range 50 {
				at := traintest.DrawWeights(r, len(w), 0.3)
				if f, err := p.Value(ctx, at); err != nil || f < dual {
					t.Fatalf("F is %g (%v), below the bound %g", f, err, dual)
				}
			}
		})
	}
}
