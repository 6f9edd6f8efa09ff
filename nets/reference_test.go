package nets_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// reference runs a network on Gorgonia's TapeMachine, in float64.
type reference struct {
	t     testing.TB
	net   *nets.Net
	f     *graph.Function
	grads map[string]*gorgonia.Value
	vm    gorgonia.VM
	parts []gorgonia.Value
}

func newReference(t testing.TB, net *nets.Net, batch *structured.Batch, dropout uint64) *reference {
	r := &reference{t: t, net: net, grads: map[string]*gorgonia.Value{}}
	f, err := graph.Differentiate(net.Spec(), net.Size(batch), tensor.Float64, net.Input(), net.Layout())
	if err != nil {
		t.Fatal(err)
	}
	r.f = f
	p, err := net.Program(net.Size(batch))
	if err != nil {
		t.Fatal(err)
	}
	m := graph.NewMachine(p, net.Input()) // provides batch indices and masks
	m.Seed = dropout
	if err := m.Load(p, net.Input(), make([]float32, net.Dim()), batch); err != nil {
		t.Fatal(err)
	}
	for n, xs := range f.Bind(m) {
		r.let(n, widen(xs))
	}
	r.parts = make([]gorgonia.Value, len(f.Outputs))
	for k, n := range f.Outputs {
		if n != nil {
			gorgonia.Read(n, &r.parts[k])
		}
	}
	for name, n := range f.Gradients {
		r.grads[name] = new(gorgonia.Value)
		gorgonia.Read(n, r.grads[name])
	}
	r.vm = gorgonia.NewTapeMachine(f.Graph.ExprGraph)
	t.Cleanup(func() { r.vm.Close() })
	return r
}

func (r *reference) let(n *gorgonia.Node, xs []float64) {
	r.t.Helper()
	if err := gorgonia.Let(n, tensor.New(tensor.WithShape(n.Shape()...), tensor.WithBacking(xs))); err != nil {
		r.t.Fatal(err)
	}
}

// run returns the potentials at w and Jᵀv for cotangents v. Potentials and cotangents are by part and padded; nil means
// zero.
func (r *reference) run(w []float64, v [][]float64) (parts [][]float64, grad []float64) {
	r.t.Helper()
	for name, n := range r.f.Params {
		a, _ := r.net.Layout().Find(name)
		r.let(n, append([]float64(nil), w[a.Offset:a.Offset+a.Len()]...))
	}
	for k, n := range r.f.Cotangents {
		if n != nil {
			r.let(n, v[k])
		}
	}
	r.vm.Reset()
	if err := r.vm.RunAll(); err != nil {
		r.t.Fatal(err)
	}
	for _, p := range r.parts {
		if p == nil {
			parts = append(parts, nil)
		} else {
			parts = append(parts, append([]float64(nil), floats(p)...))
		}
	}
	grad = make([]float64, r.net.Dim())
	for name, v := range r.grads {
		a, _ := r.net.Layout().Find(name)
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
func randomData(rng *rand.Rand, input graph.Input, labels int, lengths ...int) *structured.Dataset {
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
	if input.Characters > 0 {
		d.Characters = randomCharacters(rng, d.Positions(), input.Characters)
	}
	if input.Attributes > 0 {
		d.Attributes = randomAttributes(rng, d.Positions(), input.Attributes)
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

// randomMarginals has zeros for the step into the start of a chain, as marginals do.
func randomMarginals(rng *rand.Rand, batch *structured.Batch, form structured.Form) *structured.Marginals {
	v := new(structured.Marginals)
	v.Resize(batch, form)
	for k := range v.Parts {
		copy(v.Parts[k].Values, randomVector(rng, len(v.Parts[k].Values), 1))
	}
	if _, chain := form.Structure.(chains.Chain); !chain || form.Parts[1].Rows == structured.Tied {
		return v
	}
	for b, edge := 0, &v.Parts[1]; b < v.Len(); b++ {
		if one := edge.Of(b); len(one) > 0 {
			clear(one[:edge.Width])
		}
	}
	return v
}

// mustEqual fails unless got equals want within tolerance, relative to the largest entry.
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
