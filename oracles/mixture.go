package oracles

// mixture keeps, for each chain of a batch in turn, outputs and their weights.
type mixture struct {
	labels []int32
	q      []float32
	ends   []mixtureEnd // [B]
}

// mixtureEnd is where a chain's part ends.
type mixtureEnd struct{ labels, q int }

func (m *mixture) reset() { m.labels, m.q, m.ends = m.labels[:0], m.q[:0], m.ends[:0] }

// add gives the chain that is being written one more output.
func (m *mixture) add(labels []int32, q float32) {
	m.labels = append(m.labels, labels...)
	m.q = append(m.q, q)
}

// end closes the chain that is being written.
func (m *mixture) end() { m.ends = append(m.ends, mixtureEnd{len(m.labels), len(m.q)}) }

func (m *mixture) of(b int) (labels []int32, q []float32) {
	if b >= len(m.ends) {
		return nil, nil
	}
	var start mixtureEnd
	if b > 0 {
		start = m.ends[b-1]
	}
	end := m.ends[b]
	return m.labels[start.labels:end.labels], m.q[start.q:end.q]
}
