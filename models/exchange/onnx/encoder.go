package onnx

import (
	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/exchange/onnx/format"
	"github.com/dsp-go/dsp/models/inputs/encoded"
	"github.com/dsp-go/dsp/nets/graph"
)

// encoderWeights returns the weights of the model's encoder: the pretrained ones, but for those that the model trained.
func encoderWeights(m *models.Model) []float32 {
	if t := m.Encoder.Tuned; t != nil {
		return t.Merged(m.W[len(m.W)-t.Dim():])
	}
	return m.Encoder.Encoder.Weights()
}

// encoderRows adds the encoder to the graph and returns its rows of words [B×T×W]. The encoder is a network of its own,
// whose positions are the P pieces of an example.
func (in *inputs) encoderRows() string {
	r := in.encoder
	flow, err := r.Flow()
	if err != nil {
		in.fail(err)
		return ""
	}
	ids := in.input(inputPieces, format.Int64, dimBatch, dimPieces)
	first := in.input(inputFirstPieces, format.Int64, dimBatch, dimTime)
	in.sized(first)
	of := &inputs{builder: in.builder, made: map[string]string{
		inputLengths: in.input(inputPieceLengths, format.Int64, dimBatch), inputWords: in.of("Unsqueeze", ids, in.ints(2)),
		"size": in.of("Shape", ids),
	}}
	e := r.Encoder
	n := &network{inputs: of, name: "encoder", layout: e.Layout(), shape: graph.Input{Vocab: []int{e.Vocabulary()}},
		w: in.encoderWeights, flow: flow, most: e.Positions()}
	parts, err := n.translate()
	if err != nil {
		in.fail(err)
		return ""
	}
	rows := parts[0].name
	if r.Pieces == encoded.First {
		at := in.of("Where", in.alive(), first, in.int(0))
		rows = in.add("GatherND", []string{rows, in.of("Unsqueeze", at, in.ints(2))}, integer("batch_dims", 1))
	} else {
		rows = in.means(rows, of.positions(), first)
	}
	if r.Half {
		rows = in.cast(in.cast(rows, format.Float16), format.Float)
	}
	return rows
}

// means returns the means of the rows [B×P×W] of the pieces of each word, zeros for words without.
func (in *inputs) means(rows, places, first string) string {
	counts := in.of("Unsqueeze", in.input(inputPieceCounts, format.Int64, dimBatch, dimTime), in.ints(2))
	begin := in.of("Unsqueeze", first, in.ints(2))
	// [B×T×P]
	within := in.of("And", in.of("GreaterOrEqual", places, begin), in.of("Less", places, in.of("Add", begin, counts)))
	shares := in.of("Div", in.cast(within, format.Float), in.cast(in.of("Max", counts, in.int(1)), format.Float))
	return in.of("MatMul", shares, rows)
}

// related translates attention whose scores depend on distances (graph.Related).
func (n *network) related(at int, s *graph.Step, o graph.Related) {
	wide := o.Heads * o.Size
	x := n.padded(n.in(s.Args[0], n.flow.Rows, 3*wide), 3, o.Heads, o.Size)
	part := func(i int, order ...int) string { return n.transpose(n.gather(x, n.int(i), 2), order...) }
	q, k, v := part(0, 0, 2, 1, 3), part(1, 0, 2, 1, 3), part(2, 0, 2, 1, 3) // [B×H×T×E]
	scores := n.of("MatMul", q, n.transpose(k, 0, 1, 3, 2))
	size, argument := n.of("Shape", scores), 1
	table := func(columns int) string { // [H×columns×Count]
		t := n.in(s.Args[argument], o.Buckets.Count, o.Heads*columns)
		argument++
		return n.transpose(n.reshape(t, o.Buckets.Count, o.Heads, columns), 1, 2, 0)
	}
	var bias string
	if o.Bias {
		bias = n.gather(n.reshape(table(1), o.Heads, o.Buckets.Count), n.buckets(o.Buckets), 1) // [H×T×T]
	}
	look := func(scores, buckets string) string { // entry b of row (i, j) of scores [B×H×T×Count]
		return n.add("GatherElements", []string{scores, n.of("Expand", buckets, size)}, integer("axis", 3))
	}
	if o.Keys {
		scores = n.of("Add", scores, look(n.of("MatMul", q, table(o.Size)), n.buckets(o.Buckets)))
	}
	if o.Querying {
		byKey := look(n.of("MatMul", k, table(o.Size)), n.transpose(n.buckets(o.Buckets), 1, 0)) // [B×H×j×i]
		scores = n.of("Add", scores, n.transpose(byKey, 0, 1, 3, 2))
	}
	scores = n.of("Mul", scores, n.float(o.Scale))
	if o.Bias {
		scores = n.of("Add", scores, bias)
	}
	there := n.once("columns", func() string { return n.of("Unsqueeze", n.alive(), n.ints(1, 2)) })
	if o.Window > 0 {
		far := n.of("Greater", n.of("Abs", n.distances()), n.int(o.Window))
		there = n.of("And", there, n.of("Not", far))
	}
	scores = n.of("Where", there, scores, n.float(lowest))
	p := n.add("Softmax", []string{scores}, integer("axis", -1))
	y := n.transpose(n.of("MatMul", p, v), 0, 2, 1, 3)
	n.set(at, n.reshape(y, -1, wide), n.flow.Rows, wide)
}

// distances returns i − j [T×T].
func (n *network) distances() string {
	return n.once("distances", func() string {
		return n.of("Sub", n.of("Unsqueeze", n.positions(), n.ints(1)), n.positions())
	})
}

// buckets returns the bucket of every distance i − j [T×T].
func (n *network) buckets(b graph.Buckets) string {
	all := b.UpTo(n.most)
	of := make([]int, len(all))
	for i, x := range all {
		of[i] = int(x)
	}
	return n.gather(n.ints(of...), n.of("Add", n.distances(), n.int(n.most-1)), 0)
}
