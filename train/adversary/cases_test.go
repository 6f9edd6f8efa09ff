package adversary

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/choices"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/matchings"
	"github.com/dsp-go/dsp/structured/monotone"
	"github.com/dsp-go/dsp/structured/segments"
	"github.com/dsp-go/dsp/structured/trees"
	"github.com/dsp-go/dsp/structured/windows"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// cell is a cell of the grid. Its name and a seed determine its problem.
type cell struct {
	structure string
	draw      func(r *rand.Rand, n int, spoil spoiler) (nets.Scorer, *structured.Dataset)
	loss      engine.Loss
	terms     string // of the objective
	nasty     string
	seed      uint64
}

func (c cell) String() string {
	return fmt.Sprintf("%s, %v, %s, %s, %d", c.structure, c.loss, c.terms, c.nasty, c.seed)
}

// benign reports whether every method should come close to the optimum.
func (c cell) benign() bool {
	bounds := c.structure == "windows cut short" || strings.HasSuffix(c.structure, "cuts") // the gap includes what these lose
	return c.nasty == "benign" && c.terms != "weights" && !strings.HasPrefix(c.terms, "l1 prior") && !bounds
}

// spoiler makes rows of inputs nasty.
type spoiler func(rows [][]float32)

// inputs is the number of dense inputs of a row.
const inputs = 3

// draws are the structures. All have few enough outputs to list.
var draws = []struct {
	name string
	sums bool // of outputs, for crf and softmax-margin
	draw func(r *rand.Rand, n int, spoil spoiler) (nets.Scorer, *structured.Dataset)
}{
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
	{"choices", true, choicesOf},
	{"windows", false, windowsOf(0)},
	{"windows cut short", false, windowsOf(3)},
}

var (
	losses  = []engine.Loss{engine.Hinge, engine.CRF, engine.SoftmaxMargin, engine.Quadratic}
	terms   = []string{"plain", "l1", "prior", "weights", "l1 prior weights", "bounds", "l1 prior bounds"}
	nasties = []string{"benign", "collinear", "nearly collinear", "offset", "duplicates", "single", "small λ", "large λ", "four", "strong", "far prior"}
)

// grid lists the cells.
func grid(seed uint64) (all []cell) {
	for _, d := range draws {
		for _, loss := range losses {
			if loss.Smooth() && !d.sums || loss == engine.Quadratic && !strings.Contains(d.name, "chain") { // others have no score for each label alone
				continue
			}
			for _, of := range terms {
				for _, nasty := range nasties {
					all = append(all, cell{d.name, d.draw, loss, of, nasty, seed})
				}
			}
		}
	}
	return all
}

// remembered are cells that have shown faults: dual points within roundings of the gold outputs of examples with large weights; weights that differed
// between objective and gradient; and a bound of roundings that took the marginals of relations for those of a row that sums to 1, and one that left such rows out although a marginal
// near 1 loses 3e-8 there, too. In the last, rounding made ‖D‖² negative, and with it prox-linear's first step length.
func remembered() (some []cell) {
	for _, c := range []cell{
		{structure: "complete matchings", loss: engine.Hinge, terms: "weights", nasty: "benign", seed: 3},
		{structure: "chain with attributes of steps", loss: engine.Hinge, terms: "weights", nasty: "far prior", seed: 1},
		{structure: "projective trees", loss: engine.Hinge, terms: "plain", nasty: "benign", seed: 2},
		{structure: "trees", loss: engine.SoftmaxMargin, terms: "plain", nasty: "benign", seed: 1},
		{structure: "trees", loss: engine.Hinge, terms: "weights", nasty: "single", seed: 32},
		{structure: "trees", loss: engine.Hinge, terms: "plain", nasty: "offset", seed: 6},
	} {
		for _, d := range draws {
			if d.name == c.structure {
				c.draw = d.draw
			}
		}
		some = append(some, c)
	}
	return some
}

// rand returns the cell's source of numbers.
func (c cell) rand() *rand.Rand {
	h := fnv.New64()
	fmt.Fprint(h, c.structure, c.loss, c.terms, c.nasty)
	return rand.New(rand.NewPCG(h.Sum64(), c.seed))
}

// problem draws the cell's problem.
func (c cell) problem(t testing.TB) *train.Problem {
	r := c.rand()
	n, C := 6, math.Pow(10, r.Float64()*2-1)
	switch c.nasty {
	case "single":
		n = 1
	case "small λ":
		C = 1e-5
	case "large λ":
		C = 1e5
	case "four":
		n, C = 4, 0.01
	}
	scorer, data := c.draw(r, n, func(rows [][]float32) { spoil(r, c.nasty, rows) })
	if c.nasty == "duplicates" {
		copyExamples(scorer, data)
	}
	o := &engine.Objective{Scorer: scorer, Data: data, Loss: c.loss, Lambda: C / float64(n)}
	if strings.HasPrefix(c.terms, "l1") {
		o.L1 = math.Pow(10, r.Float64()*2-2)
		if c.nasty == "small λ" && o.Loss.Smooth() && c.terms != "l1 prior bounds" {
			o.Lambda = 0
		}
	}
	if strings.Contains(c.terms, "prior") || c.nasty == "strong" || c.nasty == "far prior" {
		scale := 1.
		if c.nasty == "far prior" {
			scale = math.Pow(10, float64(2+2*r.IntN(3)))
			o.Lambda = 100 / float64(n)
		}
		o.Center = traintest.DrawWeights(r, scorer.Dim(), min(scale, 1))
		if c.nasty == "far prior" { // of opposite signs on one label's weights of two columns that are nearly equal
			o.Center[0], o.Center[scorer.Dim()/3] = float32(scale), float32(-scale)
		}
		if c.nasty == "strong" {
			for j := range o.Center {
				if r.IntN(3) == 0 {
					o.Center[j] = float32(50 - 100*r.IntN(2))
				}
			}
		}
	}
	if c.terms == "weights" || c.terms == "l1 prior weights" {
		for range data.Len() {
			data.Weights = append(data.Weights, math.Pow(10, r.Float64()*6-3))
		}
	}
	if strings.HasSuffix(c.terms, "bounds") {
		inf := float32(math.Inf(1))
		boxes := []engine.Bounds{{Low: 0, High: inf}, {Low: -0.1, High: 0.1}, {Low: 0.05, High: 1}, {Low: -inf, High: 0.2}}
		o.Bounds = &boxes[r.IntN(len(boxes))]
	}
	p := &train.Problem{Engine: engine.NewEngine(o, 1), Seed: r.Uint64()}
	if o.Loss == engine.Hinge {
		p.Smoothing = traintest.L2
		oracle := p.Kind().Oracle()
		_, ranks := oracle.(oracles.Ranker)
		if _, sums := oracle.(oracles.Summer); sums && (r.IntN(2) == 0 || !ranks) {
			p.Smoothing = traintest.Entropy
		}
	}
	if err := p.Check(); err != nil {
		t.Fatalf("%v: %v", c, err)
	}
	return p
}

// spoil makes rows of inputs nasty.
func spoil(r *rand.Rand, nasty string, rows [][]float32) {
	for _, row := range rows {
		if len(row) < 2 {
			continue
		}
		switch nasty {
		case "collinear", "duplicates":
			row[1] = row[0]
		case "nearly collinear", "far prior":
			row[1] = row[0] + float32(1e-4*r.NormFloat64())
		case "offset":
			row[0] += 1e6
		case "strong":
			for j := range row {
				row[j] *= 3
			}
		}
	}
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
	return sparse.New(monotone.Form(), []sparse.Part{{Attributes: inputs, Weights: "pairs"}, {Bias: "steps"}}), d
}

// segmentsOf draws sequences of up to 4 positions in segments of one label, of up to 2 positions, and positions outside. Positions, last positions and whole
// segments have attributes.
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
