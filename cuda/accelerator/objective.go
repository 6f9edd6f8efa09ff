package accelerator

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/dsp-go/dsp/cuda/cudanets"
	"github.com/dsp-go/dsp/cuda/cudaoracles"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/train/engine"
)

// Objective is the part of an engine.Objective between potentials and cotangents, on a device: the loss f_i with its
// constraints and example weights. Its evaluations work batch by batch and add to its sums.
type Objective struct {
	Data   *resident.Data
	Loss   engine.Loss
	Task   chains.Hamming
	Scorer cudanets.Scorer
	Oracle *cudaoracles.Oracle
	Sums   device.Array[float64] // [numSums] running sums; see sumPrimal and those after it

	cost                   device.Array[float32] // [Y] cost of a wrong label, or empty
	start, end, transition device.Array[uint8]   // 1 for what constraints forbid, or empty
	bad                    device.Array[int32]   // [1] first position in the data with a potential that is NaN or +∞
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

// HasKernels reports whether there are kernels for the objective, with the hinge's max smoothed by s: there are for
// chains with chains.Hamming and chains.Constraints, and for dependency trees unless the K best trees smooth the hinge.
// For other objectives an accelerator uses the structure's oracle on the host.
func HasKernels(o *engine.Objective, s oracles.Smoothing) bool {
	return hasChainKernels(o) || hasTreeKernels(o, s)
}

func hasChainKernels(o *engine.Objective) bool {
	_, chain := o.Scorer.Form().Structure.(chains.Chain)
	_, task := o.Task.(chains.Hamming)
	_, constraints := o.Constraints.(*chains.Constraints)
	return chain && (task || o.Task == nil) && (constraints || o.Constraints == nil)
}

// CheckObjective refuses, as bad input, an objective that the device cannot evaluate: the quadratic loss, marginals in
// place of gold outputs, partial gold labels, more labels or positions than the kernels support, or a scorer of sparse
// inputs for a structure other than chains.
func CheckObjective(o *engine.Objective) error {
	d := o.Data
	if o.Loss == engine.Quadratic {
		return device.Unsupported("%s: a CUDA device cannot train with the loss %v", d.Name, o.Loss)
	}
	if o.Soft || o.Completion != nil {
		return device.Unsupported("%s: a CUDA device cannot train on marginals in place of gold outputs", d.Name)
	}
	if d.Readings != nil {
		return device.Unsupported("%s: a CUDA device cannot train on lines of which only is known what they read", d.Name)
	}
	if len(d.LabelSets) > 0 && slices.ContainsFunc(d.Labels, func(l int32) bool { return l < 0 }) {
		return device.Unsupported("%s: a CUDA device cannot train on partial labels", d.Name)
	}
	form := o.Scorer.Form()
	if hasChainKernels(o) && form.Parts[0].Width > cudaoracles.MaxLabels {
		return device.Unsupported("%s: %d labels, a CUDA device supports up to %d", d.Name, form.Parts[0].Width,
			cudaoracles.MaxLabels)
	}
	if err := checkSparse(o.Scorer); err != nil {
		return err
	}
	if err := checkOwnOps(o.Scorer); err != nil {
		return err
	}
	if n := d.Positions(); n >= transitions {
		return device.Unsupported("%s: %d positions, a CUDA device supports fewer than %d", d.Name, n, transitions)
	}
	return nil
}

// Values of bad: all potentials are finite or −∞; a shared edge potential is not.
const (
	allNumbers  = math.MaxInt32
	transitions = math.MaxInt32 - 1
)

// NewObjective returns the device's side of an objective of chains on data. CheckObjective must accept the objective,
// and HasKernels must report true.
func NewObjective(data *resident.Data, o *engine.Objective, scorer cudanets.Scorer,
	oracle *cudaoracles.Oracle) *Objective {
	d := data.Device
	task, _ := o.Task.(chains.Hamming)
	to := &Objective{Data: data, Loss: o.Loss, Task: task, Scorer: scorer, Oracle: oracle,
		Sums: device.New[float64](d, numSums, "sums"),
		cost: device.NewFrom(d, task.LabelWeights, "label weights"),
		bad:  device.New[int32](d, 1, "a position"),
	}
	if c, _ := o.Constraints.(*chains.Constraints); c != nil {
		to.start = device.NewFrom(d, asBytes(c.Start), "constraints")
		to.end = device.NewFrom(d, asBytes(c.End), "constraints")
		to.transition = device.NewFrom(d, asBytes(c.Transition), "constraints")
	}
	device.Upload(d, to.bad, []int32{allNumbers})
	to.ClearSums()
	return to
}

// Free releases the memory, except that of Data and Scorer.
func (o *Objective) Free() {
	d := o.Data.Device
	o.Oracle.Free()
	device.Free(d, o.Sums)
	device.Free(d, o.cost)
	device.Free(d, o.start)
	device.Free(d, o.end)
	device.Free(d, o.transition)
	device.Free(d, o.bad)
}

// ClearSums zeroes the running sums. It may be part of a captured graph.
func (o *Objective) ClearSums() { device.Zero(o.Data.Device, o.Sums) }

// ReadSums waits for the running sums and returns them.
func (o *Objective) ReadSums() engine.Sums { return readSums(o.Data.Device, o.Sums) }

func readSums(d *device.Device, from device.Array[float64]) engine.Sums {
	var s [numSums]float64
	device.Download(d, s[:], from)
	return engine.Sums{Primal: s[sumPrimal], Smoothed: s[sumSmoothed], Linear: s[sumLinear], Loss: s[sumLoss],
		Entropy: s[sumEntropy],
		Exact:   int(s[sumExact]), Moved: int(s[sumMoved])}
}

func (o *Objective) sums() device.Array[float64] { return o.Sums }

func (o *Objective) newEvaluation(b *resident.Batch) evaluation { return o.NewEvaluation(b) }

func (o *Objective) newMemory() ownedMemory { return o.NewMemory() }

// numbersOfSums returns sums as a device has them.
func numbersOfSums(s engine.Sums) [numSums]float64 {
	return [numSums]float64{sumPrimal: s.Primal, sumSmoothed: s.Smoothed, sumLinear: s.Linear, sumLoss: s.Loss,
		sumEntropy: s.Entropy,
		sumExact:   float64(s.Exact), sumMoved: float64(s.Moved)}
}

// NonFinite waits, and returns a *engine.NonFiniteError that names the first example of the data with a potential that
// was NaN or +∞ since the last call, or nil. Sums and gradients computed since then contain such values.
func (o *Objective) NonFinite() error {
	d, at := o.Data.Device, [1]int32{allNumbers}
	device.Download(d, at[:], o.bad)
	if at[0] == allNumbers || d.Err() != nil {
		return nil
	}
	device.Upload(d, o.bad, []int32{allNumbers})
	if at[0] == transitions {
		return &engine.NonFiniteError{Where: "transitions"}
	}
	set := o.Data.Set
	i := sort.Search(set.Len(), func(i int) bool { return set.Offsets[i+1] > int(at[0]) })
	return &engine.NonFiniteError{Where: fmt.Sprintf("example %d (%s)", i, set.Where(i))}
}

// smoothing returns the oracle's smoothing: the loss's own log-sum-exp, or the chosen smoothing of the max.
func (o *Objective) smoothing(s oracles.Smoothing) oracles.Smoothing { return smoothingOf(o.Loss, s) }

func smoothingOf(loss engine.Loss, s oracles.Smoothing) oracles.Smoothing {
	if loss.Smooth() {
		return oracles.Smoothing{Kind: oracles.Entropy, Mu: 1}
	}
	return s
}

// augmentation returns the loss ℓ of a batch.
func (o *Objective) augmentation(b *resident.Batch) cudaoracles.Augmentation {
	return cudaoracles.Augmentation{Gold: b.Gold, Cost: o.cost, ByLength: o.Task.ByLength, Loss: o.Loss != engine.CRF}
}

// edges returns the size of the edge part of a batch's marginals.
func (o *Objective) edges(b *resident.Batch) int {
	y, perPosition := cudanets.ChainShape(o.Scorer.Form())
	if perPosition {
		return b.Rows * y * y
	}
	return b.Chains * y * y
}

func asBytes(x []bool) []uint8 {
	to := make([]uint8, len(x))
	for i, v := range x {
		if v {
			to[i] = 1
		}
	}
	return to
}
