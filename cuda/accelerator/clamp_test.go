package accelerator_test

import (
	"testing"

	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train/engine"
)

// The kernels pick the best path in float32. Where scores are so large that it loses the gold one, the hinge is 0 and
// not negative, as on the CPU.
func TestHingeOfKernelsIsNotNegative(t *testing.T) {
	d := cudatest.Device(t)
	const length, large = 400, 1 << 20
	c := &lossCase{}
	c.Data = &structured.Dataset{
		Name: "large", Offsets: []int{0, length}, Alphabet: structured.NewAlphabet("other", "gold"),
		Attributes: &structured.Sparse{Offsets: []int{0}},
	}
	for p := range length {
		c.Data.Labels = append(c.Data.Labels, 1)
		c.Data.Attributes.Index = append(c.Data.Attributes.Index, 0)
		c.Data.Attributes.Offsets = append(c.Data.Attributes.Offsets, p+1)
	}
	net, err := sparse.NewChain(1, 0, 2, nets.EdgesTransition)
	cudatest.Must(t, err)
	c.net, c.Scorer, c.Loss = net, net, engine.Hinge
	c.w = make([]float32, net.Dim())
	c.w[0], c.w[1] = large, large+1.5 // the other label costs 1, and loses by 0.5
	c.to = c.w
	pass, err := engine.NewEngine(&c.Objective, 1).FullPass(t.Context(), c.w, c.smoothing, nil)
	cudatest.Must(t, err)
	x := c.onDevice(t, d, 1, length)
	x.evaluation.Batch.Set(c.all())
	for name, ask := range map[string]func(){
		"full pass": func() { x.evaluation.Ask(x.w, c.smoothing, true); x.evaluation.Difference(nil) },
		"value":     func() { x.evaluation.Value(x.w) },
	} {
		x.o.ClearSums()
		ask()
		got := x.o.ReadSums()
		if got.Primal != pass.Primal || got.Smoothed != pass.Smoothed || pass.Smoothed != 0 {
			t.Errorf("%s: primal %v and smoothed %v, on the CPU %v and %v, expected 0", name, got.Primal, got.Smoothed, pass.Primal, pass.Smoothed)
		}
		if name == "full pass" && got.Linear >= 0 {
			t.Error("the path that is found is not worse than the gold one")
		}
	}
}
