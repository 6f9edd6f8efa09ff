package engine

// NewMemory returns a memory for the engine's methods: on the engine's device if it has one, else as the function NewMemory.
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

// MoveTo sets the point of linearisation of a scorer on a device.
func (e *Engine) MoveTo(w []float32) {
	if e.device != nil {
		e.device.MoveTo(w)
	}
}

// moveTo moves the memory's content to a device.
func (m *Memory) moveTo(a Accelerator) (err error) {
	m.device, err = a.NewMemory()
	return err
}

// Remote returns the content on a device, or nil if it is on the host.
func (m *Memory) Remote() RemoteMemory {
	if m == nil {
		return nil
	}
	return m.device
}

// Attach attaches a memory that Archive has restored to the engine.
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

// Fetch copies the content from the device, if there is one, to the host.
func (m *Memory) Fetch(o *Objective) error {
	if m == nil || m.device == nil {
		return nil
	}
	m.Form(o)
	return m.device.Store(m.Parts)
}
