package accelerator

import (
	"fmt"
	"math"
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

func (o *Objective) sums() device.Array[float64] { return o.Sums }

func (o *Objective) newEvaluation(b *resident.Batch) evaluation { return o.NewEvaluation(b) }

func (o *Objective) newMemory() ownedMemory { return o.NewMemory() }

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

// ChainEvaluation evaluates an Objective on a batch and owns the memory for that. The batch's examples may change
// between calls. Captured graphs may contain calls of all methods but Reserve, ReserveChange and Free.
type ChainEvaluation struct {
	kernelEvaluation
	Objective *Objective
	Batch     *resident.Batch
	Scores    cudaoracles.Chains // θ with the constraints applied, without ℓ
	V         struct {
		Node device.Array[float32] // [Rows×Y]
		Edge device.Array[float32] // [Y×Y], summed over chains; or [Rows×Y×Y]
	} // the cotangent for Pullback, from the last Difference or Change

	labels     device.Array[int32]   // [Rows] used by Value
	moved      device.Array[int32]   // [Chains] zero except between difference and tally
	node, edge device.Array[float64] // sums of difference's blocks
	groups     struct{ v, u device.Array[float64] }
}

// Entries per block of kernels over rows, and chains per group. The kernels have the same constants.
const (
	blockEntries = 2048
	groupChains  = 16
)

// rowsPerBlock returns how many rows of the given width a block processes. It depends on the width only, so that sums
// have the same bits for all capacities.
func rowsPerBlock(width int) int { return max(1, blockEntries/width) }

func rowBlocks(rows, width int) int { return device.CeilDiv(rows, rowsPerBlock(width)) }

// NewEvaluation returns an evaluation for a batch. Call Reserve before capturing its calls in a graph.
func (o *Objective) NewEvaluation(b *resident.Batch) *ChainEvaluation {
	d, what := o.Data.Device, "potentials and marginals"
	y, perPosition := cudanets.ChainShape(o.Scorer.Form())
	l := &ChainEvaluation{Objective: o, Batch: b, moved: device.New[int32](d, b.Chains, what),
		labels: device.New[int32](d, b.Rows, what)}
	l.Scores = cudaoracles.Chains{B: b.Chains, N: b.Rows, Y: y, Longest: b.Longest, Offsets: b.Offsets,
		PerPosition: perPosition,
		Node:        device.New[float32](d, b.Rows*y, what)}
	l.V.Node = device.New[float32](d, b.Rows*y, what)
	l.node = device.New[float64](d, 3*rowBlocks(b.Rows, y), what)
	if l.Scores.PerPosition {
		l.Scores.Edge = device.New[float32](d, b.Rows*y*y, what)
		l.V.Edge = device.New[float32](d, b.Rows*y*y, what)
		l.edge = device.New[float64](d, 3*rowBlocks(b.Rows, y*y), what)
	} else {
		l.Scores.Edge = device.New[float32](d, y*y, what)
		l.V.Edge = device.New[float32](d, y*y, what)
		l.edge = device.New[float64](d, 2*device.CeilDiv(y*y, 32), what)
		l.groups.v = device.New[float64](d, device.CeilDiv(b.Chains, groupChains)*y*y, what)
		l.groups.u = device.New[float64](d, device.CeilDiv(b.Chains, groupChains)*y*y, what)
	}
	l.kernelEvaluation = newKernelEvaluation(l, o.Loss)
	device.Zero(d, l.moved)
	return l
}

func (l *ChainEvaluation) newAnswer() cudaoracles.Answer {
	o, b, d, what := l.Objective, l.Batch, l.Objective.Data.Device, "the oracle's answers"
	y, _ := cudanets.ChainShape(o.Scorer.Form())
	return cudaoracles.Answer{
		Value: device.New[float64](d, b.Chains, what), Max: device.New[float64](d, b.Chains, what),
		Gold:  device.New[float64](d, b.Chains, what),
		Exact: device.New[int32](d, b.Chains, what),
		Node:  device.New[float32](d, b.Rows*y, what), Edge: device.New[float32](d, o.edges(b), what),
	}
}

// Reserve allocates the memory that the scorer and the oracle need for an evaluation with this smoothing. Call it
// before capturing calls in a graph. Graphs captured before Reserve must not be replayed. It returns an error if the
// device does not support the scorer.
func (l *ChainEvaluation) Reserve(s oracles.Smoothing) error {
	o := l.Objective
	if err := o.Scorer.Reserve(l.Batch); err != nil {
		return err
	}
	o.Oracle.ReserveAnswer(&l.Scores, o.smoothing(s))
	o.Oracle.ReserveMax(&l.Scores)
	return o.Data.Device.Err()
}

// Free releases the memory, except the batch's.
func (l *ChainEvaluation) Free() {
	d := l.Objective.Data.Device
	for _, x := range []device.Array[float32]{l.Scores.Node, l.Scores.Edge, l.V.Node, l.V.Edge} {
		device.Free(d, x)
	}
	for _, x := range []device.Array[float64]{l.node, l.edge, l.groups.v, l.groups.u} {
		device.Free(d, x)
	}
	device.Free(d, l.moved)
	device.Free(d, l.labels)
	l.free(d)
}

// Score computes the batch's potentials at w, records the first that is NaN or +∞, and applies the constraints.
func (l *ChainEvaluation) Score(w device.Array[float32]) {
	o, b, y := l.Objective, l.Batch, l.Scores.Y
	o.Scorer.Score(w, b, l.Scores.Parts())
	allowed, edges := device.Array[uint8]{}, l.Scores.Edge
	if l.Scores.PerPosition {
		l.constrain(edges, b.Rows, y*y, allowed, allowed, o.transition, device.Array[float32]{}, 1)
		edges = device.Array[float32]{}
	}
	l.constrain(l.Scores.Node, b.Rows, y, o.start, o.end, allowed, edges, 0)
}

// constrain launches the kernel for the rows of x and, unless it is empty, for the edges that all chains share.
func (l *ChainEvaluation) constrain(x device.Array[float32], rows, width int, start, end, always device.Array[uint8],
	shared device.Array[float32], steps int32) {
	o, b, all := l.Objective, l.Batch, rows
	if !shared.IsEmpty() {
		all += width
	}
	o.launchRows("constrain", all, width, 0, x, b.Source, b.Chain, b.Offsets, start, end, always, shared, o.transition,
		int32(rows), int32(width), int32(rowsPerBlock(width)), steps, int32(transitions), o.bad)
}

// launchRows launches a kernel over the rows of an array.
func (o *Objective) launchRows(kernel string, rows, width, shared int, args ...any) {
	o.Data.Device.Launch(kernel, device.Dim{X: rowBlocks(rows, width)}, device.Dim{X: device.BlockThreads}, shared,
		args...)
}

func (l *ChainEvaluation) find() {}

func (l *ChainEvaluation) ask(s oracles.Smoothing, wantMax bool, a *cudaoracles.Answer) {
	l.Objective.Oracle.Answer(&l.Scores, l.Objective.augmentation(l.Batch), s, a, wantMax)
}

func (l *ChainEvaluation) value(a *cudaoracles.Answer) {
	o, ℓ, none := l.Objective, l.Objective.augmentation(l.Batch), device.Array[float32]{}
	if o.Loss.Smooth() {
		o.Oracle.Exp(&l.Scores, ℓ, 1, a.Value, none, none, a.Gold)
	} else {
		o.Oracle.Max(&l.Scores, ℓ, l.labels, a.Value, a.Gold)
	}
}

// Pullback adds Jᵀv to grad [Dim], for v from the last Difference or Change.
func (l *ChainEvaluation) Pullback(grad device.Array[float32]) {
	l.Objective.Scorer.Pullback(cudanets.Parts{l.V.Node, l.V.Edge}, grad)
}

// Flags of cuda/devicecode/accelerator/tally.cu.
const (
	smooth = 1 << iota
	sharedEdges
)

func (l *ChainEvaluation) difference(u *cudaoracles.Answer, r reference) {
	o, b, y, d := l.Objective, l.Batch, l.Scores.Y, l.Objective.Data.Device
	var node, edge device.Array[float32] // the rows of r, if it has any, at the indices source and example
	source, example, moved := b.Source, b.Examples, l.movedFrom(&r)
	if r.before != nil {
		node, edge, source, example = r.before.Node, r.before.Edge, device.Array[int32]{}, device.Array[int32]{}
	} else if r.memory != nil {
		m := r.memory.(*Memory)
		node, edge = m.Node, m.Edge
	}
	flags := 0
	if o.Task.ByLength {
		flags |= cudaoracles.FlagByLength
	}
	if o.Loss != engine.CRF {
		flags |= cudaoracles.FlagWithLoss
	}
	rows := func(u, r, θ, v device.Array[float32], sums device.Array[float64], width, flags int) {
		o.launchRows("difference", b.Rows, width, device.BlockThreads/32*8, u, r, source, θ, b.Chain, b.Gold, b.Offsets,
			b.Weight, o.cost,
			v, sums, moved, int32(b.Rows), int32(width), int32(y), int32(rowsPerBlock(width)), int32(flags))
	}
	rows(u.Node, node, l.Scores.Node, l.V.Node, l.node, y, flags)
	if l.Scores.PerPosition {
		rows(u.Edge, edge, l.Scores.Edge, l.V.Edge, l.edge, y*y, cudaoracles.FlagPerPosition)
		return
	}
	groups, shared, own := device.CeilDiv(b.Chains, groupChains), 0, 0
	if edge.IsEmpty() {
		shared = groupChains * device.BlockThreads * 4
	}
	if example.IsEmpty() {
		own = 1
	}
	d.Launch("difference_shared", device.Dim{X: groups, Y: device.CeilDiv(y*y, device.BlockThreads)},
		device.Dim{X: device.BlockThreads}, shared,
		u.Edge, edge, b.Examples, b.Gold, b.Offsets, b.Weight, l.groups.v, l.groups.u, moved, int32(b.Chains), int32(y),
		int32(own))
	d.Launch("difference_total", device.Dim{X: device.CeilDiv(y*y, 32)}, device.Dim{X: device.BlockThreads},
		2*device.BlockThreads*8,
		l.groups.v, l.groups.u, l.Scores.Edge, l.V.Edge, l.edge, int32(groups), int32(y*y))
}

// movedFrom returns where difference notes which examples have moved from the points of a memory, and tally counts
// them.
func (l *ChainEvaluation) movedFrom(r *reference) device.Array[int32] {
	if r.memory == nil {
		return device.Array[int32]{}
	}
	return l.moved
}

func (l *ChainEvaluation) tally(value, most, gold device.Array[float64], exact device.Array[int32], r *reference) {
	o, b := l.Objective, l.Batch
	var node, edge device.Array[float64]
	var moved device.Array[int32]
	if r != nil {
		node, edge, moved = l.node, l.edge, l.movedFrom(r)
	}
	flags, pieces := 0, 3
	if o.Loss.Smooth() {
		flags |= smooth
	}
	if !l.Scores.PerPosition {
		flags, pieces = flags|sharedEdges, 2
	}
	o.Data.Device.Launch("tally", device.Dim{X: numSums}, device.Dim{X: device.BlockThreads}, device.BlockThreads/32*8,
		value, most, gold, exact, b.Examples, b.Weight, node, edge, moved, o.Sums,
		int32(b.Chains), int32(node.Len()/3), int32(edge.Len()/pieces), int32(flags))
}
