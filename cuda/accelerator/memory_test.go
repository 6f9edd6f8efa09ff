package accelerator_test

import (
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/cuda/accelerator"
	"github.com/dsp-go/dsp/cuda/cudanets"
	"github.com/dsp-go/dsp/cuda/cudaoracles"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train/engine"
)

func TestEdgesAloneMayMove(t *testing.T) {
	d := cudatest.Device(t)
	for edges := range 2 {
		c := &lossCase{}
		c.Data, c.net = cudatest.SparseCase(t, rand.New(rand.NewPCG(11, 1)), 3, 20, edges, nets.EdgesTransition, false, 4, 2, 5)
		c.Scorer = c.net
		c.w = make([]float32, c.net.Dim())
		c.to = c.w
		x := c.onDevice(t, d, 3, 12)
		memory := x.o.NewMemory()
		x.evaluation.Batch.Set([]int{2, 0})
		x.evaluation.Recall(x.w, memory)
		x.evaluation.Difference(memory)
		if moved := x.o.ReadSums().Moved; moved != 0 {
			t.Errorf("%d answers differ from themselves", moved)
		}
		last := []int{9 + 4, (5+3)*9 + 4}[edges] // a transition of example 0, which is chain 1
		device.Upload(d, x.evaluation.Answer.Edge.Slice(last, last+1), []float32{5})
		x.evaluation.Difference(memory)
		if moved := x.o.ReadSums().Moved; moved != 1 {
			t.Errorf("edges=%d: %d moved, expected one", edges, moved)
		}
	}
}

func TestMemoryMovesToGold(t *testing.T) {
	d := cudatest.Device(t)
	for edges := range 2 {
		rng := rand.New(rand.NewPCG(9, uint64(edges)))
		c := &lossCase{}
		c.Data, c.net = cudatest.SparseCase(t, rng, 5, 20, edges, nets.EdgesTransition, false, 3, 0, 700, 1)
		c.Scorer = c.net
		c.w = make([]float32, c.net.Dim())
		c.to = c.w
		o := accelerator.NewObjective(resident.NewData(d, c.Data), &c.Objective, cudanets.NewSparseLinear(c.net, resident.NewData(d, c.Data)), cudaoracles.NewOracle(d))
		gold, memory := engine.NewMemory(&c.Objective), o.NewMemory()
		want, other := chains.In(&gold.Marginals), new(structured.Marginals)
		cudatest.Near(t, "gold nodes", cudatest.Downloaded(d, memory.Node), want.Node, 0)
		cudatest.Near(t, "gold edges", cudatest.Downloaded(d, memory.Edge), want.Edge, 0)
		other.Copy(&gold.Marginals)
		start := chains.In(other)
		copy(start.Node, cudatest.Vector(rng, len(start.Node), 1))
		copy(start.Edge, cudatest.Vector(rng, len(start.Edge), 1))
		memory.Load(other.Parts)
		memory.ToGold(1)
		memory.ToGold(0.75)
		vec.Axpby(0.25, want.Node, 0.75, start.Node)
		vec.Axpby(0.25, want.Edge, 0.75, start.Edge)
		cudatest.Must(t, memory.Store(gold.Parts))
		cudatest.Near(t, "nodes", want.Node, start.Node, 1e-6)
		cudatest.Near(t, "edges", want.Edge, start.Edge, 1e-6)
		memory.Free()
	}
}
