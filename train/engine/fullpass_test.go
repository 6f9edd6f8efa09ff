package engine_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/traintest"
)

// The gradient of a full pass is the gradient of the smoothed objective.
func TestFullPassGradient(t *testing.T) {
	ctx := context.Background()
	for _, c := range traintest.FullPassCases {
		if c.Smoothing.Kind == oracles.None && !c.Loss.Smooth() || c.Smoothing.K > 0 {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			p := traintest.Shifted(traintest.NoisyProblem(12, c.Loss, c.Smoothing, 0))
			w := traintest.DrawWeights(rand.New(rand.NewPCG(3, 4)), p.Scorer.Dim(), 0.3)
			pass, err := p.FullPass(ctx, w, c.Smoothing, nil)
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
					pass, err := p.FullPass(ctx, v, c.Smoothing, nil)
					if err != nil {
						t.Fatal(err)
					}
					f[k] = pass.Smoothed
				}
				traintest.Near(t, "∂F_μ", float64(pass.Grad[j]), (f[1]-f[0])/(float64(at[1])-float64(at[0])), 3e-3)
			}
		})
	}
}

// A device does not sum scores, so its allowance for rounding makes up for them.
func TestAllowanceOnDevice(t *testing.T) {
	host := traintest.LinearProblem(20, 1, 0.1, 1)
	w := traintest.Initial(host)
	for j := range w {
		w[j] = 0.01 * float32(j%7-3)
	}
	rounded := func(p *train.Problem) float64 {
		pass, err := p.FullPass(t.Context(), w, oracles.Smoothing{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return pass.Rounded
	}
	if on, off := rounded(host), rounded(traintest.Accelerated(host)); off < on {
		t.Errorf("the allowance on a device is %g, on the host %g", off, on)
	}
}
