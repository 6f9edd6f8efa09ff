package nets

import "github.com/dsp-go/dsp/structured"

// Erase sets to zero all weights of w that Scatter changes for the same v and batch.
func (s *SparseLinear) Erase(v *structured.Marginals, batch *structured.Batch, w []float32) {
	y, yy := s.labels, s.labels*s.labels
	for b, i := range batch.Examples {
		from, t0 := batch.Offsets[b], batch.Data.Offsets[i]
		length := batch.Data.Offsets[i+1] - t0
		for t := range length {
			if x := batch.Data.Attributes; x != nil && !sparse.isZero(v.Node[(from+t)*y:][:y]) {
				index, _ := x.Row(t0 + t)
				for _, row := range index {
					clear(w[int(row)*y:][:y])
				}
			}
			if t == 0 || !s.PerPosition() || sparse.isZero(v.Edge[(from+t)*yy:][:yy]) {
				continue
			}
			clear(w[s.transitions:][:yy])
			if x := batch.Data.EdgeAttributes; x != nil {
				index, _ := x.Row(t0 + t)
				for _, row := range index {
					clear(w[s.edgeRows+int(row)*yy:][:yy])
				}
			}
		}
		if !s.PerPosition() && s.transitions >= 0 {
			clear(w[s.transitions:][:yy])
		}
	}
}
