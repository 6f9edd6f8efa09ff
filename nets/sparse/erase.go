package sparse

import (
	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/structured"
)

// Erase sets to zero all weights of w that Scatter would change for the same v and batch.
func (s *Linear) Erase(v *structured.Marginals, batch *structured.Batch, w []float32) {
	for k := range s.parts {
		s.parts[k].erase(&v.Parts[k], batch, w)
	}
	for _, b := range s.DenseBlocks() {
		clear(w[b.Offset:][:b.Dim*b.Width])
	}
}

func (p *part) erase(v *structured.Part, batch *structured.Batch, w []float32) {
	if p.bias >= 0 && len(v.Values) > 0 {
		clear(w[p.bias:][:p.Width])
	}
	x := batch.Data.AttributesOf(p.Shape)
	if x == nil || p.Rows == structured.Tied {
		return
	}
	rows := batch.Data.Rows(p.Rows)
	for b, i := range batch.Examples {
		first := v.Offsets[b]
		for r := range rows[i+1] - rows[i] {
			if kernels.Sparse.IsZero(v.Values[(first+r)*p.Width:][:p.Width]) {
				continue
			}
			index, _ := x.Row(rows[i] + r)
			for _, row := range index {
				clear(w[p.rows+int(row)*p.Width:][:p.Width])
			}
		}
	}
}
