package cuda_test

import (
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/cuda"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/vec"
	"github.com/dsp-go/dsp/train/engine"
)

func TestEdgesAloneMayMove(t *testing.T) {
	d := cudatest.Device(t)
	for edges := range 2 {
		c := &lossCase{}
		c.Data, c.net = sparseCase(t, rand.New(rand.NewPCG(11, 1)), 3, 20, edges, nets.EdgesTransition, false, 4, 2, 5)
		c.Scorer = c.net
		c.w = make([]float32, c.net.Dim())
		c.to = c.w
		x := c.onDevice(t, d, 3, 12)
		memory := x.o.NewMemory()
		x.lane.Batch.Set([]int{2, 0})
		x.lane.Recall(x.w, memory)
		x.lane.Difference(memory)
		if moved := x.o.ReadSums().Moved; moved != 0 {
			t.Errorf("%d moved from themselves", moved)
		}
		last := []int{9 + 4, (5+3)*9 + 4}[edges] // a step of example 0, which is chain 1
		cuda.Upload(d, x.lane.Answer.Edge.Slice(last, last+1), []float32{5})
		x.lane.Difference(memory)
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
		c.Data, c.net = sparseCase(t, rng, 5, 20, edges, nets.EdgesTransition, false, 3, 0, 700, 1)
		c.Scorer = c.net
		c.w = make([]float32, c.net.Dim())
		c.to = c.w
		o := cuda.NewObjective(cuda.NewData(d, c.Data), &c.Objective, cuda.NewSparseLinear(c.net, cuda.NewData(d, c.Data)), cuda.NewOracle(d))
		gold, memory := engine.NewMemory(&c.Objective), o.NewMemory()
		want, other := chains.In(&gold.Marginals), new(structured.Marginals)
		near(t, "gold nodes", download(d, memory.Node), want.Node, 0)
		near(t, "gold edges", download(d, memory.Edge), want.Edge, 0)
		other.Copy(&gold.Marginals)
		start := chains.In(other)
		copy(start.Node, normals(rng, len(start.Node)))
		copy(start.Edge, normals(rng, len(start.Edge)))
		memory.Load(other.Parts)
		memory.ToGold(1)
		memory.ToGold(0.75)
		vec.Axpby(0.25, want.Node, 0.75, start.Node)
		vec.Axpby(0.25, want.Edge, 0.75, start.Edge)
		must(t, memory.Store(gold.Parts))
		near(t, "nodes", want.Node, start.Node, 1e-6)
		near(t, "edges", want.Edge, start.Edge, 1e-6)
		memory.Free()
	}
}
