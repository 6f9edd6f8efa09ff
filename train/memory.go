package train

import (
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/vec"
)

// Memory holds a point r_i of the marginal polytope for every example: what a method remembers instead of gradients,
// since ∇f_i at remembered marginals is J_iᵀ(r_i − 1_{y_i}). Its size is that of the potentials, not of the weights.
type Memory struct {
	data        *structured.Dataset
	y           int
	perPosition bool
	completion  *Memory   // of gold outputs that are not known, or nil
	edges       []int     // [n+1] where each example's edge part starts
	Node        []float32 // [ΣT×Y]
	Edge        []float32 // a [Y×Y] an example, or a [T×Y×Y] with edges per position

	device RemoteMemory // has the content, and Node and Edge what was fetched last; or nil
}

// NewMemory returns a memory that holds the gold outputs 1_{y_i}, at which every gradient is zero; where labels are known
// in part, the objective's completion, or nothing.
func NewMemory(o *Objective) *Memory {
	d, y := o.Data, o.Scorer.Labels()
	m := &Memory{data: d, y: y, perPosition: o.Scorer.PerPosition(), completion: o.Completion, edges: make([]int, d.Len()+1), Node: make([]float32, d.Positions()*y)}
	for i := range d.Len() {
		size := y * y
		if o.Scorer.PerPosition() {
			size *= d.Length(i)
		}
		m.edges[i+1] = m.edges[i] + size
	}
	m.Edge = make([]float32, m.edges[d.Len()])
	m.addGold(1)
	return m
}

// addGold adds c·1_{y_i}, or what completes the labels known in part, to every r_i.
func (m *Memory) addGold(c float32) {
	one := structured.Marginals{Y: m.y, PerPosition: m.perPosition}
	for i := range m.data.Len() {
		one.Offsets = []int{0, m.data.Length(i)}
		one.Node, one.Edge = m.of(i)
		if m.data.Partial(i) {
			if m.completion != nil {
				node, edge := m.completion.of(i)
				vec.Axpy(c, node, one.Node)
				vec.Axpy(c, edge, one.Edge)
			}
			continue
		}
		one.AddLabeling(0, m.data.Gold(i), c)
	}
}

// toGold moves every r_i towards the gold output: r_i ← γr_i + (1−γ)1_{y_i}.
func (m *Memory) toGold(γ float32) {
	if γ == 1 {
		return
	}
	if m.device != nil {
		m.device.ToGold(γ)
		return
	}
	vec.Scale(γ, m.Node)
	vec.Scale(γ, m.Edge)
	m.addGold(1 - γ)
}

// attach makes a memory that Archive has restored one of o's.
func (m *Memory) attach(o *Objective) *Memory {
	whole := NewMemory(o)
	whole.Node, whole.Edge = m.Node, m.Edge
	return whole
}

func (m *Memory) of(i int) (node, edge []float32) {
	return m.Node[m.data.Offsets[i]*m.y : m.data.Offsets[i+1]*m.y], m.Edge[m.edges[i]:m.edges[i+1]]
}

// subtract takes r_i off chain b of v.
func (m *Memory) subtract(i int, v *structured.Marginals, b int) {
	node, edge := m.of(i)
	vec.Axpy(-1, node, v.NodeOf(b))
	vec.Axpy(-1, edge, v.EdgeOf(b))
}

// remember moves the examples of a piece: r_i ← (1−γ)r_i + γu_i.
func (m *Memory) remember(of *piece, γ float32) {
	u := &of.answer.U
	for b, i := range of.batch.Examples {
		node, edge := m.of(i)
		mix(node, u.NodeOf(b), γ)
		mix(edge, u.EdgeOf(b), γ)
	}
}

func mix(r, u []float32, γ float32) {
	if γ == 1 {
		copy(r, u)
		return
	}
	vec.Axpby(γ, u, 1-γ, r)
}
