package accelerator

import (
	"github.com/dsp-go/dsp/cuda/cudanets"
	"github.com/dsp-go/dsp/cuda/cudaoracles"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train/engine"
)

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
