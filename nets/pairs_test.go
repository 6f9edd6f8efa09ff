package nets_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// arcs is the form of potentials of trees: one score per arc, and one per arc and relation.
func arcs(relations int) structured.Form {
	return structured.Form{Parts: []structured.Shape{{Name: "arc", Rows: "arc", Width: 1},
		{Name: "label", Rows: "label", Width: relations}}}
}

// withPairs gives data the tables of pairs.
func withPairs(d *structured.Dataset) *structured.Dataset {
	offsets := []int{0}
	for i := range d.Len() {
		n := d.Length(i)
		offsets = append(offsets, offsets[i]+n*n)
	}
	d.Tables = []*structured.Table{{Name: "arc", Offsets: offsets}, {Name: "label", Offsets: offsets}}
	return d
}

// pairGraphs make scores [Pairs×3] of x [Rows×4].
var pairGraphs = map[string]func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node{
	"bilinear": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(g.Bilinear(node(gorgonia.Mul(x, g.Param("forms"))), node(gorgonia.Tanh(x)), g.Param("root")))
	},
	"one form": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(gorgonia.Mul(node(g.Bilinear(x, node(gorgonia.Tanh(x)), g.Param("root"))), g.Param("row")))
	},
	"both forms of one": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		l, r := node(g.Bilinear(x, x, g.Param("root"))),
			node(g.Bilinear(node(gorgonia.Tanh(x)), x, node(gorgonia.Tanh(g.Param("root")))))
		return node(gorgonia.Mul(node(gorgonia.Add(l, r)), g.Param("row")))
	},
	"dependents and heads": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		pair := node(gorgonia.Add(node(g.Dependents(x)), node(g.Heads(node(gorgonia.Sin(x))))))
		return node(gorgonia.Mul(node(gorgonia.Tanh(pair)), g.Param("out")))
	},
	"distances": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		wide := node(gorgonia.Concat(1,
			slices.Repeat([]*gorgonia.Node{x, node(gorgonia.Sin(x)), node(gorgonia.Cube(x))}, graph.Distances/3)...))
		return node(gorgonia.Mul(node(g.ByDistance(wide)), g.Param("out"))) // 4 columns for each class
	},
	"bilinear on others": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { // accumulates, twice
		forms := node(gorgonia.Mul(x, g.Param("forms")))
		own := node(g.Dependents(node(gorgonia.Mul(x, g.Param("out")))))
		s := node(gorgonia.Add(own, node(g.Bilinear(forms, x, g.Param("root")))))
		return node(gorgonia.Add(s, node(g.Bilinear(node(gorgonia.Tanh(forms)), x, g.Param("root")))))
	},
	"dropout on pairs": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		x = node(g.Dropout(x, 0.3))
		return node(gorgonia.Mul(node(g.Dropout(node(g.Heads(x)), 0.4)), g.Param("out")))
	},
}

func pairSpec(labels func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node) graph.Spec {
	return graph.Spec{
		Name: "pairs", Form: arcs(3),
		Params: []graph.Param{{Name: "in", Shape: []int{3, 4}, Init: graph.Glorot},
			{Name: "forms", Shape: []int{4, 12}, Init: graph.Glorot},
			{Name: "root", Shape: []int{4}, Init: graph.Glorot}, {Name: "out", Shape: []int{4, 3}, Init: graph.Glorot},
			{Name: "row", Shape: []int{1, 3}, Init: graph.Glorot}},
		Parts: func(g *graph.Graph) ([]*gorgonia.Node, error) {
			l := labels(g, node(gorgonia.Mul(g.Features(), g.Param("in"))))
			return []*gorgonia.Node{nil, l}, nil
		},
	}
}

// Score, pullback and push-forward of the ops on pairs equal those of Gorgonia's TapeMachine in float64.
func TestPairGraphsEqualGorgonia(t *testing.T) {
	for name, layers := range pairGraphs {
		for _, lengths := range [][]int{{5, 3, 1, 0, 2}, {8}, {1}, {0, 2}, {17, 4}, slices.Repeat([]int{1}, 60)} {
			t.Run(fmt.Sprint(name, lengths), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(21, 22))
				net, err := nets.Build(pairSpec(layers), graph.Input{Dim: 3})
				must(t, err)
				var batch structured.Batch
				batch.Reset(withPairs(randomData(rng, graph.Input{Dim: 3}, 3, lengths...)), seq(len(lengths)))
				checkAgainst(t, newReference(t, net, &batch, 7), net, &batch, randomVector(rng, net.Dim(), 0.7), 7, rng)
			})
		}
	}
}

var biaffineConfigs = []struct {
	name   string
	config nets.Config
	input  graph.Input
}{
	{"words", nets.Config{Net: "biaffine", Channels: []int{6}, Embed: []int{4, 3}, Window: 3, ArcUnits: 5, LabelUnits: 4,
		Dropout: 0.2}, graph.Input{Vocab: []int{11, 5}}},
	{"characters", nets.Config{Net: "biaffine", Channels: []int{6}, Embed: []int{4}, Window: 3, ArcUnits: 5, LabelUnits: 4,
		CharChannels: 3, CharEmbed: 2}, graph.Input{Vocab: []int{11}, Characters: 8}},
	{"features", nets.Config{Net: "biaffine", Channels: []int{6, 5}, Hidden: []int{4}, Window: 3, ArcUnits: 3,
		LabelUnits: 2, Activation: graph.Tanh}, graph.Input{Dim: 3}},
	{"recurrent", nets.Config{Net: "biaffine", Recurrent: []int{4, 3}, Embed: []int{4}, ArcUnits: 3, LabelUnits: 2,
		Activation: graph.GELU}, graph.Input{Vocab: []int{7}}},
	{"attention", nets.Config{Net: "biaffine", Channels: []int{8}, Window: 1, Layers: 1, Heads: 2, BlockUnits: 5,
		ArcUnits: 3, LabelUnits: 2, Dropout: 0.1}, graph.Input{Dim: 3}},
	{"both", nets.Config{Net: "biaffine", Channels: []int{6}, Window: 1, ArcUnits: 1, LabelUnits: 3,
		Activation: graph.ReLU}, graph.Input{Vocab: []int{7}, Dim: 2}},
}

func mustBiaffine(t testing.TB, c nets.Config, input graph.Input, relations int) *nets.Net {
	t.Helper()
	net, err := nets.Make(c, input, nets.Output{Labels: relations, Form: arcs(relations)})
	must(t, err)
	return net
}

func TestBiaffineEqualsGorgonia(t *testing.T) {
	for _, c := range biaffineConfigs {
		for _, relations := range []int{1, 3} {
			for _, lengths := range [][]int{{5, 3, 1, 0, 2}, {8}, {7, 9}} {
				t.Run(fmt.Sprint(c.name, relations, lengths), func(t *testing.T) {
					rng := rand.New(rand.NewPCG(23, 24))
					net := mustBiaffine(t, c.config, c.input, relations)
					if net.Affine() {
						t.Error("affine")
					}
					data := withPairs(randomData(rng, c.input, 3, lengths...))
					var batch structured.Batch
					batch.Reset(data, seq(data.Len()))
					checkAgainst(t, newReference(t, net, &batch, 5), net, &batch, randomVector(rng, net.Dim(), 0.5), 5, rng)
				})
			}
		}
	}
}

// The scores follow the formula: x_dᵀ W_k z_h + ⟨u_kc, x_d⟩ + ⟨v_k, z_h⟩ + b_kc with the class c of h − d,
// and the root on the diagonal.
func TestBiaffineFormula(t *testing.T) {
	const n, e, k = 4, 3, 2
	rng := rand.New(rand.NewPCG(25, 26))
	spec := graph.Spec{Name: "formula", Form: arcs(k),
		Params: []graph.Param{{Name: "W", Shape: []int{e, k * e}}, {Name: "v", Shape: []int{k * e}},
			{Name: "u", Shape: []int{e, graph.Distances * k}}, {Name: "b", Shape: []int{graph.Distances * k}},
			{Name: "root", Shape: []int{e}}}}
	spec.Parts = func(g *graph.Graph) ([]*gorgonia.Node, error) {
		x, z := node(gorgonia.Slice(g.Features(), nil, gorgonia.S(0, e))),
			node(gorgonia.Slice(g.Features(), nil, gorgonia.S(e, 2*e)))
		s := node(g.Bilinear(node(g.Dense(x, g.Param("W"), g.Param("v"))), z, g.Param("root")))
		own := node(g.Dense(x, g.Param("u"), g.Param("b")))
		return []*gorgonia.Node{nil, node(gorgonia.Add(node(g.ByDistance(own)), s))}, nil
	}
	net, err := nets.Build(spec, graph.Input{Dim: 2 * e})
	must(t, err)
	if net.Affine() { // W and root meet in a product
		t.Error("affine")
	}
	data := withPairs(randomData(rng, graph.Input{Dim: 2 * e}, k, n))
	var batch structured.Batch
	batch.Reset(data, []int{0})
	w := randomVector(rng, net.Dim(), 1)
	var θ structured.Potentials
	must(t, net.NewWorker().Score(w, &batch, &θ))
	of := func(name string) []float32 {
		a, _ := net.Layout().Find(name)
		return a.Of(w)
	}
	var want []float64
	for d := range n {
		x := data.Features[d*2*e : d*2*e+e]
		for h := range n {
			z := data.Features[h*2*e+e : (h+1)*2*e]
			if h == d {
				z = of("root")
			}
			for c := range k {
				own := graph.DistanceClass(h-d)*k + c
				s := float64(of("b")[own])
				for i := range e {
					s += float64(x[i])*float64(of("u")[i*graph.Distances*k+own]) + float64(of("v")[c*e+i])*float64(z[i])
					for j := range e {
						s += float64(x[i]) * float64(of("W")[i*k*e+c*e+j]) * float64(z[j])
					}
				}
				want = append(want, s)
			}
		}
	}
	mustEqual(t, "scores", θ.Parts[1].Values, want, 1e-5)
}

// A sentence has the same potentials and gradient alone and in a batch, for dense cotangents and for mostly zero ones,
// which have their own code.
func TestSentencesDoNotMix(t *testing.T) {
	for _, c := range biaffineConfigs {
		for _, sparse := range []bool{false, true} {
			t.Run(fmt.Sprint(c.name, sparse), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(27, 28))
				net := mustBiaffine(t, c.config, c.input, 3)
				data := withPairs(randomData(rng, c.input, 3, 6, 5, 1, 12, 0, 4))
				w := randomVector(rng, net.Dim(), 0.5)
				var all, one structured.Batch
				all.Reset(data, []int{3, 1, 4, 2, 0, 5})
				var θ, alone structured.Potentials
				worker, other := net.NewNetWorker(), net.NewNetWorker()
				must(t, worker.ScoreDropout(w, 5, &all, &θ))
				v := randomMarginals(rng, &all, net.Form())
				if sparse {
					for k := range v.Parts {
						for i := range v.Parts[k].Values {
							if i%31 != 0 {
								v.Parts[k].Values[i] = 0
							}
						}
					}
				}
				grad, sum := make([]float32, net.Dim()), make([]float32, net.Dim())
				must(t, worker.Pullback(v, grad))
				again := make([]float32, net.Dim())
				must(t, worker.Pullback(v, again))
				if !slices.Equal(grad, again) {
					t.Error("another call returns different bits")
				}
				for c, e := range all.Examples {
					one.Reset(data, []int{e})
					must(t, other.ScoreDropout(w, 5, &one, &alone))
					for k := range θ.Parts {
						mustEqual(t, θ.Parts[k].Name, alone.Parts[k].Values, widen(θ.Parts[k].Of(c)), 1e-6)
					}
					var vc structured.Marginals
					v.View(c, &vc)
					must(t, other.Pullback(&vc, sum))
				}
				mustEqual(t, "gradient", sum, widen(grad), 1e-5)
			})
		}
	}
}

// The pullback is linear, even if few entries of a cotangent are nonzero, a case that has its own code.
func TestPullbackOfFewPairs(t *testing.T) {
	c := biaffineConfigs[2]
	rng := rand.New(rand.NewPCG(35, 36))
	net := mustBiaffine(t, c.config, c.input, 3)
	var batch structured.Batch
	batch.Reset(withPairs(randomData(rng, c.input, 3, 12, 7, 20)), []int{2, 0, 1})
	worker := net.NewNetWorker()
	must(t, worker.Score(randomVector(rng, net.Dim(), 0.5), &batch, new(structured.Potentials)))
	all := randomMarginals(rng, &batch, net.Form())
	var few structured.Marginals
	few.Copy(all)
	sum, want := make([]float32, net.Dim()), make([]float32, net.Dim())
	must(t, worker.Pullback(all, want))
	for k := range all.Parts {
		for i, x := range all.Parts[k].Values {
			if i%37 != 0 {
				few.Parts[k].Values[i] = 0
			}
			all.Parts[k].Values[i] = x - few.Parts[k].Values[i]
		}
	}
	must(t, worker.Pullback(all, sum))
	must(t, worker.Pullback(&few, sum))
	mustEqual(t, "gradient", sum, widen(want), 1e-5)
}

// The linearised network is affine, equals the network at w_k, and has its slope there.
func TestLinearisedBiaffine(t *testing.T) {
	c := biaffineConfigs[0]
	rng := rand.New(rand.NewPCG(29, 30))
	net := mustBiaffine(t, c.config, c.input, 3)
	data := withPairs(randomData(rng, c.input, 3, 3, 6))
	var batch structured.Batch
	batch.Reset(data, []int{1, 0})
	wk, d := randomVector(rng, net.Dim(), 0.5), randomVector(rng, net.Dim(), 1)
	model := nets.Linearise(net, wk).NewLinearisedWorker()
	at := func(step float32) []float64 {
		w := slices.Clone(wk)
		for i := range w {
			w[i] += step * d[i]
		}
		var θ structured.Potentials
		must(t, model.ScoreDropout(w, 3, &batch, &θ))
		return append(widen(θ.Parts[0].Values), widen(θ.Parts[1].Values)...)
	}
	zero, one, two := at(0), at(1), at(2)
	for i := range zero {
		if math.Abs(two[i]-2*one[i]+zero[i]) > 1e-4*(1+math.Abs(two[i])) {
			t.Fatalf("θ[%d] is not affine: %g %g %g", i, zero[i], one[i], two[i])
		}
	}
	worker := net.NewNetWorker()
	var θ, dθ structured.Potentials
	must(t, worker.ScoreDropout(wk, 3, &batch, &θ))
	mustEqual(t, "θ(w_k)", append(slices.Clone(θ.Parts[0].Values), θ.Parts[1].Values...), zero, 1e-6)
	must(t, worker.PushForward(d, &dθ))
	mustEqual(t, "slope", append(slices.Clone(dθ.Parts[0].Values), dθ.Parts[1].Values...), differences(one, zero, 1), 1e-4)
}

func TestWarmWorkersOfPairsDoNotAllocate(t *testing.T) {
	c := biaffineConfigs[0]
	rng := rand.New(rand.NewPCG(31, 32))
	net := mustBiaffine(t, c.config, c.input, 3)
	data := withPairs(randomData(rng, c.input, 3, 3, 20, 1, 9))
	w, ẇ, grad := net.Init(1), randomVector(rng, net.Dim(), 1), make([]float32, net.Dim())
	worker := net.NewNetWorker()
	var batch structured.Batch
	batch.Reset(data, []int{3, 1})
	var θ, dθ structured.Potentials
	must(t, worker.ScoreDropout(w, 3, &batch, &θ))
	v := randomMarginals(rng, &batch, net.Form())
	if n := testing.AllocsPerRun(5, func() {
		_ = worker.ScoreDropout(w, 3, &batch, &θ)
		_ = worker.Pullback(v, grad)
		_ = worker.PushForward(ẇ, &dθ)
	}); n > 0 {
		t.Errorf("%g allocations per step", n)
	}
}

// Initial scores have a spread of about 1 whatever the sizes, and so do those of the root.
func TestBiaffineInit(t *testing.T) {
	input := graph.Input{Vocab: []int{1000, 50}}
	net := mustBiaffine(t, nets.Config{Net: "biaffine"}, input, 40)
	rng := rand.New(rand.NewPCG(33, 34))
	var batch structured.Batch
	batch.Reset(withPairs(randomData(rng, input, 3, 20, 20)), []int{0, 1})
	var θ structured.Potentials
	must(t, net.NewWorker().Score(net.Init(1), &batch, &θ))
	for _, p := range θ.Parts {
		s := 0.0
		for _, x := range p.Values {
			s += float64(x) * float64(x)
		}
		if rms := math.Sqrt(s / float64(len(p.Values))); rms < 0.02 || rms > 3 {
			t.Errorf("%s scores have root mean square %g", p.Name, rms)
		}
	}
}

func TestPairErrors(t *testing.T) {
	same := func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { return x }
	for _, c := range []struct {
		want  string
		graph func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node
	}{
		{"expected [64×3]", same},
		{"expected [8×K·E], [8×E] and [E]", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
			return node(g.Bilinear(x, x, g.Param("out")))
		}},
		{"one row for each of 8 positions", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
			return node(g.Heads(node(g.Heads(x))))
		}},
		{`op "sum`, func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { // over all pairs
			p := node(gorgonia.Mul(node(g.Heads(x)), g.Param("out")))
			s := node(gorgonia.Reshape(node(gorgonia.Sum(p, 0)), tensor.Shape{1, 3}))
			return node(gorgonia.BroadcastAdd(p, s, nil, []byte{0}))
		}},
		{`op "matrix product`, func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { // pairs by pairs
			p := node(gorgonia.Mul(node(g.Heads(x)), g.Param("out")))
			return node(gorgonia.Mul(node(gorgonia.Mul(p, node(gorgonia.Transpose(p, 1, 0)))), p))
		}},
		{`op "bilinear`, func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { // of a transposed matrix
			wide := node(gorgonia.Transpose(node(gorgonia.Mul(x, node(gorgonia.Slice(g.Param("forms"), nil, gorgonia.S(0, 8))))),
				1, 0))
			s := node(g.Bilinear(wide, node(gorgonia.Tanh(wide)), node(gorgonia.Concat(0, g.Param("root"), g.Param("root")))))
			return node(gorgonia.Mul(s, g.Param("row")))
		}},
	} {
		if _, err := nets.Build(pairSpec(c.graph), graph.Input{Dim: 3}); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one about %q", err, c.want)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	net := mustBiaffine(t, biaffineConfigs[2].config, graph.Input{Dim: 3}, 2)
	var batch structured.Batch
	var θ structured.Potentials
	data := randomData(rng, graph.Input{Dim: 3}, 2, 3)
	batch.Reset(data, []int{0})
	if err := net.NewWorker().Score(net.Init(1), &batch, &θ); err == nil || !structured.IsBadInput(err) ||
		!strings.Contains(err.Error(), `no table of rows "arc"`) {
		t.Error(err)
	}
	withPairs(data).Tables[1].Offsets = []int{0, 8}
	batch.Reset(data, []int{0})
	if err := net.NewWorker().Score(net.Init(1), &batch, &θ); err == nil || !structured.IsBadInput(err) ||
		!strings.Contains(err.Error(), "3×3") {
		t.Error(err)
	}
	if _, err := nets.New(nets.Config{Net: "biaffine"}, graph.Input{Dim: 3}, 2); err == nil ||
		!strings.Contains(err.Error(), "not chains") {
		t.Error(err)
	}
	if _, err := nets.Make(nets.Config{Net: "mlp"}, graph.Input{Dim: 3},
		nets.Output{Labels: 2, Form: arcs(2)}); err == nil ||
		!strings.Contains(err.Error(), "expected one of biaffine, stack") {
		t.Error(err)
	}
}

// Each class of distances is an interval on one side; the farthest distances share a class.
func TestDistanceClass(t *testing.T) {
	want := map[int]int{0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 4, 6: 5, 8: 5, 9: 6, 14: 6, 15: 7, 999: 7, -1: 8, -3: 10,
		-14: 13, -15: 14, -999: 14}
	for distance, class := range want {
		if got := graph.DistanceClass(distance); got != class || got >= graph.Distances {
			t.Errorf("distance %d has class %d, expected %d", distance, got, class)
		}
	}
}

// Scores of pairs that are linear in the weights are affine, as convex methods require; those with a product of weights
// are not.
func TestAffinePairs(t *testing.T) {
	spec := graph.Spec{Name: "pairs", Form: arcs(3),
		Params: []graph.Param{{Name: "d", Shape: []int{3, 3 * graph.Distances}, Init: graph.Glorot},
			{Name: "h", Shape: []int{3, 3}, Init: graph.Glorot}, {Name: "root", Shape: []int{3}, Init: graph.Glorot}}}
	for _, products := range []bool{false, true} {
		spec.Parts = func(g *graph.Graph) ([]*gorgonia.Node, error) {
			s := node(gorgonia.Add(node(g.ByDistance(node(gorgonia.Mul(g.Features(), g.Param("d"))))),
				node(g.Heads(node(gorgonia.Mul(g.Features(), g.Param("h")))))))
			arc := node(g.Bilinear(g.Features(), g.Features(), g.Param("root")))
			if products {
				arc = node(g.Bilinear(node(gorgonia.Mul(g.Features(), g.Param("h"))), g.Features(), g.Param("root")))
			}
			return []*gorgonia.Node{arc, s}, nil
		}
		net, err := nets.Build(spec, graph.Input{Dim: 3})
		must(t, err)
		if net.Affine() == products {
			t.Errorf("with products %v: Affine() = %v", products, net.Affine())
		}
	}
}

func TestPairBucket(t *testing.T) {
	last := 0
	for n := range 5000 {
		b := graph.PairBucket(n)
		if b < n || b < 64 || b < last || n > 64 && b >= 2*n || graph.PairBucket(b) != b {
			t.Fatalf("PairBucket(%d) = %d", n, b)
		}
		last = b
	}
}
