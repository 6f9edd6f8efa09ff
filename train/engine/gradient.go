package engine

// Gradient is the D = Σ_{i∈B} c_i J_iᵀ(u_i − r_i) of a step, valid until the next call on the engine.
type Gradient interface {
	// AddTo adds cD to w. A D on a device cannot be added: only paths on that device use its entries. AddToTwo adds cD to w and dD to u, for which a sparse D takes less time than two calls.
	AddTo(c float32, w []float32)
	AddToTwo(c float32, w []float32, d float32, u []float32)
	// Times returns cD as a vector: memory of the engine, or zeros, to which it was added.
	Times(c float32, zeros *[]float32) []float32
	// Norm2 returns ‖D‖².
	Norm2() float64
	// Dot returns ⟨D, w⟩.
	Dot(w []float32) float64
}

// remoteGradient is the D that a device holds.
type remoteGradient struct{ *remote }

func (g remoteGradient) AddTo(float32, []float32) {
	panic("engine: a gradient on a device has no entries on the host") // no method asks
}

func (g remoteGradient) AddToTwo(c float32, w []float32, _ float32, _ []float32) { g.AddTo(c, w) }
func (g remoteGradient) Times(float32, *[]float32) []float32 {
	panic("engine: a gradient on a device has no entries on the host")
}

func (g remoteGradient) Norm2() float64          { return g.device.Norm2() }
func (g remoteGradient) Dot(w []float32) float64 { return g.device.Dot(w) }
