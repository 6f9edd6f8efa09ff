package accelerator

import (
	"github.com/dsp-go/dsp/cuda/cudanets"
	"github.com/dsp-go/dsp/cuda/cudaoracles"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train/engine"
)

// Memory is an engine.Memory on a device: a point r_i of the marginal polytope for every example, in the same layout.
type Memory struct {
	objective *Objective
	Node      device.Array[float32] // [ΣT×Y]
	Edge      device.Array[float32] // [n×Y×Y], or [ΣT×Y×Y] with edges per position
}

// NewMemory returns a memory that holds the gold outputs.
func (o *Objective) NewMemory() *Memory {
	d, set, edges := o.Data.Device, o.Data.Set, o.Data.Set.Len()
	y, perPosition := cudanets.ChainShape(o.Scorer.Form())
	if perPosition {
		edges = set.Positions()
	}
	m := &Memory{objective: o, Node: device.New[float32](d, set.Positions()*y, "a memory"),
		Edge: device.New[float32](d, edges*y*y, "a memory")}
	m.ToGold(0)
	return m
}

// Free releases the memory.
func (m *Memory) Free() {
	device.Free(m.objective.Data.Device, m.Node)
	device.Free(m.objective.Data.Device, m.Edge)
}

// ToGold moves every r_i towards the gold output: r_i ← γr_i + (1−γ)1_{y_i}.
func (m *Memory) ToGold(γ float32) {
	if γ == 1 {
		return
	}
	o := m.objective
	y, perPosition := cudanets.ChainShape(o.Scorer.Form())
	o.Data.Device.Launch("to_gold", device.Dim{X: o.Data.Set.Len()}, device.Dim{X: device.BlockThreads},
		device.BlockThreads*4,
		m.Node, m.Edge, o.Data.Offsets, o.Data.Labels, γ, int32(y), device.Flag(perPosition))
}

func (l *ChainEvaluation) move(of engine.DeviceMemory, a *cudaoracles.Answer, by device.Array[float32], γ float32) {
	m, o, b, y := of.(*Memory), l.Objective, l.Batch, l.Scores.Y
	rows := func(u, r device.Array[float32], index, chain device.Array[int32], n, width int) {
		o.launchRows("remember", n, width, 0, u, index, chain, b.Offsets, r, by, γ, int32(n), int32(width),
			int32(rowsPerBlock(width)))
	}
	rows(a.Node, m.Node, b.Source, device.Array[int32]{}, b.Rows, y)
	if l.Scores.PerPosition {
		rows(a.Edge, m.Edge, b.Source, b.Chain, b.Rows, y*y)
	} else {
		rows(a.Edge, m.Edge, b.Examples, device.Array[int32]{}, b.Chains, y*y)
	}
}

func (l *ChainEvaluation) store(of engine.DeviceMemory, a *cudaoracles.Answer) {
	m, o, b, y := of.(*Memory), l.Objective, l.Batch, l.Scores.Y
	rows := func(u, r device.Array[float32], index device.Array[int32], n, width int) {
		o.launchRows("recall", n, width, 0, u, index, r, int32(n), int32(width), int32(rowsPerBlock(width)))
	}
	rows(a.Node, m.Node, b.Source, b.Rows, y)
	if l.Scores.PerPosition {
		rows(a.Edge, m.Edge, b.Source, b.Rows, y*y)
	} else {
		rows(a.Edge, m.Edge, b.Examples, b.Chains, y*y)
	}
}

// Store copies the memory to the parts of an engine.Memory.
func (m *Memory) Store(parts []structured.Part) error {
	return store(m.objective.Data.Device, parts, m.Node, m.Edge)
}

// Load copies parts of an engine.Memory to the memory.
func (m *Memory) Load(parts []structured.Part) {
	load(m.objective.Data.Device, parts, m.Node, m.Edge)
}

// store copies arrays to the values of parts, one each.
func store(d *device.Device, parts []structured.Part, arrays ...device.Array[float32]) error {
	for k, a := range arrays {
		device.Download(d, parts[k].Values, a)
	}
	return d.Err()
}

// load copies the values of parts to arrays, one each.
func load(d *device.Device, parts []structured.Part, arrays ...device.Array[float32]) {
	for k, a := range arrays {
		device.Upload(d, a, parts[k].Values)
	}
}
