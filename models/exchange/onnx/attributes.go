package onnx

import "github.com/dsp-go/dsp/models/exchange/onnx/format"

// attributes are sparse inputs of rows: the numbers of the attributes that a row has, int64 [B×rows×A], and their
// values, float of the same shape, or 1 for all. Numbers that the model does not know stand for no attribute, which is
// how rows with fewer are padded.
type attributes struct {
	name   string
	rows   string // the name of the dimension of rows; empty: positions
	pairs  bool   // a row for each pair of positions: [B×T×T×A]
	values bool
}

// sum returns the sums [B×rows×cols] of the rows of table [size+1×cols], whose last row is zero, over the attributes of
// each row.
func (a attributes) sum(in *inputs, table string, size, cols int) string {
	ids, values := a.declare(in)
	known := in.of("And", in.of("GreaterOrEqual", ids, in.int(0)), in.of("Less", ids, in.int(size)))
	found := in.gather(table, in.of("Where", known, ids, in.int(size)), 0)
	axis := 2
	if a.pairs {
		axis = 3
	}
	if !a.values {
		return in.sum(found, axis)
	}
	row := in.of("Unsqueeze", in.of("Where", known, values, in.float(0)), in.ints(axis))
	return in.of("Squeeze", in.of("MatMul", row, found), in.ints(axis))
}

// dimension is the name of the dimension of rows.
func (a attributes) dimension() string {
	if a.rows == "" {
		return dimTime
	}
	return a.rows
}

func (a attributes) declare(in *inputs) (ids, values string) {
	dim, valueName := a.name[:len(a.name)-1], inputValues
	if a.name != inputAttributes {
		valueName = a.name[:len(a.name)-len(inputAttributes)] + inputValues
	}
	switch {
	case a.pairs:
		ids = in.input(a.name, format.Int64, dimBatch, dimTime, dimTime, dim)
		in.sized(ids)
		if a.values {
			values = in.input(valueName, format.Float, dimBatch, dimTime, dimTime, dim)
		}
	case a.rows != "":
		ids = in.input(a.name, format.Int64, dimBatch, a.rows, dim)
		if a.values {
			values = in.input(valueName, format.Float, dimBatch, a.rows, dim)
		}
	default:
		ids = in.perPosition(a.name, format.Int64, dim)
		if a.values {
			values = in.perPosition(valueName, format.Float, dim)
		}
	}
	return ids, values
}
