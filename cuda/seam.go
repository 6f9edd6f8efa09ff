package cuda

import (
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train/engine"
)

// oracle is what an accelerator asks about the potentials of an objective: its loss, with sums, and memories. chainKernels answers on
// the device, hostOracle on the host.
type oracle interface {
	// newStrand returns what works on a batch. The scorer must have room for it before it is used.
	newStrand(b *Batch) strand
	// newMemory returns a memory whose content is not defined.
	newMemory() ownedMemory

	// ClearSums makes the running sums zero, ReadSums waits for them, and sums [NumSums] has them on the device.
	ClearSums()
	ReadSums() engine.Sums
	sums() Array[float64]
	// NonFinite returns a *engine.NonFiniteError where a potential was not finite since the last call.
	NonFinite() error
	// Free gives the memory back, but for that of the data and the scorer.
	Free()
}

// strand evaluates an objective on one batch, over and over with other examples: what Lane does.
type strand interface {
	// captured reports whether calls may be part of captured graphs.
	captured() bool
	// Ask scores the batch at w and asks the smoothed oracle; a smooth loss has its own smoothing.
	Ask(w Array[float32], s oracles.Smoothing, wantMax bool)
	// Value scores the batch at w and adds Σ c_i f_i to SumPrimal.
	Value(w Array[float32])
	// Recall makes what a memory holds the answers for the batch at w.
	Recall(w Array[float32], memory engine.RemoteMemory)
	// Difference finds c_i(u_i − r_i) for the answers u_i, r_i what a memory holds or (nil) the gold output, and adds to all sums.
	Difference(memory engine.RemoteMemory)
	// Change finds c_i(u_i(to) − u_i(from)), and adds to no sums. ReserveChange makes room for it.
	Change(from, to Array[float32], s oracles.Smoothing)
	ReserveChange()
	// Pullback adds Jᵀv to grad [Dim], for the v of the last Difference or Change.
	Pullback(grad Array[float32])
	// Remember moves a memory of the examples towards the answers: r_i ← (1−γ)r_i + γu_i. RememberBy has γ [1] on the device.
	Remember(memory engine.RemoteMemory, γ float32)
	RememberBy(memory engine.RemoteMemory, γ Array[float32])
	// Free gives the memory back, but for the batch's.
	Free()
}

// ownedMemory is a memory that somebody gives back.
type ownedMemory interface {
	engine.RemoteMemory
	Free()
}

// chainKernels is an Objective, and its Oracle, as an accelerator asks it.
type chainKernels struct{ *Objective }

func (o chainKernels) newStrand(b *Batch) strand { return chainLane{o.NewLane(b)} }

func (o chainKernels) newMemory() ownedMemory { return o.NewMemory() }

func (o chainKernels) sums() Array[float64] { return o.Sums }

func (o chainKernels) Free() {
	o.Oracle.Free()
	o.Objective.Free()
}

// chainLane is a Lane as an accelerator uses it.
type chainLane struct{ *Lane }

func (l chainLane) captured() bool { return true }

func (l chainLane) Difference(m engine.RemoteMemory) { l.Lane.Difference(memoryOf(m)) }

func (l chainLane) Recall(w Array[float32], m engine.RemoteMemory) { l.Lane.Recall(w, memoryOf(m)) }

func (l chainLane) Remember(m engine.RemoteMemory, γ float32) { memoryOf(m).Remember(l.Lane, γ) }

func (l chainLane) RememberBy(m engine.RemoteMemory, γ Array[float32]) {
	memoryOf(m).RememberBy(l.Lane, γ)
}

func memoryOf(m engine.RemoteMemory) *Memory {
	if m == nil {
		return nil
	}
	return m.(*Memory)
}
