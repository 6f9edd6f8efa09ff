package sparse

import (
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
)

var (
	_ nets.RowScorer = (*Linear)(nil)
	_ nets.RowWorker = (*worker)(nil)
)

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

// TouchedRows implements nets.RowWorker.
func (k *worker) TouchedRows(table int) []int32 {
	k.touched = k.touched[:0]
	for i := range k.s.parts {
		p := &k.s.parts[i]
		if p.attributes == 0 {
			continue
		}
		if table--; table < 0 {
			k.touched = p.touchedRows(k.touched, k.batch)
			break
		}
	}
	return k.touched
}

// touchedRows appends the attributes of the batch.
func (p *part) touchedRows(to []int32, batch *structured.Batch) []int32 {
	x := batch.Data.AttributesOf(p.Shape)
	if x == nil || p.Rows == structured.Tied {
		return to
	}
	rows := batch.Data.Rows(p.Rows)
	for _, i := range batch.Examples {
		to = append(to, x.Index[x.Offsets[rows[i]]:x.Offsets[rows[i+1]]]...)
	}
	return to
}
