package structured

import "slices"

// The tables that every data set has.
const (
	Positions = "position" // its rows are the positions of Dataset.Offsets
	// a row for the step into each position; the one into the first position of an example is not used
	Steps    = "step"
	Examples = "example" // a row per example
)

// The tables of data whose examples relate two sequences: the positions of an example are n source items, then m target
// items.
const (
	Sources = "source" // a row for each source item
	Pairs   = "pair"   // row i·m + j pairs source item i with target item j
)

// Edges is the table of data whose examples have graphs: a row for each edge of Dataset.Graphs.
const Edges = "edge"

// PerPosition reports whether a table has one row per position.
func PerPosition(table string) bool { return table == Positions || table == Steps }

// Table holds the inputs of rows other than positions, for instance of the arcs between the words of a sentence.
type Table struct {
	Name       string  // "arc", …: the Rows of a Shape
	Offsets    []int   // [n+1]; example i owns rows Offsets[i] to Offsets[i+1]-1
	Attributes *Sparse // sparse inputs of the rows, or nil

	Features []float32 // dense inputs of the rows [rows×Dim], or nil
	Dim      int
}

// Rows returns the offsets of the examples' rows of a table [n+1]. It panics if the data lacks the table, which is a
// bug in the caller.
func (d *Dataset) Rows(table string) []int {
	if PerPosition(table) {
		return d.Offsets
	}
	if table == Examples {
		return counting(d.Len())
	}
	if t := d.Table(table); t != nil {
		return t.Offsets
	}
	panic("the data has no table of rows " + table)
}

// counting returns 0, 1, …, n.
func counting(n int) []int {
	all := make([]int, n+1)
	for i := range all {
		all[i] = i
	}
	return all
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

// SetTable adds a table, in place of that of its name if there is one. Other data sets that share the tables do not
// change.
func (d *Dataset) SetTable(t *Table) {
	d.Tables = slices.DeleteFunc(slices.Clone(d.Tables), func(was *Table) bool { return was.Name == t.Name })
	d.Tables = append(d.Tables, t)
}

// AttributesOf returns the sparse inputs of a part of the potentials, one row per row of the part, or nil if there are
// none.
func (d *Dataset) AttributesOf(part Shape) *Sparse {
	switch part.Rows {
	case Positions:
		return d.Attributes
	case Steps:
		return d.EdgeAttributes
	}
	if t := d.Table(part.Rows); t != nil {
		return t.Attributes
	}
	return nil
}

// SetAttributes sets the sparse inputs of a part (see AttributesOf). Other data sets that share the tables do not
// change.
func (d *Dataset) SetAttributes(part Shape, x *Sparse) {
	switch part.Rows {
	case Tied:
	case Positions:
		d.Attributes = x
	case Steps:
		d.EdgeAttributes = x
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

// Segments holds the inputs of rows that belong to positions, such as the characters of words: position t owns rows
// Offsets[t] to Offsets[t+1]-1, possibly none.
type Segments struct {
	Offsets []int     // [ΣT+1]
	Ids     []int32   // [rows] discrete input of each row
	Vocab   *Alphabet // what Ids number; 0 stands for unknown names
}

// Rows returns how many rows the positions lo to hi-1 own.
func (s *Segments) Rows(lo, hi int) int { return s.Offsets[hi] - s.Offsets[lo] }

// subset copies the rows of the examples' positions. It returns nil for nil.
func (s *Segments) subset(offsets, examples []int) *Segments {
	if s == nil {
		return nil
	}
	to := &Segments{Offsets: make([]int, 1), Ids: []int32{}, Vocab: s.Vocab}
	for _, i := range examples {
		for t := offsets[i]; t < offsets[i+1]; t++ {
			to.Ids = append(to.Ids, s.Ids[s.Offsets[t]:s.Offsets[t+1]]...)
			to.Offsets = append(to.Offsets, len(to.Ids))
		}
	}
	return to
}
