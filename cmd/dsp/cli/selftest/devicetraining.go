package selftest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dsp-go/dsp/cuda/accelerator"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
	"github.com/dsp-go/dsp/train/methods/quasinewton"
)

// trained is how far an objective may differ from the CPU's after a few passes of training.
const trained = single

// trainingPasses is how many passes each method runs.
const trainingPasses = 2

// network is a net with the methods that prox-linear needs.
type network struct{ *nets.Net }

func (n network) Linearise() engine.Linearised {
	return nets.Linearise(n.Net, make([]float32, n.Dim()))
}
func (n network) Network() *nets.Net { return n.Net }

// methodCase is a run of one method on one loss of a network.
type methodCase struct {
	name      string
	net       nets.Config // empty: the linear scorer on attributes
	loss      engine.Loss
	smoothing oracles.Smoothing
	method    func() train.Method
	rounded   bool // TF32
	forbid    bool // constraints forbid some labels and transitions
	crossing  bool // of trees: arcs may cross
}

func (g *rig) trainingChecks() []Check {
	linear, mlp, text := nets.Config{Net: "linear"}, nets.Config{Net: "mlp", Hidden: []int{g.pick(50, 5)}}, nets.Config{}
	words := nets.Config{Net: "embed", Embed: []int{g.pick(20, 3), 2}, Channels: []int{g.pick(30, 4)}}
	biaffine := nets.Config{Net: "biaffine", Channels: []int{g.pick(20, 4)}, Embed: []int{g.pick(20, 3), 2}, ArcUnits: g.pick(20, 4), LabelUnits: g.pick(20, 3)}
	onBatches := func() train.Method { return &methods.BatchProxLinear{ModelBatch: g.pick(8, 2), Passes: trainingPasses} }
	max, entropy := oracles.Smoothing{}, oracles.Smoothing{Kind: oracles.Entropy, Mu: 0.5}
	l2 := oracles.Smoothing{Kind: oracles.L2, K: 3, Mu: 0.5}
	var all []Check
	for _, c := range []methodCase{
		{name: "sgd, hinge", net: mlp, method: func() train.Method { return &methods.SGD{Rate: 0.1} }},
		{name: "sgd, crf", net: mlp, loss: engine.CRF, method: func() train.Method { return &methods.SGD{Rate: 0.1} }},
		{name: "sgd, crf, TF32", net: mlp, loss: engine.CRF, method: func() train.Method { return &methods.SGD{Rate: 0.1} }, rounded: true},
		{name: "sgd, attributes", net: text, loss: engine.CRF, method: func() train.Method { return &methods.SGD{Rate: 0.1} }},
		{name: "sgd, momentum", net: mlp, method: func() train.Method {
			return &methods.SGD{Rate: 0.02, Momentum: 0.9, Clip: 1, Averaging: methods.ExponentialAverage}
		}},
		{name: "sgd, nesterov, attributes", net: text, loss: engine.CRF, method: func() train.Method {
			return &methods.SGD{Rate: 0.02, Momentum: 0.9, Nesterov: true}
		}},
		{name: "adam, crf", net: mlp, loss: engine.CRF, method: func() train.Method { return &methods.Adam{} }},
		{name: "adam, embeddings", net: words, loss: engine.CRF, method: func() train.Method { return &methods.Adam{Clip: 1} }},
		{name: "prox-linear on batches", net: mlp, method: onBatches},
		{name: "prox-linear on batches, crf", net: mlp, loss: engine.CRF, method: onBatches},
		{name: "prox-linear on batches, embeddings", net: words, method: onBatches},
		{name: "prox-linear on batches, attributes", net: text, loss: engine.SoftmaxMargin, method: onBatches},
		{name: "svrg, entropy", net: linear, smoothing: entropy, method: func() train.Method { return &methods.SVRG{} }},
		{name: "svrg, softmax-margin", net: linear, loss: engine.SoftmaxMargin, method: func() train.Method { return &methods.SVRG{} }},
		{name: "casimir, l2", net: linear, smoothing: l2, method: func() train.Method { return &methods.Casimir{} }},
		{name: "casimir-adapt, crf", net: linear, loss: engine.CRF, method: func() train.Method { return &methods.Casimir{Adaptive: true} }},
		{name: "saga, entropy", net: linear, smoothing: entropy, method: func() train.Method { return &methods.SAGA{} }},
		{name: "bcfw, hinge", net: linear, smoothing: max, method: func() train.Method { return &methods.BCFW{} }},
		{name: "bcfw, constraints", net: linear, smoothing: max, method: func() train.Method { return &methods.BCFW{} }, forbid: true},
		{name: "bcfw, attributes", net: text, smoothing: max, method: func() train.Method { return &methods.BCFW{} }},
		{name: "lbfgs, crf", net: linear, loss: engine.CRF, method: func() train.Method { return &quasinewton.LBFGS{Plain: true} }}, // the metric is for the CPU
		{name: "prox-linear, bcfw", net: mlp, smoothing: max, method: func() train.Method { return &methods.ProxLinear{WarmUp: -1} }},
		{name: "prox-linear, casimir", net: mlp, loss: engine.CRF, method: func() train.Method { return &methods.ProxLinear{} }},
		{name: "prox-linear, svrg, l2", net: mlp, smoothing: l2, method: func() train.Method {
			return &methods.ProxLinear{WarmUp: -1, Inner: func(int) train.Method { return &methods.SVRG{} }}
		}},
		{name: "adam, crf, trees", net: biaffine, loss: engine.CRF, method: func() train.Method { return &methods.Adam{} }, crossing: true},
		{name: "sgd, hinge, trees", net: biaffine, method: func() train.Method { return &methods.SGD{Rate: 0.1} }},
		{name: "sgd, hinge, all trees", net: biaffine, method: func() train.Method { return &methods.SGD{Rate: 0.1} }, crossing: true},
		{name: "prox-linear on batches, softmax-margin, trees", net: biaffine, loss: engine.SoftmaxMargin, method: onBatches},
		{name: "prox-linear, saga, trees", net: biaffine, loss: engine.CRF, crossing: true, method: func() train.Method {
			return &methods.ProxLinear{WarmUp: -1, Inner: func(int) train.Method { return &methods.SAGA{} }}
		}},
	} {
		all = append(all, Check{"training: " + c.name, func(ctx context.Context, r *rand.Rand, w *worst) (string, error) { return g.training(ctx, c, r, w) }})
	}
	return all
}

// training compares the objective and certificate of a run with the CPU's, and requires that a second run gives the
// same bits.
func (g *rig) training(ctx context.Context, c methodCase, r *rand.Rand, w *worst) (string, error) {
	problem := g.problem
	if c.net.Net == "biaffine" {
		problem = g.treeProblem
	}
	o, start, err := problem(c, r)
	if err != nil {
		return "", err
	}
	run := func(device bool) (*train.State, error) {
		p := &train.Problem{Engine: engine.NewEngine(o, 1), Smoothing: c.smoothing, Batch: g.pick(8, 2), Seed: 3}
		if device {
			a, err := accelerator.NewAccelerator(g.Device, o, c.smoothing, c.rounded)
			if err != nil {
				return nil, err
			}
			defer a.Close()
			p.Engine = engine.NewAcceleratedEngine(o, 1, a)
		}
		m, s := c.method(), train.NewState(slices.Clone(start))
		if err := m.Start(ctx, p, s); err != nil {
			return nil, err
		}
		for range trainingPasses {
			if err := m.Pass(ctx, p, s); err != nil {
				return nil, err
			}
		}
		full, err := engine.NewEngine(o, 1).FullPass(ctx, s.W, oracles.Smoothing{}, nil) // the method may report values at other weights
		if err != nil {
			return nil, err
		}
		s.Primal = full.Primal
		return s, nil
	}
	want, err := run(false)
	if err != nil {
		return "", err
	}
	got, err := run(true)
	if err != nil {
		return "", err
	}
	again, err := run(true)
	if err != nil {
		return "", err
	}
	if !slices.Equal(got.W, again.W) {
		return "", fmt.Errorf("a second run gives different bits")
	}
	tolerance := trained
	if c.rounded {
		tolerance = tf32
	}
	if err := w.near("objective", got.Primal, want.Primal, tolerance); err != nil {
		return "", err
	}
	if math.IsNaN(want.Dual) != math.IsNaN(got.Dual) || got.Dual > want.Primal*(1+tolerance) || want.Dual > got.Primal*(1+tolerance) {
		return "", fmt.Errorf("certified optimum in [%v, %v], on the CPU in [%v, %v]", got.Dual, got.Primal, want.Dual, want.Primal)
	}
	return fmt.Sprintf("objective %.6g after %d passes, on the CPU %.6g", got.Primal, trainingPasses, want.Primal), nil
}

// problem draws chains whose inputs mostly reveal their labels, and initial weights.
func (g *rig) problem(c methodCase, r *rand.Rand) (*engine.Objective, []float32, error) {
	const labels, dim = netLabels, 6
	var lengths []int
	for range g.pick(200, 12) {
		lengths = append(lengths, 1+r.IntN(g.pick(20, 5)))
	}
	text := c.net.Net == ""
	input := graph.Input{Dim: dim}
	switch {
	case text:
		input = graph.Input{}
	case c.net.Preset().CanRead(nets.ReadsWords):
		input = graph.Input{Vocab: []int{g.pick(100, 20), 5}}
	}
	d := randomChains(r, input, labels, lengths...)
	o := &engine.Objective{Data: d, Loss: c.loss, Lambda: 0.1}
	if text {
		d.Attributes = drawSparse(r, d, 30, 5, true, false)
		d.EdgeAttributes = drawSparse(r, d, 4, 2, true, true)
		net, err := sparse.NewChain(30, 4, labels, nets.EdgesTransition)
		if err != nil {
			return nil, nil, err
		}
		o.Scorer = net
		return o, make([]float32, net.Dim()), o.Check()
	}
	for t := range d.Labels {
		if input.Dim == 0 {
			if r.IntN(8) > 0 {
				d.Labels[t] = d.Ids[2*t] % labels
			}
			continue
		}
		if x := d.Features[t*dim : t*dim+labels]; r.IntN(8) > 0 {
			d.Labels[t] = int32(slices.Index(x, slices.Max(x)))
		}
	}
	d.Weights = make([]float64, d.Len())
	for i := range d.Weights {
		d.Weights[i] = 0.5 + float64(i%3)/2
	}
	if c.forbid {
		o.Constraints = forbidding(d)
	}
	net, err := nets.New(c.net, input, labels)
	if err != nil {
		return nil, nil, err
	}
	o.Scorer = network{net}
	return o, net.Init(1), o.Check()
}

// forbidding forbids one start label, one end label and one transition, and removes them from the gold labels.
func forbidding(d *structured.Dataset) *chains.Constraints {
	const first, last, from, to, instead = 3, 2, 1, 2, 0
	y := d.Alphabet.Len()
	c := &chains.Constraints{Start: make([]bool, y), End: make([]bool, y), Transition: make([]bool, y*y)}
	c.Start[first], c.End[last], c.Transition[from*y+to] = true, true, true
	for i := range d.Len() {
		lo, hi := d.Offsets[i], d.Offsets[i+1]
		for t := lo; t < hi; t++ {
			if l := d.Labels[t]; t == lo && l == first || t == hi-1 && l == last || t > lo && l == to && d.Labels[t-1] == from {
				d.Labels[t] = instead
			}
		}
	}
	return c
}
