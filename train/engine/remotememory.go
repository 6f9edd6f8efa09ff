package engine

// NewMemory returns a memory for the engine's methods: NewMemory's, or one on the engine's device.
func (e *Engine) NewMemory() (*Memory, error) {
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

// MoveTo makes w the point that a scorer on a device, which is a linearisation, is taken at.
func (e *Engine) MoveTo(w []float32) {
	if e.device != nil {
		e.device.MoveTo(w)
	}
}

// moveTo makes a device the place of the memory's content.
func (m *Memory) moveTo(a Accelerator) (err error) {
	m.device, err = a.NewMemory()
	return err
}

// Remote returns the content on a device, nil where there is none.
func (m *Memory) Remote() RemoteMemory {
	if m == nil {
		return nil
	}
	return m.device
}

// Attach makes a memory that Archive has restored one of the engine's.
func (e *Engine) Attach(m *Memory) (*Memory, error) {
	if err := m.Fits(e.Objective); err != nil {
		return nil, err
	}
	if e.device == nil {
		return m.Attach(e.Objective), nil
	}
	err := m.moveTo(e.device)
	if err == nil {
		m.device.Load(m.Parts)
	}
	return m, err
}

// Fetch copies what a device has to the host.
func (m *Memory) Fetch(o *Objective) error {
	if m == nil || m.device == nil {
		return nil
	}
	m.Form(o)
	return m.device.Store(m.Parts)
}
