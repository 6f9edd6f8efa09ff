package oracles

// mixture holds the weighted outputs of each example of a batch. Examples are written in order.
type mixture struct {
	values []int32
	q      []float32
	ends   []mixtureEnd // [B]
}

// mixtureEnd is the end of an example's part.
type mixtureEnd struct{ values, q int }

func (m *mixture) reset() { m.values, m.q, m.ends = m.values[:0], m.q[:0], m.ends[:0] }

// add appends an output to the current example.
func (m *mixture) add(values []int32, q float32) {
	m.values = append(m.values, values...)
	m.q = append(m.q, q)
}

// end closes the current example.
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
