package accelerator_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/cuda/cudanets"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/train/engine"
)

func TestNonFinitePotentialsAreFound(t *testing.T) {
	d := cudatest.Device(t)
	for edges := range 2 {
		rng := rand.New(rand.NewPCG(10, uint64(edges)))
		c := &lossCase{}
		c.Data, c.net = cudatest.SparseCase(t, rng, 4, 20, edges, nets.EdgesTransition, false, 3, 1, 0, 20, 6)
		c.Scorer, c.Data.Lines = c.net, []int{1, 5, 7, 8, 29}
		c.Data.Attributes.Index[c.Data.Attributes.Offsets[c.Data.Offsets[3]+4]] = 19 // an attribute that occurs nowhere else
		for k := range c.Data.Attributes.Index {
			if p := c.Data.Attributes.Offsets[c.Data.Offsets[3]+4]; k != p && c.Data.Attributes.Index[k] == 19 {
				c.Data.Attributes.Index[k] = 0
			}
		}
		c.w = make([]float32, c.net.Dim())
		c.to = slices.Clone(c.w)
		c.w[19*4+1] = float32(math.Inf(1))
		c.to[c.net.Layout()[1].Offset] = float32(math.NaN())
		x := c.onDevice(t, d, 5, 40)
		ask := func(w device.Array[float32], examples ...int) string {
			x.evaluation.Batch.Set(examples)
			x.evaluation.Score(w)
			var bad *engine.NonFiniteError
			if err := x.o.NonFinite(); errors.As(err, &bad) {
				return bad.Where
			}
			return ""
		}
		if where := ask(x.w, 0, 1, 2, 4); where != "" {
			t.Errorf("in a batch without the example: %s", where)
		}
		if where := ask(x.w, 4, 3, 0); where != "example 3 (test:8)" {
			t.Errorf("found at %q", where)
		}
		if where := ask(x.to, 0, 3); where != []string{"transitions", "example 0 (test:1)"}[edges] {
			t.Errorf("edges found at %q", where)
		}
		if where := ask(x.w, 4); where != "" {
			t.Errorf("it is reported again: %s", where)
		}
	}
}

// garbled is a scorer that writes garbage as the transition into a chain's first position, which nothing may read.
type garbled struct {
	cudanets.Scorer
	d *device.Device
}

func (g garbled) Score(w device.Array[float32], b *resident.Batch, θ cudanets.Parts) {
	g.Scorer.Score(w, b, θ)
	size := g.Form().Parts[1].Width
	for _, at := range cudatest.Downloaded(g.d, b.Offsets)[:b.B] {
		anything := []float32{float32(math.NaN()), float32(math.Inf(1))}
		device.Upload(g.d, θ[1].Slice(int(at)*size, (int(at)+1)*size), anything)
	}
}

func TestStepsIntoFirstPositionsAreNotRead(t *testing.T) {
	d := cudatest.Device(t)
	for _, loss := range []engine.Loss{engine.Hinge, engine.CRF} {
		c := &lossCase{}
		c.Data, c.net = cudatest.SparseCase(t, rand.New(rand.NewPCG(14, 1)), 4, 20, 3, nets.EdgesTransition, false, 3, 1, 20,
			6)
		c.Scorer, c.Loss = c.net, loss
		c.w = cudatest.Vector(rand.New(rand.NewPCG(14, 2)), c.net.Dim(), 1)
		c.to = c.w
		constrain(rand.New(rand.NewPCG(14, 3)), &c.Objective, 4)
		var want []float32
		for _, garble := range []bool{false, true} {
			x := c.onDevice(t, d, 4, 31)
			if garble {
				x.o.Scorer = garbled{x.o.Scorer, d}
			}
			memory := x.o.NewMemory()
			x.evaluation.Batch.Set(c.all())
			x.evaluation.Ask(x.w, c.smoothing, true)
			x.evaluation.Difference(memory)
			x.evaluation.Remember(memory, 0.5)
			sums := x.o.ReadSums()
			got := slices.Concat(x.pullback(), cudatest.Downloaded(d, memory.Edge),
				[]float32{float32(sums.Linear), float32(sums.Smoothed), float32(sums.Entropy)})
			cudatest.Must(t, x.o.NonFinite())
			if garble && !slices.Equal(got, want) {
				t.Errorf("%v: the garbage was read", loss)
			}
			want = got
		}
	}
}
