package engine

import (
	"context"

	"github.com/dsp-go/dsp/oracles"
)

// backend is where an engine's work is done: hostBackend, on the host's threads, or deviceBackend, on a device. The
// constructor of the engine chooses one. The engine's methods of the same names say what each call does.
type backend interface {
	// accelerator returns the device, or nil on the host.
	accelerator() Accelerator
	sibling(o *Objective) (*Engine, error)
	moveTo(w []float32)
	cutInto(parts int)
	mostRanks() int

	newMemory() (*Memory, error)
	// attach returns m, which fits the objective, as a memory of this backend.
	attach(m *Memory) (*Memory, error)
	toGold(m *Memory, γ float32)
	fetch(m *Memory) error
	remember(m *Memory, γ float32)

	// fullPass and pullBack add Σ c_i J_iᵀ(u_i − 1_{y_i}) to g, which must be zero; in pullBack, u_i is the dual point.
	// value returns the sums of Σ c_i f_i over examples, which shards holds in pieces.
	fullPass(ctx context.Context, w []float32, s oracles.Smoothing, memory *Memory, g []float64) (Sums, error)
	pullBack(ctx context.Context, w []float32, of DualPoint, g []float64) (Sums, error)
	value(ctx context.Context, w []float32, examples []int, shards [][]int) (Sums, error)

	step(ctx context.Context, w Point, examples []int, s oracles.Smoothing, memory *Memory, dropout uint64) (Step, error)
	change(ctx context.Context, from, to []float32, examples []int, s oracles.Smoothing) (Gradient, error)
	// They return what takes the steps of a path, and of a descent.
	pathStepper(x *AffinePath) pathStepper
	descentStepper(d *ScaledDescent) descentStepper

	// precise reports whether full passes sum in float64. unit returns the largest relative error of a rounded
	// operation, and scores the mean magnitude of the scores behind sums, given the mean ⟨g, w⟩ of their gradient
	// (rounding.go).
	precise() bool
	unit() float64
	scores(sums Sums, product float64) float64
	// answering returns the host's oracle if memories have marginals of such oracles, and else nil.
	answering(o oracles.Maximiser) oracles.Maximiser
}

// OnDevice reports whether an accelerator does the engine's work. Outside this package three ask: who refuses what a
// device does not do (train/requirements.go, saga), who words an error of the device (train/failure.go), and who saves
// what must be fetched first (train/loop.go).
func (e *Engine) OnDevice() bool { return e.backend.accelerator() != nil }

// Sibling returns an engine for another objective on the same data, on the same device if this engine has one.
func (e *Engine) Sibling(o *Objective) (*Engine, error) { return e.backend.sibling(o) }

// MoveTo sets the point of linearisation of a scorer on a device. On the host the scorer has its own MoveTo.
func (e *Engine) MoveTo(w []float32) { e.backend.moveTo(w) }

// NewMemory returns a memory for the engine's methods, with the content of the function NewMemory.
func (e *Engine) NewMemory() (*Memory, error) { return e.backend.newMemory() }

// Attach attaches a memory that Archive has restored to the engine.
func (e *Engine) Attach(m *Memory) (*Memory, error) {
	if err := m.Fits(e.Objective); err != nil {
		return nil, err
	}
	return e.backend.attach(m)
}

// ToGold moves every r_i of a memory towards the gold output: r_i ← γr_i + (1−γ)1_{y_i}.
func (e *Engine) ToGold(m *Memory, γ float32) {
	if γ != 1 {
		e.backend.toGold(m, γ)
	}
}

// Fetch copies a memory's content from the device, if there is one, to the host. A nil memory has none.
func (e *Engine) Fetch(m *Memory) error {
	if m == nil {
		return nil
	}
	return e.backend.fetch(m)
}

// Remember moves the last step's examples in the memory towards their answers: r_i ← (1−γ)r_i + γu_i.
func (e *Engine) Remember(m *Memory, γ float32) { e.backend.remember(m, γ) }
