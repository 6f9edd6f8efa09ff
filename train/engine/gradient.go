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

	// product returns ⟨D, w⟩ at the point of its step.
	product(st *Step) float64
	// eachRow calls do for the rows of weights in which D can differ from zero, or for ranges of several rows: w[lo:hi], with a vector that is D there.
	eachRow(do func(d []float32, lo, hi int))
}

// deviceGradient is the D that a device holds. It has no entries on the host, and no method asks for them.
type deviceGradient struct{ *deviceBackend }

const noEntries = "engine: a gradient on a device has no entries on the host"

func (g deviceGradient) AddTo(float32, []float32)                        { panic(noEntries) }
func (g deviceGradient) AddToTwo(float32, []float32, float32, []float32) { panic(noEntries) }
func (g deviceGradient) Times(float32, *[]float32) []float32             { panic(noEntries) }
func (g deviceGradient) eachRow(func(d []float32, lo, hi int))           { panic(noEntries) }

func (g deviceGradient) Norm2() float64           { return g.device.Norm2() }
func (g deviceGradient) Dot(w []float32) float64  { return g.device.Dot(OnHost(w)) }
func (g deviceGradient) product(st *Step) float64 { return g.device.Dot(st.at.place()) }
