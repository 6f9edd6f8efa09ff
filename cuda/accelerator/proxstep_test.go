package accelerator_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/cuda/accelerator"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
	"github.com/dsp-go/dsp/train/traintest"
)

// proxProblems are problems with every loss.
func proxProblems(t *testing.T) map[string]*train.Problem {
	mlp := nets.Config{Net: "mlp", Hidden: []int{3}}
	return map[string]*train.Problem{
		"hinge":          learnable(t, mlp, engine.Hinge, oracles.Smoothing{}),
		"smoothed hinge": learnable(t, mlp, engine.Hinge, oracles.Smoothing{Kind: oracles.L2, K: 3, Mu: 0.5}),
		"crf":            learnable(t, mlp, engine.CRF, oracles.Smoothing{}),
		"softmax-margin": learnable(t, mlp, engine.SoftmaxMargin, oracles.Smoothing{}),
		"trees":          parsed(t, engine.CRF),
		"trees, margin":  parsed(t, engine.SoftmaxMargin),
	}
}

// parsed is a problem on trees in which every word's head is the word before it, or for some sentences the word after
// it.
func parsed(t *testing.T, loss engine.Loss) *train.Problem {
	const relations = 3
	rng, input := rand.New(rand.NewPCG(5, 7)), graph.Input{Dim: 4}
	d := cudatest.RandomData(rng, input, relations, 3, 1, 4, 2, 5, 3, 2, 4, 1, 3)
	d.Labels, d.Outputs = nil, make([]int, len(d.Offsets))
	rows := make([]int, len(d.Offsets))
	for i := range d.Len() {
		n := d.Length(i)
		for word := range n {
			head := word
			if i%3 == 0 {
				head = (word + 2) % (n + 1)
			}
			d.Labels = append(d.Labels, int32(head))
		}
		for range n {
			d.Labels = append(d.Labels, int32(rng.IntN(relations)))
		}
		d.Outputs[i+1], rows[i+1] = len(d.Labels), rows[i]+n*n
		d.Weights = append(d.Weights, 0.5+float64(i%3)/2)
	}
	d.Tables = []*structured.Table{{Name: trees.ArcRows, Offsets: rows}, {Name: trees.LabelRows, Offsets: rows}}
	c := nets.Config{Net: "biaffine", Channels: []int{6}, Window: 1, ArcUnits: 2, LabelUnits: 3, Activation: graph.Tanh}
	net, err := nets.Make(c, input, nets.Output{Labels: relations, Form: trees.SpanningTree{NonProjective: true}.Form(relations)})
	cudatest.Must(t, err)
	o := &engine.Objective{Scorer: network{net}, Data: d, Loss: loss, Lambda: 0.1}
	return &train.Problem{Engine: engine.NewEngine(o, 1), Batch: 2, Seed: 3}
}

// Proximal steps on a device whose oracle works on the host equal those on the CPU, on batches of several sizes.
func TestProxStepsWithHostOracle(t *testing.T) {
	d, problems := cudatest.Device(t), proxProblems(t)
	for _, name := range slices.Sorted(maps.Keys(problems)) {
		t.Run(name, func(t *testing.T) {
			p := problems[name]
			a, err := accelerator.NewAcceleratorWithHostOracle(d, p.Objective)
			cudatest.Must(t, err)
			defer a.Close()
			if sameDescent(t, a, p, "prox", 24, 3, 5, 1, 2) == 0 {
				t.Error("every γ is 0 or 1: the test checks too little")
			}
		})
	}
}

// Proximal steps on more examples than a block has threads equal those on the CPU, with the weights of the examples, of
// which some are 0.
func TestProxStepsOnLargeBatches(t *testing.T) {
	d := cudatest.Device(t)
	for _, loss := range []engine.Loss{engine.CRF, engine.SoftmaxMargin} {
		t.Run(loss.String(), func(t *testing.T) {
			p := traintest.SparseProblem(700, loss, oracles.Smoothing{}, 0.05)
			p.Data.Weights = make([]float64, p.Len())
			for i := range p.Data.Weights {
				p.Data.Weights[i] = float64(i%4) / 2
			}
			a, err := accelerator.NewAccelerator(d, p.Objective, p.Smoothing, false)
			cudatest.Must(t, err)
			defer a.Close()
			if sameDescent(t, a, p, "prox", 6, 650, 300) == 0 {
				t.Error("every γ is 0 or 1: the test checks too little")
			}
		})
	}
}

// A gold output that is almost impossible has a loss whose exponential underflows; one that is almost certain has a
// loss near 0.
func TestProxStepsOnExtremeLosses(t *testing.T) {
	d := cudatest.Device(t)
	for _, scale := range []float32{-1e4, -30, 30, 1e4} {
		p := learnable(t, nets.Config{Net: "linear"}, engine.CRF, oracles.Smoothing{})
		w := trained(t, p, &methods.SGD{Rate: 0.5}, 20).W
		for j := range w {
			w[j] *= scale
		}
		a, err := accelerator.NewAccelerator(d, p.Objective, p.Smoothing, false)
		cudatest.Must(t, err)
		var γ [2]float64
		for k, e := range []*engine.Engine{p.Engine, engine.NewAcceleratedEngine(p.Objective, 1, a)} {
			var x engine.ScaledDescent
			x.Start(e, w, 0.99)
			γ[k], err = x.Step(t.Context(), engine.Question{Examples: []int{0, 2, 4, 5}}, rules["prox"](0.1, p.Lambda))
			cudatest.Must(t, err)
			cudatest.Must(t, x.Finish())
		}
		if γ[1] = a.Gamma(); !(math.Abs(γ[0]-γ[1]) <= 1e-4) {
			t.Errorf("with weights × %g, γ is %v, on the host %v", scale, γ[1], γ[0])
		}
		a.Close()
	}
}

// Training with a device whose oracle works on the host gives the weights of training on the CPU.
func TestProxLinearWithHostOracle(t *testing.T) {
	d, problems := cudatest.Device(t), proxProblems(t)
	for _, name := range slices.Sorted(maps.Keys(problems)) {
		t.Run(name, func(t *testing.T) {
			p := problems[name]
			a, err := accelerator.NewAcceleratorWithHostOracle(d, p.Objective)
			cudatest.Must(t, err)
			defer a.Close()
			q := *p
			q.Engine = engine.NewAcceleratedEngine(p.Objective, 1, a)
			m := func() train.Method { return &methods.BatchProxLinear{ModelBatch: 4, Passes: 3} }
			want, got := trained(t, p, m(), 3), trained(t, &q, m(), 3)
			cudatest.Near(t, "w", got.W, want.W, 1e-3)
		})
	}
}

// BenchmarkProxStep times steps on batches of 512 chains, of which all but the first two are replayed from a graph.
func BenchmarkProxStep(b *testing.B) {
	d, n := cudatest.Device(b), 512
	if d.Info().Emulated() {
		n = 32
	}
	for _, loss := range []engine.Loss{engine.Hinge, engine.CRF} {
		b.Run(loss.String(), func(b *testing.B) {
			p := traintest.SparseProblem(n, loss, oracles.Smoothing{}, 0.05)
			a, err := accelerator.NewAccelerator(d, p.Objective, p.Smoothing, false)
			cudatest.Must(b, err)
			defer a.Close()
			var x engine.ScaledDescent
			x.Start(engine.NewAcceleratedEngine(p.Objective, 1, a), traintest.Initial(p), 0.99)
			batch := rand.New(rand.NewPCG(1, 1)).Perm(n)
			for b.Loop() {
				_, err := x.Step(b.Context(), engine.Question{Examples: batch}, rules["prox"](0.01, p.Lambda))
				cudatest.Must(b, err)
			}
			cudatest.Must(b, x.Finish())
		})
	}
}
