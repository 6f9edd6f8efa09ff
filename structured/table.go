package structured

import "slices"

// Positions is the table of positions, which every data set has: its rows are the data set's own.
const Positions = "position"

// Table is the inputs of rows of another kind than positions, for instance of the arcs between the words of a sentence.
type Table struct {
	Name       string  // "arc", …: what a Shape calls the rows
	Offsets    []int   // [n+1]; example i owns rows Offsets[i] to Offsets[i+1]-1
	Attributes *Sparse // sparse inputs of the rows, or nil
}

// Rows returns where each example's rows of a table lie in the data [n+1]. Asking for a table that there is not is a mistake in the
// program.
func (d *Dataset) Rows(table string) []int {
	if table == Positions {
		return d.Offsets
	}
	if t := d.Table(table); t != nil {
		return t.Offsets
	}
	panic("the data has no table of rows " + table)
}

// Table returns the table of that name, or nil.
func (d *Dataset) Table(name string) *Table {
	for _, t := range d.Tables {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// AttributesOf returns the sparse inputs that a part of the potentials is made of, a row for each of its rows; nil where there are
// none. Those of a chain's nodes and edges are the data set's own.
func (d *Dataset) AttributesOf(part Shape) *Sparse {
	if part.Rows == Positions {
		if part.Name == "edge" {
			return d.EdgeAttributes
		}
		return d.Attributes
	}
	if t := d.Table(part.Rows); t != nil {
		return t.Attributes
	}
	return nil
}

// SetAttributes makes x the sparse inputs of a part (AttributesOf). Other data sets with the same tables do not change.
func (d *Dataset) SetAttributes(part Shape, x *Sparse) {
	switch {
	case part.Rows == Tied:
	case part.Rows == Positions && part.Name == "edge":
		d.EdgeAttributes = x
	case part.Rows == Positions:
		d.Attributes = x
	default:
		d.Tables = slices.Clone(d.Tables)
		for k, t := range d.Tables {
			if t.Name == part.Rows {
				one := *t
				one.Attributes = x
				d.Tables[k] = &one
			}
		}
	}
}
