package accelerator_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/cuda/accelerator"
	"github.com/dsp-go/dsp/cuda/cudanets"
	"github.com/dsp-go/dsp/cuda/cudaoracles"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train/engine"
)

// lossCase is an objective with a sparse linear scorer, and weights.
type lossCase struct {
	engine.Objective
	net       *sparse.Linear
	smoothing oracles.Smoothing
	w, to     []float32
}

// lossCases calls test for all losses and smoothings, with shared and per-position edges, each with some of the task's
// features.
func lossCases(t *testing.T, test func(t *testing.T, c *lossCase)) {
	k := uint64(0)
	for _, loss := range []engine.Loss{engine.Hinge, engine.CRF, engine.SoftmaxMargin} {
		for _, s := range []oracles.Smoothing{{}, {Kind: oracles.L2, Mu: 0.7, K: 3}, {Kind: oracles.L2, Mu: 2}, {Kind: oracles.Entropy, Mu: 0.5}} {
			if loss.Smooth() && s.Kind != oracles.None {
				continue // it has its own smoothing
			}
			for edges := range 2 {
				for feature, labels := range []int{3, 5, 17} {
					k++
					rng := rand.New(rand.NewPCG(8, k))
					set, net := cudatest.SparseCase(t, rng, labels, 60, 4*edges, nets.EdgesTransition, k%2 == 0, 3, 1, 0, 20, 6, 2, 9, 1)
					c := &lossCase{net: net, smoothing: s, w: cudatest.Vector(rng, net.Dim(), 1), to: cudatest.Vector(rng, net.Dim(), 1)}
					vec.Scale(0.2, c.w)
					vec.Scale(0.2, c.to)
					c.Scorer, c.Data, c.Loss = net, set, loss
					if feature != 0 {
						set.Weights = make([]float64, set.Len())
						for i := range set.Weights {
							set.Weights[i] = float64(rng.IntN(8)) / 4
						}
						h := chains.Hamming{ByLength: true}
						for range labels {
							h.LabelWeights = append(h.LabelWeights, rng.Float32())
						}
						c.Task = h
					}
					if feature == 1 {
						constrain(rng, &c.Objective, labels)
					}
					t.Run(fmt.Sprintf("%v,%v,K=%d,edges=%d,Y=%d", loss, s.Kind, s.K, edges, labels), func(t *testing.T) { test(t, c) })
				}
			}
		}
	}
}

// constrain forbids some starts, ends and transitions that do not occur in the gold outputs.
func constrain(rng *rand.Rand, o *engine.Objective, labels int) {
	c := &chains.Constraints{Start: make([]bool, labels), End: make([]bool, labels), Transition: make([]bool, labels*labels)}
	for _, part := range [][]bool{c.Start, c.End, c.Transition} {
		for k := range part {
			part[k] = rng.IntN(2) == 0
		}
	}
	for i := range o.Data.Len() {
		gold := o.Data.Gold(i)
		for t, l := range gold {
			if t == 0 {
				c.Start[l] = false
			} else {
				c.Transition[int(gold[t-1])*labels+int(l)] = false
			}
			if t == len(gold)-1 {
				c.End[l] = false
			}
		}
	}
	o.Constraints = c
}

// onDevice is a case on a device: the objective, an evaluation for some or all of its examples, and the weights.
type onDevice struct {
	d          *device.Device
	data       *resident.Data
	o          *accelerator.Objective
	evaluation *accelerator.ChainEvaluation
	w, to      device.Array[float32]
	grad       device.Array[float32]
}

func (c *lossCase) onDevice(t testing.TB, d *device.Device, chains, rows int) *onDevice {
	t.Helper()
	cudatest.Must(t, accelerator.CheckObjective(&c.Objective))
	x := &onDevice{d: d, data: resident.NewData(d, c.Data), w: cudatest.Uploaded(d, c.w), to: cudatest.Uploaded(d, c.to)}
	scorer := cudanets.NewSparseLinear(c.net, x.data)
	x.o = accelerator.NewObjective(x.data, &c.Objective, scorer, cudaoracles.NewOracle(d))
	longest := 0
	for i := range c.Data.Len() {
		longest = max(longest, c.Data.Length(i))
	}
	batch := resident.NewBatch(x.data, chains, rows, longest)
	x.evaluation = x.o.NewEvaluation(batch)
	cudatest.Must(t, x.evaluation.Reserve(c.smoothing))
	x.evaluation.ReserveChange()
	x.grad = cudatest.Uploaded(d, make([]float32, len(c.w)))
	return x
}

// all returns a batch of all examples of the case.
func (c *lossCase) all() []int {
	examples := make([]int, c.Data.Len())
	for i := range examples {
		examples[i] = i
	}
	return examples
}

func (x *onDevice) pullback() []float32 {
	device.Zero(x.d, x.grad)
	x.evaluation.Pullback(x.grad)
	return cudatest.Downloaded(x.d, x.grad)
}

// about reports numbers that differ by more than 1e-5 of the scale they come from.
func about(t *testing.T, what string, got, want, scale float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-5*(1+scale)) {
		t.Errorf("%s is %v, expected %v", what, got, want)
	}
}
