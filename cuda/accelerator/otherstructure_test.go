package accelerator_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/cuda/accelerator"
	"github.com/dsp-go/dsp/cuda/cudanets"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
)

// choice is a structure that picks one of an example's boxes and its kind: the output is the number 2·box + kind. Its
// potentials are "box", two per box, and "kind", two that all examples share.
type choice struct{ chains.Chain }

var choices = structured.Form{Structure: choice{}, Parts: []structured.Shape{
	{Name: "box", Rows: "box", Width: 2}, {Name: "kind", Rows: structured.Tied, Width: 2},
}}

func (choice) Name() string { return "box and kind" }

// SkipsRows implements structured.RowSkipper: boxes that are not picked have no kind.
func (choice) SkipsRows(part int) bool { return part == 0 }

func (choice) Score(θ *structured.Potentials, b int, y []int32) float64 {
	return float64(θ.Parts[0].Of(b)[y[0]]) + float64(θ.Parts[1].Of(b)[y[0]%2])
}

func (choice) Add(u *structured.Marginals, b int, y []int32, c float32) {
	u.Parts[0].Of(b)[y[0]] += c
	u.Parts[1].Of(b)[y[0]%2] += c
}

func (choice) TaskLoss() structured.TaskLoss { return choiceLoss{} }

// choiceLoss is 1 unless box and kind are both right.
type choiceLoss struct{}

func (choiceLoss) Augment(θ *structured.Potentials, b int, gold structured.Gold) {
	for i := range θ.Parts[0].Of(b) {
		if int32(i) != gold.Output[0] {
			θ.Parts[0].Of(b)[i]++
		}
	}
}

func (choiceLoss) Dot(v *structured.Marginals, b int, gold structured.Gold) (s float64) {
	for i, x := range v.Parts[0].Of(b) {
		if int32(i) != gold.Output[0] {
			s += float64(x)
		}
	}
	return s
}

func (choiceLoss) Loss(y []int32, gold structured.Gold) float64 {
	if y[0] == gold.Output[0] {
		return 0
	}
	return 1
}

// bruteForce is the oracle of choice.
type bruteForce struct{}

func (bruteForce) Max(θ *structured.Potentials, y []int32, value []float64) {
	for b := range θ.Len() {
		at := y[θ.Outputs[b]:θ.Outputs[b+1]]
		for i := range θ.Parts[0].Of(b) {
			if s := θ.Score(b, []int32{int32(i)}); i == 0 || s > value[b] {
				at[0], value[b] = int32(i), s
			}
		}
	}
}

// findsLess is an oracle whose values are too small.
type findsLess struct{ bruteForce }

func (o findsLess) Max(θ *structured.Potentials, y []int32, value []float64) {
	o.bruteForce.Max(θ, y, value)
	for b := range θ.Len() {
		value[b] -= 100
	}
}

// uploading computes a host scorer's potentials and pullbacks, and moves them to and from a device.
type uploading struct {
	nets.Scorer
	d      *device.Device
	worker nets.Worker
	batch  structured.Batch
}

func (m *uploading) Reserve(*resident.Batch) error { return nil }

func (m *uploading) Score(w device.Array[float32], b *resident.Batch, parts cudanets.Parts) {
	var examples []int
	for _, i := range cudatest.Downloaded(m.d, b.Examples)[:b.B] {
		examples = append(examples, int(i))
	}
	m.batch.Reset(b.Data.Set, examples)
	var θ structured.Potentials
	if err := m.worker.Score(cudatest.Downloaded(m.d, w), &m.batch, &θ); err != nil {
		panic(err)
	}
	for k, part := range parts {
		device.Upload(m.d, part, cudatest.Vector(rand.New(rand.NewPCG(1, 1)), part.Len(), 1)) // garbage in padding
		device.Upload(m.d, part, θ.Parts[k].Values)
	}
}

func (m *uploading) Pullback(parts cudanets.Parts, grad device.Array[float32]) {
	var v structured.Marginals
	v.Resize(&m.batch, m.Form())
	v.Clear()
	for k := range v.Parts {
		whole, n := cudatest.Downloaded(m.d, parts[k]), len(v.Parts[k].Values)
		if v.Parts[k].Rows == structured.Tied {
			n = v.Parts[k].Width // of the first example, in place of all
		}
		copy(v.Parts[k].Values, whole[:n])
		for _, x := range whole[n:] {
			if x != 0 {
				panic("padding is not zero")
			}
		}
	}
	host := cudatest.Downloaded(m.d, grad)
	if err := m.worker.Pullback(&v, host); err != nil {
		panic(err)
	}
	device.Upload(m.d, grad, host)
}

// chosen is a problem on choices whose attributes reveal the right box.
func chosen() *engine.Objective {
	rng, boxes := rand.New(rand.NewPCG(3, 1)), &structured.Table{Name: "box", Offsets: []int{0}, Attributes: &structured.Sparse{Offsets: []int{0}}}
	d := &structured.Dataset{Name: "boxes", Offsets: []int{0}, Outputs: []int{0}, Tables: []*structured.Table{boxes}}
	for i := range 23 {
		n := 1 + rng.IntN(40)
		right := rng.IntN(n)
		for k := range n {
			a := int32(rng.IntN(6))
			if k == right {
				a = 6
			}
			boxes.Attributes.Index = append(boxes.Attributes.Index, a)
			boxes.Attributes.Offsets = append(boxes.Attributes.Offsets, len(boxes.Attributes.Index))
		}
		boxes.Offsets = append(boxes.Offsets, boxes.Offsets[i]+n)
		d.Offsets, d.Outputs = append(d.Offsets, i+1), append(d.Outputs, i+1)
		d.Labels, d.Weights = append(d.Labels, int32(2*right+rng.IntN(2))), append(d.Weights, 0.5+float64(i%3))
	}
	net := sparse.New(choices, []sparse.Part{{Attributes: 7, Weights: "boxes"}, {Bias: "kinds"}})
	return &engine.Objective{Scorer: net, Data: d, Lambda: 0.1}
}

// A structure without kernels, with a table of its own, trains with potentials on a device as it does on the CPU.
func TestOtherStructuresOnDevice(t *testing.T) {
	d := cudatest.Device(t)
	all := registry.All
	t.Cleanup(func() { registry.All = all })
	registry.All = append(all[:len(all):len(all)], registry.Kind{Structure: choice{}, Oracle: func() oracles.Maximiser { return bruteForce{} }})

	o := chosen()
	scorer := func() *uploading { return &uploading{Scorer: o.Scorer, d: d, worker: o.Scorer.NewWorker()} }
	a, err := accelerator.NewAcceleratorWith(d, o, scorer())
	cudatest.Must(t, err)
	e := engine.NewEngine(o, 1)
	w := cudatest.Vector(rand.New(rand.NewPCG(4, 4)), o.Scorer.Dim(), 1)
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
	for name, method := range map[string]func() train.Method{
		"bcfw": func() train.Method { return &methods.BCFW{Resync: 2} },
		"sgd":  func() train.Method { return &methods.SGD{Rate: 0.1} },
	} {
		here, there := trained(t, p, method(), 3), trained(t, &q, method(), 3)
		cudatest.Near(t, name, there.W, here.W, 1e-4)
		f, err := q.Value(t.Context(), there.W) // states round it up, by other bounds
		cudatest.Must(t, err)
		expected, err := p.Value(t.Context(), here.W)
		cudatest.Must(t, err)
		about(t, name+", F", f, expected, expected)
	}
	a.Close()

	// An oracle that finds less than the gold output scores, as rounding may: the hinge is 0 and not negative, as on
	// the CPU.
	registry.All = append(all[:len(all):len(all)], registry.Kind{Structure: choice{}, Oracle: func() oracles.Maximiser { return findsLess{} }})
	a, err = accelerator.NewAcceleratorWith(d, o, scorer())
	cudatest.Must(t, err)
	defer a.Close()
	low := engine.NewAcceleratedEngine(o, 1, a)
	got, err = low.FullPass(t.Context(), w, oracles.Smoothing{}, nil)
	cudatest.Must(t, err)
	value, err := low.Value(t.Context(), w)
	cudatest.Must(t, err)
	want, err = engine.NewEngine(o, 1).FullPass(t.Context(), w, oracles.Smoothing{}, nil)
	cudatest.Must(t, err)
	about(t, "primal of an oracle that finds less", got.Primal, want.Primal, want.Primal)
	about(t, "value of an oracle that finds less", value, want.Primal, want.Primal)

	o.Loss = engine.CRF
	if _, err := accelerator.NewAcceleratorWith(d, o, scorer()); !structured.IsBadInput(err) || !strings.Contains(err.Error(), "the oracle of a box and kind does not compute") {
		t.Errorf("a loss that needs sums: %v", err)
	}
}
