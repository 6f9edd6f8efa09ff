package onnx

import (
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured"
)

// linear adds a linear net of attributes to the graph, and returns its potentials by part. The attributes of a chain's
// positions are the input attributes, those of its steps edge_attributes; other parts have inputs named after them.
// Dense inputs of positions are the input features.
func linear(in *inputs, net *sparse.Linear, w []float32, valued bool) []potentials {
	form := net.Form()
	_, chain := chainForm(form)
	parts := make([]potentials, len(form.Parts))
	blocks := net.DenseBlocks()
	if len(blocks) > 0 && !chain {
		in.fail(structured.BadInput("a linear net of a %s that reads dense features beside attributes has no translation "+
			"to ONNX; export its weights (--weights) or potentials (--potentials)",
			form.Structure.Name()))
		return parts
	}
	for k, part := range form.Parts {
		bias, rows := net.Weights(k, w)
		if bias != nil {
			parts[k].name = in.floats(part.Name+"_bias", bias, part.Width)
		}
		if len(rows) == 0 {
			continue
		}
		a := attributes{name: part.Name + "_" + inputAttributes, values: valued}
		switch {
		case !structured.PerPosition(part.Rows):
			a.rows = part.Rows
		case chain && part.Rows == structured.Positions:
			a.name = inputAttributes
		}
		size := len(rows) / part.Width
		table := in.floats(part.Name+"_weights", append(rows[:len(rows):len(rows)], make([]float32, part.Width)...), size+1,
			part.Width)
		sum := a.sum(in, table, size, part.Width)
		if bias != nil {
			sum = in.of("Add", sum, parts[k].name)
		}
		parts[k] = potentials{sum, []any{dimBatch, a.dimension()}}
	}
	for _, b := range blocks {
		size := b.Dim * b.Width
		products := in.of("MatMul", in.features(b.Dim),
			in.floats(form.Parts[b.Part].Name+"_dense", w[b.Offset:b.Offset+size], b.Dim, b.Width))
		to := &parts[b.Part]
		if to.name != "" {
			products = in.of("Add", products, to.name)
		}
		*to = potentials{products, []any{dimBatch, dimTime}}
	}
	return parts
}
