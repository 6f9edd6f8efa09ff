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
)

// links is the form of matchings: scores of each pair, width of them, and the price of staying unmatched.
func links(width int) structured.Form {
	return structured.Form{Structure: stub{name: "matching"}, Parts: []structured.Shape{
		{Name: "pair", Rows: structured.Pairs, Width: width}, {Name: "unmatched", Rows: structured.Sources, Width: 1}}}
}

// split makes the first sources[i] positions of example i of d its source items, and draws attributes of pairs.
func split(rng *rand.Rand, d *structured.Dataset, attributes int, sources ...int) *structured.Dataset {
	first, pairs := []int{0}, []int{0}
	for i, n := range sources {
		first, pairs = append(first, first[i]+n), append(pairs, pairs[i]+n*(d.Length(i)-n))
	}
	d.Tables = []*structured.Table{{Name: structured.Sources, Offsets: first}, {Name: structured.Pairs, Offsets: pairs}}
	if attributes > 0 {
		d.Tables[1].Attributes = randomAttributes(rng, pairs[len(sources)], attributes)
	}
	return d
}

// splits are sources and positions of examples.
var splits = []struct{ sources, positions []int }{
	{[]int{2, 3, 0, 1, 4, 0}, []int{5, 4, 3, 2, 4, 0}},
	{[]int{7}, []int{12}},
	{[]int{1, 9}, []int{2, 28}},
	{slices.Repeat([]int{1}, 40), slices.Repeat([]int{3}, 40)},
}

var matchingConfigs = []struct {
	name   string
	config nets.Config
	input  graph.Input
	affine bool
}{
	{"linear", nets.Config{Net: "linear"}, graph.Input{PairAttributes: 6}, true},
	{"linear, features of items", nets.Config{Net: "linear"}, graph.Input{Dim: 3, PairAttributes: 6}, true},
	{"mlp", nets.Config{Net: "mlp", Hidden: []int{5, 4}, Dropout: 0.3}, graph.Input{PairAttributes: 6}, false},
	{"words", nets.Config{Net: "bilinear", Channels: []int{5}, PairUnits: 4, Dropout: 0.2},
		graph.Input{Vocab: []int{11, 5}}, false},
	{"characters and pairs", nets.Config{Net: "bilinear", Channels: []int{5}, PairUnits: 4, CharChannels: 3, CharEmbed: 2},
		graph.Input{Vocab: []int{11}, Characters: 8, PairAttributes: 6}, false},
	{"recurrent", nets.Config{Net: "bilinear", Recurrent: []int{3}, Hidden: []int{4}, PairUnits: 2,
		Activation: graph.Tanh}, graph.Input{Vocab: []int{11}, Dim: 2}, false},
	{"features", nets.Config{Net: "bilinear", Channels: []int{4}, Window: 1, PairUnits: 3, Activation: graph.GELU},
		graph.Input{Dim: 3}, false},
	{"attention", nets.Config{Net: "bilinear", Channels: []int{8}, Layers: 1, Heads: 2, PairUnits: 3},
		graph.Input{Vocab: []int{11}}, false},
	{"stack", nets.Config{Net: nets.StackNet, Stack: "- features\n- window: 3\n- dense: {units: 4, activation: tanh}\n" +
		"- dropout: 0.1\n", PairUnits: 3}, graph.Input{Dim: 3, PairAttributes: 6}, false},
}

// Scores, pullback and push-forward of networks of matchings equal those of Gorgonia's TapeMachine in float64.
func TestMatchingsEqualGorgonia(t *testing.T) {
	for _, c := range matchingConfigs {
		for _, width := range []int{1, 3} {
			for _, s := range splits {
				t.Run(fmt.Sprint(c.name, width, s.sources), func(t *testing.T) {
					rng := rand.New(rand.NewPCG(51, 52))
					net, err := nets.Make(c.config, c.input, nets.Output{Form: links(width)})
					must(t, err)
					if net.Affine() != c.affine {
						t.Errorf("Affine() is %v", net.Affine())
					}
					data := split(rng, randomData(rng, c.input, 3, s.positions...), c.input.PairAttributes, s.sources...)
					var batch structured.Batch
					batch.Reset(data, seq(data.Len()))
					checkAgainst(t, newReference(t, net, &batch, 7), net, &batch, randomVector(rng, net.Dim(), 0.7), 7, rng)
					if len(s.sources) > 1 {
						everyParameterCounts(t, net, &batch, rng)
					}
				})
			}
		}
	}
}

// alignGraphs make scores [Pairs×3] of x [Rows×4], in ways that overwrite and that accumulate.
var alignGraphs = map[string]func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node{
	"forms": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(g.Align(node(gorgonia.Mul(x, g.Param("forms"))), node(gorgonia.Tanh(x))))
	},
	"one form": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(gorgonia.Mul(node(g.Align(x, x)), g.Param("row")))
	},
	"one form, twice": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		twice := node(gorgonia.Add(node(g.Align(node(gorgonia.Sin(x)), x)), node(g.Align(node(gorgonia.Tanh(x)), x))))
		return node(gorgonia.Mul(twice, g.Param("row")))
	},
	"sum": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		forms := node(gorgonia.Mul(x, g.Param("forms")))
		return node(gorgonia.Add(node(g.Align(forms, x)), node(g.Align(node(gorgonia.Tanh(forms)), node(gorgonia.Sin(x))))))
	},
	"on attributes": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		forms := node(gorgonia.Mul(x, g.Param("forms")))
		s := node(gorgonia.Add(node(g.PairBag(g.Param("bag"))), node(g.Align(forms, x))))
		return node(gorgonia.Add(s, node(g.PairBag(node(gorgonia.Tanh(g.Param("bag")))))))
	},
	"dropout": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(gorgonia.Mul(node(g.Dropout(node(g.Align(node(g.Dropout(x, 0.3)), x)), 0.4)), g.Param("row")))
	},
}

func TestAlignEqualsGorgonia(t *testing.T) {
	for name, scores := range alignGraphs {
		for _, s := range splits {
			t.Run(fmt.Sprint(name, s.sources), func(t *testing.T) {
				rng, input := rand.New(rand.NewPCG(53, 54)), graph.Input{Dim: 3, PairAttributes: 5}
				net, err := nets.Build(alignSpec(scores), input)
				must(t, err)
				data := split(rng, randomData(rng, input, 3, s.positions...), 5, s.sources...)
				var batch structured.Batch
				batch.Reset(data, seq(data.Len()))
				checkAgainst(t, newReference(t, net, &batch, 7), net, &batch, randomVector(rng, net.Dim(), 0.7), 7, rng)
			})
		}
	}
}

func alignSpec(scores func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node) graph.Spec {
	return graph.Spec{
		Name: "aligned", Form: links(3),
		Params: []graph.Param{{Name: "in", Shape: []int{3, 4}}, {Name: "forms", Shape: []int{4, 12}},
			{Name: "row", Shape: []int{1, 3}}, {Name: "bag", Shape: []int{5, 3}},
			{Name: "one", Shape: []int{4, 1}}},
		Parts: func(g *graph.Graph) ([]*gorgonia.Node, error) {
			x := node(gorgonia.Mul(g.Features(), g.Param("in")))
			own := node(gorgonia.Tanh(node(g.Sources(node(gorgonia.Sin(x)))))) // what padding gets depends on nothing
			return []*gorgonia.Node{scores(g, x), node(gorgonia.Mul(own, g.Param("one")))}, nil
		},
	}
}

// A net of matchings computes the scores that makeMatching promises.
func TestBilinearByHand(t *testing.T) {
	rng, input := rand.New(rand.NewPCG(55, 56)), graph.Input{Dim: 3, PairAttributes: 5}
	net, err := nets.Make(nets.Config{Net: nets.StackNet, Stack: "- features\n", PairUnits: 2}, input,
		nets.Output{Form: links(2)})
	must(t, err)
	data := split(rng, randomData(rng, input, 3, 5, 7), 5, 2, 3)
	w := randomVector(rng, net.Dim(), 1)
	var batch structured.Batch
	batch.Reset(data, []int{1, 0})
	var θ structured.Potentials
	must(t, net.NewNetWorker().Score(w, &batch, &θ))
	param := func(name string) []float64 {
		a, ok := net.Layout().Find(name)
		if !ok {
			t.Fatalf("no parameter %s", name)
		}
		return widen(a.Of(w))
	}
	dense := func(x []float64, name string, out int) []float64 {
		y := slices.Clone(param(name + ".bias"))
		for i, v := range x {
			for o := range out {
				y[o] += v * param(name + ".weight")[i*out+o]
			}
		}
		return y
	}
	hidden := func(x []float64, name string) []float64 {
		y := dense(x, name, 2)
		for i, v := range y {
			if v < 0 {
				y[i] = math.Expm1(v)
			}
		}
		return y
	}
	var pairs, unmatched []float64
	for _, e := range batch.Examples {
		at := func(t int) []float64 { return widen(data.Features[(data.Offsets[e]+t)*3:][:3]) }
		n := data.Tables[0].Offsets[e+1] - data.Tables[0].Offsets[e]
		for i := range n {
			unmatched = append(unmatched, dense(at(i), "unmatched", 1)...)
			x := hidden(at(i), "pair.source")
			for j := range data.Length(e) - n {
				z := hidden(at(n+j), "pair.target")
				index, value := data.Tables[1].Attributes.Row(data.Tables[1].Offsets[e] + i*(data.Length(e)-n) + j)
				for k := range 2 {
					s := param("pair.bias")[k]
					for f := range 2 {
						form := param("pair.of-target")[2*k+f]
						for g := range 2 {
							form += x[g] * param("pair.bilinear")[g*4+2*k+f]
						}
						s += form * z[f]
					}
					for q, a := range index {
						v := 1.0
						if value != nil {
							v = float64(value[q])
						}
						s += v * param("pair.attributes")[int(a)*2+k]
					}
					pairs = append(pairs, s)
				}
			}
		}
	}
	mustEqual(t, "pairs", θ.Parts[0].Values, pairs, 1e-5)
	mustEqual(t, "unmatched", θ.Parts[1].Values, unmatched, 1e-5)
}

// Windows end where source items end.
func TestWindowsOfSplits(t *testing.T) {
	rng, input := rand.New(rand.NewPCG(57, 58)), graph.Input{Vocab: []int{9}}
	net, err := nets.Make(nets.Config{Net: "bilinear", Channels: []int{4}, Window: 5, PairUnits: 3}, input,
		nets.Output{Form: links(1)})
	must(t, err)
	data := split(rng, randomData(rng, input, 3, 9), 0, 4)
	w := randomVector(rng, net.Dim(), 1)
	var batch structured.Batch
	batch.Reset(data, []int{0})
	var before, after structured.Potentials
	must(t, net.NewNetWorker().Score(w, &batch, &before))
	data.Ids[4] = (data.Ids[4] + 1) % 9 // the first target item, which is next to the last source item
	must(t, net.NewNetWorker().Score(w, &batch, &after))
	if !slices.Equal(before.Parts[1].Values, after.Parts[1].Values) {
		t.Error("the scores of source items depend on a target item")
	}
	if slices.Equal(before.Parts[0].Values, after.Parts[0].Values) {
		t.Error("the scores of pairs do not depend on a target item")
	}
}

func TestMatchingsRefused(t *testing.T) {
	words := graph.Input{Vocab: []int{9}}
	for _, c := range []struct {
		config  nets.Config
		input   graph.Input
		form    structured.Form
		message string
	}{
		{nets.Config{Net: "embed"}, words, links(1), "net embed scores positions, not matchings; expected one of " +
			"bilinear, linear, mlp, stack"},
		{nets.Config{Net: "linear"}, graph.Input{Dim: 3}, links(1), "the data has none, and net bilinear reads the items"},
		{nets.Config{Net: "linear", Window: 3}, graph.Input{Dim: 3, PairAttributes: 3}, links(1), "it has no window"},
		{nets.Config{Net: "bilinear"}, graph.Input{PairAttributes: 3}, links(1), "net bilinear reads discrete inputs"},
		{nets.Config{Net: "bilinear"}, words, candidates, "net bilinear scores pairs of source and " +
			"target items, not choices"},
		{nets.Config{Net: "bilinear", ArcUnits: 3}, words, links(1), "net bilinear has no arc-units"},
		{nets.Config{Net: "mlp", PairUnits: 3}, graph.Input{Dim: 3}, candidates,
			"net mlp has no pair-units; bilinear and stack do"},
		{nets.Config{Net: nets.StackNet, Stack: "- features\n", PairUnits: 3}, graph.Input{Dim: 3}, candidates,
			"a stack that scores choices has no pair-units"},
		{nets.Config{Net: "linear"}, graph.Input{PairAttributes: 3}, candidates, "net linear reads dense features of " +
			"positions; the data has none"},
		{nets.Config{Net: "bilinear", PairUnits: -1}, words, links(1), "-1 units"},
	} {
		_, err := nets.Make(c.config, c.input, nets.Output{Form: c.form})
		if !structured.IsBadInput(err) || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%+v: %v, expected %q", c.config, err, c.message)
		}
	}

	net, err := nets.Make(nets.Config{Net: "bilinear", Channels: []int{4}, PairUnits: 3}, words,
		nets.Output{Form: links(1)})
	must(t, err)
	rng := rand.New(rand.NewPCG(59, 60))
	for message, spoil := range map[string]func(d *structured.Dataset){
		`no table of rows "source"`:                     func(d *structured.Dataset) { d.Tables = d.Tables[1:] },
		`no table of rows "pair"`:                       func(d *structured.Dataset) { d.Tables = d.Tables[:1] },
		`8 rows of table "source" for 5 positions`:      func(d *structured.Dataset) { d.Tables[0].Offsets = []int{0, 8} },
		`6 rows of table "pair"; expected 1×4, one for`: func(d *structured.Dataset) { d.Tables[0].Offsets = []int{0, 1} },
	} {
		data := split(rng, randomData(rng, words, 3, 5), 0, 2)
		spoil(data)
		var batch structured.Batch
		batch.Reset(data, []int{0})
		if err := net.NewNetWorker().Score(make([]float32, net.Dim()), &batch,
			new(structured.Potentials)); !structured.IsBadInput(err) || !strings.Contains(err.Error(), message) {
			t.Errorf("%v, expected %q", err, message)
		}
	}
}

// Ops on pairs of all positions are refused where examples have source and target items, and the reverse.
func TestSplitOpsRefused(t *testing.T) {
	for message, scores := range map[string]func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node{
		"Bilinear pairs each position with each": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
			return node(g.Bilinear(x, x, g.Param("one")))
		},
		"dependents or heads": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
			return node(g.Heads(x))
		},
		"PairBag of a table": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
			return node(g.PairBag(g.Param("in")))
		},
		"mixes rows": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
			return node(g.Align(node(gorgonia.Mul(node(g.Sources(x)), g.Param("forms"))), x))
		},
	} {
		if _, err := nets.Build(alignSpec(scores), graph.Input{Dim: 3, PairAttributes: 5}); err == nil ||
			!strings.Contains(err.Error(), message) {
			t.Errorf("%v, expected %q", err, message)
		}
	}
	for message, scores := range map[string]func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node{
		"Align of": func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { return node(g.Align(x, x)) },
		"Sources":  func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { return node(g.Sources(x)) },
	} {
		if _, err := nets.Build(pairSpec(scores), graph.Input{Dim: 3}); err == nil ||
			!strings.Contains(err.Error(), message) {
			t.Errorf("%v, expected %q", err, message)
		}
	}
}

// A step (score and pullback) of the bilinear scores of 64 examples of 25 by 25 items, with representations of 64
// numbers.
func BenchmarkAlign(b *testing.B) {
	form := structured.Form{Structure: stub{name: "matching"},
		Parts: []structured.Shape{{Name: "pair", Rows: structured.Pairs, Width: 1}}}
	spec := graph.Spec{Name: "aligned", Form: form,
		Params: []graph.Param{{Name: "forms", Shape: []int{64, 64}}, {Name: "in", Shape: []int{64, 64}}},
		Parts: func(g *graph.Graph) ([]*gorgonia.Node, error) {
			s, err := g.Align(node(gorgonia.Mul(g.Features(), g.Param("forms"))),
				node(gorgonia.Mul(g.Features(), g.Param("in"))))
			return []*gorgonia.Node{s}, err
		}}
	net, err := nets.Build(spec, graph.Input{Dim: 64})
	must(b, err)
	rng := rand.New(rand.NewPCG(63, 64))
	data := split(rng, randomData(rng, graph.Input{Dim: 64}, 3, slices.Repeat([]int{50}, 64)...), 0,
		slices.Repeat([]int{25}, 64)...)
	var batch structured.Batch
	batch.Reset(data, seq(64))
	w, grad, worker := randomVector(rng, net.Dim(), 1), make([]float32, net.Dim()), net.NewNetWorker()
	var θ structured.Potentials
	v := randomMarginals(rng, &batch, form)
	for b.Loop() {
		must(b, worker.Score(w, &batch, &θ))
		must(b, worker.Pullback(v, grad))
	}
	b.ReportMetric(64*25*25*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpairs/s")
}
