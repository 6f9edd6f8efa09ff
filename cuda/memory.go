package cuda

import "github.com/dsp-go/dsp/structured"

// Memory is a engine.Memory on a device: a point r_i of the marginal polytope for every example, laid out as there.
type Memory struct {
	objective *Objective
	Node      Array[float32] // [ΣT×Y]
	Edge      Array[float32] // a [Y×Y] an example, or a [T×Y×Y] with edges per position
}

// NewMemory returns a memory that holds the gold outputs.
func (o *Objective) NewMemory() *Memory {
	d, set, edges := o.Data.Device, o.Data.Set, o.Data.Set.Len()
	y, perPosition := chainShape(o.Scorer.Form())
	if perPosition {
		edges = set.Positions()
	}
	m := &Memory{objective: o, Node: New[float32](d, set.Positions()*y, "a memory"), Edge: New[float32](d, edges*y*y, "a memory")}
	m.ToGold(0)
	return m
}

// Free gives the memory back.
func (m *Memory) Free() {
	Free(m.objective.Data.Device, m.Node)
	Free(m.objective.Data.Device, m.Edge)
}

// ToGold moves every r_i towards the gold output: r_i ← γr_i + (1−γ)1_{y_i}.
func (m *Memory) ToGold(γ float32) {
	if γ == 1 {
		return
	}
	o := m.objective
	y, perPosition := chainShape(o.Scorer.Form())
	o.Data.Device.Launch("to_gold", Dim{X: o.Data.Set.Len()}, Dim{X: blockThreads}, blockThreads*4,
		m.Node, m.Edge, o.Data.Offsets, o.Data.Labels, γ, int32(y), flag(perPosition))
}

// Remember moves the memory of a lane's examples towards the lane's answers: r_i ← (1−γ)r_i + γu_i.
func (m *Memory) Remember(l *Lane, γ float32) { m.remember(l, Array[float32]{}, γ) }

// RememberBy does so with a γ [1] that the device holds.
func (m *Memory) RememberBy(l *Lane, γ Array[float32]) { m.remember(l, γ, 0) }

func (m *Memory) remember(l *Lane, by Array[float32], γ float32) {
	o, b, y := m.objective, l.Batch, l.Scores.Y
	rows := func(u, r Array[float32], index, chain Array[int32], n, width int) {
		o.launchRows("remember", n, width, 0, u, index, chain, b.Offsets, r, by, γ, int32(n), int32(width), int32(rowsPerBlock(width)))
	}
	rows(l.Answer.Node, m.Node, b.Source, Array[int32]{}, b.Rows, y)
	if l.Scores.PerPosition {
		rows(l.Answer.Edge, m.Edge, b.Source, b.Chain, b.Rows, y*y)
	} else {
		rows(l.Answer.Edge, m.Edge, b.Examples, Array[int32]{}, b.Chains, y*y)
	}
}

// recall makes r_i the answers of a lane's examples.
func (m *Memory) recall(l *Lane) {
	o, b, y := m.objective, l.Batch, l.Scores.Y
	rows := func(u, r Array[float32], index Array[int32], n, width int) {
		o.launchRows("recall", n, width, 0, u, index, r, int32(n), int32(width), int32(rowsPerBlock(width)))
	}
	rows(l.Answer.Node, m.Node, b.Source, b.Rows, y)
	if l.Scores.PerPosition {
		rows(l.Answer.Edge, m.Edge, b.Source, b.Rows, y*y)
	} else {
		rows(l.Answer.Edge, m.Edge, b.Examples, b.Chains, y*y)
	}
}

// Store copies what the memory holds to the parts of a engine.Memory.
func (m *Memory) Store(parts []structured.Part) error {
	d := m.objective.Data.Device
	Download(d, parts[0].Values, m.Node)
	Download(d, parts[1].Values, m.Edge)
	return d.Err()
}

// Load makes the memory hold what such parts hold.
func (m *Memory) Load(parts []structured.Part) {
	d := m.objective.Data.Device
	Upload(d, m.Node, parts[0].Values)
	Upload(d, m.Edge, parts[1].Values)
}
