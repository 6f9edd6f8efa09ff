package onnx

import (
	"bytes"

	"github.com/dsp-go/dsp/models/exchange/onnx/format"
)

// A Decoder is a graph of the decoding of chains alone, to be joined with a network that another program exported. All
// names in it but those of outputs begin with DecoderPrefix. Its inputs are node [B×T×Y], edge [Y×Y] or, PerPosition,
// [B×T×Y×Y], start and end [Y], and mask [B×T]: positions where it is false do not exist, wherever they are. Its
// outputs are labels [B×T], −1 where the mask is false, score [B] and, on request, marginals [B×T×Y]. B and T are free.
type Decoder struct {
	Labels                 int
	PerPosition, Marginals bool
}

// DecoderPrefix keeps the names of a Decoder apart from those of a network.
const DecoderPrefix = "dsp/"

// Encode returns the graph in the format of ONNX.
func (d Decoder) Encode() ([]byte, error) {
	in, Y := newInputs(newBuilder()), d.Labels
	in.prefix = DecoderPrefix
	node := in.perPosition(in.name("node"), format.Float, Y)
	steps := []any{Y, Y}
	if d.PerPosition {
		steps = []any{dimBatch, dimTime, Y, Y}
	}
	edge := in.input(in.name("edge"), format.Float, steps...)
	start, end := in.input(in.name("start"), format.Float, Y), in.input(in.name("end"), format.Float, Y)
	mask := in.input(in.name("mask"), format.Bool, dimBatch, dimTime)

	// The rest of the graph has the positions of each example in a row, so those of the mask move to the front, in
	// order.
	counted := in.cast(mask, format.Int64)
	in.made[inputLengths] = in.sum(counted, 1)
	order := in.name("order")
	in.addMany([]string{in.name("sorted"), order}, "TopK", []string{counted, in.slice(in.size(), 0, 1, 2)})
	packed := func(x, at string) string {
		return in.add("GatherND", []string{x, in.of("Unsqueeze", at, in.ints(2))}, integer("batch_dims", 1))
	}
	node = packed(node, order)
	if d.PerPosition {
		edge = packed(edge, order)
	}
	at := func(here, x string) string {
		return in.of("Where", in.of("Unsqueeze", here, in.ints(2)), x, in.float(0))
	}
	node = in.of("Add", in.of("Add", node, at(in.firsts(), start)), at(in.last(), end))

	c := newChain(in, Y, node, edge, d.PerPosition, nil)
	place := in.of("Max", in.of("Sub", in.of("CumSum", counted, in.int(1)), in.int(1)), in.int(0))
	labels, score := c.best()
	in.output("labels", in.of("Where", mask, packed(labels, place), in.int(-1)), format.Int64, dimBatch, dimTime)
	in.output("score", score, format.Float, dimBatch)
	if d.Marginals {
		u := in.of("Where", in.of("Unsqueeze", mask, in.ints(2)), packed(c.marginals(1), place), in.float(0))
		in.output("marginals", u, format.Float, dimBatch, dimTime, Y)
	}
	if in.err != nil {
		return nil, in.err
	}
	g := &format.Graph{Name: "dsp", Nodes: in.nodes, Initializers: in.initializers,
		Inputs: in.declared, Outputs: in.outputs}
	var content bytes.Buffer
	err := format.Write(&content, fileOf(g, describe(Summary{Decoded: true})))
	return content.Bytes(), err
}
