package nets

import (
	"slices"

	"github.com/dsp-go/dsp/structured"
)

// RowTable is an array of weights of which a batch reads only some rows, and so gives a gradient to no others: Rows rows of Cols
// weights, from Offset in w.
type RowTable struct{ Offset, Rows, Cols int }

// RowScorer is a Scorer with row tables. A step of an optimiser then costs what the batch reads.
type RowScorer interface {
	Scorer
	// RowTables lists the row tables in the order of their offsets.
	RowTables() []RowTable
	// RowsRead appends to rows the rows of table k that the batch reads, which include all to which Pullback adds. Rows may occur
	// more than once. Ids that the table lacks are not listed: Score refuses them.
	RowsRead(k int, batch *structured.Batch, rows []int32) []int32
}

var _ RowScorer = (*Net)(nil)

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

// RowsRead implements RowScorer.
func (n *Net) RowsRead(k int, batch *structured.Batch, rows []int32) []int32 {
	t, data := n.shape.rowTables[k], batch.Data
	fields := len(data.Vocab)
	for _, e := range batch.Examples {
		for at := data.Offsets[e]; at < data.Offsets[e+1]; at++ {
			for _, f := range t.fields {
				if f >= fields {
					continue
				}
				if id := data.Ids[at*fields+f]; id >= 0 && int(id) < t.Rows {
					rows = append(rows, id)
				}
			}
		}
	}
	return rows
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
