package engine_test

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
	"github.com/dsp-go/dsp/train/traintest"
)

// A path on sparse inputs, where untouched rows cost nothing, follows the plain recursion coordinate by coordinate in
// float64, for any shrinkage, drift and weights.
func TestPath(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		p := traintest.SparseProblem(20, engine.Hinge, oracles.Smoothing{}, 0.1)
		if rapid.Bool().Draw(t, "dense") {
			p = traintest.Densely(p)
		}
		shrink := rapid.SampledFrom([]float64{1, 0.999, 0.7, 0.05}).Draw(t, "ρ")
		drifts, moves := rapid.Bool().Draw(t, "drifts"), rapid.Bool().Draw(t, "moves")
		kind := rapid.SampledFrom([]methods.Averaging{methods.NoAverage, methods.UniformAverage, methods.WeightedAverage}).Draw(t, "average")

		start := traintest.DrawWeights(r, p.Scorer.Dim(), 1)
		w, b, sum := doubles(start), make([]float64, len(start)), make([]float64, len(start))
		var drift []float32
		if drifts {
			drift = traintest.DrawWeights(r, len(start), 0.01)
			b = doubles(drift)
		}
		var x engine.AffinePath
		x.Start(p.Engine, start, drift)
		total := 0.0
		for k := range rapid.IntRange(1, 40).Draw(t, "steps") {
			st, err := p.StepAt(t.Context(), x.At(), []int{r.IntN(p.Len())}, oracles.Smoothing{}, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			d := make([]float32, len(w))
			st.Grad.AddTo(1, d)
			ρ, q, c, β := shrink, 0.0, 0.1*r.NormFloat64(), 0.0
			if r.IntN(10) == 0 {
				ρ = 0
			}
			if drifts {
				q = r.NormFloat64()
			}
			if drifts && moves {
				β = 0.01 * r.NormFloat64()
			}
			x.Step(ρ, q, c, β, st.Grad)
			for j := range w {
				w[j] = ρ*w[j] + q*b[j] + c*float64(d[j])
				b[j] += β * float64(d[j])
			}
			if kind != methods.NoAverage {
				a := 1.0
				if kind == methods.WeightedAverage {
					a += float64(k)
				}
				total += a
				if share := x.Include(a); share != a/total {
					t.Fatalf("share %g, want %g", share, a/total)
				}
				for j := range w {
					sum[j] += a * w[j]
				}
			}
			if r.IntN(5) == 0 {
				x.Finish()
			}
		}
		x.Finish()
		check := func(what string, got []float32, want []float64, total float64) {
			for j := range want {
				if e := float64(got[j]) - want[j]/total; e > 2e-4 || e < -2e-4 {
					t.Fatalf("%s[%d] is %g, want %g", what, j, got[j], want[j]/total)
				}
			}
		}
		check("w", x.W, w, 1)
		if kind != methods.NoAverage {
			check("mean", x.Mean, sum, total)
		}
		if drifts {
			check("b", x.Drift(), b, 1)
		}
	})
}

// A path on a device goes where one on the host goes, with its start in the mean, too.
func TestPathOnDevice(t *testing.T) {
	host := traintest.LinearProblem(8, 1, 0.1, 1)
	start := traintest.DrawWeights(rand.New(rand.NewPCG(1, 1)), host.Scorer.Dim(), 1)
	walked := func(p *train.Problem) *engine.AffinePath {
		x := new(engine.AffinePath)
		x.Start(p.Engine, start, make([]float32, len(start)))
		x.Include(1)
		for k := range 4 {
			st, err := p.StepAt(t.Context(), x.At(), []int{k}, oracles.Smoothing{}, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			x.Step(0.9, 1, -0.1, 0.01, st.Grad)
			if k != 1 {
				x.Include(float64(k + 1))
			}
		}
		if err := x.Finish(); err != nil {
			t.Fatal(err)
		}
		return x
	}
	want, got := walked(host), walked(traintest.Accelerated(host))
	for j := range want.W {
		traintest.Near(t, "w", float64(got.W[j]), float64(want.W[j]), 1e-6)
		traintest.Near(t, "mean", float64(got.Mean[j]), float64(want.Mean[j]), 1e-6)
	}
}

func doubles(x []float32) []float64 {
	d := make([]float64, len(x))
	for j, v := range x {
		d[j] = float64(v)
	}
	return d
}
