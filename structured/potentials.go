package structured

import "math"

// Potentials are the scores θ of a ragged batch of B chains with N positions in all and Y labels.
//
// −∞ forbids a label or a transition; +∞ and NaN are errors of whoever wrote them.
type Potentials struct {
	Y           int
	Offsets     []int     // [B+1]; chain b owns positions Offsets[b] to Offsets[b+1]-1
	Node        []float32 // [N×Y]
	Edge        []float32 // [Y×Y], row "from" (shared by all chains), or [N×Y×Y] with PerPosition
	PerPosition bool      // Edge[t] scores the step from position t-1 to t; it is not read where t starts a chain
}

// Len returns B, the number of chains.
func (p *Potentials) Len() int { return len(p.Offsets) - 1 }

// Positions returns N.
func (p *Potentials) Positions() int { return p.Offsets[len(p.Offsets)-1] }

// Resize gives p the shape of a batch and reuses its arrays; their content is undefined. It shares offsets.
func (p *Potentials) Resize(offsets []int, y int, perPosition bool) {
	n := offsets[len(offsets)-1]
	p.Y, p.Offsets, p.PerPosition = y, offsets, perPosition
	p.Node = grow(p.Node, n*y)
	if perPosition {
		p.Edge = grow(p.Edge, n*y*y)
	} else {
		p.Edge = grow(p.Edge, y*y)
	}
}

// EdgeAt returns the [Y×Y] potentials of the step into position t.
func (p *Potentials) EdgeAt(t int) []float32 {
	if !p.PerPosition {
		return p.Edge
	}
	yy := p.Y * p.Y
	return p.Edge[t*yy : (t+1)*yy]
}

// Score returns ⟨θ, 1_y⟩ for chain b and a labeling of its positions, in float64.
func (p *Potentials) Score(b int, labels []int32) float64 {
	start, s := p.Offsets[b], 0.0
	for t, l := range labels {
		s += float64(p.Node[(start+t)*p.Y+int(l)])
		if t > 0 {
			s += float64(p.EdgeAt(start + t)[int(labels[t-1])*p.Y+int(l)])
		}
	}
	return s
}

// Marginals are points u of the marginal polytope, one a chain, in the space of Potentials. With shared edges a chain's
// edge part is [Y×Y], its expected number of each transition; per position it is [T×Y×Y] (zero where a chain starts).
// They also hold differences of such points, which is what a network pulls back.
type Marginals struct {
	Y           int
	Offsets     []int     // [B+1]
	Node        []float32 // [N×Y]
	Edge        []float32 // [B×Y×Y], or [N×Y×Y] with PerPosition
	PerPosition bool
}

// Len returns B, the number of chains.
func (m *Marginals) Len() int { return len(m.Offsets) - 1 }

// Resize gives m the shape of a batch and reuses its arrays; their content is undefined. It shares offsets.
func (m *Marginals) Resize(offsets []int, y int, perPosition bool) {
	n, b := offsets[len(offsets)-1], len(offsets)-1
	m.Y, m.Offsets, m.PerPosition = y, offsets, perPosition
	m.Node = grow(m.Node, n*y)
	if perPosition {
		m.Edge = grow(m.Edge, n*y*y)
	} else {
		m.Edge = grow(m.Edge, b*y*y)
	}
}

// Clear sets every entry to zero.
func (m *Marginals) Clear() {
	clear(m.Node)
	clear(m.Edge)
}

// NodeOf returns chain b's node part [T×Y].
func (m *Marginals) NodeOf(b int) []float32 {
	return m.Node[m.Offsets[b]*m.Y : m.Offsets[b+1]*m.Y]
}

// EdgeOf returns chain b's edge part: [Y×Y], or [T×Y×Y] with PerPosition.
func (m *Marginals) EdgeOf(b int) []float32 {
	yy := m.Y * m.Y
	if m.PerPosition {
		return m.Edge[m.Offsets[b]*yy : m.Offsets[b+1]*yy]
	}
	return m.Edge[b*yy : (b+1)*yy]
}

// AddLabeling adds c·1_y to chain b.
func (m *Marginals) AddLabeling(b int, labels []int32, c float32) {
	node, edge, y := m.NodeOf(b), m.EdgeOf(b), m.Y
	for t, l := range labels {
		node[t*y+int(l)] += c
		if t == 0 {
			continue
		}
		at := int(labels[t-1])*y + int(l)
		if m.PerPosition {
			at += t * y * y
		}
		edge[at] += c
	}
}

// Dot returns ⟨u, θ⟩ for chain b, in float64. A zero entry counts nothing even where the potential is −∞.
func (m *Marginals) Dot(b int, p *Potentials) float64 {
	lo, hi, y := m.Offsets[b], m.Offsets[b+1], m.Y
	s := dot(m.Node[lo*y:hi*y], p.Node[lo*y:hi*y])
	edge := p.Edge
	if p.PerPosition {
		edge = p.Edge[lo*y*y : hi*y*y]
	}
	return s + dot(m.EdgeOf(b), edge)
}

func dot(u, θ []float32) float64 {
	s := 0.0
	for i, v := range u {
		if v != 0 {
			s += float64(v) * float64(θ[i])
		}
	}
	return s
}

// Finite reports whether no potential is NaN or +∞.
func (p *Potentials) Finite() bool {
	for _, xs := range [][]float32{p.Node, p.Edge} {
		for _, x := range xs {
			if x != x || x > math.MaxFloat32 {
				return false
			}
		}
	}
	return true
}

func grow(s []float32, n int) []float32 {
	if cap(s) < n {
		return make([]float32, n)
	}
	return s[:n]
}
