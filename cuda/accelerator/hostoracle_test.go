package accelerator_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/cuda/accelerator"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
)

// results holds what an accelerator returns for some passes, steps and a memory.
type results struct {
	numbers []float64
	vectors [][]float32
}

// collect makes every call that methods make, and collects the results.
func collect(t *testing.T, a engine.DualAscender, c *lossCase) (all results) {
	t.Helper()
	ctx := t.Context()
	sums := func(s engine.Sums, err error) {
		t.Helper()
		cudatest.Must(t, err)
		all.numbers = append(all.numbers, s.Primal, s.Smoothed, s.Linear, s.Loss, s.Entropy, float64(s.Exact), float64(s.Moved))
	}
	g := make([]float32, len(c.w))
	vector := func(x []float32) { all.vectors = append(all.vectors, slices.Clone(x)) }
	content := new(structured.Marginals)
	content.Like(&structured.Potentials{}) // no parts yet
	memory, err := a.NewMemory()
	cudatest.Must(t, err)
	memory.ToGold(0)
	stored := func() {
		t.Helper()
		content.Reshape(c.Scorer.Form(), c.Data.Len(), c.Data.Rows)
		cudatest.Must(t, memory.Store(content.Parts))
		for _, p := range content.Parts {
			vector(p.Values)
		}
	}

	s, err := a.FullPass(ctx, c.w, c.smoothing, memory, g)
	sums(s, err)
	vector(g)
	stored()
	memory.ToGold(0.75)
	stored()
	memory.Load(content.Parts)
	linear, err := a.Recompose(ctx, c.to, memory, g)
	cudatest.Must(t, err)
	vector(g)
	value, err := a.Value(ctx, c.w, []int{6, 1, 2})
	cudatest.Must(t, err)
	all.numbers = append(all.numbers, linear, value)

	a.Open(c.to, nil, c.to)
	for k, examples := range [][]int{{3, 1, 6}, {0, 2, 3, 4, 5}, {6, 7}, {1, 3, 6}} {
		var w []float32
		if k == 1 {
			w = c.w
		}
		m := memory
		if k == 2 {
			m = nil
		}
		cudatest.Must(t, a.Step(ctx, engine.OnHost(w), examples, c.smoothing, m, 0))
		all.numbers = append(all.numbers, a.Norm2(), a.Dot(engine.Iterate))
		if k == 3 {
			a.Ascend(memory, 0.1, 0.5)
		} else {
			a.Advance(engine.Stride{Rho: 0.9, C: -0.01, Share: 0.5})
			a.Remember(memory, []float32{1, 0.25, 0.5}[k])
		}
		sums(a.Sums())
		stored()
	}
	cudatest.Must(t, a.Change(ctx, c.w, c.to, []int{7, 3, 0}, c.smoothing))
	a.Advance(engine.Stride{Rho: 1, C: 0.5, Share: 0.5})
	mean := make([]float32, len(c.w))
	cudatest.Must(t, a.Finish(g, mean))
	vector(g)
	vector(mean)
	return all
}

func (a *results) compare(t *testing.T, what string, with results) {
	t.Helper()
	top := 0.0
	for _, x := range with.numbers {
		top = max(top, math.Abs(x))
	}
	for i, x := range a.numbers {
		about(t, what, x, with.numbers[i], min(top, 10*math.Abs(with.numbers[i])))
	}
	for i, x := range a.vectors {
		cudatest.Near(t, what, x, with.vectors[i], 1e-5)
	}
}

// The host's oracle gives the same results as the kernels, with any number of cores.
func TestHostOracleTellsWhatKernelsTell(t *testing.T) {
	d := cudatest.Device(t)
	lossCases(t, func(t *testing.T, c *lossCase) {
		kernels, err := accelerator.NewAccelerator(d, &c.Objective, c.smoothing, false)
		cudatest.Must(t, err)
		defer kernels.Close()
		want := collect(t, kernels, c)
		for range 2 {
			host, err := accelerator.NewAcceleratorWithHostOracle(d, &c.Objective)
			cudatest.Must(t, err)
			got := collect(t, host, c)
			got.compare(t, "the host's oracle", want)
			host.Close()
		}
	})
}

// Networks train with the host's oracle as on the CPU, and a second run gives the same bits.
func TestMethodsWithHostOracle(t *testing.T) {
	d := cudatest.Device(t)
	l2 := oracles.Smoothing{Kind: oracles.L2, K: 3, Mu: 0.5}
	for name, c := range map[string]struct {
		net    nets.Config
		loss   engine.Loss
		s      oracles.Smoothing
		method func() train.Method
	}{
		"sgd":         {nets.Config{Net: "mlp", Hidden: []int{3}, Edges: nets.EdgesPosition}, engine.CRF, oracles.Smoothing{}, func() train.Method { return &methods.SGD{Rate: 0.1} }},
		"bcfw":        {nets.Config{Net: "linear"}, engine.Hinge, oracles.Smoothing{}, func() train.Method { return &methods.BCFW{Resync: 2} }},
		"casimir":     {nets.Config{Net: "linear"}, engine.Hinge, l2, func() train.Method { return &methods.Casimir{} }},
		"prox-linear": {nets.Config{Net: "mlp", Hidden: []int{3}}, engine.Hinge, l2, func() train.Method { return &methods.ProxLinear{WarmUp: -1} }},
	} {
		t.Run(name, func(t *testing.T) {
			p := learnable(t, c.net, c.loss, c.s)
			onHost := func() *train.Problem {
				a, err := accelerator.NewAcceleratorWithHostOracle(d, p.Objective)
				cudatest.Must(t, err)
				q := *p
				q.Engine = engine.NewAcceleratedEngine(p.Objective, 1, a)
				return &q
			}
			want, got, again := trained(t, p, c.method(), 3), trained(t, onHost(), c.method(), 3), trained(t, onHost(), c.method(), 3)
			cudatest.Near(t, "w", got.W, want.W, 1e-3)
			if !(math.Abs(got.Primal-want.Primal) <= 1e-4*(1+want.Primal)) {
				t.Errorf("F is %v, on the CPU %v", got.Primal, want.Primal)
			}
			if !slices.Equal(got.W, again.W) {
				t.Error("a second run gives other bits")
			}
		})
	}
}

// halved is a task loss without kernels.
type halved struct{ structured.TaskLoss }

func (h halved) Loss(y []int32, gold structured.Gold) float64 { return h.TaskLoss.Loss(y, gold) / 2 }

func (h halved) Dot(v *structured.Marginals, b int, gold structured.Gold) float64 {
	return h.TaskLoss.Dot(v, b, gold) / 2
}

func (h halved) Augment(θ *structured.Potentials, b int, gold structured.Gold) {
	for t, l := range gold.Output {
		row := θ.Parts[0].Of(b)[t*θ.Parts[0].Width:][:θ.Parts[0].Width]
		for k := range row {
			if int32(k) != l {
				row[k] += 0.5
			}
		}
	}
}

// A task loss without kernels uses the host's oracle and gives the CPU's result.
func TestTaskLossWithoutKernels(t *testing.T) {
	d := cudatest.Device(t)
	p := learnable(t, nets.Config{Net: "linear"}, engine.Hinge, oracles.Smoothing{})
	if !accelerator.HasKernels(p.Objective, p.Smoothing) {
		t.Fatal("chains have kernels")
	}
	p.Objective.Task = halved{chains.Hamming{}}
	if accelerator.HasKernels(p.Objective, p.Smoothing) {
		t.Error("this loss has kernels")
	}
	bcfw := func() train.Method { return &methods.BCFW{} }
	want, got := trained(t, p, bcfw(), 2), trained(t, deviceProblem(t, d, p), bcfw(), 2)
	cudatest.Near(t, "w", got.W, want.W, 1e-4)
}

func TestHostOracleFindsWhatIsNotFinite(t *testing.T) {
	d := cudatest.Device(t)
	p := learnable(t, nets.Config{Net: "mlp", Hidden: []int{3}}, engine.Hinge, oracles.Smoothing{})
	a, err := accelerator.NewAcceleratorWithHostOracle(d, p.Objective)
	cudatest.Must(t, err)
	defer a.Close()
	w, g := p.Scorer.(network).Init(1), make([]float32, p.Scorer.Dim())
	w[0] = float32(math.NaN())
	var bad *engine.NonFiniteError
	if _, err := a.FullPass(t.Context(), w, oracles.Smoothing{}, nil, g); !errors.As(err, &bad) || !strings.HasPrefix(bad.Where, "example ") {
		t.Errorf("a full pass: %v", err)
	}
	if err := a.Change(t.Context(), w, p.Scorer.(network).Init(1), []int{1, 2}, oracles.Smoothing{}); !errors.As(err, &bad) {
		t.Errorf("a change between points with NaN: %v", err)
	}
	cudatest.Must(t, a.Change(t.Context(), p.Scorer.(network).Init(2), p.Scorer.(network).Init(1), []int{1, 2}, oracles.Smoothing{}))
}

// grid is a structure other than a chain, as far as a device can tell.
type grid struct{ chains.Chain }

func (grid) Name() string { return "grid" }

func TestSparseScorersOfOtherStructuresAreRefused(t *testing.T) {
	d := cudatest.Device(t)
	set, _ := cudatest.SparseCase(t, rand.New(rand.NewPCG(2, 3)), 3, 12, 0, nets.EdgesTransition, true, 3, 1)
	form := chains.Form(3, false)
	form.Structure = grid{}
	net := sparse.New(form, []sparse.Part{{Attributes: 12, Weights: "attributes"}, {Bias: "transitions"}})
	_, err := accelerator.NewAccelerator(d, &engine.Objective{Scorer: net, Data: set}, oracles.Smoothing{}, false)
	if !structured.IsBadInput(err) || !strings.Contains(err.Error(), "not for a grid") {
		t.Error(err)
	}
}
