package chains

import "github.com/dsp-go/dsp/structured"

// Potentials are the potentials θ of a batch of B chains, with N positions in total and Y labels, as plain arrays.
type Potentials struct {
	Y           int
	Offsets     []int     // [B+1]; chain b owns positions Offsets[b] to Offsets[b+1]-1
	Node        []float32 // [N×Y]
	Edge        []float32 // [Y×Y], row "from" (shared by all chains), or [N×Y×Y] with PerPosition
	PerPosition bool      // Edge[t] scores the step from position t-1 to t; it is not read at the start of a chain
}

// Of returns the arrays of θ, whose structure must be Chain. They share its memory.
func Of(θ *structured.Potentials) Potentials {
	node, edge := &θ.Parts[0], &θ.Parts[1]
	return Potentials{Y: node.Width, Offsets: node.Offsets, Node: node.Values, Edge: edge.Values,
		PerPosition: edge.Offsets != nil}
}

// Len returns B, the number of chains.
func (p *Potentials) Len() int { return len(p.Offsets) - 1 }

// Positions returns N.
func (p *Potentials) Positions() int { return p.Offsets[len(p.Offsets)-1] }

// EdgeAt returns the [Y×Y] potentials of the step into position t.
func (p *Potentials) EdgeAt(t int) []float32 {
	if !p.PerPosition {
		return p.Edge
	}
	yy := p.Y * p.Y
	return p.Edge[t*yy : (t+1)*yy]
}

// Score returns ⟨θ, 1_y⟩ for a labeling of chain b, in float64.
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

// Marginals are the marginals of a batch of chains as plain arrays. With shared edges the edge part of a chain is
// [Y×Y], the expected count of each transition; per position it is [T×Y×Y], zero at the start of the chain.
type Marginals struct {
	Y           int
	Offsets     []int     // [B+1]
	Node        []float32 // [N×Y]
	Edge        []float32 // [B×Y×Y], or [N×Y×Y] with PerPosition
	PerPosition bool
}

// In returns the arrays of u, whose structure must be Chain. They share its memory.
func In(u *structured.Marginals) Marginals {
	node, edge := &u.Parts[0], &u.Parts[1]
	return Marginals{
		Y: node.Width, Offsets: node.Offsets, Node: node.Values, Edge: edge.Values, PerPosition: edge.Rows != structured.Tied,
	}
}

// Len returns B, the number of chains.
func (m *Marginals) Len() int { return len(m.Offsets) - 1 }

// NodeOf returns the node part of chain b [T×Y].
func (m *Marginals) NodeOf(b int) []float32 {
	return m.Node[m.Offsets[b]*m.Y : m.Offsets[b+1]*m.Y]
}

// EdgeOf returns the edge part of chain b: [Y×Y], or [T×Y×Y] with PerPosition.
func (m *Marginals) EdgeOf(b int) []float32 {
	yy := m.Y * m.Y
	if m.PerPosition {
		return m.Edge[m.Offsets[b]*yy : m.Offsets[b+1]*yy]
	}
	return m.Edge[b*yy : (b+1)*yy]
}

// Add adds c·1_y to chain b.
func (m *Marginals) Add(b int, labels []int32, c float32) {
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
