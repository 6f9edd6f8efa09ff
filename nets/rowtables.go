package nets

import "slices"

// RowTable is an array of weights of which a batch reads only some rows, and so gives a gradient to no others: Rows rows of Cols
// weights, from Offset in w.
type RowTable struct{ Offset, Rows, Cols int }

// RowScorer is a Scorer with row tables. Its workers are RowWorkers. A step of an optimiser then costs what the batch reads.
type RowScorer interface {
	Scorer
	// RowTables lists the row tables in the order of their offsets.
	RowTables() []RowTable
}

// RowWorker is a Worker of a RowScorer.
type RowWorker interface {
	Worker
	// TouchedRows lists the rows of table k that the last Score read, which include all to which Pullback adds. Rows may occur
	// more than once, and −1 stands for none.
	TouchedRows(k int) []int32
}

var (
	_ RowScorer = (*Net)(nil)
	_ RowWorker = (*NetWorker)(nil)
)

// rowTable is a RowTable with the discrete inputs that are looked up in it.
type rowTable struct {
	RowTable
	fields []int
}

// RowTables lists the embedding tables, in the order of their offsets.
func (n *Net) RowTables() []RowTable {
	tables := make([]RowTable, len(n.shape.rowTables))
	for k, t := range n.shape.rowTables {
		tables[k] = t.RowTable
	}
	return tables
}

// TouchedRows implements RowWorker.
func (w *NetWorker) TouchedRows(k int) []int32 {
	t := w.prog.rowTables[k]
	if len(t.fields) == 1 {
		return w.m.ids[t.fields[0]]
	}
	w.touched = w.touched[:0]
	for _, f := range t.fields {
		w.touched = append(w.touched, w.m.ids[f]...)
	}
	return w.touched
}

// rowTablesOf returns the arrays of w from which the outputs are computed by looking up rows only.
func rowTablesOf(outputs []*value) []rowTable {
	found := map[*value]*rowTable{}
	whole := map[*value]bool{}
	seen := map[*value]bool{}
	weights := func(v *value) bool {
		l, ok := v.op.(leaf)
		return ok && l.space == SpaceWeights
	}
	var walk func(v *value)
	walk = func(v *value) {
		if v == nil || seen[v] {
			return
		}
		seen[v] = true
		for _, a := range v.args {
			if !weights(a) {
				walk(a)
				continue
			}
			g, ok := v.op.(Gather)
			if !ok || g.Index.Kind != IndexIds {
				whole[a] = true
				continue
			}
			if found[a] == nil {
				found[a] = &rowTable{RowTable: RowTable{a.op.(leaf).offset, a.size() / g.Cols, g.Cols}}
			}
			if t := found[a]; !slices.Contains(t.fields, g.Index.Field) {
				t.fields = append(t.fields, g.Index.Field)
			}
		}
	}
	for _, v := range outputs {
		if v != nil && weights(v) {
			whole[v] = true
		}
		walk(v)
	}
	var tables []rowTable
	for a, t := range found {
		if !whole[a] {
			tables = append(tables, *t)
		}
	}
	slices.SortFunc(tables, func(a, b rowTable) int { return a.Offset - b.Offset })
	return tables
}
