package train

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/oracles"
)

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
