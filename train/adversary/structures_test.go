package adversary

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/choices"
	"github.com/dsp-go/dsp/structured/constituents"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/matchings"
	"github.com/dsp-go/dsp/structured/monotone"
	"github.com/dsp-go/dsp/structured/pcfg"
	"github.com/dsp-go/dsp/structured/segments"
	"github.com/dsp-go/dsp/structured/trees"
	"github.com/dsp-go/dsp/structured/windows"
	"github.com/dsp-go/dsp/train/traintest"
)

// inputs is the number of dense inputs of a row.
const inputs = 3

// structure is a structure and how problems of it are drawn.
type structure struct {
	name string
	sums bool // of outputs, for crf and softmax-margin
	draw func(r *rand.Rand, n int, spoil spoiler) (nets.Scorer, *structured.Dataset)
}

// restricts reports whether gold outputs may be known in part.
func (s structure) restricts() bool {
	return slices.ContainsFunc([]string{"chain", "forest", "loops", "tree", "grammars", "choices", "segments"}, func(of string) bool { return strings.Contains(s.name, of) })
}

// costs reports whether the data say what wrong outputs cost.
func (s structure) costs() bool {
	return strings.Contains(s.name, "matchings") || s.name == "monotone alignments" || s.name == "choices"
}

// draws are the structures. All have few enough outputs to list.
var draws = []structure{
	{"chain", true, denseChains},
	{"sparse chain", true, func(r *rand.Rand, n int, spoil spoiler) (nets.Scorer, *structured.Dataset) {
		return sparseChains(r, n, 0, spoil)
	}},
	{"chain with attributes of steps", true, func(r *rand.Rand, n int, spoil spoiler) (nets.Scorer, *structured.Dataset) {
		return sparseChains(r, n, 2, spoil)
	}},
	{"chain with attributes and dense inputs", true, jointChains},
	{"forest", true, graphsOf(graphs.Pairwise{Edges: graphs.Own}, true)},
	{"typed forest", true, graphsOf(graphs.Pairwise{Edges: graphs.Typed}, true)},
	{"Potts forest", true, graphsOf(graphs.Pairwise{Edges: graphs.Potts}, true)},
	{"loops", true, graphsOf(graphs.Pairwise{Edges: graphs.Own}, false)},
	{"typed loops", true, graphsOf(graphs.Pairwise{Edges: graphs.Typed}, false)},
	{"Potts loops", true, graphsOf(graphs.Pairwise{Edges: graphs.Potts}, false)},
	{"cuts", false, graphsOf(graphs.Pairwise{Edges: graphs.Own, By: graphs.Cut}, false)},
	{"typed cuts", false, graphsOf(graphs.Pairwise{Edges: graphs.Typed, By: graphs.Cut}, false)},
	{"Potts cuts", false, graphsOf(graphs.Pairwise{Edges: graphs.Potts, By: graphs.Cut}, false)},
	{"projective trees", true, treesOf(trees.SpanningTree{})},
	{"trees with siblings", true, treesOf(trees.SpanningTree{Siblings: true})},
	{"trees", true, treesOf(trees.SpanningTree{NonProjective: true})},
	{"trees with attributes and dense inputs", true, jointTrees},
	{"matchings", false, matchingsOf(false)},
	{"complete matchings", false, matchingsOf(true)},
	{"monotone alignments", true, alignmentsOf},
	{"segments", true, segmentsOf},
	{"grammars", true, grammarsOf},
	{"choices", true, choicesOf},
	{"windows", false, windowsOf(0)},
	{"windows cut short", false, windowsOf(3)},
}

// rowsOf draws rows of inputs.
func rowsOf(r *rand.Rand, count, width int, spoil spoiler) [][]float32 {
	rows := make([][]float32, count)
	for k := range rows {
		rows[k] = traintest.DrawWeights(r, width, 1)
	}
	spoil(rows)
	return rows
}

func concat(rows [][]float32) (flat []float32) {
	for _, row := range rows {
		flat = append(flat, row...)
	}
	return flat
}

// attributesOf makes rows sparse.
func attributesOf(r *rand.Rand, rows [][]float32) *structured.Sparse {
	x := &structured.Sparse{Offsets: []int{0}}
	for _, row := range rows {
		for j, v := range row {
			if j < 2 || r.IntN(3) > 0 {
				x.Index, x.Value = append(x.Index, int32(j)), append(x.Value, v)
			}
		}
		x.Offsets = append(x.Offsets, len(x.Index))
	}
	return x
}

// copyExamples makes the inputs of the later half of dense examples those of the first, where sizes agree.
func copyExamples(_ nets.Scorer, d *structured.Dataset) {
	half := d.Len() / 2
	for i := range half {
		if d.Features == nil || d.Length(i) != d.Length(half+i) {
			continue
		}
		copy(d.Features[d.Offsets[half+i]*d.Dim:d.Offsets[half+i+1]*d.Dim], d.Features[d.Offsets[i]*d.Dim:])
	}
}

func alphabet(labels int) *structured.Alphabet {
	names := make([]string, labels)
	for l := range names {
		names[l] = fmt.Sprint("label", l)
	}
	return structured.NewAlphabet(names...)
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// chainsOf draws chains of up to 3 positions without inputs.
func chainsOf(r *rand.Rand, n, labels int) *structured.Dataset {
	d := &structured.Dataset{Name: "chains", Offsets: []int{0}, Alphabet: alphabet(labels)}
	for range n {
		for range 1 + r.IntN(3) {
			d.Labels = append(d.Labels, r.Int32N(int32(labels)))
		}
		d.Offsets = append(d.Offsets, len(d.Labels))
	}
	return d
}

func denseChains(r *rand.Rand, n int, spoil spoiler) (nets.Scorer, *structured.Dataset) {
	const labels = 3
	d := chainsOf(r, n, labels)
	d.Dim, d.Features = inputs, concat(rowsOf(r, d.Positions(), inputs, spoil))
	return must(nets.New(nets.Config{Net: "linear"}, graph.Input{Dim: inputs}, labels)), d
}

func sparseChains(r *rand.Rand, n, edges int, spoil spoiler) (nets.Scorer, *structured.Dataset) {
	const labels = 3
	d := chainsOf(r, n, labels)
	d.Attributes = attributesOf(r, rowsOf(r, d.Positions(), inputs+1, spoil))
	if edges > 0 {
		d.EdgeAttributes = attributesOf(r, rowsOf(r, d.Positions(), edges, spoil))
	}
	return must(sparse.NewChain(inputs+1, edges, labels, nets.EdgesTransition)), d
}

// jointChains draws sparse chains with dense inputs beside the attributes, whose weights λ₁ leaves alone.
func jointChains(r *rand.Rand, n int, spoil spoiler) (nets.Scorer, *structured.Dataset) {
	const labels = 3
	_, d := sparseChains(r, n, 0, spoil)
	d.Dim, d.Features = inputs, concat(rowsOf(r, d.Positions(), inputs, spoil))
	return must(sparse.NewDenseChain(inputs+1, 0, inputs, labels, nets.EdgesTransition)), d
}

// jointTrees draws trees with dense inputs of words beside the attributes of pairs.
func jointTrees(r *rand.Rand, n int, spoil spoiler) (nets.Scorer, *structured.Dataset) {
	s, d := treesOf(trees.SpanningTree{NonProjective: true})(r, n, spoil)
	d.Dim, d.Features = 2, concat(rowsOf(r, d.Positions(), 2, spoil))
	dense := func(name string) []sparse.Dense {
		return []sparse.Dense{{Weights: name + " of dependent", Dim: d.Dim, Of: sparse.OfDependent}, {Weights: name + " of head", Dim: d.Dim, Of: sparse.OfHead}}
	}
	return sparse.New(s.Form(), []sparse.Part{
		{Attributes: inputs, Weights: "arcs", Dense: dense("arc")}, {Attributes: inputs, Weights: "labels", Bias: "relations", Dense: dense("label")},
	}), d
}

// graphsOf draws graphs of up to 4 variables. Those of cuts have two labels, and edges of either sign.
func graphsOf(s graphs.Pairwise, forest bool) func(*rand.Rand, int, spoiler) (nets.Scorer, *structured.Dataset) {
	return func(r *rand.Rand, n int, spoil spoiler) (nets.Scorer, *structured.Dataset) {
		labels, edgeInputs := 3, 2
		if s.By == graphs.Cut {
			labels = 2
		}
		table := &structured.Table{Name: structured.Edges, Offsets: []int{0}, Dim: edgeInputs}
		d := &structured.Dataset{Name: "graphs", Offsets: []int{0}, Dim: inputs, Alphabet: alphabet(labels), Tables: []*structured.Table{table}}
		for range n {
			g, size := &structured.Graph{}, 1+r.IntN(4)
			for v := 1; v < size; v++ {
				if r.IntN(5) > 0 {
					g.Ends = append(g.Ends, [2]int32{int32(r.IntN(v)), int32(v)})
				}
			}
			if !forest && size > 2 {
				for range 1 + r.IntN(2) {
					u := r.IntN(size - 1)
					g.Ends = append(g.Ends, [2]int32{int32(u + 1 + r.IntN(size-1-u)), int32(u)})
				}
			}
			for range g.Ends {
				g.Types = append(g.Types, r.Int32N(2))
			}
			for range size {
				d.Labels = append(d.Labels, r.Int32N(int32(labels)))
			}
			d.Graphs, d.Offsets = append(d.Graphs, g), append(d.Offsets, len(d.Labels))
			table.Offsets = append(table.Offsets, table.Offsets[len(table.Offsets)-1]+len(g.Ends))
		}
		d.Features = concat(rowsOf(r, d.Positions(), inputs, spoil))
		table.Features = concat(rowsOf(r, table.Offsets[n], edgeInputs, spoil))
		out := nets.Output{Form: s.Form(labels, 2)}
		return must(nets.Make(nets.Config{Net: "linear"}, graph.Input{Dim: inputs, EdgeDim: edgeInputs}, out)), d
	}
}

func treesOf(s trees.SpanningTree) func(*rand.Rand, int, spoiler) (nets.Scorer, *structured.Dataset) {
	return func(r *rand.Rand, n int, spoil spoiler) (nets.Scorer, *structured.Dataset) {
		const relations = 2
		d := &structured.Dataset{Name: "trees", Offsets: []int{0}, Outputs: []int{0}, Alphabet: alphabet(relations)}
		rows, siblings := []int{0}, []int{0}
		for range n {
			words := 1 + r.IntN(3)
			heads := [][]int32{{0}, {0, 1}, {2, 0, 2}}[words-1]
			if words == 3 && r.IntN(2) == 0 {
				heads = []int32{0, 1, 2}
			}
			d.Labels = append(d.Labels, heads...)
			for range words {
				d.Labels = append(d.Labels, r.Int32N(relations))
			}
			d.Offsets, d.Outputs = append(d.Offsets, d.Offsets[len(d.Offsets)-1]+words), append(d.Outputs, len(d.Labels))
			rows, siblings = append(rows, rows[len(rows)-1]+words*words), append(siblings, siblings[len(siblings)-1]+trees.Siblings(words))
		}
		attributes := func() *structured.Sparse { return attributesOf(r, rowsOf(r, rows[n], inputs, spoil)) }
		d.Tables = []*structured.Table{{Name: trees.ArcRows, Offsets: rows, Attributes: attributes()}, {Name: trees.LabelRows, Offsets: rows, Attributes: attributes()}}
		parts := []sparse.Part{{Attributes: inputs, Weights: "arcs"}, {Attributes: inputs, Weights: "labels", Bias: "relations"}}
		if s.Siblings {
			d.Tables = append(d.Tables, &structured.Table{Name: trees.SiblingRows, Offsets: siblings, Attributes: attributesOf(r, rowsOf(r, siblings[n], inputs, spoil))})
			parts = append(parts, sparse.Part{Attributes: inputs, Weights: "siblings"})
		}
		return sparse.New(s.Form(relations), parts), d
	}
}

func matchingsOf(complete bool) func(*rand.Rand, int, spoiler) (nets.Scorer, *structured.Dataset) {
	return func(r *rand.Rand, n int, spoil spoiler) (nets.Scorer, *structured.Dataset) {
		pairs := &structured.Table{Name: matchings.PairRows, Offsets: []int{0}}
		sources := &structured.Table{Name: matchings.SourceRows, Offsets: []int{0}}
		d := &structured.Dataset{Name: "matchings", Offsets: []int{0}, Outputs: []int{0}, Tables: []*structured.Table{pairs, sources}, CostRows: matchings.PairRows}
		for i := range n {
			rows, columns := 1+r.IntN(3), 2+r.IntN(2)
			if rows > columns {
				rows = columns
			}
			order := r.Perm(columns)
			for k := range rows {
				gold := int32(order[k]) + 1
				if !complete && r.IntN(3) == 0 {
					gold = 0
				}
				d.Labels = append(d.Labels, gold)
				for range columns {
					d.Costs = append(d.Costs, float32(r.IntN(4)))
				}
			}
			d.Offsets, d.Outputs = append(d.Offsets, d.Offsets[i]+rows+columns), append(d.Outputs, d.Outputs[i]+rows)
			pairs.Offsets = append(pairs.Offsets, pairs.Offsets[i]+rows*columns)
			sources.Offsets = append(sources.Offsets, sources.Offsets[i]+rows)
		}
		pairs.Attributes = attributesOf(r, rowsOf(r, pairs.Offsets[n], inputs, spoil))
		parts := []sparse.Part{{Attributes: inputs, Weights: "pairs"}, {Bias: "unmatched"}}
		if complete {
			parts = parts[:1]
		}
		return sparse.New(matchings.Matching{Complete: complete}.Form(), parts), d
	}
}

// alignmentsOf draws paths through up to 4 by 4 pairs. Some false links cost nothing.
func alignmentsOf(r *rand.Rand, n int, spoil spoiler) (nets.Scorer, *structured.Dataset) {
	pairs, sources := &structured.Table{Name: structured.Pairs, Offsets: []int{0}}, &structured.Table{Name: structured.Sources, Offsets: []int{0}}
	d := &structured.Dataset{Name: "alignments", Offsets: []int{0}, Outputs: []int{0}, Tables: []*structured.Table{pairs, sources}, CostRows: structured.Pairs}
	for i := range n {
		rows, columns := 2+r.IntN(3), 2+r.IntN(3)
		gold := make([]int32, rows+columns-1)
		for i, j := 0, 0; ; {
			gold[i+j] = int32(i) + 1
			down, right := i+1 < rows && r.IntN(3) > 0, j+1 < columns && r.IntN(3) > 0
			if i+j == rows+columns-2 {
				break
			}
			if down || j+1 == columns {
				i++
			}
			if right || !down && j+1 < columns {
				j++
			}
		}
		d.Labels = append(d.Labels, gold...)
		for range rows * columns {
			d.Costs = append(d.Costs, float32(r.IntN(4)))
		}
		d.Offsets, d.Outputs = append(d.Offsets, d.Offsets[i]+rows+columns), append(d.Outputs, len(d.Labels))
		pairs.Offsets, sources.Offsets = append(pairs.Offsets, pairs.Offsets[i]+rows*columns), append(sources.Offsets, sources.Offsets[i]+rows)
	}
	pairs.Attributes = attributesOf(r, rowsOf(r, pairs.Offsets[n], inputs, spoil))
	return sparse.New(monotone.Alignment{}.Form(), []sparse.Part{{Attributes: inputs, Weights: "pairs"}, {Bias: "steps"}}), d
}

// segmentsOf draws sequences of up to 4 positions in segments of one label, of up to 2 positions, and positions
// outside. Positions, last positions and whole segments have attributes.
func segmentsOf(r *rand.Rand, n int, spoil spoiler) (nets.Scorer, *structured.Dataset) {
	const tags, longest = 3, 2
	d := &structured.Dataset{Name: "segments", Offsets: []int{0}, Alphabet: alphabet(tags)}
	for range n {
		for end := len(d.Labels) + 1 + r.IntN(4); len(d.Labels) < end; {
			switch {
			case r.IntN(2) == 0:
				d.Labels = append(d.Labels, 2)
			case len(d.Labels)+1 < end && r.IntN(2) == 0:
				d.Labels = append(d.Labels, 0, 1)
			default:
				d.Labels = append(d.Labels, 0)
			}
		}
		d.Offsets = append(d.Offsets, len(d.Labels))
	}
	d.Attributes = attributesOf(r, rowsOf(r, d.Positions(), inputs, spoil))
	rows := segments.Offsets(d.Offsets, longest)
	d.SetTable(&structured.Table{Name: segments.Rows, Offsets: rows, Attributes: attributesOf(r, rowsOf(r, rows[n], inputs, spoil))})
	return must(sparse.NewSegments(inputs, 0, inputs, 0, segments.Form(tags, longest, segments.Optional{Ends: true, Whole: true}))), d
}

// grammarsOf draws derivations of up to 3 words. Spans and words have attributes; rules are shared.
func grammarsOf(r *rand.Rand, n int, spoil spoiler) (nets.Scorer, *structured.Dataset) {
	const nonterminals, preterminals = 2, 2
	d := &structured.Dataset{Name: "grammars", Offsets: []int{0}, Outputs: []int{0}}
	for range n {
		words := 1 + r.IntN(3)
		y := make([]int32, words*words)
		for i := range words {
			y[i*words+i] = 1 + r.Int32N(preterminals)
		}
		for i, j := 0, words-1; i < j; { // each span has a word at one end
			if y[i*words+j] = 1 + r.Int32N(nonterminals); r.IntN(2) == 0 {
				i++
			} else {
				j--
			}
		}
		d.Labels = append(d.Labels, y...)
		d.Offsets, d.Outputs = append(d.Offsets, d.Positions()+words), append(d.Outputs, len(d.Labels))
	}
	d.Attributes = attributesOf(r, rowsOf(r, d.Positions(), inputs, spoil))
	spans := attributesOf(r, rowsOf(r, len(d.Labels), inputs, spoil))
	d.SetTable(&structured.Table{Name: constituents.SpanRows, Offsets: d.Outputs, Attributes: spans})
	return sparse.New(pcfg.Form(nonterminals, preterminals, false), []sparse.Part{
		{Attributes: inputs, Weights: "span"}, {Attributes: inputs, Weights: "terminal"}, {Bias: "rule"}, {Bias: "root"},
	}), d
}

func choicesOf(r *rand.Rand, n int, spoil spoiler) (nets.Scorer, *structured.Dataset) {
	d := &structured.Dataset{Name: "choices", Offsets: []int{0}, Outputs: []int{0}, Dim: inputs, CostRows: structured.Positions}
	for range n {
		candidates := 2 + r.IntN(6)
		for range candidates {
			d.Costs = append(d.Costs, r.Float32())
		}
		d.Labels = append(d.Labels, r.Int32N(int32(candidates)))
		d.Offsets, d.Outputs = append(d.Offsets, len(d.Costs)), append(d.Outputs, len(d.Labels))
	}
	d.Features = concat(rowsOf(r, d.Positions(), inputs, spoil))
	return &traintest.Linear{Inputs: inputs, Structure: choices.Form()}, d
}

// windowsOf draws boxes in small maps. A search that a limit cuts short answers with bounds.
func windowsOf(limit int) func(*rand.Rand, int, spoiler) (nets.Scorer, *structured.Dataset) {
	return func(r *rand.Rand, n int, spoil spoiler) (nets.Scorer, *structured.Dataset) {
		w := windows.Window{Height: 3, Width: 3, Limit: limit}
		d := &structured.Dataset{Name: "windows", Offsets: []int{0}, Outputs: []int{0}, Dim: inputs}
		for range n {
			d.Labels = append(d.Labels, w.Draw(r)...)
			d.Offsets = append(d.Offsets, d.Offsets[len(d.Offsets)-1]+w.Height*w.Width)
			d.Outputs = append(d.Outputs, len(d.Labels))
		}
		d.Features = concat(rowsOf(r, d.Positions(), inputs, spoil))
		return &traintest.Linear{Inputs: inputs, Structure: w.Form()}, d
	}
}
