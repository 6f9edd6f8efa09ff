package train

import "slices"

// newMemory returns a memory for the engine's methods: NewMemory's, or one on the engine's device.
func (e *Engine) newMemory() (*Memory, error) {
	m := &Memory{}
	if e.device == nil {
		return NewMemory(e.Objective), nil
	}
	err := m.moveTo(e.device)
	if err == nil {
		m.device.ToGold(0)
	}
	return m, err
}

// moveTo makes a device the place of the memory's content.
func (m *Memory) moveTo(a Accelerator) (err error) {
	m.device, err = a.NewMemory()
	return err
}

// remote returns the content on a device, nil where there is none.
func (m *Memory) remote() RemoteMemory {
	if m == nil {
		return nil
	}
	return m.device
}

// attach makes a memory that Archive has restored one of the engine's.
func (e *Engine) attach(m *Memory) (*Memory, error) {
	if e.device == nil {
		return m.attach(e.Objective), nil
	}
	err := m.moveTo(e.device)
	if err == nil {
		m.device.Load(m.Node, m.Edge)
	}
	return m, err
}

// fetch copies what a device has to Node and Edge.
func (m *Memory) fetch(o *Objective) error {
	if m == nil || m.device == nil {
		return nil
	}
	node, edge := memorySize(o)
	m.Node, m.Edge = slices.Grow(m.Node[:0], node)[:node], slices.Grow(m.Edge[:0], edge)[:edge]
	return m.device.Store(m.Node, m.Edge)
}

// memorySize returns the numbers in a memory's two parts.
func memorySize(o *Objective) (node, edge int) {
	y, n, chains := o.Scorer.Labels(), o.Data.Positions(), o.Data.Len()
	if o.Scorer.PerPosition() {
		chains = n
	}
	return n * y, chains * y * y
}

// remembering is a method whose Archive saves a memory.
type remembering interface {
	// fetchMemory makes what Archive saves of it present where a device has it.
	fetchMemory(p *Problem) error
}

var _, _, _ remembering = &SAGA{}, &BCFW{}, &ProxLinear{}
