package onnx

import (
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured"
)

// linear adds a linear net of attributes to the graph, and returns its potentials by part. The attributes of a chain's positions are the
// input attributes, those of its steps edge_attributes; other parts have inputs named after them.
func linear(in *inputs, net *sparse.Linear, w []float32, valued bool) []potentials {
	form := net.Form()
	_, chain := chainForm(form)
	parts := make([]potentials, len(form.Parts))
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
		table := in.floats(part.Name+"_weights", append(rows[:len(rows):len(rows)], make([]float32, part.Width)...), size+1, part.Width)
		sum := a.sum(in, table, size, part.Width)
		if bias != nil {
			sum = in.of("Add", sum, parts[k].name)
		}
		parts[k] = potentials{sum, []any{dimBatch, a.dimension()}}
	}
	return parts
}
