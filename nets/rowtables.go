package nets

import (
	"github.com/dsp-go/dsp/structured"
)

// RowTable is an array of weights of which a batch reads only some rows, and so gives a gradient to no others: Rows
// rows of Cols weights, from Offset in w.
type RowTable struct {
	Offset, Rows, Cols int
	Large              bool // so large that Adam, too, leaves rows alone that no batch reads for long
}

// RowScorer is a Scorer with row tables. A step of an optimiser then costs what the batch reads.
type RowScorer interface {
	Scorer
	// RowTables lists the row tables in the order of their offsets.
	RowTables() []RowTable
	// RowsRead appends to rows the rows of table k that the batch reads, which include all to which Pullback adds. Rows
	// may occur more than once. Ids that the table lacks are not listed: Score refuses them.
	RowsRead(k int, batch *structured.Batch, rows []int32) []int32
}

var _ RowScorer = (*Net)(nil)

// RowTables lists the tables of embeddings and of attributes, in the order of their offsets.
func (n *Net) RowTables() []RowTable {
	tables := make([]RowTable, len(n.shape.Tables))
	for k, t := range n.shape.Tables {
		tables[k] = RowTable{Offset: t.Offset, Rows: t.Rows, Cols: t.Cols}
	}
	if n.encodes() {
		for _, t := range n.input.Encoder.Tables() {
			tables = append(tables, RowTable{n.own.Dim() + t.Offset, t.Rows, t.Cols, true})
		}
	}
	return tables
}

func (n *Net) RowsRead(k int, batch *structured.Batch, rows []int32) []int32 {
	if k -= len(n.shape.Tables); k >= 0 {
		return n.input.Encoder.RowsRead(k, batch, rows)
	}
	return n.shape.Tables[len(n.shape.Tables)+k].RowsRead(batch, rows)
}
