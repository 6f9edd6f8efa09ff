package accelerator_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/cuda/accelerator"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train/engine"
)

func TestFullPassIsThatOfTheHost(t *testing.T) {
	d := cudatest.Device(t)
	lossCases(t, func(t *testing.T, c *lossCase) { c.passesAsOnHost(t, d, 10, 45) })
}

// Several groups of chains, tiles of transitions and blocks of rows.
func TestFullPassOverManyChains(t *testing.T) {
	d := cudatest.Device(t)
	for edges := range 2 {
		rng := rand.New(rand.NewPCG(13, uint64(edges)))
		lengths := make([]int, 70)
		for i := range lengths {
			lengths[i] = rng.IntN(7)
		}
		c := &lossCase{}
		c.Data, c.net = cudatest.SparseCase(t, rng, 50, 300, 3*edges, nets.EdgesTransition, true, lengths...)
		c.Scorer, c.Loss = c.net, []engine.Loss{engine.SoftmaxMargin, engine.Hinge}[edges]
		c.w = cudatest.Vector(rng, c.net.Dim(), 1)
		c.to = c.w
		c.passesAsOnHost(t, d, 75, c.Data.Positions())
	}
}

// passesAsOnHost compares a full pass in batches of these capacities, run twice, and the objective's value with the
// host's.
func (c *lossCase) passesAsOnHost(t *testing.T, d *device.Device, chains, rows int) {
	e := engine.NewEngine(&c.Objective, 1)
	pass, err := e.FullPass(t.Context(), c.w, c.smoothing, nil)
	cudatest.Must(t, err)
	value, err := e.Value(t.Context(), c.w)
	cudatest.Must(t, err)
	x := c.onDevice(t, d, chains, rows)
	n := float64(c.Data.Len())
	var before []float32
	for range 2 {
		x.evaluation.Batch.Set(c.all())
		x.o.ClearSums()
		x.evaluation.Ask(x.w, c.smoothing, true)
		x.evaluation.Difference(nil)
		sums, grad := x.o.ReadSums(), x.pullback()
		if before != nil && !slices.Equal(before, grad) {
			t.Error("a second pass gives other bits")
		}
		before = slices.Clone(grad)
		vec.Scale(float32(1/n), grad)
		cudatest.Near(t, "gradient", grad, pass.Grad, 1e-5)
		about(t, "primal", sums.Primal/n, pass.Primal, pass.Primal)
		about(t, "smoothed", sums.Smoothed/n, pass.Smoothed, pass.Smoothed)
		about(t, "linear", (sums.Linear+sums.Entropy)/n-vec.Dot64(grad, c.w), pass.Linear, math.Abs(sums.Linear))
		about(t, "exact", float64(sums.Exact)/n, pass.Exact, 0)
		if sums.Moved != c.Data.Len() {
			t.Errorf("%d moved from the gold outputs", sums.Moved)
		}
	}
	x.o.ClearSums()
	x.evaluation.Value(x.w)
	about(t, "value", x.o.ReadSums().Primal/n, value, value)
	if err := x.o.NonFinite(); err != nil {
		t.Error(err)
	}
}

func TestStepsWithMemoryAreThoseOfTheHost(t *testing.T) {
	d := cudatest.Device(t)
	lossCases(t, func(t *testing.T, c *lossCase) {
		e, memory := engine.NewEngine(&c.Objective, 1), engine.NewMemory(&c.Objective)
		x := c.onDevice(t, d, 6, 40)
		remote, marginals := x.o.NewMemory(), chains.In(&memory.Marginals)
		γ := cudatest.Uploaded(d, []float32{0.25})
		x.evaluation.Batch.Set([]int{1})
		step := d.Capture(func() {
			x.o.ClearSums()
			x.evaluation.Ask(x.to, c.smoothing, false)
			x.evaluation.Difference(remote)
			device.Zero(d, x.grad)
			x.evaluation.Pullback(x.grad)
			x.evaluation.RememberBy(remote, γ)
		})
		for k, examples := range [][]int{{3, 1, 6}, {0, 2, 3, 4, 5}, {6, 7}} {
			s, err := e.Step(t.Context(), c.to, examples, c.smoothing, memory)
			cudatest.Must(t, err)
			e.Remember(memory, 0.25)
			x.evaluation.Batch.Set(examples)
			d.Replay(step)
			sums := x.o.ReadSums()
			want := make([]float32, len(c.w))
			s.Grad.AddTo(1, want)
			cudatest.Near(t, "gradient", cudatest.Downloaded(d, x.grad), want, 1e-5)
			about(t, "linear", sums.Linear, s.Linear, math.Abs(s.Linear))
			about(t, "smoothed", sums.Smoothed, s.Smoothed, s.Smoothed)
			about(t, "product", sums.Linear-sums.Loss, s.Product(), math.Abs(s.Linear))
			if sums.Exact != s.Exact || sums.Moved != s.Moved {
				t.Errorf("step %d: %d exact and %d moved, expected %d and %d", k, sums.Exact, sums.Moved, s.Exact, s.Moved)
			}
			cudatest.Near(t, "memory of nodes", cudatest.Downloaded(d, remote.Node), marginals.Node, 1e-5)
			cudatest.Near(t, "memory of edges", cudatest.Downloaded(d, remote.Edge), marginals.Edge, 1e-5)
		}
		// the memory's content, pulled back
		u, err := e.Recompose(t.Context(), c.w, memory)
		cudatest.Must(t, err)
		whole := c.onDevice(t, d, 8, 42)
		whole.evaluation.Batch.Set(c.all())
		whole.evaluation.Recall(whole.w, remote)
		whole.evaluation.Difference(nil)
		n, grad := float64(c.Data.Len()), whole.pullback()
		vec.Scale(float32(1/n), grad)
		cudatest.Near(t, "recomposed gradient", grad, u.Grad, 1e-5)
		about(t, "recomposed value", whole.o.ReadSums().Linear/n-vec.Dot64(grad, c.w), u.Linear, math.Abs(u.Linear))

		x.evaluation.Batch.Set([]int{7, 3, 0})
		x.evaluation.Change(x.w, x.to, c.smoothing)
		change, err := e.Change(t.Context(), c.w, c.to, []int{7, 3, 0}, c.smoothing)
		cudatest.Must(t, err)
		want := make([]float32, len(c.w))
		change.AddTo(1, want)
		cudatest.Near(t, "change", x.pullback(), want, 1e-5)
	})
}

// Results depend neither on the order of threads nor on capacities.
func TestObjectiveDoesNotDependOnTheOrder(t *testing.T) {
	lossCases(t, func(t *testing.T, c *lossCase) {
		if c.net.Form().Parts[0].Width != 5 { // with the most features
			return
		}
		var want []float32
		var sums engine.Sums
		for k, order := range []string{"forward", "reverse", "random:1"} {
			d := cudatest.Emulated(t, "DSP_EMULATED_ORDER="+order)
			x := c.onDevice(t, d, 4+20*k, 40+300*k)
			memory := x.o.NewMemory()
			for _, w := range []device.Array[float32]{x.w, x.to} {
				x.evaluation.Batch.Set([]int{5, 1, 3, 6})
				x.evaluation.Ask(w, c.smoothing, true)
				x.evaluation.Difference(memory)
				x.evaluation.Remember(memory, 0.5)
			}
			got := slices.Concat(x.pullback(), cudatest.Downloaded(d, memory.Node), cudatest.Downloaded(d, memory.Edge))
			s := x.o.ReadSums()
			cudatest.Must(t, d.Err())
			if want == nil {
				want, sums = got, s
			}
			if !slices.Equal(got, want) || s != sums {
				t.Errorf("in order %s: other bits, sums %+v and %+v", order, s, sums)
			}
		}
	})
}

func TestDeviceRefusesLabelsKnownInPart(t *testing.T) {
	set := cudatest.ChainData(rand.New(rand.NewPCG(1, 1)), 3, 4)
	net, err := sparse.NewChain(5, 0, 3, nets.EdgesTransition)
	cudatest.Must(t, err)
	o := &engine.Objective{Scorer: net, Data: set}
	cudatest.Must(t, accelerator.CheckObjective(o))
	set.LabelSets = [][]int32{{0, 1}}
	cudatest.Must(t, accelerator.CheckObjective(o))
	set.Labels[2] = -1
	if err := accelerator.CheckObjective(o); !structured.IsBadInput(err) {
		t.Errorf("a set of labels: %v", err)
	}
}

// A device refuses the quadratic loss and marginals in place of gold outputs, also from a caller of the library: it
// would not compute what the CPU does.
func TestDeviceRefusesQuadraticAndSoft(t *testing.T) {
	set := cudatest.ChainData(rand.New(rand.NewPCG(1, 1)), 3, 4)
	net, err := sparse.NewChain(5, 0, 3, nets.EdgesTransition)
	cudatest.Must(t, err)
	for says, o := range map[string]*engine.Objective{
		"the loss quadratic":             {Scorer: net, Data: set, Loss: engine.Quadratic},
		"marginals in place of gold":     {Scorer: net, Data: set, Loss: engine.CRF, Soft: true},
		"marginals in place of gold out": {Scorer: net, Data: set, Loss: engine.CRF, Completion: new(engine.Memory)},
	} {
		if err := accelerator.CheckObjective(o); !structured.IsBadInput(err) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
}

// A network with an op of the user's own is refused by the name of the op, also where prox-linear has linearised it.
func TestDeviceRefusesOwnOps(t *testing.T) {
	copies := graph.RowOp{
		Name: "copies", Width: 3,
		Forward:  func(x [][]float32, y []float32) { copy(y, x[0]) },
		Pullback: func(_ [][]float32, _, dy []float32, dx [][]float32) { copy(dx[0], dy) },
		Push:     func(_, dx [][]float32, _, dy []float32) { copy(dy, dx[0]) },
	}
	net, err := nets.Build(graph.Spec{
		Name: "mine", Params: []graph.Param{{Name: "w", Shape: []int{2, 3}}},
		Build: func(g *graph.Graph) (*gorgonia.Node, *gorgonia.Node, error) {
			x, err := gorgonia.Mul(g.Features(), g.Param("w"))
			if err != nil {
				return nil, nil, err
			}
			node, err := g.Own(copies, x)
			return node, nil, err
		},
	}, graph.Input{Dim: 2})
	cudatest.Must(t, err)
	set := &structured.Dataset{Name: "rows", Offsets: []int{0, 1}, Dim: 2, Features: []float32{1, 2}, Labels: []int32{0}}
	for _, s := range []nets.Scorer{net, nets.Linearise(net, net.Init(1))} {
		err := accelerator.CheckObjective(&engine.Objective{Scorer: s, Data: set})
		if !structured.IsBadInput(err) || !strings.Contains(err.Error(), `net mine has own op "copies"`) {
			t.Errorf("%T: %v", s, err)
		}
	}
}
