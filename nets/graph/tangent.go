package graph

import "slices"

// tangents adds the push-forward of the given values along ẇ: forward-mode differentiation, op by op. A nil result means
// zero.
func (b *builder) tangents(outputs []*value) []*value {
	dot := map[*value]*value{}
	for _, v := range slices.Clone(b.values) { // in topological order; a clone, because the loop adds values
		if l, ok := v.op.(leaf); ok {
			if l.space == SpaceWeights {
				dot[v] = b.leaf(SpaceDirection, l.offset, v.shape)
			}
			continue
		}
		d, any := make([]*value, len(v.args)), false
		for i, a := range v.args {
			if d[i] = dot[a]; d[i] != nil {
				any = true
			}
		}
		if !any {
			continue
		}
		if t := v.op.tangent(b, v, d); t != nil {
			dot[v] = b.view(t, v.shape)
		}
	}
	out := make([]*value, len(outputs))
	for i, v := range outputs {
		out[i] = dot[v]
	}
	return out
}

// readsWeights reports whether any of the values is computed from w.
func readsWeights(vs []*value) bool {
	seen := map[*value]bool{}
	var walk func(v *value) bool
	walk = func(v *value) bool {
		if v == nil || seen[v] {
			return false
		}
		seen[v] = true
		if l, ok := v.op.(leaf); ok && l.space == SpaceWeights {
			return true
		}
		return slices.ContainsFunc(v.args, walk)
	}
	return slices.ContainsFunc(vs, walk)
}

// directionReads returns which parts of ẇ the tangents read: whole arrays, and tables of which they read only the rows of the
// batch.
func directionReads(tangents []*value) (whole []leafArray, tables []table) {
	read := map[leafArray]bool{}
	seen := map[*value]bool{}
	var walk func(v *value)
	walk = func(v *value) {
		if v == nil || seen[v] {
			return
		}
		seen[v] = true
		for _, a := range v.args {
			if l, ok := a.op.(leaf); ok && l.space == SpaceDirection {
				if by, cols, ok := lookupOf(v.op); ok {
					tables = append(tables, table{l.offset, cols, by})
				} else {
					read[leafArray{l.offset, a.size()}] = true
				}
			}
			walk(a)
		}
	}
	for _, v := range tangents {
		if v != nil {
			if l, ok := v.op.(leaf); ok && l.space == SpaceDirection {
				read[leafArray{l.offset, v.size()}] = true
			}
		}
		walk(v)
	}
	for a := range read {
		whole = append(whole, a)
	}
	return whole, tables
}

// DirectionRead calls read for every range of ẇ, by offset and length, that Push reads for the batch that m has loaded: whole arrays,
// and the rows of tables that the batch looks up, with repetitions.
func (p *Program) DirectionRead(m *Machine, read func(offset, n int)) {
	for _, a := range p.whole {
		read(a.offset, a.n)
	}
	for _, t := range p.tables {
		m.eachRow(t.by, func(row int32) { read(t.offset+int(row)*t.cols, t.cols) })
	}
}

// leafArray is an array within ẇ.
type leafArray struct{ offset, n int }

// table is a matrix within ẇ with rows of cols numbers, which are looked up.
type table struct {
	offset, cols int
	by           lookup
}
