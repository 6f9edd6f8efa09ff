package engine

import (
	"context"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
)

// Place is where the weights are that a device is asked about: in a vector on the host, or on the device.
type Place struct {
	host     []float32
	onDevice bool
}

// Iterate is the iterate of the path or descent that is open on the device.
var Iterate = Place{onDevice: true}

// OnHost is weights in a vector on the host.
func OnHost(w []float32) Place { return Place{host: w} }

// Host returns the vector on the host; the iterate on the device has none.
func (p Place) Host() (w []float32, ok bool) { return p.host, !p.onDevice }

// Accelerator does an engine's work on a device, which holds the objective's data, its scorer, the open path and the
// memories. Its results must equal those of an engine without a device, up to the rounding of float32.
//
// Calls may run asynchronously, and errors are sticky: once a call fails, every later call that returns an error
// returns the same error. A potential that is not finite is a NonFiniteError. Sums run over all examples or over those
// of the batch.
type Accelerator interface {
	// Sibling returns the accelerator of another objective on the same data with the same number of weights. It shares
	// device memory with this one where it can, so the steps and paths of the two must not interleave. Closing this one
	// closes it too.
	Sibling(o *Objective) (Accelerator, error)
	// MoveTo sets the point w_k at which the scorer is linearised.
	MoveTo(w []float32)
	// NewMemory returns a memory of the objective's size. Its content is undefined.
	NewMemory() (DeviceMemory, error)
	// Close frees everything held on the device.
	Close()

	// FullPass asks the smoothed oracle about all examples at w and sets g [Dim] to Σ c_i J_iᵀ(u_i − 1_{y_i}). It
	// stores the u_i in the memory unless that is nil. It fills in every field of Sums.
	FullPass(ctx context.Context, w []float32, s oracles.Smoothing, memory DeviceMemory, g []float32) (Sums, error)
	// Value returns Σ c_i f_i(w) over the given examples.
	Value(ctx context.Context, w []float32, examples []int) (float64, error)
	// Recompose sets g to Σ c_i J_iᵀ(r_i − 1_{y_i}) with r_i from the memory, and returns Σ c_i ⟨r_i − 1_{y_i},
	// θ_i(w) + ℓ_i⟩.
	Recompose(ctx context.Context, w []float32, memory DeviceMemory, g []float32) (linear float64, err error)

	// Step computes D = Σ c_i J_iᵀ(u_i − r_i) of a batch. r_i comes from the memory; with a nil memory it is the gold
	// output. The work may still be running when Step returns.
	Step(ctx context.Context, at Place, examples []int, s oracles.Smoothing, memory DeviceMemory, dropout uint64) error
	// Change computes D = Σ c_i J_iᵀ(u_i(to) − u_i(from)) of a batch.
	Change(ctx context.Context, from, to []float32, examples []int, s oracles.Smoothing) error
	// Remember updates the memory of the last step's examples: r_i ← (1−γ)r_i + γu_i.
	Remember(memory DeviceMemory, γ float32)
	// Sums returns the sums of the last step, without Primal and Entropy.
	Sums() (Sums, error)
	// Norm2 returns ‖D‖² of the last step or change.
	Norm2() float64
	// Dot returns ⟨D, w⟩.
	Dot(w Place) float64

	// Open opens a path with its iterate, drift (nil: none) and mean (nil: none yet).
	Open(w, b, mean []float32)
	// Advance takes a step along the open path with the D of the last Step.
	Advance(by Stride)
	// Observe accumulates ‖D‖²/b² and ⟨D, w − w_0⟩/b of the last Step, on b examples, if all its answers are exact and
	// some moved. w_0 is the iterate at which the path was opened. Observed returns both sums since then.
	Observe(b int)
	Observed() (rise, progress float64, err error)
	// Finish closes the open path: it copies the iterate to the host, and the mean too unless that is nil.
	Finish(w, mean []float32) error
}

// TruncatingAccelerator is an Accelerator whose oracle may change potentials for which it is not exact.
type TruncatingAccelerator interface {
	Accelerator
	// Truncated returns how many times it has since the last call.
	Truncated() int
}

// Stride is one step of a path, and the share of the mean that the new iterate then takes:
//
//	w ← ρw + q·b + c·D,    b ← b + β·D,    mean ← (1−share)·mean + share·w.
type Stride struct{ Rho, Q, C, Beta, Share float64 }

// DeviceMemory is the content of a Memory on a device.
type DeviceMemory interface {
	// Store and Load copy the content to and from the parts of a Memory on the host.
	Load(parts []structured.Part)
	Store(parts []structured.Part) error
	// ToGold sets r_i ← γr_i + (1−γ)1_{y_i}. With γ = 0 the old r_i may be undefined.
	ToGold(γ float32)
}

// DualAscender is an Accelerator that does the line search of a BCFW step (methods/bcfw.go) on the device, so that the
// host never waits for a step.
type DualAscender interface {
	Accelerator
	// Ascend takes the step along the last Step's D on the open path. The mean takes share of the new iterate, and the
	// memory and the books are updated.
	Ascend(memory DeviceMemory, λ, share float64)
	// SetBooks and Books write and read the dual's books.
	SetBooks(b DualBooks)
	Books() (DualBooks, error)
}

// DualBooks are BCFW's data on its dual point: the linear part b of the memory, b of the mean of the iterates, and
// D(ū).
type DualBooks struct{ Linear, Average, Value float64 }

// DualAscender returns the engine's device if it is a DualAscender.
func (e *Engine) DualAscender() (device DualAscender, ok bool) {
	device, ok = e.backend.accelerator().(DualAscender)
	return device, ok
}
