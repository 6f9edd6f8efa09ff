package train

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/vec"
)

// The completed objective touches F where it was completed, with its slope, and is nowhere less.
func TestCompletion(t *testing.T) {
	ctx := context.Background()
	for _, loss := range []Loss{Hinge, CRF, SoftmaxMargin} {
		for name, p := range partialProblems(t, loss) {
			t.Run(loss.String()+", "+name, func(t *testing.T) {
				r := rand.New(rand.NewPCG(5, 7))
				w := drawWeights(r, p.Scorer.Dim(), 0.7)
				o := *p.Objective
				o.Completion = NewMemory(p.Objective)
				rest, err := p.complete(ctx, w, o.Completion)
				if err != nil {
					t.Fatal(err)
				}
				o.Constant += rest
				bound := NewEngine(&o, 2)
				if bound.Partial() {
					t.Error("not convex")
				}
				near(t, "F(w)", value(t, bound, w), value(t, p.Engine, w), 1e-6)
				here, err := p.FullPass(ctx, w, oracles.Smoothing{}, nil)
				if err != nil {
					t.Fatal(err)
				}
				there, err := bound.FullPass(ctx, w, oracles.Smoothing{}, nil)
				if err != nil {
					t.Fatal(err)
				}
				near(t, "F(w) by a full pass", there.Primal, here.Primal, 1e-6)
				nearAll(t, "gradient", there.Grad, here.Grad, 1e-5)
				for range 10 {
					v := slices.Clone(w)
					vec.Axpy(float32(r.Float64()), drawWeights(r, len(w), 1), v)
					if a, b := value(t, bound, v), value(t, p.Engine, v); a < b-1e-6*b {
						t.Errorf("the bound is %g, F %g", a, b)
					}
				}

				// Its memory begins where the gradient is zero.
				g, b, err := pulled(bound.Recompose(ctx, w, NewMemory(&o)))
				if err != nil || vec.Norm2(g) > 1e-10 || math.Abs(b) > 1e-6 {
					t.Errorf("gradient %g, value %g (%v) at the completion", vec.Norm2(g), b, err)
				}
			})
		}
	}
}
