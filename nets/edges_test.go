package nets_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
)

// shapes are variables of examples, and of each the edges. Graphs have loops, several edges between the same variables,
// or none.
var shapes = []struct {
	lengths []int
	edges   []int
}{
	{[]int{5, 1, 0, 9, 2}, []int{7, 0, 0, 20, 1}},
	{[]int{3}, []int{0}},
	{[]int{30}, []int{80}},
}

// join draws graphs with that many edges for the examples of d, and features of edges.
func join(rng *rand.Rand, d *structured.Dataset, dim int, edges []int) *structured.Dataset {
	t := &structured.Table{Name: structured.Edges, Offsets: []int{0}, Dim: dim}
	for i, n := range edges {
		g := &structured.Graph{}
		for len(g.Ends) < n {
			if u, v := rng.Int32N(int32(d.Length(i))), rng.Int32N(int32(d.Length(i))); u != v {
				g.Ends = append(g.Ends, [2]int32{u, v})
			}
		}
		d.Graphs, t.Offsets = append(d.Graphs, g), append(t.Offsets, t.Offsets[i]+n)
	}
	t.Features = randomVector(rng, t.Offsets[len(edges)]*dim, 1)
	d.Tables = []*structured.Table{t}
	return d
}

func pairwise(edges graphs.Edges, labels int) structured.Form {
	return graphs.Pairwise{Edges: edges}.Form(labels, 2)
}

var edgeConfigs = []struct {
	name   string
	config nets.Config
	input  graph.Input
	affine bool
}{
	{"linear", nets.Config{Net: "linear"}, graph.Input{Dim: 5, EdgeDim: 3}, true},
	{"linear, no features of edges", nets.Config{Net: "linear", Window: 3}, graph.Input{Dim: 2}, true},
	{"linear, no edges", nets.Config{Net: "linear", Edges: nets.EdgesNone}, graph.Input{Dim: 2, EdgeDim: 2}, true},
	{"linear, grid", nets.Config{Net: "linear", Window: 3},
		graph.Input{Dim: 2, EdgeDim: 1, Grid: graph.Grid{Height: 3, Width: 3}}, true},
	{"mlp", nets.Config{Net: "mlp", Hidden: []int{4}, Dropout: 0.2}, graph.Input{Dim: 5, EdgeDim: 3}, false},
	{"mlp, units", nets.Config{Net: "mlp", Hidden: []int{4}, EdgeUnits: 3, Dropout: 0.2}, graph.Input{Dim: 5, EdgeDim: 3},
		false},
	{"conv-map, units, no features of edges", nets.Config{Net: "conv-map", Channels: []int{4}, EdgeUnits: 5},
		graph.Input{Dim: 18, Map: graph.Map{Height: 3, Width: 3, Channels: 2}}, false},
	{"conv-crop", nets.Config{Net: "conv-crop", Channels: []int{4, 3}, Hidden: []int{5},
		EdgeUnits: 4, Activation: graph.Tanh},
		graph.Input{Dim: 126, EdgeDim: 2, Map: graph.Map{Height: 7, Width: 6, Channels: 3}}, false},
	{"conv-crop, beside", nets.Config{Net: "conv-crop", Channels: []int{4}, Hidden: []int{5}, EdgeUnits: 4},
		graph.Input{Dim: 130, EdgeDim: 2, Map: graph.Map{Height: 7, Width: 6, Channels: 3}}, false},
	{"stack of pixels", nets.Config{Net: nets.StackNet, Stack: "- pixels:\n" +
		"  - conv: {channels: 3, kernel: 2, stride: 2, activation: tanh}\n  - pool\n  - flatten\n- features\n" +
		"- dense: {units: 3, activation: tanh}\n", EdgeUnits: 2},
		graph.Input{Dim: 44, EdgeDim: 2, Map: graph.Map{Height: 5, Width: 4, Channels: 2}}, false},
	{"submodular", nets.Config{Net: "linear", Submodular: nets.SubmodularSoftplus}, graph.Input{Dim: 5, EdgeDim: 3},
		false},
	{"submodular, units", nets.Config{Net: "mlp", Hidden: []int{4}, EdgeUnits: 3, Submodular: nets.SubmodularSoftplus},
		graph.Input{Dim: 5, EdgeDim: 3}, false},
	{"stack", nets.Config{Net: nets.StackNet, Stack: "- features\n- dense: {units: 4, activation: tanh}\n- dropout: 0.1\n",
		EdgeUnits: 3}, graph.Input{Dim: 3, EdgeDim: 2}, false},
}

// Scores, pullback and push-forward of networks of graphs equal those of Gorgonia's TapeMachine in float64, and every
// parameter counts.
func TestGraphsEqualGorgonia(t *testing.T) {
	for _, kind := range []graphs.Edges{graphs.Own, graphs.Typed, graphs.Potts} {
		for _, c := range edgeConfigs {
			if kind == graphs.Typed {
				c.config.EdgeUnits = 0
			}
			for _, s := range shapes {
				if c.input.Grid.Cells() > 0 {
					s.lengths, s.edges = []int{9, 0, 9}, []int{12, 0, 3}
				}
				t.Run(fmt.Sprint(kind, c.name, s.edges), func(t *testing.T) {
					rng := rand.New(rand.NewPCG(71, 72))
					net, err := nets.Make(c.config, c.input, nets.Output{Form: pairwise(kind, 2)})
					must(t, err)
					if net.Affine() != c.affine {
						t.Errorf("Affine() is %v", net.Affine())
					}
					data := join(rng, randomData(rng, c.input, 2, s.lengths...), c.input.EdgeDim, s.edges)
					var batch structured.Batch
					batch.Reset(data, seq(data.Len()))
					checkAgainst(t, newReference(t, net, &batch, 7), net, &batch, randomVector(rng, net.Dim(), 0.5), 7, rng)
					if len(s.edges) > 1 {
						everyParameterCounts(t, net, &batch, rng)
					}
				})
			}
		}
	}
}

// endGraphs make scores [Pairs×4] of x [Rows×4], in ways that overwrite and that accumulate.
var endGraphs = map[string]func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node{
	"products": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		u, v := bothEnds(g, x)
		return node(gorgonia.HadamardProd(u, v))
	},
	"sums": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		u, v := bothEnds(g, x)
		s, w := bothEnds(g, node(gorgonia.Tanh(x)))
		return node(gorgonia.Add(node(gorgonia.Add(node(gorgonia.Mul(u, g.Param("square"))), w)),
			node(gorgonia.HadamardProd(v, s))))
	},
	"features": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		u, v := bothEnds(g, x)
		f := node(gorgonia.Mul(node(gorgonia.Tanh(node(g.EdgeFeatures()))), g.Param("of edges")))
		return node(gorgonia.HadamardProd(node(gorgonia.Tanh(f)), node(gorgonia.Sub(u, v))))
	},
	"dropout": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		u, v := bothEnds(g, node(g.Dropout(x, 0.3)))
		f := node(g.Dropout(node(g.EdgeFeatures()), 0.2))
		return node(g.Dropout(
			node(gorgonia.Add(node(gorgonia.Mul(f, g.Param("of edges"))), node(gorgonia.HadamardProd(u, v)))), 0.4))
	},
}

func bothEnds(g *graph.Graph, x *gorgonia.Node) (u, v *gorgonia.Node) {
	u, v, err := g.Ends(x)
	if err != nil {
		panic(err)
	}
	return u, v
}

func endSpec(scores func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node) graph.Spec {
	return graph.Spec{
		Name: "ends", Form: pairwise(graphs.Own, 2),
		Params: []graph.Param{{Name: "in", Shape: []int{3, 4}}, {Name: "square", Shape: []int{4, 4}},
			{Name: "of edges", Shape: []int{2, 4}}, {Name: "out", Shape: []int{4, 2}}},
		Parts: func(g *graph.Graph) ([]*gorgonia.Node, error) {
			x := node(gorgonia.Mul(g.Features(), g.Param("in")))
			return []*gorgonia.Node{node(gorgonia.Mul(x, g.Param("out"))), scores(g, x)}, nil
		},
	}
}

func TestEndsEqualGorgonia(t *testing.T) {
	for name, scores := range endGraphs {
		for _, s := range shapes {
			t.Run(fmt.Sprint(name, s.edges), func(t *testing.T) {
				rng, input := rand.New(rand.NewPCG(73, 74)), graph.Input{Dim: 3, EdgeDim: 2}
				net, err := nets.Build(endSpec(scores), input)
				must(t, err)
				data := join(rng, randomData(rng, input, 2, s.lengths...), 2, s.edges)
				var batch structured.Batch
				batch.Reset(data, seq(data.Len()))
				checkAgainst(t, newReference(t, net, &batch, 7), net, &batch, randomVector(rng, net.Dim(), 0.7), 7, rng)
			})
		}
	}
}

// A net of graphs computes the scores that edgeScores promises.
func TestEdgesByHand(t *testing.T) {
	rng, input := rand.New(rand.NewPCG(75, 76)), graph.Input{Dim: 3, EdgeDim: 2}
	const units = 4
	for _, kind := range []graphs.Edges{graphs.Own, graphs.Potts} {
		for _, submodular := range []string{"", nets.SubmodularSoftplus} {
			c := nets.Config{Net: nets.StackNet, Stack: "- features\n", EdgeUnits: units,
				Activation: graph.Tanh, Submodular: submodular}
			net, err := nets.Make(c, input, nets.Output{Form: pairwise(kind, 2)})
			must(t, err)
			data := join(rng, randomData(rng, input, 2, 5, 7), 2, []int{6, 9})
			w := randomVector(rng, net.Dim(), 1)
			var batch structured.Batch
			batch.Reset(data, []int{1, 0})
			var θ structured.Potentials
			must(t, net.NewNetWorker().Score(w, &batch, &θ))
			param := func(name string) []float64 {
				a, ok := net.Layout().Find("edge." + name)
				if !ok {
					t.Fatalf("no parameter %s", name)
				}
				return widen(a.Of(w))
			}
			product := func(x []float64, name string, out int) []float64 {
				y := make([]float64, out)
				for i, v := range x {
					for o := range out {
						y[o] += v * param(name)[i*out+o]
					}
				}
				return y
			}
			softplus := func(x float64) float64 { return math.Log1p(math.Exp(x)) }
			var want []float64
			for _, e := range batch.Examples {
				for k, uv := range data.Graphs[e].Ends {
					at := func(v int32) []float64 { return widen(data.Features[(data.Offsets[e]+int(v))*3:][:3]) }
					f := widen(data.Tables[0].Features[(data.Tables[0].Offsets[e]+k)*2:][:2])
					a, h := product(at(uv[0]), "ends", units), product(f, "hidden.features", units)
					b := product(at(uv[1]), map[graphs.Edges]string{graphs.Own: "second", graphs.Potts: "ends"}[kind], units)
					for i := range h {
						if kind == graphs.Potts {
							h[i] += math.Abs(a[i] - b[i])
						} else {
							h[i] += a[i] + b[i]
						}
						h[i] = math.Tanh(h[i] + param("hidden.bias")[i])
					}
					s := product(h, "hidden.weight", net.Form().Parts[1].Width)
					for i, x := range product(f, "features", len(s)) {
						s[i] += x + param("bias")[i]
					}
					switch {
					case submodular == "":
					case kind == graphs.Potts:
						s[0] = softplus(s[0])
					default:
						z := s[0] - s[1] - s[2] + s[3]
						for i, sign := range []float64{1, -1, -1, 1} {
							s[i] += sign * (softplus(z) - z) / 4
						}
					}
					want = append(want, s...)
				}
			}
			mustEqual(t, "edges", θ.Parts[1].Values, want, 1e-5)
		}
	}
}

// With softplus no edge favours different labels: not for any weights, own, typed or Potts.
func TestSubmodular(t *testing.T) {
	rng, input := rand.New(rand.NewPCG(77, 78)), graph.Input{Dim: 3, EdgeDim: 2}
	for _, kind := range []graphs.Edges{graphs.Own, graphs.Typed, graphs.Potts} {
		for _, submodular := range []string{"", nets.SubmodularSoftplus} {
			net, err := nets.Make(nets.Config{Net: "linear", Submodular: submodular}, input,
				nets.Output{Form: pairwise(kind, 2)})
			must(t, err)
			data := join(rng, randomData(rng, input, 2, 9), 2, []int{40})
			var batch structured.Batch
			batch.Reset(data, []int{0})
			var θ structured.Potentials
			must(t, net.NewNetWorker().Score(randomVector(rng, net.Dim(), 3), &batch, &θ))
			least := math.Inf(1)
			for e := 0; e < len(θ.Parts[1].Values); e += max(1, θ.Parts[1].Width) {
				x := θ.Parts[1].Values[e:]
				if kind == graphs.Potts {
					least = min(least, float64(x[0]))
					continue
				}
				for ; len(x) >= 4; x = x[4:] {
					least = min(least, float64(x[0])-float64(x[1])-float64(x[2])+float64(x[3]))
				}
			}
			if submodular == "" && least >= 0 || submodular != "" && least < -1e-5 {
				t.Errorf("%s edges, submodular %q: the least surplus of equal labels is %g", kind, submodular, least)
			}
		}
	}
}

// The first-order model of a network of graphs is θ(w_k) + J(w − w_k), also with dropout.
func TestLineariseGraphs(t *testing.T) {
	rng, input := rand.New(rand.NewPCG(79, 80)), graph.Input{Dim: 3, EdgeDim: 2}
	net, err := nets.Make(nets.Config{Net: "mlp", Hidden: []int{4}, EdgeUnits: 3, Dropout: 0.3, Activation: graph.Tanh},
		input, nets.Output{Form: pairwise(graphs.Own, 3)})
	must(t, err)
	data := join(rng, randomData(rng, input, 3, 5, 0, 7), 2, []int{6, 0, 9})
	var batch structured.Batch
	batch.Reset(data, seq(3))
	wk, step := randomVector(rng, net.Dim(), 0.5), randomVector(rng, net.Dim(), 1)
	const ε = 1e-3
	at := func(s nets.Worker, scale float32) []float32 {
		w := slices.Clone(wk)
		for i := range w {
			w[i] += scale * step[i]
		}
		var θ structured.Potentials
		must(t, s.(nets.DropoutWorker).ScoreDropout(w, 7, &batch, &θ))
		return slices.Concat(slices.Clone(θ.Parts[0].Values), θ.Parts[1].Values)
	}
	model := nets.Linearise(net, wk)
	if !slices.Equal(at(model.NewWorker(), 0), at(net.NewWorker(), 0)) {
		t.Error("the model differs from the network at w_k")
	}
	far, ahead, behind := at(model.NewWorker(), 1), at(net.NewWorker(), ε), at(net.NewWorker(), -ε)
	start := at(net.NewWorker(), 0)
	for i, x := range far {
		if slope := float64(ahead[i]-behind[i]) / (2 * ε); math.Abs(float64(x-start[i])-slope) > 2e-2*(1+math.Abs(slope)) {
			t.Fatalf("potential %d changes by %g, slope %g", i, x-start[i], slope)
		}
	}
}

func TestGraphsRefused(t *testing.T) {
	in := graph.Input{Dim: 3, EdgeDim: 2}
	own, typed := pairwise(graphs.Own, 3), pairwise(graphs.Typed, 2)
	for _, c := range []struct {
		config  nets.Config
		form    structured.Form
		message string
	}{
		{nets.Config{Net: "linear", Edges: nets.EdgesPosition}, own, "expected one of own, typed, potts, none for a graph"},
		{nets.Config{Net: "linear", Edges: nets.EdgesPotts}, own, "edges potts: the potentials are those of a graph"},
		{nets.Config{Net: "linear", Edges: nets.EdgesPotts}, candidates, "edges potts: graphs have them, not choices"},
		{nets.Config{Net: "mlp", EdgeUnits: 3}, candidates, "edge-units and submodular are for graphs, not choices"},
		{nets.Config{Net: "linear", EdgeUnits: 3}, own, "net linear has no edge-units"},
		{nets.Config{Net: "mlp", EdgeUnits: -3}, own, "edge-units -3"},
		{nets.Config{Net: "mlp", EdgeUnits: 3}, typed, "edges typed are not computed from their ends"},
		{nets.Config{Net: "mlp", EdgeUnits: 3, Edges: nets.EdgesNone}, own, "edges none are not computed from their ends"},
		{nets.Config{Net: "linear", Submodular: "relu"}, own, `submodular "relu": expected softplus`},
		{nets.Config{Net: "linear", Submodular: nets.SubmodularSoftplus}, own, "tables of 3 labels"},
		{nets.Config{Net: "linear", Submodular: nets.SubmodularSoftplus, Edges: nets.EdgesNone},
			typed, "nothing to constrain"},
		{nets.Config{Net: "bilinear"}, own, "net bilinear scores pairs of source and target items, not graphs"},
		{nets.Config{Net: "biaffine"}, own, "net biaffine scores the arcs of trees, not graphs"},
	} {
		_, err := nets.Make(c.config, in, nets.Output{Form: c.form})
		if !structured.IsBadInput(err) || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%+v: %v, expected %q", c.config, err, c.message)
		}
	}
	if _, err := nets.New(nets.Config{Net: "linear", Edges: nets.EdgesTyped}, in, 3); !structured.IsBadInput(err) ||
		!strings.Contains(err.Error(), "edges typed: graphs have them, not chains") {
		t.Errorf("%v", err)
	}

	net, err := nets.Make(nets.Config{Net: "mlp", Hidden: []int{2}, EdgeUnits: 3}, in, nets.Output{Form: own})
	must(t, err)
	rng := rand.New(rand.NewPCG(81, 82))
	for message, spoil := range map[string]func(d *structured.Dataset){
		`no table of rows "edge"`:     func(d *structured.Dataset) { d.Tables = nil },
		`has 0 graphs for 1 examples`: func(d *structured.Dataset) { d.Graphs = nil },
		`3 rows of table "edge"; expected one for each edge`: func(d *structured.Dataset) {
			d.Tables[0].Offsets = []int{0, 3}
		},
		`edge 1 joins variables 5 and 0; expected two of 0 to 4`: func(d *structured.Dataset) {
			d.Graphs[0].Ends[1] = [2]int32{5, 0}
		},
		`edge 0 joins variables -1 and 0`: func(d *structured.Dataset) {
			d.Graphs[0].Ends[0] = [2]int32{-1, 0}
		},
		`edge 0 joins variables 2 and 2`: func(d *structured.Dataset) {
			d.Graphs[0].Ends[0] = [2]int32{2, 2}
		},
		"has 1 features for each of 6 edges; the network reads 2": func(d *structured.Dataset) {
			d.Tables[0].Features, d.Tables[0].Dim = make([]float32, 6), 1
		},
		"random has 0 features for each of 6 edges; the network reads 2": func(d *structured.Dataset) {
			d.Tables[0].Features = nil
		},
	} {
		data := join(rng, randomData(rng, in, 3, 5), 2, []int{6})
		spoil(data)
		var batch structured.Batch
		batch.Reset(data, []int{0})
		if err := net.NewNetWorker().Score(make([]float32, net.Dim()), &batch,
			new(structured.Potentials)); !structured.IsBadInput(err) || !strings.Contains(err.Error(), message) {
			t.Errorf("%v, expected %q", err, message)
		}
	}
}

// Ops that would mix the rows of positions and edges, or pair other positions, are refused.
func TestEndOpsRefused(t *testing.T) {
	for message, scores := range map[string]func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node{
		"uses Ends":          func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { return node(g.Heads(x)) },
		"PairBag of a table": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { return node(g.PairBag(g.Param("in"))) },
		"mixes rows": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
			u, _ := bothEnds(g, node(gorgonia.Mul(node(gorgonia.Mul(x, node(gorgonia.Transpose(x)))), x)))
			return u
		},
		"do not have the rows": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
			copies := make([]*gorgonia.Node, g.Pairs/g.Rows) // as many rows as edges
			for i := range copies {
				copies[i] = x
			}
			return node(gorgonia.Concat(0, copies...))
		},
	} {
		if _, err := nets.Build(endSpec(scores), graph.Input{Dim: 3, EdgeDim: 2}); err == nil ||
			!strings.Contains(err.Error(), message) {
			t.Errorf("%v, expected %q", err, message)
		}
	}
	for message, scores := range map[string]func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node{
		"Ends of": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { u, _ := bothEnds(g, x); return u },
		"EdgeFeatures: edges have 0 features": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
			return node(g.EdgeFeatures())
		},
	} {
		if _, err := nets.Build(pairSpec(scores), graph.Input{Dim: 3}); err == nil ||
			!strings.Contains(err.Error(), message) {
			t.Errorf("%v, expected %q", err, message)
		}
	}
}

// A step (score and pullback) of Potts weights from the ends' hidden rows: 16 grids of 32×32 cells with 8 neighbours.
func BenchmarkEdges(b *testing.B) {
	for _, units := range []int{0, 16} {
		b.Run(fmt.Sprint("units=", units), func(b *testing.B) {
			input := graph.Input{Dim: 32, EdgeDim: 4}
			net, err := nets.Make(nets.Config{Net: "mlp", Hidden: []int{32}, EdgeUnits: units}, input,
				nets.Output{Form: pairwise(graphs.Potts, 4)})
			must(b, err)
			rng := rand.New(rand.NewPCG(83, 84))
			data := join(rng, randomData(rng, input, 4, slices.Repeat([]int{1024}, 16)...), 4, slices.Repeat([]int{4000}, 16))
			var batch structured.Batch
			batch.Reset(data, seq(16))
			w, grad, worker := randomVector(rng, net.Dim(), 1), make([]float32, net.Dim()), net.NewNetWorker()
			var θ structured.Potentials
			v := randomMarginals(rng, &batch, net.Form())
			for b.Loop() {
				must(b, worker.Score(w, &batch, &θ))
				must(b, worker.Pullback(v, grad))
			}
			b.ReportMetric(64000*float64(b.N)/b.Elapsed().Seconds()/1e6, "Medges/s")
		})
	}
}
