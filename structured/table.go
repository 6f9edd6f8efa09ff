package structured

import "slices"

// Positions is the table of positions, which every data set has. Its rows are the positions of Dataset.Offsets.
const Positions = "position"

// Table holds the inputs of rows other than positions, for instance of the arcs between the words of a sentence.
type Table struct {
	Name       string  // "arc", …: the Rows of a Shape
	Offsets    []int   // [n+1]; example i owns rows Offsets[i] to Offsets[i+1]-1
	Attributes *Sparse // sparse inputs of the rows, or nil
}

// Rows returns the offsets of the examples' rows of a table [n+1]. It panics if the data lacks the table, which is a bug in the
// caller.
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

// AttributesOf returns the sparse inputs of a part of the potentials, one row per row of the part, or nil if there are none. For
// the nodes and edges of a chain they are Attributes and EdgeAttributes.
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

// SetAttributes sets the sparse inputs of a part (see AttributesOf). Other data sets that share the tables do not change.
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
				changed := *t
				changed.Attributes = x
				d.Tables[k] = &changed
			}
		}
	}
}
