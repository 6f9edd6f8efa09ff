package cuda_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/cuda"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/vec"
	"github.com/dsp-go/dsp/train"
)

// lossCase is an objective on a sparse linear scorer, at some weights.
type lossCase struct {
	train.Objective
	net       *nets.SparseLinear
	smoothing oracles.Smoothing
	w, to     []float32
}

// lossCases are all losses and smoothings, with edges shared and per position, and each with some of the task's features.
func lossCases(t *testing.T, test func(t *testing.T, c *lossCase)) {
	k := uint64(0)
	for _, loss := range []train.Loss{train.Hinge, train.CRF, train.SoftmaxMargin} {
		for _, s := range []oracles.Smoothing{{}, {Kind: oracles.L2, Mu: 0.7, K: 3}, {Kind: oracles.L2, Mu: 2}, {Kind: oracles.Entropy, Mu: 0.5}} {
			if loss.Smooth() && s.Kind != oracles.None {
				continue // it has its own
			}
			for edges := range 2 {
				for feature, labels := range []int{3, 5, 17} {
					k++
					rng := rand.New(rand.NewPCG(8, k))
					set, net := sparseCase(t, rng, labels, 60, 4*edges, nets.EdgesTransition, k%2 == 0, 3, 1, 0, 20, 6, 2, 9, 1)
					c := &lossCase{net: net, smoothing: s, w: normals(rng, net.Dim()), to: normals(rng, net.Dim())}
					vec.Scale(0.2, c.w)
					vec.Scale(0.2, c.to)
					c.Scorer, c.Data, c.Loss = net, set, loss
					if feature != 0 {
						set.Weights = make([]float64, set.Len())
						for i := range set.Weights {
							set.Weights[i] = float64(rng.IntN(8)) / 4
						}
						c.Task.ByLength = true
						for range labels {
							c.Task.LabelWeights = append(c.Task.LabelWeights, rng.Float32())
						}
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

// constrain forbids starts, ends and transitions that no gold output has.
func constrain(rng *rand.Rand, o *train.Objective, labels int) {
	c := &structured.Constraints{Start: make([]bool, labels), End: make([]bool, labels), Transition: make([]bool, labels*labels)}
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

// onDevice is the case's objective on a device, with a lane for some or all of its examples, and weights.
type onDevice struct {
	d     *cuda.Device
	data  *cuda.Data
	o     *cuda.Objective
	lane  *cuda.Lane
	w, to cuda.Array[float32]
	grad  cuda.Array[float32]
}

func (c *lossCase) onDevice(t testing.TB, d *cuda.Device, chains, rows int) *onDevice {
	t.Helper()
	must(t, cuda.CheckObjective(&c.Objective))
	x := &onDevice{d: d, data: cuda.NewData(d, c.Data), w: uploaded(d, c.w), to: uploaded(d, c.to)}
	scorer := cuda.NewSparseLinear(c.net, x.data)
	x.o = cuda.NewObjective(x.data, &c.Objective, scorer, cuda.NewOracle(d))
	longest := 0
	for i := range c.Data.Len() {
		longest = max(longest, c.Data.Length(i))
	}
	batch := cuda.NewBatch(x.data, chains, rows, longest)
	x.lane = x.o.NewLane(batch)
	must(t, x.lane.Reserve(c.smoothing))
	x.lane.ReserveChange()
	x.grad = uploaded(d, make([]float32, len(c.w)))
	return x
}

// all is a batch of all the case's examples.
func (c *lossCase) all() []int {
	examples := make([]int, c.Data.Len())
	for i := range examples {
		examples[i] = i
	}
	return examples
}

func (x *onDevice) pullback() []float32 {
	cuda.Zero(x.d, x.grad)
	x.lane.Pullback(x.grad)
	return download(x.d, x.grad)
}

// about reports numbers that differ by more than 1e-5 of the scale they come from.
func about(t *testing.T, what string, got, want, scale float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-5*(1+scale)) {
		t.Errorf("%s is %v, expected %v", what, got, want)
	}
}

func TestFullPassIsThatOfTheHost(t *testing.T) {
	d := cudatest.Device(t)
	lossCases(t, func(t *testing.T, c *lossCase) { c.passesAsOnHost(t, d, 10, 45) })
}

// Groups of chains, tiles of steps and blocks of rows: several of each.
func TestFullPassOverManyChains(t *testing.T) {
	d := cudatest.Device(t)
	for edges := range 2 {
		rng := rand.New(rand.NewPCG(13, uint64(edges)))
		lengths := make([]int, 70)
		for i := range lengths {
			lengths[i] = rng.IntN(7)
		}
		c := &lossCase{}
		c.Data, c.net = sparseCase(t, rng, 50, 300, 3*edges, nets.EdgesTransition, true, lengths...)
		c.Scorer, c.Loss = c.net, []train.Loss{train.SoftmaxMargin, train.Hinge}[edges]
		c.w = normals(rng, c.net.Dim())
		c.to = c.w
		c.passesAsOnHost(t, d, 75, c.Data.Positions())
	}
}

// passesAsOnHost checks a full pass in a batch of these capacities, twice, and the objective's value.
func (c *lossCase) passesAsOnHost(t *testing.T, d *cuda.Device, chains, rows int) {
	e := train.NewEngine(&c.Objective, 1)
	pass, err := e.FullPass(t.Context(), c.w, c.smoothing, nil)
	must(t, err)
	value, err := e.Value(t.Context(), c.w)
	must(t, err)
	x := c.onDevice(t, d, chains, rows)
	n := float64(c.Data.Len())
	var before []float32
	for range 2 {
		x.lane.Batch.Set(c.all())
		x.o.ClearSums()
		x.lane.Ask(x.w, c.smoothing, true)
		x.lane.Difference(nil)
		sums, grad := x.o.ReadSums(), x.pullback()
		if before != nil && !slices.Equal(before, grad) {
			t.Error("the second pass gives other bits")
		}
		before = slices.Clone(grad)
		vec.Scale(float32(1/n), grad)
		near(t, "gradient", grad, pass.Grad, 1e-5)
		about(t, "primal", sums.Primal/n, pass.Primal, pass.Primal)
		about(t, "smoothed", sums.Smoothed/n, pass.Smoothed, pass.Smoothed)
		about(t, "linear", (sums.Linear+sums.Entropy)/n-vec.Dot64(grad, c.w), pass.Linear, math.Abs(sums.Linear))
		about(t, "exact", float64(sums.Exact)/n, pass.Exact, 0)
		if sums.Moved != c.Data.Len() {
			t.Errorf("%d moved from the gold outputs", sums.Moved)
		}
	}
	x.o.ClearSums()
	x.lane.Value(x.w)
	about(t, "value", x.o.ReadSums().Primal/n, value, value)
	if err := x.o.NonFinite(); err != nil {
		t.Error(err)
	}
}

func TestStepsWithMemoryAreThoseOfTheHost(t *testing.T) {
	d := cudatest.Device(t)
	lossCases(t, func(t *testing.T, c *lossCase) {
		e, memory := train.NewEngine(&c.Objective, 1), train.NewMemory(&c.Objective)
		x := c.onDevice(t, d, 6, 40)
		remote := x.o.NewMemory()
		γ := uploaded(d, []float32{0.25})
		x.lane.Batch.Set([]int{1})
		step := d.Capture(func() {
			x.o.ClearSums()
			x.lane.Ask(x.to, c.smoothing, false)
			x.lane.Difference(remote)
			cuda.Zero(d, x.grad)
			x.lane.Pullback(x.grad)
			remote.RememberBy(x.lane, γ)
		})
		for k, examples := range [][]int{{3, 1, 6}, {0, 2, 3, 4, 5}, {6, 7}} {
			s, err := e.Step(t.Context(), c.to, examples, c.smoothing, memory)
			must(t, err)
			e.Remember(memory, 0.25)
			x.lane.Batch.Set(examples)
			d.Replay(step)
			sums := x.o.ReadSums()
			want := make([]float32, len(c.w))
			s.Grad.AddTo(1, want)
			near(t, "gradient", download(d, x.grad), want, 1e-5)
			about(t, "linear", sums.Linear, s.Linear, math.Abs(s.Linear))
			about(t, "smoothed", sums.Smoothed, s.Smoothed, s.Smoothed)
			about(t, "product", sums.Linear-sums.Loss, s.Product(), math.Abs(s.Linear))
			if sums.Exact != s.Exact || sums.Moved != s.Moved {
				t.Errorf("step %d: %d exact and %d moved, expected %d and %d", k, sums.Exact, sums.Moved, s.Exact, s.Moved)
			}
			near(t, "memory of nodes", download(d, remote.Node), memory.Node, 1e-5)
			near(t, "memory of edges", download(d, remote.Edge), memory.Edge, 1e-5)
		}
		// what the memory holds, pulled back
		g, b, err := e.Recompose(t.Context(), c.w, memory)
		must(t, err)
		whole := c.onDevice(t, d, 8, 42)
		whole.lane.Batch.Set(c.all())
		whole.lane.Recall(whole.w, remote)
		whole.lane.Difference(nil)
		n, grad := float64(c.Data.Len()), whole.pullback()
		vec.Scale(float32(1/n), grad)
		near(t, "recomposed gradient", grad, g, 1e-5)
		about(t, "recomposed value", whole.o.ReadSums().Linear/n-vec.Dot64(grad, c.w), b, math.Abs(b))

		x.lane.Batch.Set([]int{7, 3, 0})
		x.lane.Change(x.w, x.to, c.smoothing)
		change, err := e.Change(t.Context(), c.w, c.to, []int{7, 3, 0}, c.smoothing)
		must(t, err)
		want := make([]float32, len(c.w))
		change.AddTo(1, want)
		near(t, "change", x.pullback(), want, 1e-5)
	})
}

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

// Neither the order of threads nor capacities show.
func TestObjectiveDoesNotDependOnTheOrder(t *testing.T) {
	lossCases(t, func(t *testing.T, c *lossCase) {
		if c.net.Labels() != 5 { // with the most features
			return
		}
		var want []float32
		var sums train.Sums
		for k, order := range []string{"forward", "reverse", "random:1"} {
			d := cudatest.Emulated(t, "DSP_EMULATED_ORDER="+order)
			x := c.onDevice(t, d, 4+20*k, 40+300*k)
			memory := x.o.NewMemory()
			for _, w := range []cuda.Array[float32]{x.w, x.to} {
				x.lane.Batch.Set([]int{5, 1, 3, 6})
				x.lane.Ask(w, c.smoothing, true)
				x.lane.Difference(memory)
				memory.Remember(x.lane, 0.5)
			}
			got := slices.Concat(x.pullback(), download(d, memory.Node), download(d, memory.Edge))
			s := x.o.ReadSums()
			must(t, d.Err())
			if want == nil {
				want, sums = got, s
			}
			if !slices.Equal(got, want) || s != sums {
				t.Errorf("in order %s: other bits, sums %+v and %+v", order, s, sums)
			}
		}
	})
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
		gold, memory := train.NewMemory(&c.Objective), o.NewMemory()
		near(t, "gold nodes", download(d, memory.Node), gold.Node, 0)
		near(t, "gold edges", download(d, memory.Edge), gold.Edge, 0)
		node, edge := normals(rng, len(gold.Node)), normals(rng, len(gold.Edge))
		memory.Load(node, edge)
		memory.ToGold(1)
		memory.ToGold(0.75)
		vec.Axpby(0.25, gold.Node, 0.75, node)
		vec.Axpby(0.25, gold.Edge, 0.75, edge)
		gotNode, gotEdge := make([]float32, len(node)), make([]float32, len(edge))
		must(t, memory.Store(gotNode, gotEdge))
		near(t, "nodes", gotNode, node, 1e-6)
		near(t, "edges", gotEdge, edge, 1e-6)
		memory.Free()
	}
}

func TestNonFinitePotentialsAreFound(t *testing.T) {
	d := cudatest.Device(t)
	for edges := range 2 {
		rng := rand.New(rand.NewPCG(10, uint64(edges)))
		c := &lossCase{}
		c.Data, c.net = sparseCase(t, rng, 4, 20, edges, nets.EdgesTransition, false, 3, 1, 0, 20, 6)
		c.Scorer, c.Data.Lines = c.net, []int{1, 5, 7, 8, 29}
		c.Data.Attributes.Index[c.Data.Attributes.Offsets[c.Data.Offsets[3]+4]] = 19 // and nobody else's
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
		ask := func(w cuda.Array[float32], examples ...int) string {
			x.lane.Batch.Set(examples)
			x.lane.Score(w)
			var bad *train.NonFiniteError
			if err := x.o.NonFinite(); errors.As(err, &bad) {
				return bad.Where
			}
			return ""
		}
		if where := ask(x.w, 0, 1, 2, 4); where != "" {
			t.Errorf("without the example: %s", where)
		}
		if where := ask(x.w, 4, 3, 0); where != "example 3 (test:8)" {
			t.Errorf("found at %q", where)
		}
		if where := ask(x.to, 0, 3); where != []string{"transitions", "example 0 (test:1)"}[edges] {
			t.Errorf("edges found at %q", where)
		}
		if where := ask(x.w, 4); where != "" {
			t.Errorf("it is told again: %s", where)
		}
	}
}

// garbled is a scorer that leaves anything as the step into a chain's first position, which nobody is to read.
type garbled struct {
	cuda.Scorer
	d *cuda.Device
}

func (g garbled) Score(w cuda.Array[float32], b *cuda.Batch, θ *cuda.Chains) {
	g.Scorer.Score(w, b, θ)
	size := θ.Y * θ.Y
	for _, at := range download(g.d, b.Offsets)[:b.B] {
		anything := []float32{float32(math.NaN()), float32(math.Inf(1))}
		cuda.Upload(g.d, θ.Edge.Slice(int(at)*size, (int(at)+1)*size), anything)
	}
}

func TestStepsIntoFirstPositionsAreNotRead(t *testing.T) {
	d := cudatest.Device(t)
	for _, loss := range []train.Loss{train.Hinge, train.CRF} {
		c := &lossCase{}
		c.Data, c.net = sparseCase(t, rand.New(rand.NewPCG(14, 1)), 4, 20, 3, nets.EdgesTransition, false, 3, 1, 20, 6)
		c.Scorer, c.Loss = c.net, loss
		c.w = normals(rand.New(rand.NewPCG(14, 2)), c.net.Dim())
		c.to = c.w
		constrain(rand.New(rand.NewPCG(14, 3)), &c.Objective, 4)
		var want []float32
		for _, garble := range []bool{false, true} {
			x := c.onDevice(t, d, 4, 31)
			if garble {
				x.o.Scorer = garbled{x.o.Scorer, d}
			}
			memory := x.o.NewMemory()
			x.lane.Batch.Set(c.all())
			x.lane.Ask(x.w, c.smoothing, true)
			x.lane.Difference(memory)
			memory.Remember(x.lane, 0.5)
			sums := x.o.ReadSums()
			got := slices.Concat(x.pullback(), download(d, memory.Edge), []float32{float32(sums.Linear), float32(sums.Smoothed), float32(sums.Entropy)})
			must(t, x.o.NonFinite())
			if garble && !slices.Equal(got, want) {
				t.Errorf("%v: something was read", loss)
			}
			want = got
		}
	}
}

func TestDeviceRefusesLabelsKnownInPart(t *testing.T) {
	set := chains(rand.New(rand.NewPCG(1, 1)), 3, 4)
	net, err := nets.NewSparseLinear(5, 0, 3, nets.EdgesTransition)
	must(t, err)
	o := &train.Objective{Scorer: net, Data: set}
	must(t, cuda.CheckObjective(o))
	set.LabelSets = [][]int32{{0, 1}}
	must(t, cuda.CheckObjective(o))
	set.Labels[2] = -1
	if err := cuda.CheckObjective(o); !structured.IsBadInput(err) {
		t.Errorf("a set of labels: %v", err)
	}
}
