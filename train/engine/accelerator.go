package engine

import (
	"context"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
)

// Accelerator does the work of an engine on a device where the objective's data, its scorer, the path at work and the
// memories live. What an engine does without one is what it is held to, up to the rounding of float32.
//
// What fails may be told later: every method that returns an error returns that of what was asked before it, too. A
// potential that is not finite is a NonFiniteError. Sums are over all examples or those of the batch.
type Accelerator interface {
	// Sibling returns the accelerator of another objective on the same data, with as many weights, which shares what it can with
	// this one: their steps and their paths are not to be mixed. It ends with this one.
	Sibling(o *Objective) (Accelerator, error)
	// MoveTo makes w the point w_k that the scorer is the linearisation at.
	MoveTo(w []float32)
	// NewMemory returns a memory of the objective's size, whose content is not defined.
	NewMemory() (RemoteMemory, error)
	// Close gives up what is held on the device.
	Close()

	// FullPass asks the smoothed oracle about all examples at w, sets g [Dim] to Σ c_i J_iᵀ(u_i − 1_{y_i}), and makes the u_i
	// the memory's content where there is one. The sums are whole.
	FullPass(ctx context.Context, w []float32, s oracles.Smoothing, memory RemoteMemory, g []float32) (Sums, error)
	// Value returns Σ c_i f_i(w) over the given examples.
	Value(ctx context.Context, w []float32, examples []int) (float64, error)
	// Recompose sets g to Σ c_i J_iᵀ(r_i − 1_{y_i}), r_i the memory's, and returns Σ c_i ⟨r_i − 1_{y_i}, θ_i(w) + ℓ_i⟩.
	Recompose(ctx context.Context, w []float32, memory RemoteMemory, g []float32) (linear float64, err error)

	// Step finds D = Σ c_i J_iᵀ(u_i − r_i) of a batch, r_i the memory's or (nil) the gold output's, at w, or (nil) at the
	// path's iterate. It may only have been begun on return.
	Step(ctx context.Context, w []float32, examples []int, s oracles.Smoothing, memory RemoteMemory, dropout uint64) error
	// Change finds D = Σ c_i J_iᵀ(u_i(to) − u_i(from)) of a batch.
	Change(ctx context.Context, from, to []float32, examples []int, s oracles.Smoothing) error
	// Remember moves the memory of the last step's examples: r_i ← (1−γ)r_i + γu_i.
	Remember(memory RemoteMemory, γ float32)
	// Sums returns those of the last step but for Primal and Entropy.
	Sums() (Sums, error)
	// Norm2 returns ‖D‖² of the last step or change.
	Norm2() float64
	// Dot returns ⟨D, w⟩, for the path's iterate where w is nil.
	Dot(w []float32) float64

	// Open takes up a path: its iterate, drift (nil: none) and mean (nil: none yet).
	Open(w, b, mean []float32)
	// Advance does a step of the open path, with the D of the last Step.
	Advance(by Stride)
	// Observe takes in the last Step, on so many examples: where all its answers are exact and some moved, ‖D‖²/b² and
	// ⟨D, w − w_0⟩/b, w_0 where the path was opened. Observed returns the sums of both since then.
	Observe(b int)
	Observed() (rise, progress float64, err error)
	// Finish ends the path at work: it copies the iterate, and the mean if that is not nil, to the host.
	Finish(w, mean []float32) error
}

// Stride is a step of a path and what the mean takes of the iterate behind it:
//
//	w ← ρw + q·b + c·D,    b ← b + β·D,    mean ← (1−share)·mean + share·w.
type Stride struct{ Rho, Q, C, Beta, Share float64 }

// RemoteMemory is the content of a Memory on a device.
type RemoteMemory interface {
	// Store and Load copy it to and from the parts of a Memory on the host.
	Load(parts []structured.Part)
	Store(parts []structured.Part) error
	// ToGold is r_i ← γr_i + (1−γ)1_{y_i}; what r_i was does not matter to γ = 0.
	ToGold(γ float32)
}

// NewAcceleratedEngine returns an engine whose work the accelerator of the same objective does.
func NewAcceleratedEngine(o *Objective, threads int, a Accelerator) *Engine {
	e := NewEngine(o, threads)
	e.device = a
	return e
}

// Sibling returns an engine for another objective on the same data and, where this one has one, device.
func (e *Engine) Sibling(o *Objective) (*Engine, error) {
	if e.device == nil {
		return NewEngine(o, e.threads), nil
	}
	a, err := e.device.Sibling(o)
	return NewAcceleratedEngine(o, e.threads, a), err
}

// onDevice is StepAt for an engine that has a device.
func (e *Engine) onDevice(ctx context.Context, w Point, examples []int, s oracles.Smoothing, memory *Memory, dropout uint64) (Step, error) {
	err := e.device.Step(ctx, w.v, examples, e.smoothing(s), memory.Remote(), dropout)
	return Step{Grad: Gradient{device: e.device}, Moved: len(examples), at: w, unseen: true}, err
}

// Fetch fetches the numbers of a step of StepAt that a device has done; those of others are there.
func (s *Step) Fetch() error {
	if !s.unseen {
		return nil
	}
	sums, err := s.Grad.device.Sums()
	s.Linear, s.Smoothed, s.Exact, s.Moved, s.loss = sums.Linear, sums.Smoothed, sums.Exact, sums.Moved, sums.Loss
	s.unseen = false
	return err
}
