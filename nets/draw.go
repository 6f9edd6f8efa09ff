package nets

import (
	"math/rand/v2"

	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// Draw draws examples of the given lengths with the inputs that the network reads: dense features from N(0,1), and
// discrete inputs, the letters of words and attributes uniformly. Half of the positions are source items if the network
// scores pairs of source and target items; examples have random graphs if it scores edges. They have no outputs. If
// positions are cells of a grid, examples fill it, except empty ones.
func (n *Net) Draw(rng *rand.Rand, lengths ...int) *structured.Dataset {
	in := n.input
	d := &structured.Dataset{Name: "random inputs", Offsets: []int{0}, Dim: in.Own()}
	sources, pairs := []int{0}, []int{0}
	for i, length := range lengths {
		if cells := in.Grid.Cells(); cells > 0 && length > 0 {
			length = cells
		}
		d.Offsets = append(d.Offsets, d.Positions()+length)
		first, second := length, length
		if n.shape.Needs.Split {
			first = length / 2
			second = length - first
		}
		sources, pairs = append(sources, sources[i]+first), append(pairs, pairs[i]+first*second)
	}
	for range d.Positions() {
		for range in.Own() {
			d.Features = append(d.Features, float32(rng.NormFloat64()))
		}
		for _, size := range in.Vocab {
			d.Ids = append(d.Ids, rng.Int32N(int32(size)))
		}
	}
	if in.Characters > 0 {
		d.Characters = &structured.Segments{Offsets: []int{0}, Vocab: structured.NewAlphabet()}
		for range d.Positions() {
			for range 1 + rng.IntN(9) { // letters of a word
				d.Characters.Ids = append(d.Characters.Ids, rng.Int32N(int32(in.Characters)))
			}
			d.Characters.Offsets = append(d.Characters.Offsets, len(d.Characters.Ids))
		}
	}
	if in.Attributes > 0 {
		d.Attributes = drawAttributes(rng, d.Positions(), in.Attributes)
	}
	if in.Encoder != nil {
		in.Encoder.Draw(rng, d)
	}
	for range in.Vocab {
		d.Vocab = append(d.Vocab, structured.NewAlphabet())
	}
	if n.shape.Needs.Split {
		d.Tables = append(d.Tables, &structured.Table{Name: structured.Sources, Offsets: sources})
	}
	if n.shape.Needs.Edges {
		drawGraphs(rng, d, in.EdgeDim)
		return d
	}
	for _, p := range n.shape.Form.Parts {
		if graph.PairTable(p.Rows) {
			d.Tables = append(d.Tables, &structured.Table{Name: p.Rows, Offsets: pairs})
		}
	}
	if t := d.Table(structured.Pairs); t != nil && in.PairAttributes > 0 {
		t.Attributes = drawAttributes(rng, pairs[len(lengths)], in.PairAttributes)
	}
	return d
}

// drawGraphs draws a graph for each example, with up to twice as many edges as variables, and dim features of each edge
// from N(0,1).
func drawGraphs(rng *rand.Rand, d *structured.Dataset, dim int) {
	t := &structured.Table{Name: structured.Edges, Offsets: []int{0}, Dim: dim}
	rows := 0
	for i := range d.Len() {
		g, length := &structured.Graph{}, int32(d.Length(i))
		for range rng.IntN(2*int(length) + 1) {
			if u, v := rng.Int32N(length), rng.Int32N(length); u != v {
				g.Ends = append(g.Ends, [2]int32{u, v})
			}
		}
		rows += len(g.Ends)
		d.Graphs, t.Offsets = append(d.Graphs, g), append(t.Offsets, rows)
	}
	for range rows * dim {
		t.Features = append(t.Features, float32(rng.NormFloat64()))
	}
	d.Tables = append(d.Tables, t)
}

// drawAttributes draws up to 19 of the attributes for each row.
func drawAttributes(rng *rand.Rand, rows, attributes int) *structured.Sparse {
	x := &structured.Sparse{Offsets: []int{0}}
	for range rows {
		for range rng.IntN(20) {
			x.Index = append(x.Index, rng.Int32N(int32(attributes)))
		}
		x.Offsets = append(x.Offsets, len(x.Index))
	}
	return x
}
