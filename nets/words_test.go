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

// randomCharacters has words of 0 to 6 characters; one in six has none, and one in six has one.
func randomCharacters(rng *rand.Rand, positions, vocab int) *structured.Segments {
	s := &structured.Segments{Offsets: []int{0}, Vocab: structured.NewAlphabet()}
	for range positions {
		for range [...]int{0, 1, 2, 3, 5, 6}[rng.IntN(6)] {
			s.Ids = append(s.Ids, int32(rng.IntN(vocab)))
		}
		s.Offsets = append(s.Offsets, len(s.Ids))
	}
	return s
}

// randomAttributes has up to 4 attributes for each position, with repetitions, and values.
func randomAttributes(rng *rand.Rand, positions, attributes int) *structured.Sparse {
	s := &structured.Sparse{Offsets: []int{0}, Value: []float32{}}
	for range positions {
		for range rng.IntN(5) {
			s.Index = append(s.Index, int32(rng.IntN(attributes)))
			s.Value = append(s.Value, float32(rng.NormFloat64()))
		}
		s.Offsets = append(s.Offsets, len(s.Index))
	}
	return s
}

var wordInput = graph.Input{Dim: 3, Characters: 7, Attributes: 11}

// wordGraphs make hidden units [Rows×4].
var wordGraphs = map[string]func(g *graph.Graph) *gorgonia.Node{
	"characters": func(g *graph.Graph) *gorgonia.Node {
		return node(g.SegmentMax(node(g.Characters(g.Param("characters")))))
	},
	"tanh of characters": func(g *graph.Graph) *gorgonia.Node {
		return node(g.SegmentMax(node(gorgonia.Tanh(node(g.Characters(g.Param("characters")))))))
	},
	"window": func(g *graph.Graph) *gorgonia.Node {
		x := node(g.CharacterWindow(node(gorgonia.Tanh(node(g.Characters(g.Param("characters"))))), 3))
		return node(g.SegmentMax(node(gorgonia.Mul(x, g.Param("filters")))))
	},
	"convolution": func(g *graph.Graph) *gorgonia.Node {
		x := node(gorgonia.Mul(node(gorgonia.Tanh(g.Param("characters"))), g.Param("side by side")))
		return node(g.SegmentMax(node(g.CharacterConvolution(x, 3))))
	},
	"two convolutions": func(g *graph.Graph) *gorgonia.Node { // and two maxima of one argument
		x := node(g.CharacterConvolution(node(gorgonia.Mul(g.Param("characters"), g.Param("side by side"))), 3))
		x = node(gorgonia.Mul(node(g.CharacterWindow(node(gorgonia.Tanh(x)), 3)), g.Param("filters")))
		return node(gorgonia.HadamardProd(node(g.SegmentMax(x)), node(g.SegmentMax(node(gorgonia.Neg(x))))))
	},
	"bag": func(g *graph.Graph) *gorgonia.Node { return node(g.Bag(g.Param("attributes"))) },
	"two bags": func(g *graph.Graph) *gorgonia.Node { // of one table
		b := node(g.Bag(g.Param("attributes")))
		return node(gorgonia.Add(node(gorgonia.Tanh(b)), node(g.Bag(g.Param("attributes")))))
	},
	"bag of computed weights": func(g *graph.Graph) *gorgonia.Node {
		return node(gorgonia.Add(node(gorgonia.Mul(g.Features(), g.Param("in"))),
			node(g.Bag(node(gorgonia.Tanh(g.Param("attributes")))))))
	},
}

func wordSpec(hidden func(g *graph.Graph) *gorgonia.Node) graph.Spec {
	return graph.Spec{
		Name: "words",
		Params: []graph.Param{{Name: "in", Shape: []int{3, 4}, Init: graph.Glorot},
			{Name: "characters", Shape: []int{7, 4}, Init: graph.Glorot},
			{Name: "filters", Shape: []int{12, 4}, Init: graph.Glorot},
			{Name: "side by side", Shape: []int{4, 12}, Init: graph.Glorot},
			{Name: "attributes", Shape: []int{11, 4}, Init: graph.Glorot},
			{Name: "out", Shape: []int{4, 3}, Init: graph.Glorot}},
		Build: func(g *graph.Graph) (*gorgonia.Node, *gorgonia.Node, error) {
			return node(gorgonia.Mul(node(gorgonia.Tanh(hidden(g))), g.Param("out"))), nil, nil
		},
	}
}

// Score, pullback and push-forward of the ops on characters and attributes equal those of Gorgonia's TapeMachine in
// float64.
func TestWordGraphsEqualGorgonia(t *testing.T) {
	for name, layers := range wordGraphs {
		for _, lengths := range [][]int{{5, 3, 1, 0, 2}, {1}, {0, 1}, {40, 4}} {
			t.Run(fmt.Sprint(name, lengths), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(41, 42))
				net, err := nets.Build(wordSpec(layers), wordInput)
				must(t, err)
				var batch structured.Batch
				batch.Reset(randomData(rng, wordInput, 3, lengths...), seq(len(lengths)))
				checkAgainst(t, newReference(t, net, &batch, 0), net, &batch, randomVector(rng, net.Dim(), 0.7), 0, rng)
			})
		}
	}
}

// The potentials of a few words, computed by hand: the largest of the window's products with the filters, from the
// characters of that word only; the first of equal ones gets the gradient; words without characters get zero.
func TestCharactersByHand(t *testing.T) {
	spec := graph.Spec{Name: "hand",
		Params: []graph.Param{{Name: "table", Shape: []int{4, 2}}, {Name: "filters", Shape: []int{6, 1}}},
		Build: func(g *graph.Graph) (*gorgonia.Node, *gorgonia.Node, error) {
			x := node(g.CharacterWindow(node(g.Characters(g.Param("table"))), 3))
			return node(g.SegmentMax(node(gorgonia.Mul(x, g.Param("filters"))))), nil, nil
		}}
	net, err := nets.Build(spec, graph.Input{Characters: 4})
	must(t, err)
	data := &structured.Dataset{Offsets: []int{0, 2, 5},
		Characters: &structured.Segments{Offsets: []int{0, 3, 3, 4, 6, 8}, Ids: []int32{1, 2, 3, 2, 3, 3, 1, 0}}}
	w := []float32{0, 0, 1, 2, 3, -1, -2, 5 /* filters: */, 1, 0, 10, 1, 0, 100}
	table := [][]float64{{0, 0}, {1, 2}, {3, -1}, {-2, 5}}
	at := func(word []int, r int) float64 { // the filters at place r of a word
		s := table[word[r]][0]*10 + table[word[r]][1]
		if r > 0 {
			s += table[word[r-1]][0]
		}
		if r+1 < len(word) {
			s += 100 * table[word[r+1]][1]
		}
		return s
	}
	var want []float64
	for _, word := range [][]int{{2}, {3, 3}, {1, 0}, {1, 2, 3}, {}} {
		top := 0.0
		for r := range word {
			if x := at(word, r); r == 0 || x > top {
				top = x
			}
		}
		want = append(want, top)
	}
	var batch structured.Batch
	batch.Reset(data, []int{1, 0})
	var θ structured.Potentials
	worker := net.NewNetWorker()
	must(t, worker.Score(w, &batch, &θ))
	mustEqual(t, "node", θ.Parts[0].Values, want, 0)

	clear(w[8:]) // now all places are equal, so that the first of each word gets the gradient
	must(t, worker.Score(w, &batch, &θ))
	var v structured.Marginals
	v.Resize(&batch, net.Form())
	for i := range v.Parts[0].Values {
		v.Parts[0].Values[i] = 1
	}
	grad := make([]float32, net.Dim())
	must(t, worker.Pullback(&v, grad))
	// The first characters are 2, 3, 1, 1; the ones before none; those after 3, 0, 2.
	mustEqual(t, "gradient", grad[8:], []float64{0, 0, 3 - 2 + 1 + 1, -1 + 5 + 2 + 2, -2 + 0 + 3, 5 + 0 - 1}, 0)
	direction, push := []float32{8: 1, 9: 2, 10: 3, 11: 5, 12: 7, 13: 11}, 0.0
	must(t, worker.PushForward(direction, &θ)) // of the same characters
	for _, x := range θ.Parts[0].Values {
		push += float64(x)
	}
	pull := 0.0
	for i, d := range direction {
		pull += float64(d) * float64(grad[i])
	}
	if push != pull {
		t.Errorf("⟨Jẇ,v⟩ = %g but ⟨ẇ,Jᵀv⟩ = %g", push, pull)
	}
}

// Segments of many lengths and widths: the linearised network is affine, equals the network at w_k, and has its slope
// there.
func TestLinearisedWords(t *testing.T) {
	for _, name := range []string{"window", "convolution", "two bags"} {
		rng := rand.New(rand.NewPCG(43, 44))
		net, err := nets.Build(wordSpec(wordGraphs[name]), wordInput)
		must(t, err)
		data := randomData(rng, wordInput, 3, 6, 4, 9)
		wk, d := randomVector(rng, net.Dim(), 0.5), randomVector(rng, net.Dim(), 1)
		model, worker := nets.Linearise(net, wk).NewLinearisedWorker(), net.NewNetWorker()
		var batch structured.Batch
		var θ structured.Potentials
		batch.Reset(data, []int{2})
		must(t, model.Score(d, &batch, &θ)) // leaves a direction behind
		batch.Reset(data, []int{0, 1})
		at := func(step float32) []float64 {
			w := slices.Clone(wk)
			for i := range w {
				w[i] += step * d[i]
			}
			must(t, model.Score(w, &batch, &θ))
			return widen(θ.Parts[0].Values)
		}
		zero, one, two := at(0), at(1), at(2)
		for i := range zero {
			if math.Abs(two[i]-2*one[i]+zero[i]) > 1e-4*(1+math.Abs(two[i])) {
				t.Fatalf("%s: θ[%d] is not affine: %g %g %g", name, i, zero[i], one[i], two[i])
			}
		}
		must(t, worker.Score(wk, &batch, &θ))
		mustEqual(t, name, θ.Parts[0].Values, zero, 1e-6)
		must(t, worker.PushForward(d, &θ))
		mustEqual(t, name+" slope", θ.Parts[0].Values, differences(one, zero, 1), 1e-4)
	}
}

// Tables of characters and attributes are row tables unless an op reads them whole, and no other row has a gradient.
func TestRowTablesOfWords(t *testing.T) {
	rng := rand.New(rand.NewPCG(45, 46))
	for name, want := range map[string][]nets.RowTable{
		"window": {{Offset: 12, Rows: 7, Cols: 4}}, "convolution": nil,
		"two bags": {{Offset: 12 + 28 + 48 + 48, Rows: 11, Cols: 4}}, "bag of computed weights": nil,
	} {
		net, err := nets.Build(wordSpec(wordGraphs[name]), wordInput)
		must(t, err)
		tables := net.RowTables()
		if !slices.Equal(tables, want) {
			t.Errorf("%s: row tables %v, expected %v", name, tables, want)
		}
		if len(tables) == 0 {
			continue
		}
		data := randomData(rng, wordInput, 3, 2, 3)
		var batch structured.Batch
		batch.Reset(data, []int{1})
		worker, grad := net.NewNetWorker(), make([]float32, net.Dim())
		must(t, worker.Score(net.Init(1), &batch, new(structured.Potentials)))
		must(t, worker.Pullback(randomMarginals(rng, &batch, net.Form()), grad))
		rows := net.RowsRead(0, &batch, nil)
		var wantRows []int32
		if name == "window" {
			wantRows = data.Characters.Ids[data.Characters.Offsets[2]:]
		} else {
			wantRows = data.Attributes.Index[data.Attributes.Offsets[2]:]
		}
		if len(rows) == 0 || !slices.Equal(rows, wantRows) {
			t.Errorf("%s: rows %v, expected %v", name, rows, wantRows)
		}
		for r := range int32(tables[0].Rows) {
			of := grad[tables[0].Offset+int(r)*4:][:4]
			if slices.ContainsFunc(of, func(x float32) bool { return x != 0 }) && !slices.Contains(rows, r) {
				t.Errorf("%s: row %d has a gradient but was not read", name, r)
			}
		}
	}
}

func TestWordErrors(t *testing.T) {
	for _, c := range []struct {
		want  string
		graph func(g *graph.Graph) *gorgonia.Node
	}{
		{"the input has 7 different characters", func(g *graph.Graph) *gorgonia.Node {
			return node(g.Characters(g.Param("attributes")))
		}},
		{"the input has 11 attributes", func(g *graph.Graph) *gorgonia.Node { return node(g.Bag(g.Param("characters"))) }},
		{"one row for each of 64 characters", func(g *graph.Graph) *gorgonia.Node {
			return node(g.SegmentMax(g.Features()))
		}},
		{"one row for each of 64 characters", func(g *graph.Graph) *gorgonia.Node {
			return node(g.CharacterWindow(g.Features(), 3))
		}},
		{"odd", func(g *graph.Graph) *gorgonia.Node { return node(g.CharacterWindow(g.Features(), 2)) }},
		{"odd width", func(g *graph.Graph) *gorgonia.Node { return node(g.CharacterConvolution(g.Param("characters"), 3)) }},
		{`op "⊙" mixes`, func(g *graph.Graph) *gorgonia.Node {
			return node(g.SegmentMax(node(g.Dropout(node(g.Characters(g.Param("characters"))), 0.5))))
		}},
		{`op "matrix product`, func(g *graph.Graph) *gorgonia.Node { // characters by characters
			x := node(g.Characters(g.Param("characters")))
			all := node(gorgonia.Mul(node(gorgonia.Mul(x, node(gorgonia.Transpose(x, 1, 0)))), x))
			return node(g.SegmentMax(all))
		}},
		{"expected [8×labels]", func(g *graph.Graph) *gorgonia.Node { return node(g.Characters(g.Param("characters"))) }},
	} {
		if _, err := nets.Build(wordSpec(c.graph), wordInput); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one about %q", err, c.want)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for name, spoil := range map[string]struct {
		graph string
		want  string
		spoil func(d *structured.Dataset)
	}{
		"no characters":   {"window", "has no characters", func(d *structured.Dataset) { d.Characters = nil }},
		"no attributes":   {"bag", "has no attributes", func(d *structured.Dataset) { d.Attributes = nil }},
		"large character": {"window", "knows 0 to 6", func(d *structured.Dataset) { d.Characters.Ids[2] = 7 }},
		"large attribute": {"bag", "knows 0 to 10", func(d *structured.Dataset) { d.Attributes.Index[1] = -1 }},
	} {
		net, err := nets.Build(wordSpec(wordGraphs[spoil.graph]), wordInput)
		must(t, err)
		data := randomData(rng, wordInput, 3, 9)
		spoil.spoil(data)
		var batch structured.Batch
		batch.Reset(data, []int{0})
		if err := net.NewWorker().Score(net.Init(1), &batch, new(structured.Potentials)); err == nil ||
			!structured.IsBadInput(err) || !strings.Contains(err.Error(), spoil.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCharBucket(t *testing.T) {
	last := 0
	for n := range 5000 {
		b := graph.CharBucket(n)
		if b < n || b < 64 || b < last || n > 64 && b > n+n/4+1 || graph.CharBucket(b) != b {
			t.Fatalf("CharBucket(%d) = %d", n, b)
		}
		last = b
	}
}

// A step of the preset deep on 8 sentences of 20 words of 5 characters on average, with 17 labels, without attributes
// and with 40 of each position.
func BenchmarkDeepStep(b *testing.B) {
	for _, attributes := range []int{0, 40} {
		b.Run(fmt.Sprint("attributes=", attributes), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			input := graph.Input{Vocab: []int{10000, 3000, 3000, 100}, Characters: 100}
			data := randomData(rng, graph.Input{Vocab: input.Vocab}, 17, slices.Repeat([]int{20}, 8)...)
			data.Characters = &structured.Segments{Offsets: []int{0}}
			for range data.Positions() {
				for range 1 + rng.IntN(9) {
					data.Characters.Ids = append(data.Characters.Ids, int32(rng.IntN(100)))
				}
				data.Characters.Offsets = append(data.Characters.Offsets, len(data.Characters.Ids))
			}
			if attributes > 0 {
				input.Attributes = 200_000
				data.Attributes = &structured.Sparse{Offsets: []int{0}}
				for range data.Positions() {
					for range attributes {
						data.Attributes.Index = append(data.Attributes.Index, int32(rng.IntN(input.Attributes)))
					}
					data.Attributes.Offsets = append(data.Attributes.Offsets, len(data.Attributes.Index))
				}
			}
			net := mustNew(b, nets.Config{Net: "deep"}, input, 17)
			w, grad := net.Init(1), make([]float32, net.Dim())
			worker := net.NewNetWorker()
			var batch structured.Batch
			batch.Reset(data, seq(8))
			v := randomMarginals(rng, &batch, net.Form())
			var θ structured.Potentials
			must(b, worker.Score(w, &batch, &θ))
			b.ReportAllocs()
			for b.Loop() {
				must(b, worker.Score(w, &batch, &θ))
				must(b, worker.Pullback(v, grad))
			}
			b.ReportMetric(float64(160*b.N)/b.Elapsed().Seconds(), "positions/s")
		})
	}
}

// A convolution of the vocabulary is one of the characters: with the same filters, laid out differently, potentials are
// equal.
func TestCharacterConvolutionIsAWindow(t *testing.T) {
	const units, width, channels = 4, 3, 4
	rng := rand.New(rand.NewPCG(47, 48))
	data := randomData(rng, wordInput, 3, 5, 9)
	var batch structured.Batch
	batch.Reset(data, []int{1, 0})
	var w []float32
	score := func(layer func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node) []float32 {
		net, err := nets.Build(wordSpec(func(g *graph.Graph) *gorgonia.Node {
			return node(g.SegmentMax(layer(g, g.Param("characters"))))
		}), wordInput)
		must(t, err)
		if w == nil {
			w = randomVector(rng, net.Dim(), 0.7)
			filters, _ := net.Layout().Find("filters")
			side, _ := net.Layout().Find("side by side")
			for k := range width {
				for e := range units {
					copy(side.Of(w)[(e*width+k)*channels:][:channels], filters.Of(w)[(k*units+e)*channels:])
				}
			}
		}
		var θ structured.Potentials
		must(t, net.NewWorker().Score(w, &batch, &θ))
		return θ.Parts[0].Values
	}
	window := score(func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(gorgonia.Mul(node(g.CharacterWindow(node(g.Characters(x)), width)), g.Param("filters")))
	})
	convolution := score(func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
		return node(g.CharacterConvolution(node(gorgonia.Mul(x, g.Param("side by side"))), width))
	})
	mustEqual(t, "node", convolution, widen(window), 1e-6)
}
