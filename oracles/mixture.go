package oracles

// mixture keeps, for each example of a batch in turn, outputs and their weights.
type mixture struct {
	values []int32
	q      []float32
	ends   []mixtureEnd // [B]
}

// mixtureEnd is where a example's part ends.
type mixtureEnd struct{ values, q int }

func (m *mixture) reset() { m.values, m.q, m.ends = m.values[:0], m.q[:0], m.ends[:0] }

// add gives the example that is being written one more output.
func (m *mixture) add(values []int32, q float32) {
	m.values = append(m.values, values...)
	m.q = append(m.q, q)
}

// end closes the example that is being written.
func (m *mixture) end() { m.ends = append(m.ends, mixtureEnd{len(m.values), len(m.q)}) }

func (m *mixture) of(b int) (values []int32, q []float32) {
	if b >= len(m.ends) {
		return nil, nil
	}
	var start mixtureEnd
	if b > 0 {
		start = m.ends[b-1]
	}
	end := m.ends[b]
	return m.values[start.values:end.values], m.q[start.q:end.q]
}
