package reweighted

import (
	"math"
	"slices"
)

// mixture bounds log Σ exp(⟨θ, 1_y⟩/μ) by Σ_k λ_k log Z_k over spanning forests k with weights λ_k that sum to 1, whose potentials average to θ/μ
// (Wainwright, Jaakkola and Willsky 2005). Σ_k λ_k shift_k = 0.
type mixture struct {
	*example
	μ       float64
	forests []*spanning
	ρ       []float64 // [E] Σ λ_k over the forests with the edge
	upper   float64
	step    float64
	point   joined
	p       []float64 // [V×Y] marginals of the point's variables
	moves   [][]float64
	scratch []float64
	row     []float64
}

// joined is a point of the local polytope, made of the marginals of several forests.
type joined struct {
	pair        []float64 // [E×Y×Y] marginals of the labels of child and parent
	information []float64 // [E] the mutual information of each link's labels
	value       float64   // ⟨θ/μ, u⟩ plus the tree-reweighted entropy for ρ; −∞ if a forbidden pair of labels keeps the point from the polytope
}

// begin covers the graph with forests of equal weights, and shares out the potentials as a point of the local polytope suggests.
func (m *mixture) begin(x *example, μ float64, p, pair []float64) {
	*m = mixture{example: x, μ: μ, step: firstStep, scratch: make([]float64, x.y), row: make([]float64, x.y)}
	m.ρ, m.p, m.point.pair = make([]float64, len(x.links)), slices.Clone(p), slices.Clone(pair)
	covered := make([]float64, len(x.links))
	for slices.Contains(covered, 0) {
		t := x.heaviest(func(j int) float64 { return -covered[j] })
		for _, j := range t.links {
			covered[j]++
		}
		m.forests = append(m.forests, t)
	}
	for _, t := range m.forests {
		t.weight = 1 / float64(len(m.forests))
	}
	m.share()
}

// share sets ρ from the weights of forests, and the shifts to those for which every forest has the marginals of the point, up to what no
// shifts reach.
func (m *mixture) share() {
	clear(m.ρ)
	for _, t := range m.forests {
		for _, j := range t.links {
			m.ρ[j] += t.weight
		}
	}
	y := m.y
	child, parent := make([]float64, len(m.links)*y), make([]float64, len(m.links)*y)
	for j := range m.links {
		m.messages(j, row(child, j, y), row(parent, j, y))
	}
	for _, t := range m.forests {
		for i, p := range m.p {
			t.shift[i] = max(least, math.Log(p)) - finite(m.node[i]/m.μ)
		}
		for _, j := range t.links {
			add(1, row(child, j, y), row(t.shift, int(m.links[j].child), y))
			add(1, row(parent, j, y), row(t.shift, int(m.links[j].parent), y))
		}
	}
	m.centre()
	m.upper = m.sum()
}

func finite(x float64) float64 { return max(x, least) }

// messages sets child and parent to functions of one end's label whose sum comes close to log u/(u_child·u_parent) − θ/(μρ): means over the other end.
func (m *mixture) messages(j int, child, parent []float64) {
	y, l := m.y, m.links[j]
	pc, pp, pair, table := row(m.p, int(l.child), y), row(m.p, int(l.parent), y), row(m.point.pair, j, y*y), m.tableOf(j)
	mean := 0.0
	clear(child)
	clear(parent)
	for a := range y {
		for b := range y {
			d := max(least, math.Log(pair[a*y+b])) - max(least, math.Log(pc[a])) - max(least, math.Log(pp[b])) - finite(table[a*y+b]/(m.μ*m.ρ[j]))
			child[a] += d / float64(y)
			parent[b] += d / float64(y)
			mean += d / float64(y*y)
		}
	}
	for a := range y {
		child[a] -= mean / 2
		parent[a] -= mean / 2
	}
}

// centre takes the mean off the shifts.
func (m *mixture) centre() {
	for i := range m.p {
		mean := 0.0
		for _, t := range m.forests {
			mean += t.weight * t.shift[i]
		}
		for _, t := range m.forests {
			t.shift[i] -= mean
		}
	}
}

func (m *mixture) sum() float64 {
	value := 0.0
	for _, t := range m.forests {
		value += t.weight * t.sum(m.example, m.μ, m.ρ, m.scratch)
	}
	return value
}

// improve moves shifts towards forests that agree, and reports whether the bound fell.
func (m *mixture) improve() bool {
	if len(m.moves) != len(m.forests) {
		m.moves = make([][]float64, len(m.forests))
		for k := range m.moves {
			m.moves[k] = make([]float64, len(m.p))
		}
	}
	for i := range m.p {
		mean := 0.0
		for k, t := range m.forests {
			m.moves[k][i] = -max(least, math.Log(t.p[i]))
			mean += t.weight * m.moves[k][i]
		}
		for k := range m.forests {
			m.moves[k][i] -= mean
		}
	}
	last := 0.0
	for ; m.step >= shortest; m.step /= 2 {
		for k, t := range m.forests {
			add(m.step-last, m.moves[k], t.shift)
		}
		last = m.step
		if value := m.sum(); value <= m.upper {
			fell := value < m.upper
			m.upper, m.step = value, min(longest, 1.1*m.step)
			return fell
		}
	}
	for k, t := range m.forests {
		add(-last, m.moves[k], t.shift)
	}
	m.upper, m.step = m.sum(), firstStep
	return false
}

// add adds c·x to to.
func add(c float64, x, to []float64) {
	for i, v := range x {
		to[i] += c * v
	}
}

// descend lowers the bound until a point is within tolerance of it, or for a number of passes.
func (m *mixture) descend(tolerance float64, passes int) {
	for pass := 0; pass < passes; pass += between {
		improves := true
		for range between {
			improves = improves && m.improve()
		}
		m.project()
		if !improves || m.upper-m.point.value <= tolerance {
			return
		}
	}
}

// project sets the point to the mean of the forests' marginals, made to agree (Altschuler, Weed and Rigollet 2017, Algorithm 2), and computes
// its value and, in information, the mutual information of every link.
func (m *mixture) project() {
	y, f := m.y, &m.point
	f.information = make([]float64, len(m.links))
	clear(m.p)
	clear(f.pair)
	for _, t := range m.forests {
		add(t.weight, t.p, m.p)
		for _, j := range t.links {
			add(t.weight/m.ρ[j], row(t.pair, j, y*y), row(f.pair, j, y*y))
		}
	}
	f.value = 0
	for v := range m.n {
		p := row(m.p, v, y)
		f.value += entropy(p)
		for l, x := range p {
			if x > 0 {
				f.value += x * m.node[v*y+l] / m.μ
			}
		}
	}
	for j, l := range m.links {
		pair, child, parent := row(f.pair, j, y*y), row(m.p, int(l.child), y), row(m.p, int(l.parent), y)
		if !m.agree(pair, child, parent, m.tableOf(j)) {
			f.value = minusInf
		}
		score := 0.0
		for i, s := range m.tableOf(j) {
			if pair[i] > 0 {
				score += pair[i] * s
			}
		}
		f.information[j] = entropy(child) + entropy(parent) - entropy(pair)
		f.value += score/m.μ - m.ρ[j]*f.information[j]
	}
}

// agree makes the marginals of a pair those of child and parent. It returns false if that would allow a forbidden pair of labels.
func (m *mixture) agree(pair, child, parent, table []float64) bool {
	y, missing := m.y, 0.0
	for l, want := range child {
		s := 0.0
		for _, q := range pair[l*y:][:y] {
			s += q
		}
		for i := range y {
			if s > want {
				pair[l*y+i] *= want / s
			}
		}
	}
	copy(m.row, parent)
	for i, want := range parent {
		s := 0.0
		for l := range y {
			s += pair[l*y+i]
		}
		for l := range y {
			if s > want {
				pair[l*y+i] *= want / s
			}
			m.row[i] -= pair[l*y+i]
		}
		m.row[i] = max(0, m.row[i])
		missing += m.row[i]
	}
	if missing <= 0 || slices.ContainsFunc(table, func(s float64) bool { return math.IsInf(s, -1) }) {
		return missing <= 1e-9
	}
	for l, want := range child {
		lacks := want
		for _, q := range pair[l*y:][:y] {
			lacks -= q
		}
		for i, c := range m.row {
			pair[l*y+i] += max(0, lacks) * c / missing
		}
	}
	return true
}

// tightest returns the value of the point for the weights of edges that make it least: those of the spanning forest with the most mutual information.
func (m *mixture) tightest() float64 {
	value := m.point.value
	for j, i := range m.point.information {
		value += m.ρ[j] * i
	}
	for _, j := range m.heaviest(func(j int) float64 { return m.point.information[j] }).links {
		value -= m.point.information[j]
	}
	return value
}

// tighten takes Frank-Wolfe steps in ρ: the spanning forest with the most mutual information joins the mixture (Krishnan, Lacoste-Julien and
// Sontag 2015, section 4). Steps that do not lower the bound are undone and halved.
func (m *mixture) tighten(rounds int, tolerance float64, passes int) {
	γ := 0.5
	for range rounds {
		if m.upper-m.tightest() <= tolerance || γ < shortest {
			return
		}
		before := m.save()
		t := m.heaviest(func(j int) float64 { return m.point.information[j] })
		for _, old := range m.forests {
			old.weight *= 1 - γ
		}
		t.weight = γ
		m.forests = append(m.forests, t)
		m.share()
		m.descend(tolerance, passes)
		if m.upper < before.upper {
			continue
		}
		γ /= 2
		m.restore(before)
	}
}

// state is what a step of tighten changes.
type state struct {
	upper, value            float64
	weights                 []float64
	shifts                  [][]float64
	ρ, p, pair, information []float64
}

func (m *mixture) save() state {
	s := state{m.upper, m.point.value, nil, nil, slices.Clone(m.ρ), slices.Clone(m.p), slices.Clone(m.point.pair), slices.Clone(m.point.information)}
	for _, t := range m.forests {
		s.weights, s.shifts = append(s.weights, t.weight), append(s.shifts, slices.Clone(t.shift))
	}
	return s
}

func (m *mixture) restore(s state) {
	m.forests = m.forests[:len(s.weights)]
	for k, t := range m.forests {
		t.weight = s.weights[k]
		copy(t.shift, s.shifts[k])
	}
	m.upper, m.point.value, m.ρ, m.p, m.point.pair, m.point.information = s.upper, s.value, s.ρ, s.p, s.pair, s.information
	m.step = firstStep
}
