package sparse

import (
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
)

var _ nets.RowScorer = (*Linear)(nil)

// RowTables lists the weights of each part's attributes. The biases are not among them: every batch reads them.
func (s *Linear) RowTables() []nets.RowTable {
	var tables []nets.RowTable
	for i := range s.parts {
		if p := &s.parts[i]; p.attributes > 0 {
			tables = append(tables, nets.RowTable{Offset: p.rows, Rows: p.attributes, Cols: p.Width})
		}
	}
	return tables
}

// RowsRead implements nets.RowScorer: it appends the attributes of the batch.
func (s *Linear) RowsRead(k int, batch *structured.Batch, rows []int32) []int32 {
	for i := range s.parts {
		p := &s.parts[i]
		if p.attributes == 0 {
			continue
		}
		if k--; k >= 0 {
			continue
		}
		x := batch.Data.AttributesOf(p.Shape)
		if x == nil || p.Rows == structured.Tied {
			return rows
		}
		owned := batch.Data.Rows(p.Rows)
		for _, e := range batch.Examples {
			rows = append(rows, x.Index[x.Offsets[owned[e]]:x.Offsets[owned[e+1]]]...)
		}
		return rows
	}
	return rows
}
