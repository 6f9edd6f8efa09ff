package onnx

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/text"
	fitted "github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/inputs/encoded"
	"github.com/dsp-go/dsp/models/inputs/encoded/encodedtest"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
)

// batch returns all examples of d, padded with numbers that must not matter, as the inputs that a graph may read.
func batch(d *structured.Dataset) map[string]tensor {
	n, length := d.Len(), 0
	for i := range n {
		length = max(length, d.Length(i))
	}
	in := map[string]tensor{inputLengths: zerosOf(n)}
	array := func(name string, width int, fill float64) tensor {
		t := zerosOf(n, length+1, width) // a position more than any example has
		for i := range t.x {
			t.x[i] = fill
		}
		in[name] = t
		return t
	}
	each := func(t tensor, row func(position int) []float64) {
		for i := range n {
			for k := range d.Length(i) {
				copy(t.x[(i*t.shape[1]+k)*t.shape[2]:], row(d.Offsets[i]+k))
			}
		}
	}
	for i := range n {
		in[inputLengths].x[i] = float64(d.Length(i))
	}
	if d.Dim > 0 {
		all := make([]float32, d.Positions()*d.Dim)
		for i := range n {
			if err := d.ReadFeatures(all[d.Offsets[i]*d.Dim:d.Offsets[i+1]*d.Dim], i); err != nil {
				panic(err) // of test data in memory
			}
		}
		each(array(inputFeatures, d.Dim, 7), func(t int) []float64 { return floats(all[t*d.Dim : (t+1)*d.Dim]) })
	}
	if v := len(d.Vocab); v > 0 {
		each(array(inputWords, v, 1), func(t int) []float64 { return floats(d.Ids[t*v : (t+1)*v]) })
	}
	if c := d.Characters; c != nil {
		each(array(inputCharacters, 32, -1), func(t int) []float64 { return floats(c.Ids[c.Offsets[t]:c.Offsets[t+1]]) })
	}
	for name, x := range map[string]*structured.Sparse{inputAttributes: d.Attributes,
		"edge_" + inputAttributes: d.EdgeAttributes} {
		if x == nil {
			continue
		}
		wide := 1
		for t := range d.Positions() {
			wide = max(wide, x.Offsets[t+1]-x.Offsets[t])
		}
		each(array(name, wide+1, 1<<30), func(t int) []float64 { return floats(x.Index[x.Offsets[t]:x.Offsets[t+1]]) })
	}
	return in
}

func floats[E float32 | int32](xs []E) []float64 {
	to := make([]float64, len(xs))
	for i, x := range xs {
		to[i] = float64(x)
	}
	return to
}

var decoded = []struct {
	name   string
	change func(c *config.Config)
}{
	{"crf", net("auto")},
	{"tempered", net("auto")},
	{"sharpened", net("auto")},
	{"crf of a scheme", net("auto", func(c *config.Config) { c.Constraints = "iob2" })},
	{"crf of steps", net("auto", func(c *config.Config) { c.Features, c.Template = "auto", "testdata/steps.template" })},
	{"crf of dense features, too", func(c *config.Config) { c.Net, c.Dense = "linear", "features" }},
	{"crf of dense features, standardised", func(c *config.Config) {
		c.Net, c.Dense, c.Features = "linear", "features", "none"
	}},
	{"crf of steps and dense features", func(c *config.Config) {
		c.Net, c.Dense, c.Features, c.Template = "linear", "features", "auto", "testdata/steps.template"
	}},
	{"embed, edges by position, scheme", net("embed", func(c *config.Config) {
		c.Edges, c.Constraints, c.Channels = "position", "iob2", settings.Sizes{4}
	})},
	{"rnn", net("rnn", func(c *config.Config) { c.Recurrent = settings.Sizes{3, 2} })},
	{"attention", net("attention", func(c *config.Config) { c.Channels, c.Heads, c.Layers = settings.Sizes{8}, 2, 2 })},
	{"deep", net("deep", func(c *config.Config) { c.Recurrent, c.CharChannels = settings.Sizes{3}, 4 })},
	{"stack", net("stack", func(c *config.Config) {
		c.Stack = "- embed: [4, 3]\n- characters: 4\n- convolution: {channels: 4, width: 5, activation: gelu}\n- norm\n" +
			"- attention: 2\n- residual:\n  - dense: {units: 4, activation: silu}\n  - dense: 4\n"
	})},
	{"image", func(c *config.Config) {
		drawn("ocr")(c)
		c.Net, c.Channels, c.Hidden = "cnn", settings.Sizes{3, 2}, settings.Sizes{4}
	}},
	{"mlp", func(c *config.Config) {
		drawn("ocr")(c)
		c.Net, c.Window, c.Hidden, c.Activation = "mlp", 3, settings.Sizes{4}, "tanh"
	}},
	{"no edges", func(c *config.Config) { drawn("ocr")(c); c.Net, c.Edges = "linear", "none" }},
}

// A graph computes the labels, scores and marginals of Predict, whatever stands in the padding.
func TestGraphsPredict(t *testing.T) {
	for _, c := range decoded {
		t.Run(c.name, func(t *testing.T) {
			m, d := modelAndData(t, c.change)
			for i := range m.W {
				m.W[i] /= 4 // probabilities away from 0 and 1
			}
			switch c.name {
			case "tempered":
				m.Temperature = 2.5
			case "sharpened":
				m.Temperature = 0.5
			}
			read := *d
			if c.name == "crf of dense features, standardised" {
				s, err := fitted.FitStandard(d)
				if err != nil {
					t.Fatal(err)
				}
				m.Standard, s.Mean[0] = s, s.Mean[0]+0.5
				if err := s.Apply(&read); err != nil {
					t.Fatal(err)
				}
			}
			got := run(t, built(t, m, Options{Marginals: true}).Graph, batch(d))
			checkPredictions(t, m, &read, got)
		})
	}
}

// On long sentences with large potentials, whose paths float32 tells apart only because both shift their scores at the
// same positions, a graph finds the labels of Predict.
func TestGraphOfLongSentences(t *testing.T) {
	m, d := modelAndData(t, net("auto"))
	r := rand.New(rand.NewPCG(1, 7))
	for i := range m.W {
		m.W[i] = float32(200_000 + r.IntN(9)) // potentials are exact sums of these, and scores of paths are not
	}
	got := run(t, built(t, m, Options{}).Graph, batch(d))
	labels := got["labels"]
	err := m.Predict(context.Background(), d,
		predictions.Options{Threads: 1}, func(i int, p *predictions.Prediction) error {
			for k, l := range p.Labels {
				if at := i*labels.shape[1] + k; int32(labels.x[at]) != l {
					t.Fatalf("sentence %d, position %d of %d: label %v, by Predict %d", i, k, len(p.Labels), labels.x[at], l)
				}
			}
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
}

func checkPredictions(t *testing.T, m *models.Model, d *structured.Dataset, got map[string]tensor) {
	t.Helper()
	labels, score, marginals := got["labels"], got["score"], got["marginals"]
	y := m.Labels.Len()
	err := m.Predict(context.Background(), d, predictions.Options{Marginals: true, Threads: 1},
		func(i int, p *predictions.Prediction) error {
			for k := range labels.shape[1] {
				at, want := i*labels.shape[1]+k, -1.0
				if k < d.Length(i) {
					want = float64(p.Labels[k])
				}
				if labels.x[at] != want {
					t.Errorf("example %d, position %d: label %g, want %g", i, k, labels.x[at], want)
				}
				for l := range y {
					want := 0.0
					if k < d.Length(i) {
						want = float64(p.Marginals[k*y+l])
					}
					if x := marginals.x[at*y+l]; !(math.Abs(x-want) < 1e-5) {
						t.Errorf("example %d, position %d, label %d: probability %g, want %g", i, k, l, x, want)
					}
				}
			}
			if !(math.Abs(score.x[i]-p.Score) < 1e-5*max(1, math.Abs(p.Score))) {
				t.Errorf("example %d: score %g, want %g", i, score.x[i], p.Score)
			}
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
}

// A graph holds the encoder of its model, of any family, and predicts from the numbers of pieces.
func TestGraphsWithEncoders(t *testing.T) {
	train := trainFile(t, strings.Repeat(sentences, 3)+"fox\tN\tO\n\n") // whose sentences fit into all encoders
	rows := func(family, pieces, layers string) func(c *config.Config) {
		return func(c *config.Config) {
			c.Train = train
			c.Net, c.Encoder, c.Pieces, c.EncoderLayers, c.EncoderCache = "linear", encodedtest.Folder(t, family), pieces,
				layers, "none"
		}
	}
	families := []string{"bert", "deberta-v2", "deberta-v2-own-keys", "deberta-v2-xlarge", "distilbert", "electra",
		"modernbert", "mpnet", "roberta", "xlm-roberta"}
	type graphCase struct {
		name   string
		change func(c *config.Config)
	}
	var all []graphCase
	for _, family := range families {
		all = append(all, graphCase{family, rows(family, "first", "last")})
	}
	also := func(f, g func(c *config.Config)) func(c *config.Config) { return func(c *config.Config) { f(c); g(c) } }
	all = append(all,
		graphCase{"means of pieces and layers", rows("bert", "mean", "mean2")},
		graphCase{"dense features, too", also(rows("bert", "first", "mean2"), func(c *config.Config) {
			c.Dense = "features"
		})},
		graphCase{"rows alone", also(rows("bert", "first", "0"), func(c *config.Config) { c.Features = "none" })},
		graphCase{"trained", also(rows("bert", "mean", "last"), func(c *config.Config) {
			c.Net, c.TuneEncoder, c.FreezeLayers, c.EncoderCache = "embed", true, 1, ""
		})},
		graphCase{"trained, attributes beside", also(rows("bert", "first", "last"), func(c *config.Config) {
			c.Features, c.TuneEncoder, c.EncoderCache = "ner", true, ""
		})},
		graphCase{"adapters", also(rows("bert", "first", "last"), func(c *config.Config) {
			c.Net, c.TuneEncoder, c.Adapter, c.EncoderCache = "embed", true, "lora:2:3", ""
		})},
		graphCase{"under a network", also(rows("bert", "first", "last"), func(c *config.Config) {
			c.Net, c.Recurrent = "rnn", settings.Sizes{3}
		})},
	)
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			m, d := modelAndData(t, c.change)
			for i := range m.W {
				m.W[i] /= 4
			}
			in := batch(d)
			width := m.Encoder.Width()
			if given := m.Dim - width; given == 0 {
				delete(in, inputFeatures)
			} else {
				x := zerosOf(in[inputFeatures].shape[0], in[inputFeatures].shape[1], given)
				for r := range x.shape[0] * x.shape[1] {
					copy(x.x[r*given:(r+1)*given], in[inputFeatures].x[r*m.Dim:])
				}
				in[inputFeatures] = x
			}
			addPieces(t, in, m, d)
			file := built(t, m, Options{Marginals: true})
			checkOrder(t, file.Graph, map[string]bool{}, map[string]bool{})
			checkInitializers(t, file.Graph)
			checkPredictions(t, m, d, run(t, file.Graph, in))
		})
	}
}

// addPieces adds the inputs of the encoder, padded with numbers that must not matter.
func addPieces(t *testing.T, in map[string]tensor, m *models.Model, d *structured.Dataset) {
	t.Helper()
	tok := m.Encoder.Tokenizer
	cutter, words := tok.NewCutter(), d.Column(text.WordColumn)
	var ids [][]int32
	T := in[inputAttributes].shape
	if T == nil {
		most := 0
		for i := range d.Len() {
			most = max(most, d.Length(i))
		}
		T = []int{d.Len(), most + 1}
	}
	lengths, first, counts := zerosOf(d.Len()), zerosOf(T[0], T[1]), zerosOf(T[0], T[1])
	longest := 0
	for i := range d.Len() {
		all := slices.Clone(tok.Prefix)
		for k := range T[1] {
			at := i*T[1] + k
			if first.x[at], counts.x[at] = 1, 3; k >= d.Length(i) {
				continue
			}
			begin := len(all)
			var err error
			if all, err = cutter.Cut(all, words[d.Offsets[i]+k]); err != nil {
				t.Fatal(err)
			}
			first.x[at], counts.x[at] = float64(begin), float64(len(all)-begin)
		}
		ids = append(ids, append(all, tok.Suffix...))
		lengths.x[i] = float64(len(ids[i]))
		longest = max(longest, len(ids[i]))
	}
	x := zerosOf(d.Len(), longest+1)
	for i := range x.x {
		x.x[i] = 1
	}
	for i := range ids {
		copy(x.x[i*(longest+1):], floats(ids[i]))
	}
	in[inputPieces], in[inputPieceLengths], in[inputFirstPieces] = x, lengths, first
	if m.Encoder.Pieces == encoded.Mean {
		in[inputPieceCounts] = counts
	}
}

// Of other structures a graph computes the potentials of all rows.
func TestGraphsOfOtherStructures(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(c *config.Config)
	}{
		{"trees", func(c *config.Config) {
			drawn("parse")(c)
			c.Net, c.Channels, c.ArcUnits, c.LabelUnits = "biaffine", settings.Sizes{3}, 3, 2
		}},
		{"matchings", func(c *config.Config) {
			drawn("align")(c)
			c.Net, c.Features, c.Channels, c.PairUnits = "bilinear", "none", settings.Sizes{3}, 3
		}},
		{"graphs", func(c *config.Config) {
			drawn("segment")(c)
			c.Examples, c.Net, c.Hidden, c.EdgeUnits = settings.Sizes{2, 1, 1}, "mlp", settings.Sizes{3}, 2
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, d := modelAndData(t, c.change)
			in := batch(d)
			if s := d.Table(structured.Sources); s != nil {
				in[inputSources] = zerosOf(d.Len())
				for i := range d.Len() {
					in[inputSources].x[i] = float64(s.Offsets[i+1] - s.Offsets[i])
				}
			}
			if d.Graphs != nil {
				addEdges(in, d)
			}
			got := run(t, built(t, m, Options{}).Graph, in)
			θ, err := m.Potentials(context.Background(), d, 1)
			if err != nil {
				t.Fatal(err)
			}
			for k, part := range m.Net.Form().Parts {
				x, ok := got[part.Name]
				if !ok {
					continue
				}
				for i := range d.Len() {
					rows := rowsIn(d, part, i, x.shape[1])
					for r, want := range θ.Parts[k].Of(i) {
						at := (i*product(x.shape[1:len(x.shape)-1])+rows[r/part.Width])*part.Width + r%part.Width
						if !(math.Abs(x.x[at]-float64(want)) < 1e-4*max(1, math.Abs(float64(want)))) {
							t.Fatalf("%s of example %d, entry %d: %g, want %g", part.Name, i, r, x.x[at], want)
						}
					}
				}
			}
		})
	}
}

// rowsIn lists where the rows of a part of example i are in an output of padded rows, for T positions.
func rowsIn(d *structured.Dataset, part structured.Shape, i, T int) (rows []int) {
	n := d.Length(i)
	switch part.Rows {
	case structured.Positions, structured.Sources, structured.Edges:
		for r := range T {
			rows = append(rows, r)
		}
	case structured.Pairs:
		s := d.Table(structured.Sources)
		sources := s.Offsets[i+1] - s.Offsets[i]
		for r := range sources {
			for h := sources; h < n; h++ {
				rows = append(rows, r*T+h)
			}
		}
	default:
		for r := range n {
			for h := range n {
				rows = append(rows, r*T+h)
			}
		}
	}
	return rows
}

// addEdges adds the inputs of the edges of graphs.
func addEdges(in map[string]tensor, d *structured.Dataset) {
	table, most := d.Table(structured.Edges), 0
	for _, g := range d.Graphs {
		most = max(most, len(g.Ends))
	}
	in[inputEnds], in[inputEdges] = zerosOf(d.Len(), most+1, 2), zerosOf(d.Len(), most+1, table.Dim)
	for i, g := range d.Graphs {
		for e, ends := range g.Ends {
			for side, v := range ends {
				in[inputEnds].x[(i*(most+1)+e)*2+side] = float64(v)
			}
			copy(in[inputEdges].x[(i*(most+1)+e)*table.Dim:],
				floats(table.Features[(table.Offsets[i]+e)*table.Dim:(table.Offsets[i]+e+1)*table.Dim]))
		}
	}
}
