package accelerator_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/cuda/accelerator"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
	"github.com/dsp-go/dsp/train/methods/quasinewton"
)

// network is a net with the methods that prox-linear needs.
type network struct{ *nets.Net }

func (n network) Linearise() engine.Linearised {
	return nets.Linearise(n.Net, make([]float32, n.Dim()))
}
func (n network) Network() *nets.Net { return n.Net }

// learnable is a problem on chains whose features mostly reveal their labels.
func learnable(t testing.TB, c nets.Config, loss engine.Loss, s oracles.Smoothing) *train.Problem {
	rng := rand.New(rand.NewPCG(7, 7))
	const labels = 3
	input := graph.Input{Dim: 4}
	d := cudatest.RandomData(rng, input, labels, 3, 1, 4, 2, 5, 3, 2, 4, 1, 3, 2, 3)
	for p := range d.Labels {
		if x := d.Features[p*input.Dim : (p+1)*input.Dim]; rng.IntN(8) > 0 {
			d.Labels[p] = int32(slices.Index(x[:labels], slices.Max(x[:labels])))
		}
	}
	d.Weights = make([]float64, d.Len())
	for i := range d.Weights {
		d.Weights[i] = 0.5 + float64(i%3)/2
	}
	net, err := nets.New(c, input, labels)
	cudatest.Must(t, err)
	o := &engine.Objective{Scorer: network{net}, Data: d, Loss: loss, Lambda: 0.1}
	return &train.Problem{Engine: engine.NewEngine(o, 1), Smoothing: s, Batch: 2, Seed: 3}
}

// deviceProblem returns the same problem on a device.
func deviceProblem(t testing.TB, d *device.Device, p *train.Problem) *train.Problem {
	a, err := accelerator.NewAccelerator(d, p.Objective, p.Smoothing, false)
	cudatest.Must(t, err)
	q := *p
	q.Engine = engine.NewAcceleratedEngine(p.Objective, 1, a)
	return &q
}

// trained runs some passes of a method from the network's initial weights.
func trained(t testing.TB, p *train.Problem, m train.Method, passes int) *train.State {
	t.Helper()
	w := make([]float32, p.Scorer.Dim())
	if net, ok := p.Scorer.(network); ok {
		w = net.Init(1)
	}
	s := train.NewState(w)
	cudatest.Must(t, m.Start(t.Context(), p, s))
	for range passes {
		cudatest.Must(t, m.Pass(t.Context(), p, s))
	}
	return s
}

// Every method gives on the device what it gives on the CPU, and a second run gives the same bits.
func TestMethodsOnDevice(t *testing.T) {
	d := cudatest.Device(t)
	entropy := oracles.Smoothing{Kind: oracles.Entropy, Mu: 0.5}
	l2 := oracles.Smoothing{Kind: oracles.L2, K: 3, Mu: 0.5}
	linear, mlp := nets.Config{Net: "linear"}, nets.Config{Net: "mlp", Hidden: []int{3}}
	inner := func(m func() train.Method) func(int) train.Method { return func(int) train.Method { return m() } }
	cases := map[string]struct {
		net    nets.Config
		loss   engine.Loss
		s      oracles.Smoothing
		method func() train.Method
	}{
		"sgd":                  {mlp, engine.Hinge, oracles.Smoothing{}, func() train.Method { return &methods.SGD{Rate: 0.1} }},
		"sgd, crf, search":     {mlp, engine.CRF, oracles.Smoothing{}, func() train.Method { return &methods.SGD{} }},
		"svrg":                 {linear, engine.Hinge, entropy, func() train.Method { return &methods.SVRG{} }},
		"svrg, softmax-margin": {linear, engine.SoftmaxMargin, oracles.Smoothing{}, func() train.Method { return &methods.SVRG{} }},
		"svrg, annealed":       {linear, engine.Hinge, oracles.Smoothing{Kind: oracles.L2, K: 3}, func() train.Method { return &methods.SVRG{} }},
		"casimir":              {linear, engine.Hinge, l2, func() train.Method { return &methods.Casimir{} }},
		"casimir-adapt":        {linear, engine.CRF, oracles.Smoothing{}, func() train.Method { return &methods.Casimir{Adaptive: true} }},
		"saga":                 {linear, engine.Hinge, entropy, func() train.Method { return &methods.SAGA{} }},
		"bcfw":                 {linear, engine.Hinge, oracles.Smoothing{}, func() train.Method { return &methods.BCFW{Resync: 2} }},
		"lbfgs":                {linear, engine.CRF, oracles.Smoothing{}, func() train.Method { return &quasinewton.LBFGS{Plain: true} }}, // the metric is for the CPU
		"prox-linear":          {mlp, engine.Hinge, oracles.Smoothing{}, func() train.Method { return &methods.ProxLinear{WarmUp: -1} }},
		"prox-linear, casimir": {mlp, engine.CRF, oracles.Smoothing{}, func() train.Method { return &methods.ProxLinear{} }},
		"prox-linear, saga": {mlp, engine.Hinge, entropy, func() train.Method {
			return &methods.ProxLinear{WarmUp: -1, Inner: inner(func() train.Method { return &methods.SAGA{} })}
		}},
		"prox-linear, svrg, l2": {mlp, engine.Hinge, l2, func() train.Method {
			return &methods.ProxLinear{WarmUp: -1, Inner: inner(func() train.Method { return &methods.SVRG{} })}
		}},
	}
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		t.Run(name, func(t *testing.T) {
			c := cases[name]
			p := learnable(t, c.net, c.loss, c.s)
			want := trained(t, p, c.method(), 3)
			got := trained(t, deviceProblem(t, d, p), c.method(), 3)
			again := trained(t, deviceProblem(t, d, p), c.method(), 3)
			cudatest.Near(t, "w", got.W, want.W, 1e-3)
			if !(math.Abs(got.Primal-want.Primal) <= 1e-4*(1+want.Primal)) {
				t.Errorf("F is %v, on the CPU %v", got.Primal, want.Primal)
			}
			if got.Dual > want.Primal+1e-5 || want.Dual > got.Primal+1e-5 || math.IsNaN(got.Dual) != math.IsNaN(want.Dual) {
				t.Errorf("certified between %v and %v, on the CPU %v and %v", got.Dual, got.Primal, want.Dual, want.Primal)
			}
			if fmt.Sprint(*got) != fmt.Sprint(*again) {
				t.Errorf("once\n%v\nthen\n%v", *got, *again)
			}
		})
	}
}

// Linear nets on attributes train on the device, with steps on all examples and on one.
func TestSparseOnDevice(t *testing.T) {
	d := cudatest.Device(t)
	for _, edges := range []int{0, 3} {
		set, net := cudatest.SparseCase(t, rand.New(rand.NewPCG(2, 3)), 3, 12, edges, nets.EdgesTransition, true, 3, 1, 4, 2, 5, 3)
		for _, batch := range []int{1, 6} {
			o := &engine.Objective{Scorer: net, Data: set, Lambda: 0.1}
			p := &train.Problem{Engine: engine.NewEngine(o, 1), Batch: batch, Seed: 3}
			want, got := trained(t, p, &methods.BCFW{}, 2), trained(t, deviceProblem(t, d, p), &methods.BCFW{}, 2)
			cudatest.Near(t, "w", got.W, want.W, 1e-4)
		}
	}
}

// Unsupported objectives are refused, and an error about weights that are not finite names the example.
func TestAcceleratorRefuses(t *testing.T) {
	d := cudatest.Device(t)
	p := learnable(t, nets.Config{Net: "mlp", Hidden: []int{3}}, engine.Hinge, oracles.Smoothing{})
	q := deviceProblem(t, d, p)
	s := train.NewState(p.Scorer.(network).Init(1))
	m := &methods.SGD{Rate: 1e30}
	cudatest.Must(t, m.Start(t.Context(), q, s))
	var bad *engine.NonFiniteError
	if err := m.Pass(t.Context(), q, s); !errors.As(err, &bad) || !strings.HasPrefix(bad.Where, "example ") {
		t.Errorf("it ended with %v", err)
	}
	partial := *p.Objective
	data := *p.Data
	data.Labels = slices.Clone(data.Labels)
	data.Labels[0] = -1
	data.LabelSets = [][]int32{{0, 1}}
	partial.Data = &data
	quadratic, soft := *p.Objective, *p.Objective
	quadratic.Loss = engine.Quadratic
	soft.Loss, soft.Soft = engine.CRF, true
	served, err := accelerator.NewAccelerator(d, p.Objective, oracles.Smoothing{}, false)
	cudatest.Must(t, err)
	defer served.Close()
	for name, o := range map[string]*engine.Objective{"labels known in part": &partial, "the quadratic loss": &quadratic, "marginals in place of gold outputs": &soft} {
		if _, err := accelerator.NewAccelerator(d, o, oracles.Smoothing{}, false); !structured.IsBadInput(err) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := served.Sibling(o); !structured.IsBadInput(err) {
			t.Errorf("%s, of a sibling: %v", name, err)
		}
	}
}
