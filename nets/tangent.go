package nets

import "slices"

// tangents adds the push-forward of the given values along ẇ, forward-mode differentiation op by op. A nil result is
// zero.
func (b *builder) tangents(outputs []*value) []*value {
	dot := map[*value]*value{}
	for _, v := range slices.Clone(b.values) { // in topological order; the clone, since tangents are added
		if l, ok := v.op.(leaf); ok {
			if l.space == weights {
				dot[v] = b.leaf(direction, l.offset, v.shape)
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
		if l, ok := v.op.(leaf); ok && l.space == weights {
			return true
		}
		return slices.ContainsFunc(v.args, walk)
	}
	return slices.ContainsFunc(vs, walk)
}
