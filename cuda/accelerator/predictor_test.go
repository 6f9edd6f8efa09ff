package accelerator_test

import (
	"math"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/cuda/accelerator"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/trees"
	"github.com/dsp-go/dsp/train/engine"
)

// ownConstraints are those of chains as a program of its own may have them: there are no kernels for them.
type ownConstraints struct{ *chains.Constraints }

// Potentials from a device have the constraints applied, those of kernels and others alike.
func TestPredictedPotentialsAreConstrained(t *testing.T) {
	d, p := cudatest.Device(t), descentProblems(t)["network"]
	net := p.Scorer.(network).Net
	y := net.Form().Parts[0].Width
	of := &chains.Constraints{Start: make([]bool, y), Transition: make([]bool, y*y)}
	of.Start[1], of.Transition[y+1] = true, true
	potentials := func(c structured.Constraints) [][]float32 {
		on, err := accelerator.NewPredictor(d, net, c, p.Data, 0, false)
		cudatest.Must(t, err)
		on.SetWeights(net.Init(1))
		var parts [][]float32
		cudatest.Must(t, on.Over(t.Context(), accelerator.Wanted{Potentials: true}, func(_ []int, a *accelerator.Predicted) error {
			for _, part := range a.Potentials.Parts {
				parts = append(parts, slices.Clone(part.Values))
			}
			return nil
		}))
		return parts
	}
	kernels, host := potentials(of), potentials(ownConstraints{of})
	if len(kernels) != len(host) {
		t.Fatalf("%d parts with kernels, %d without", len(kernels), len(host))
	}
	forbidden := 0
	for k := range kernels {
		for j, x := range host[k] {
			if never := math.IsInf(float64(x), -1); never != math.IsInf(float64(kernels[k][j]), -1) {
				t.Errorf("number %d of part %d is %v, with kernels %v", j, k, x, kernels[k][j])
			} else if never {
				forbidden++
			} else if math.Abs(float64(x-kernels[k][j])) > 1e-5 {
				t.Errorf("number %d of part %d is %v, with kernels %v", j, k, x, kernels[k][j])
			}
		}
	}
	if want := p.Data.Len() + 1; forbidden < want {
		t.Errorf("%d potentials are forbidden, expected at least %d: a start of each chain, and a step", forbidden, want)
	}
}

// A closed predictor has given back all memory, for every structure and every question, and so has one that was
// refused.
func TestClosedPredictorsHoldNoMemory(t *testing.T) {
	d, problems := cudatest.Device(t), descentProblems(t)
	tree := parsing(t, trees.SpanningTree{}, engine.CRF, sentences...)
	net := problems["network"].Scorer.(network).Net
	for _, c := range []struct {
		name   string
		net    nets.Scorer
		data   *structured.Dataset
		of     structured.Constraints
		wanted []accelerator.Wanted
	}{
		{"chains", net, problems["network"].Data, nil, []accelerator.Wanted{{LogZ: true, Marginals: true}, {NBest: 3}, {Potentials: true}}},
		{"attributes", problems["attributes of edges"].Scorer, problems["attributes of edges"].Data, nil, []accelerator.Wanted{{LogZ: true}}},
		{"potentials for the host", net, problems["network"].Data, ownConstraints{&chains.Constraints{}}, []accelerator.Wanted{{Potentials: true}}},
		{"trees", tree.Scorer.(network).Net, tree.Data, nil, []accelerator.Wanted{{Marginals: true}, {Potentials: true}}},
	} {
		before := device.Held()
		for range 2 {
			on, err := accelerator.NewPredictor(d, c.net, c.of, c.data, 3, false)
			cudatest.Must(t, err)
			on.SetWeights(make([]float32, c.net.Dim()))
			for _, wanted := range c.wanted {
				cudatest.Must(t, on.Over(t.Context(), wanted, func([]int, *accelerator.Predicted) error { return nil }))
			}
			if held := device.Held(); held <= before {
				t.Fatalf("%s: %d bytes are held with a predictor, %d without", c.name, held, before)
			}
			on.Close()
		}
		if after := device.Held(); after != before {
			t.Errorf("%s: %d bytes are held at the end, %d at the beginning", c.name, after, before)
		}
	}
	before := device.Held()
	wordless := *problems["network"].Data
	wordless.Features = nil
	if _, err := accelerator.NewPredictor(d, net, nil, &wordless, 0, false); err == nil {
		t.Error("data without features have a predictor")
	}
	if after := device.Held(); after != before {
		t.Errorf("a refused predictor holds %d bytes", after-before)
	}
}
