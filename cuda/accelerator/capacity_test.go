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
	"github.com/dsp-go/dsp/train/engine"
)

// wide is a scorer that says that its arrays are wide.
type wide struct{ cudanets.Scorer }

func (wide) Widths() (resident.Widths, error) { return resident.Widths{Row: 1 << 22}, nil }

// A full pass over examples of a wide network takes few at once.
func TestWideNetworksPassInSmallBatches(t *testing.T) {
	d := cudatest.Device(t)
	c := &lossCase{}
	c.Data, c.net = cudatest.SparseCase(t, rand.New(rand.NewPCG(21, 1)), 3, 9, 0, nets.EdgesTransition, false, 40, 30, 30, 60, 1)
	c.Scorer, c.Loss = c.net, engine.CRF
	data := resident.NewData(d, c.Data)
	defer data.Free()
	a, err := accelerator.NewAcceleratorWith(d, &c.Objective, wide{cudanets.NewSparseLinear(c.net, data)})
	cudatest.Must(t, err)
	defer a.Close()
	if rows := a.PassRows(); rows != 64 {
		t.Errorf("a pass takes %d positions at once, expected 64", rows)
	}
}

// A step on more chains than 16 times 65,535, the most blocks in the second dimension of a grid.
func TestDifferenceOfManyChains(t *testing.T) {
	const chains, labels = 16*65535 + 3, 2
	d := cudatest.Device(t)
	lengths := make([]int, chains)
	for i := range lengths {
		lengths[i] = 2
	}
	c := &lossCase{}
	c.Data, c.net = cudatest.SparseCase(t, rand.New(rand.NewPCG(22, 1)), labels, 1, 0, nets.EdgesTransition, false, 1)
	c.Data = cudatest.ChainData(rand.New(rand.NewPCG(22, 2)), labels, lengths...)
	for p := range c.Data.Labels {
		c.Data.Labels[p] = int32(p % 2)
	}
	c.Scorer = c.net
	data := resident.NewData(d, c.Data)
	defer data.Free()
	o := accelerator.NewObjective(data, &c.Objective, cudanets.NewSparseLinear(c.net, data), cudaoracles.NewOracle(d))
	b := resident.NewBatch(data, chains, 2*chains, 2)
	b.Set(data.All())
	l := o.NewEvaluation(b)
	defer l.Free()
	device.Zero(d, l.Answer.Node)
	device.Zero(d, l.Answer.Edge)
	device.Zero(d, l.Scores.Node)
	device.Zero(d, l.Scores.Edge)
	l.Difference(nil)
	for k, v := range cudatest.Downloaded(d, l.V.Edge) { // every gold output is one transition from 0 to 1
		if want := []float32{0, -chains, 0, 0}[k]; v != want {
			t.Errorf("transition %d of the difference is %v, expected %v", k, v, want)
		}
	}
}
