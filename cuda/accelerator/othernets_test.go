package accelerator_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/cuda/accelerator"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
)

// pick is a structure that picks one of an example's positions. Its loss, the distance to the gold position, is a part
// of its own, whose coordinate of an output is computed from the gold output.
type pick struct{ chains.Chain }

var picks = structured.Form{Structure: pick{}, Parts: []structured.Shape{{Name: "candidate", Rows: structured.Positions, Width: 1},
	{Name: "side", Rows: structured.Tied, Width: 2}, {Name: "loss", Rows: structured.Examples, Width: 1}}}

func (pick) Name() string { return "pick" }
func (pick) ReadsGold()   {}

func (pick) Score(θ *structured.Potentials, b int, y []int32) float64 {
	s := float64(θ.Parts[0].Of(b)[y[0]]) + float64(θ.Parts[1].Of(b)[y[0]%2])
	if len(θ.Gold) > 0 {
		s += float64(θ.Parts[2].Of(b)[0]) * distance(y, θ.Gold[b])
	}
	return s
}

func (pick) Add(u *structured.Marginals, b int, y []int32, c float32) {
	u.Parts[0].Of(b)[y[0]] += c
	u.Parts[1].Of(b)[y[0]%2] += c
	if len(u.Gold) > 0 {
		u.Parts[2].Of(b)[0] += c * float32(distance(y, u.Gold[b]))
	}
}

func (pick) TaskLoss() structured.TaskLoss { return pickLoss{} }

type pickLoss struct{}

func (pickLoss) Augment(θ *structured.Potentials, b int, _ structured.Gold) { θ.Parts[2].Of(b)[0]++ }

func (pickLoss) Dot(v *structured.Marginals, b int, _ structured.Gold) float64 {
	return float64(v.Parts[2].Of(b)[0])
}

func (pickLoss) Loss(y []int32, gold structured.Gold) float64 { return distance(y, gold.Output) }

func distance(y, gold []int32) float64 { return math.Abs(float64(y[0]-gold[0])) / 8 }

// link is a structure that links each source item to a target item, or to none: number 0 of the output is for none, j +
// 1 for target j.
type link struct{ chains.Chain }

var linked = structured.Form{Structure: link{}, Parts: []structured.Shape{{Name: "pair", Rows: structured.Pairs, Width: 1}, {Name: "unmatched", Rows: structured.Sources, Width: 1}}}

func (link) Name() string { return "link" }

// each visits the entries of an output of example b: whether source i's is that of staying unmatched, and where it is.
func (link) each(parts []structured.Part, b int, y []int32, visit func(part, at int)) {
	if len(y) == 0 {
		return
	}
	m := len(parts[0].Of(b)) / len(y)
	for i, j := range y {
		if j == 0 {
			visit(1, i)
		} else {
			visit(0, i*m+int(j)-1)
		}
	}
}

func (l link) Score(θ *structured.Potentials, b int, y []int32) (s float64) {
	l.each(θ.Parts, b, y, func(part, at int) { s += float64(θ.Parts[part].Of(b)[at]) })
	return s
}

func (l link) Add(u *structured.Marginals, b int, y []int32, c float32) {
	l.each(u.Parts, b, y, func(part, at int) { u.Parts[part].Of(b)[at] += c })
}

func (link) TaskLoss() structured.TaskLoss { return linkLoss{} }

// linkLoss counts the wrong numbers of an output.
type linkLoss struct{}

func (linkLoss) Augment(θ *structured.Potentials, b int, gold structured.Gold) {
	for part := range θ.Parts {
		for i := range θ.Parts[part].Of(b) {
			θ.Parts[part].Of(b)[i]++
		}
	}
	link{}.each(θ.Parts, b, gold.Output, func(part, at int) { θ.Parts[part].Of(b)[at]-- })
}

func (linkLoss) Dot(v *structured.Marginals, b int, gold structured.Gold) (s float64) {
	for part := range v.Parts {
		for _, x := range v.Parts[part].Of(b) {
			s += float64(x)
		}
	}
	link{}.each(v.Parts, b, gold.Output, func(part, at int) { s -= float64(v.Parts[part].Of(b)[at]) })
	return s
}

func (linkLoss) Loss(y []int32, gold structured.Gold) (wrong float64) {
	for i := range y {
		if y[i] != gold.Output[i] {
			wrong++
		}
	}
	return wrong
}

// bestLinks is the oracle of link.
type bestLinks struct{}

func (bestLinks) Max(θ *structured.Potentials, y []int32, value []float64) {
	for b := range θ.Len() {
		to := y[θ.Outputs[b]:θ.Outputs[b+1]]
		value[b] = 0
		for i := range to {
			pairs, m := θ.Parts[0].Of(b), len(θ.Parts[0].Of(b))/len(to)
			best := θ.Parts[1].Of(b)[i]
			to[i] = 0
			for j, s := range pairs[i*m : (i+1)*m] {
				if s > best {
					best, to[i] = s, int32(j+1)
				}
			}
			value[b] += float64(best)
		}
	}
}

// Networks of structures without kernels train on a device as they do on the CPU: convolutions of maps with a loss that
// is no sum over parts, bilinear scores of source and target items, and edges of graphs.
func TestOtherNetsOnDevice(t *testing.T) {
	all := registry.All
	t.Cleanup(func() { registry.All = all })
	registry.All = append(all[:len(all):len(all)], registry.Kind{Structure: pick{}, Oracle: func() oracles.Maximiser { return bruteForce{} }},
		registry.Kind{Structure: link{}, Oracle: func() oracles.Maximiser { return bestLinks{} }})
	m := graph.Map{Height: 3, Width: 4, Channels: 2}
	for _, c := range []struct {
		config nets.Config
		input  graph.Input
		form   structured.Form
	}{
		{nets.Config{Net: "conv-map", Channels: []int{3}, Kernel: 3}, graph.Input{Dim: m.Len(), Map: m}, picks},
		{nets.Config{Net: "bilinear", Channels: []int{4}, PairUnits: 3}, graph.Input{Vocab: []int{9}}, linked},
		{nets.Config{Net: "conv-crop", Channels: []int{3}, Hidden: []int{4}, EdgeUnits: 3}, graph.Input{Dim: m.Len(), Map: m, EdgeDim: 2}, graphs.Pairwise{Edges: graphs.Potts}.Form(3, 0)},
		{nets.Config{Net: "linear"}, graph.Input{Dim: 4, EdgeDim: 2}, graphs.Pairwise{Edges: graphs.Own}.Form(2, 0)},
	} {
		t.Run(c.config.Net, func(t *testing.T) {
			net, err := nets.Make(c.config, c.input, nets.Output{Form: c.form})
			cudatest.Must(t, err)
			o := &engine.Objective{Scorer: net, Data: drawn(net, c.form), Lambda: 0.1}
			compareOnDevice(t, o, net.Init(3))
		})
	}
}

// drawn draws examples with gold outputs.
func drawn(net *nets.Net, form structured.Form) *structured.Dataset {
	rng := rand.New(rand.NewPCG(3, 1))
	var lengths []int
	for range 23 {
		lengths = append(lengths, 2+rng.IntN(9))
	}
	d := net.Draw(rng, lengths...)
	if _, ok := form.Structure.(graphs.Pairwise); ok {
		for range d.Positions() {
			d.Labels = append(d.Labels, rng.Int32N(int32(form.Parts[0].Width)))
		}
		return d
	}
	d.Outputs = []int{0}
	for i, length := range lengths {
		d.Weights = append(d.Weights, 0.5+float64(i%3))
		if form.Structure.Name() == "pick" {
			d.Labels = append(d.Labels, rng.Int32N(int32(length)))
		} else {
			for range length / 2 {
				d.Labels = append(d.Labels, rng.Int32N(int32(length-length/2+1)))
			}
		}
		d.Outputs = append(d.Outputs, len(d.Labels))
	}
	return d
}

// compareOnDevice compares a full pass and passes of SGD on a device with those on the CPU.
func compareOnDevice(t *testing.T, o *engine.Objective, w []float32) {
	d := cudatest.Device(t)
	a, err := accelerator.NewAccelerator(d, o, oracles.Smoothing{}, false)
	cudatest.Must(t, err)
	defer a.Close()
	e := engine.NewEngine(o, 1)
	want, err := e.FullPass(t.Context(), w, oracles.Smoothing{}, nil)
	cudatest.Must(t, err)
	got, err := engine.NewAcceleratedEngine(o, 1, a).FullPass(t.Context(), w, oracles.Smoothing{}, nil)
	cudatest.Must(t, err)
	cudatest.Near(t, "gradient", got.Grad, want.Grad, 1e-5)
	about(t, "primal", got.Primal, want.Primal, want.Primal)
	if vec.Norm2(want.Grad) == 0 {
		t.Error("the problem is trivial")
	}
	p := &train.Problem{Engine: e, Batch: 3, Seed: 3}
	q := *p
	q.Engine = engine.NewAcceleratedEngine(o, 1, a)
	method := func() train.Method { return &methods.SGD{Rate: 0.01} }
	here, there := trained(t, p, method(), 2), trained(t, &q, method(), 2)
	cudatest.Near(t, "sgd", there.W, here.W, 1e-3)
	about(t, "sgd, F", there.Primal, here.Primal, here.Primal)
}
