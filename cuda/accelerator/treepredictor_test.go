package accelerator_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/cuda/accelerator"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/oracles/tree"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/trees"
	"github.com/dsp-go/dsp/train/engine"
)

// Trees that the device predicts are those that the CPU finds at the device's potentials, with their scores to the bit;
// sums and marginals agree.
func TestPredictedTreesAreThoseOfTheCPU(t *testing.T) {
	d := cudatest.Device(t)
	const temperature = 0.7
	for _, crossing := range []bool{false, true} {
		p := parsing(t, trees.SpanningTree{NonProjective: crossing}, engine.CRF, sentences...)
		net := p.Scorer.(network)
		on, err := accelerator.NewPredictor(d, net.Net, nil, p.Data, 0, false)
		cudatest.Must(t, err)
		w := net.Init(1)
		for k := range w {
			w[k] *= 3
		}
		on.SetWeights(w)
		var θ structured.Potentials
		cudatest.Must(t, on.Over(t.Context(), accelerator.Wanted{Potentials: true}, func(_ []int, a *accelerator.Predicted) error {
			a.Some(0, len(sentences), &θ)
			θ.Parts = slices.Clone(θ.Parts)
			for k := range θ.Parts {
				θ.Parts[k].Values = slices.Clone(θ.Parts[k].Values)
			}
			return nil
		}))
		of, n := tree.New(crossing), θ.Len()
		labels, score, logZ := make([]int32, θ.OutputSize()), make([]float64, n), make([]float64, n)
		var u structured.Marginals
		of.Max(&θ, labels, score)
		of.Exp(&θ, temperature, logZ, &u)
		wanted := accelerator.Wanted{LogZ: true, Marginals: true, Temperature: temperature}
		cudatest.Must(t, on.Over(t.Context(), wanted, func(examples []int, a *accelerator.Predicted) error {
			if !slices.Equal(a.Labels, labels) || !slices.Equal(a.Score, score) || !slices.Equal(a.Offsets, θ.Outputs) {
				t.Errorf("crossing %v: trees %v with scores %v, on the CPU %v with %v", crossing, a.Labels, a.Score, labels, score)
			}
			for b := range logZ {
				if !(math.Abs(a.LogZ[b]-logZ[b]) <= 1e-5*(1+math.Abs(logZ[b]))) {
					t.Errorf("crossing %v: log Z of sentence %d is %v, on the CPU %v", crossing, b, a.LogZ[b], logZ[b])
				}
			}
			if !slices.Equal(a.Rows, u.Parts[0].Offsets) || !slices.Equal(a.Relations.Offsets, u.Parts[1].Offsets) || a.Relations.Width != u.Parts[1].Width {
				t.Errorf("crossing %v: rows %v and %v of marginals", crossing, a.Rows, a.Relations.Offsets)
			}
			cudatest.Near(t, "marginals of arcs", a.Marginals, u.Parts[0].Values, 1e-5)
			cudatest.Near(t, "marginals of relations", a.Relations.Values, u.Parts[1].Values, 1e-5)
			return nil
		}))
		w[0] = float32(math.NaN())
		for k := range w {
			w[k] = w[0]
		}
		on.SetWeights(w)
		var bad *engine.NonFiniteError
		if err := on.Over(t.Context(), accelerator.Wanted{}, func([]int, *accelerator.Predicted) error { return nil }); !errors.As(err, &bad) || bad.Where != "example 0 (random:1)" {
			t.Errorf("weights that are NaN: %v", err)
		}
	}
}

// The device predicts trees that score single arcs. The host predicts trees with siblings, trees under constraints and
// every other structure.
func TestPredictsTrees(t *testing.T) {
	for _, c := range []struct {
		form        structured.Form
		constraints structured.Constraints
		want        bool
	}{
		{trees.SpanningTree{}.Form(3), nil, true},
		{trees.SpanningTree{NonProjective: true}.Form(3), (*chains.Constraints)(nil), true},
		{trees.SpanningTree{}.Form(3), &chains.Constraints{}, false},
		{trees.SpanningTree{Siblings: true}.Form(3), nil, false},
		{chains.Form(3, false), nil, false},
	} {
		if got := accelerator.PredictsTrees(c.form, c.constraints); got != c.want {
			t.Errorf("%+v, constraints %v: the device predicts %v", c.form.Structure, c.constraints, got)
		}
	}
}
