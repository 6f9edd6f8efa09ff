package accelerator

import (
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train/engine"
)

// oracle evaluates an objective's loss at the potentials that a scorer left on the device, keeps sums, and creates
// memories. chainKernels and treeKernels do it on the device, hostOracle on the host.
type oracle interface {
	// newEvaluation returns an evaluation of a batch. The scorer's Reserve must be called before its use.
	newEvaluation(b *resident.Batch) evaluation
	// newMemory returns a memory whose content is undefined.
	newMemory() ownedMemory

	// ClearSums zeroes the running sums, ReadSums waits for them, and sums [numSums] holds them on the device.
	ClearSums()
	ReadSums() engine.Sums
	sums() device.Array[float64]
	// NonFinite returns a *engine.NonFiniteError if a potential was not finite since the last call.
	NonFinite() error
	// Free releases the memory, except that of the data and the scorer.
	Free()
}

// evaluation evaluates an objective on one batch, whose examples may change between calls: by kernels
// (kernelEvaluation), or on the host.
type evaluation interface {
	// captured reports whether calls may be part of captured graphs.
	captured() bool
	// Ask scores the batch at w and queries the smoothed oracle; a smooth loss has its own smoothing.
	Ask(w device.Array[float32], s oracles.Smoothing, wantMax bool)
	// Value scores the batch at w and adds Σ c_i f_i to sumPrimal.
	Value(w device.Array[float32])
	// Recall sets the points r_i of the batch's examples in a memory to their answers at w.
	Recall(w device.Array[float32], memory engine.DeviceMemory)
	// Difference computes c_i(u_i − r_i) from the answers u_i and r_i from the memory, or the gold outputs if memory is
	// nil. It adds to all sums.
	Difference(memory engine.DeviceMemory)
	// Change computes c_i(u_i(to) − u_i(from)) and does not change the sums. ReserveChange allocates its memory.
	Change(from, to device.Array[float32], s oracles.Smoothing)
	ReserveChange()
	// smooth reports whether the loss is smooth.
	smooth() bool
	// losses returns arrays [Chains] whose differences are the f_i of the last Ask; without gold, value holds them.
	losses() (value, gold device.Array[float64])
	// Pullback adds Jᵀv to grad [Dim], for v from the last Difference or Change.
	Pullback(grad device.Array[float32])
	// Remember moves the memory of the examples towards the answers: r_i ← (1−γ)r_i + γu_i. RememberBy reads γ [1] on the
	// device.
	Remember(memory engine.DeviceMemory, γ float32)
	RememberBy(memory engine.DeviceMemory, γ device.Array[float32])
	// Free releases the memory, except the batch's.
	Free()
}

// ownedMemory is a memory that its owner frees.
type ownedMemory interface {
	engine.DeviceMemory
	Free()
}

// chainKernels adapts an Objective and its Oracle to the interface oracle.
type chainKernels struct{ *Objective }

func (o chainKernels) newEvaluation(b *resident.Batch) evaluation { return o.NewEvaluation(b) }

func (o chainKernels) newMemory() ownedMemory { return o.NewMemory() }

func (o chainKernels) sums() device.Array[float64] { return o.Sums }

func (o chainKernels) Free() {
	o.Oracle.Free()
	o.Objective.Free()
}
