package nets

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// reference runs a network on Gorgonia's TapeMachine, in float64.
type reference struct {
	t      testing.TB
	net    *Net
	graph  *Graph
	f      *function
	worker *NetWorker // for its batch indices and masks
	grads  map[string]*gorgonia.Value
	vm     gorgonia.VM
	node   gorgonia.Value
	edge   gorgonia.Value
}

func newReference(t testing.TB, net *Net, batch *structured.Batch, dropout uint64) *reference {
	r := &reference{t: t, net: net, worker: net.NewNetWorker(), grads: map[string]*gorgonia.Value{}}
	rows := Bucket(batch.Positions())
	g := newGraph(rows, tensor.Float64, net.input, net.layout)
	f, err := differentiate(&net.spec, g)
	if err != nil {
		t.Fatal(err)
	}
	r.graph, r.f = g, f
	r.worker.m.seed = dropout
	if err := r.worker.load(make([]float32, net.Dim()), batch); err != nil {
		t.Fatal(err)
	}
	g.indices = r.worker.m.index
	for n, l := range g.leaves {
		switch l.space {
		case SpaceFeatures, SpaceBoundary:
			r.let(n, widen(r.worker.m.mem[l.space]))
		}
	}
	for n, m := range g.masks {
		out := make([]float32, n.Shape().TotalSize())
		r.worker.m.mem[SpaceArena] = out
		m.run(&r.worker.m, &Instruction{Out: &Buffer{Space: SpaceArena, N: len(out)}})
		r.let(n, widen(out))
	}
	gorgonia.Read(f.node, &r.node)
	if f.edge != nil {
		gorgonia.Read(f.edge, &r.edge)
	}
	for name, n := range f.gradients {
		r.grads[name] = new(gorgonia.Value)
		gorgonia.Read(n, r.grads[name])
	}
	r.vm = gorgonia.NewTapeMachine(g.ExprGraph)
	t.Cleanup(func() { r.vm.Close() })
	return r
}

func (r *reference) let(n *gorgonia.Node, xs []float64) {
	r.t.Helper()
	if err := gorgonia.Let(n, tensor.New(tensor.WithShape(n.Shape()...), tensor.WithBacking(xs))); err != nil {
		r.t.Fatal(err)
	}
}

// run returns the potentials at w and Jᵀv for cotangents v, all padded.
func (r *reference) run(w []float64, vNode, vEdge []float64) (node, edge, grad []float64) {
	r.t.Helper()
	for name, n := range r.graph.params {
		a, _ := r.net.layout.Find(name)
		r.let(n, append([]float64(nil), w[a.Offset:a.Offset+a.Len()]...))
	}
	for n, l := range r.f.cotangents {
		if l.space == SpaceNodeCotangent {
			r.let(n, vNode)
		} else {
			r.let(n, vEdge)
		}
	}
	r.vm.Reset()
	if err := r.vm.RunAll(); err != nil {
		r.t.Fatal(err)
	}
	node = append(node, floats(r.node)...)
	if r.edge != nil {
		edge = append(edge, floats(r.edge)...)
	}
	grad = make([]float64, r.net.Dim())
	for name, v := range r.grads {
		a, _ := r.net.layout.Find(name)
		copy(grad[a.Offset:], floats(*v))
	}
	return
}

func floats(v gorgonia.Value) []float64 {
	if x, ok := v.Data().(float64); ok {
		return []float64{x}
	}
	return v.Data().([]float64)
}

func widen(xs []float32) []float64 {
	out := make([]float64, len(xs))
	for i, x := range xs {
		out[i] = float64(x)
	}
	return out
}

// randomData has chains of the given lengths with dense features and discrete inputs.
func randomData(rng *rand.Rand, input Input, labels int, lengths ...int) *structured.Dataset {
	d := &structured.Dataset{Name: "random", Offsets: []int{0}, Dim: input.Dim}
	for _, n := range lengths {
		d.Offsets = append(d.Offsets, d.Positions()+n)
	}
	for range d.Positions() {
		d.Labels = append(d.Labels, int32(rng.IntN(labels)))
		for range input.Dim {
			d.Features = append(d.Features, float32(rng.NormFloat64()))
		}
		for _, v := range input.Vocab {
			d.Ids = append(d.Ids, int32(rng.IntN(v)))
		}
	}
	for range input.Vocab {
		d.Vocab = append(d.Vocab, structured.NewAlphabet())
	}
	return d
}

func randomVector(rng *rand.Rand, n int, scale float64) []float32 {
	w := make([]float32, n)
	for i := range w {
		w[i] = float32(rng.NormFloat64() * scale)
	}
	return w
}

func randomMarginals(rng *rand.Rand, batch *structured.Batch, y int, perPosition bool) *structured.Marginals {
	v := new(structured.Marginals)
	v.Resize(batch, chains.Form(y, perPosition))
	view := chains.In(v)
	copy(view.Node, randomVector(rng, len(view.Node), 1))
	copy(view.Edge, randomVector(rng, len(view.Edge), 1))
	if perPosition {
		for b := range v.Len() {
			if t := view.Offsets[b]; t < view.Offsets[b+1] {
				clear(view.Edge[t*y*y : (t+1)*y*y])
			}
		}
	}
	return v
}

// close fails unless got equals want to tolerance, relative to the largest entry.
func mustEqual(t testing.TB, what string, got []float32, want []float64, tolerance float64) {
	t.Helper()
	top := 1.0
	for _, x := range want {
		top = max(top, math.Abs(x))
	}
	for i, g := range got {
		if d := math.Abs(float64(g) - want[i]); !(d <= tolerance*top) {
			t.Fatalf("%s[%d] = %g, want %g (scale %g)", what, i, g, want[i], top)
		}
	}
}

// formOf returns the number of labels of a scorer of chains, and whether its edge potentials differ from position to position.
func formOf(s Scorer) (labels int, perPosition bool) {
	parts := s.Form().Parts
	return parts[0].Width, parts[1].Rows != structured.Tied
}
