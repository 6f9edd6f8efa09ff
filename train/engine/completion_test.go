package engine_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// The completed objective equals F, with the same slope, at the point of completion, and is nowhere smaller.
func TestCompletion(t *testing.T) {
	ctx := context.Background()
	for _, loss := range []engine.Loss{engine.Hinge, engine.CRF, engine.SoftmaxMargin} {
		for name, p := range traintest.PartialProblems(t, loss) {
			t.Run(loss.String()+", "+name, func(t *testing.T) {
				r := rand.New(rand.NewPCG(5, 7))
				w := traintest.DrawWeights(r, p.Scorer.Dim(), 0.7)
				o := *p.Objective
				o.Completion = engine.NewMemory(p.Objective)
				rest, err := p.Complete(ctx, w, o.Completion)
				if err != nil {
					t.Fatal(err)
				}
				o.Constant += rest
				for i := range p.Len() { // its labels' shares are those of a distribution, up to no rounding, however large potentials are
					for row := range slices.Chunk(o.Completion.Parts[0].Of(i), o.Completion.Parts[0].Width) {
						sum := 0.0
						for _, x := range row {
							sum += float64(x)
						}
						if p.Data.Partial(i) && sum != 1 {
							t.Fatalf("example %d: %v sums to 1 %+.2g", i, row, sum-1)
						}
					}
				}
				bound := engine.NewEngine(&o, 2)
				if bound.Partial() {
					t.Error("not convex")
				}
				traintest.Near(t, "F(w)", traintest.Value(t, bound, w), traintest.Value(t, p.Engine, w), 1e-6)
				here, err := p.FullPass(ctx, w, oracles.Smoothing{}, nil)
				if err != nil {
					t.Fatal(err)
				}
				there, err := bound.FullPass(ctx, w, oracles.Smoothing{}, nil)
				if err != nil {
					t.Fatal(err)
				}
				traintest.Near(t, "F(w) by a full pass", there.Primal, here.Primal, 1e-6)
				traintest.NearAll(t, "gradient", there.Grad, here.Grad, 1e-5)
				for range 10 {
					v := slices.Clone(w)
					vec.Axpy(float32(r.Float64()), traintest.DrawWeights(r, len(w), 1), v)
					if a, b := traintest.Value(t, bound, v), traintest.Value(t, p.Engine, v); a < b-1e-6*b {
						t.Errorf("the bound is %g, F %g", a, b)
					}
				}

				// Its memory starts at a point of zero gradient.
				g, b, err := traintest.Pulled(bound.Recompose(ctx, w, engine.NewMemory(&o)))
				if err != nil || vec.Norm2(g) > 1e-10 || math.Abs(b) > 1e-6 {
					t.Errorf("gradient %g, value %g (%v) at the completion", vec.Norm2(g), b, err)
				}
			})
		}
	}
}
