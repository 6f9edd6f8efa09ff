package accelerator

import (
	"github.com/dsp-go/dsp/cuda/cudaoracles"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train/engine"
)

// oracle evaluates an objective's loss at the potentials that a scorer left on the device, keeps sums, and creates
// memories. Objective (of chains) and treeKernels do it on the device, hostOracle on the host.
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
	// Remember moves the memory of the examples towards the answers: r_i ← (1−γ)r_i + γu_i. RememberBy reads γ [1] on
	// the device.
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

// Indices of Sums. Each entry is a sum over examples, weighted by c_i, as in engine.Engine. r_i is the gold output, or
// the point in a Memory.
const (
	sumPrimal   = iota // f_i; with the hinge only if the max was computed
	sumSmoothed        // f_i with the smoothed max
	sumLinear          // ⟨u_i − r_i, θ_i + ℓ_i⟩
	sumLoss            // ⟨u_i − r_i, ℓ_i⟩
	sumEntropy         // entropy of u_i, if the loss is a log-partition function
	sumExact           // examples (not weighted) with an exact answer
	sumMoved           // examples (not weighted) with u_i ≠ r_i; all of them if r_i is the gold output
	numSums
)

func readSums(d *device.Device, from device.Array[float64]) engine.Sums {
	var s [numSums]float64
	device.Download(d, s[:], from)
	return engine.Sums{Primal: s[sumPrimal], Smoothed: s[sumSmoothed], Linear: s[sumLinear], Loss: s[sumLoss],
		Entropy: s[sumEntropy],
		Exact:   int(s[sumExact]), Moved: int(s[sumMoved])}
}

// numbersOfSums returns sums as a device has them.
func numbersOfSums(s engine.Sums) [numSums]float64 {
	return [numSums]float64{sumPrimal: s.Primal, sumSmoothed: s.Smoothed, sumLinear: s.Linear, sumLoss: s.Loss,
		sumEntropy: s.Entropy,
		sumExact:   float64(s.Exact), sumMoved: float64(s.Moved)}
}

func smoothingOf(loss engine.Loss, s oracles.Smoothing) oracles.Smoothing {
	if loss.Smooth() {
		return oracles.Smoothing{Kind: oracles.Entropy, Mu: 1}
	}
	return s
}

// kernelEvaluation is the evaluation of a batch by kernels, whatever its structure. It goes the way of an
// engine.Evaluation in fewer steps: an oracle's kernel adds ℓ as it reads potentials, and one kernel takes differences,
// weighs them and sums. So potentials with ℓ are nowhere, and graphs can capture all of it.
type kernelEvaluation struct {
	kernels batchKernels
	loss    engine.Loss
	Answer  cudaoracles.Answer // set by Ask or Recall; of trees, Node has the arcs and Edge the labels
	before  cudaoracles.Answer // used by Change, at the first point

	asked, wantMax bool // of the last answer
}

// batchKernels launches the kernels for the batches of a structure.
type batchKernels interface {
	// Score computes the batch's potentials at w, with constraints.
	Score(w device.Array[float32])
	// find records the first potential that is NaN or +∞, if Score has not done so. The oracle does, too.
	find()
	// newAnswer allocates the oracle's answers.
	newAnswer() cudaoracles.Answer
	// ask sets a to the answers of the smoothed oracle at the potentials.
	ask(s oracles.Smoothing, wantMax bool, a *cudaoracles.Answer)
	// value sets the values of a to those of the loss, and gold to those of the gold outputs.
	value(a *cudaoracles.Answer)
	// difference sets v to c_i(u_i − r_i), and keeps the sums of its blocks.
	difference(u *cudaoracles.Answer, r reference)
	// tally adds the sums of the batch, with those of blocks that the last difference left unless r is nil. Values,
	// maxima and exactness count unless they are empty.
	tally(value, most, gold device.Array[float64], exact device.Array[int32], r *reference)
	// store sets the points of a memory to the answers, and move moves them: r_i ← (1−γ)r_i + γu_i, with by [1] in
	// place of γ unless it is empty.
	store(m engine.DeviceMemory, u *cudaoracles.Answer)
	move(m engine.DeviceMemory, u *cudaoracles.Answer, by device.Array[float32], γ float32)
}

// reference is what answers are compared with: the points of a memory, the answers before of the same batch, or the
// gold outputs if both are nil.
type reference struct {
	memory engine.DeviceMemory
	before *cudaoracles.Answer
}

func newKernelEvaluation(k batchKernels, loss engine.Loss) kernelEvaluation {
	return kernelEvaluation{kernels: k, loss: loss, Answer: k.newAnswer()}
}

func (l *kernelEvaluation) captured() bool { return true }

func (l *kernelEvaluation) smooth() bool { return l.loss.Smooth() }

// ReserveChange allocates memory for Change.
func (l *kernelEvaluation) ReserveChange() {
	if l.before.Value.IsEmpty() {
		l.before = l.kernels.newAnswer()
	}
}

func (l *kernelEvaluation) free(d *device.Device) {
	for _, a := range []cudaoracles.Answer{l.Answer, l.before} {
		device.Free(d, a.Value)
		device.Free(d, a.Max)
		device.Free(d, a.Gold)
		device.Free(d, a.Exact)
		device.Free(d, a.Node)
		device.Free(d, a.Edge)
	}
}

// Ask scores the batch at w and queries the smoothed oracle; a smooth loss has its own smoothing. wantMax matters for
// the hinge only.
func (l *kernelEvaluation) Ask(w device.Array[float32], s oracles.Smoothing, wantMax bool) {
	l.asked, l.wantMax = true, wantMax && !l.loss.Smooth()
	l.kernels.Score(w)
	l.kernels.ask(smoothingOf(l.loss, s), l.wantMax, &l.Answer)
}

// Value scores the batch at w and adds Σ c_i f_i to sumPrimal (and sumSmoothed).
func (l *kernelEvaluation) Value(w device.Array[float32]) {
	a := &l.Answer
	l.kernels.Score(w)
	l.kernels.value(a)
	l.kernels.tally(a.Value, a.Value, a.Gold, device.Array[int32]{}, nil)
}

// Recall sets the points r_i of the batch's examples in the memory to their answers at w.
func (l *kernelEvaluation) Recall(w device.Array[float32], m engine.DeviceMemory) {
	l.kernels.Score(w)
	l.kernels.find()
	l.asked = false
	l.kernels.store(m, &l.Answer)
}

// Difference sets v to c_i(u_i − r_i) for the answers u_i and adds to all sums. r_i comes from the memory, or is the
// gold output if memory is nil. The memory does not change.
func (l *kernelEvaluation) Difference(m engine.DeviceMemory) {
	r, a := reference{memory: m}, &l.Answer
	l.kernels.difference(a, r)
	value, most, exact := device.Array[float64]{}, device.Array[float64]{}, device.Array[int32]{}
	if l.asked {
		value, exact = a.Value, a.Exact
		if l.wantMax {
			most = a.Max
		}
	}
	l.kernels.tally(value, most, a.Gold, exact, &r)
}

// Change sets v to the change of the answers between two points, c_i(u_i(to) − u_i(from)). It does not change the sums.
// A graph that captures it needs ReserveChange before.
func (l *kernelEvaluation) Change(from, to device.Array[float32], s oracles.Smoothing) {
	l.ReserveChange()
	l.kernels.Score(from)
	l.kernels.ask(smoothingOf(l.loss, s), false, &l.before)
	l.Ask(to, s, false)
	l.kernels.difference(&l.Answer, reference{before: &l.before})
}

func (l *kernelEvaluation) losses() (value, gold device.Array[float64]) {
	return l.Answer.Value, l.Answer.Gold
}

// Remember moves the memory of the batch's examples towards their answers: r_i ← (1−γ)r_i + γu_i.
func (l *kernelEvaluation) Remember(m engine.DeviceMemory, γ float32) {
	l.kernels.move(m, &l.Answer, device.Array[float32]{}, γ)
}

// RememberBy is Remember with a γ [1] on the device.
func (l *kernelEvaluation) RememberBy(m engine.DeviceMemory, γ device.Array[float32]) {
	l.kernels.move(m, &l.Answer, γ, 0)
}
