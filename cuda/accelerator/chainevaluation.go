package accelerator

import (
	"errors"

	"github.com/dsp-go/dsp/cuda/cudanets"
	"github.com/dsp-go/dsp/cuda/cudaoracles"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train/engine"
)

// ChainEvaluation evaluates an Objective on a batch and owns the memory for that. The batch's examples may change between calls. Captured
// graphs may contain calls of all methods but Reserve, ReserveChange and Free.
type ChainEvaluation struct {
	Objective *Objective
	Batch     *resident.Batch
	Scores    cudaoracles.Chains // θ with the constraints applied, without ℓ
	Answer    cudaoracles.Answer // set by Ask or Recall
	V         struct {
		Node device.Array[float32] // [Rows×Y]
		Edge device.Array[float32] // [Y×Y], summed over chains; or [Rows×Y×Y]
	} // the cotangent for Pullback, from the last Difference or Change

	before         cudaoracles.Answer    // used by Change, at the first point
	asked, wantMax bool                  // of the last answer
	labels         device.Array[int32]   // [Rows] used by Value
	moved          device.Array[int32]   // [Chains] zero except between difference and tally
	node, edge     device.Array[float64] // sums of difference's blocks
	groups         struct{ v, u device.Array[float64] }
}

// Entries per block of kernels over rows, and chains per group. The kernels have the same constants.
const (
	blockEntries = 2048
	groupChains  = 16
)

// rowsPerBlock returns how many rows of the given width a block processes. It depends on the width only, so that sums have the same
// bits for all capacities.
func rowsPerBlock(width int) int { return max(1, blockEntries/width) }

func rowBlocks(rows, width int) int { return device.CeilDiv(rows, rowsPerBlock(width)) }

// NewEvaluation returns an evaluation for a batch. Call Reserve before capturing its calls in a graph.
func (o *Objective) NewEvaluation(b *resident.Batch) *ChainEvaluation {
	d, what := o.Data.Device, "potentials and marginals"
	y, perPosition := cudanets.ChainShape(o.Scorer.Form())
	l := &ChainEvaluation{Objective: o, Batch: b, moved: device.New[int32](d, b.Chains, what), labels: device.New[int32](d, b.Rows, what)}
	l.Scores = cudaoracles.Chains{B: b.Chains, N: b.Rows, Y: y, Longest: b.Longest, Offsets: b.Offsets, PerPosition: perPosition,
		Node: device.New[float32](d, b.Rows*y, what)}
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
	l.Answer = o.newAnswer(b)
	device.Zero(d, l.moved)
	return l
}

// newAnswer allocates the oracle's answers for a batch.
func (o *Objective) newAnswer(b *resident.Batch) cudaoracles.Answer {
	d, what := o.Data.Device, "the oracle's answers"
	y, _ := cudanets.ChainShape(o.Scorer.Form())
	return cudaoracles.Answer{
		Value: device.New[float64](d, b.Chains, what), Max: device.New[float64](d, b.Chains, what), Gold: device.New[float64](d, b.Chains, what),
		Exact: device.New[int32](d, b.Chains, what),
		Node:  device.New[float32](d, b.Rows*y, what), Edge: device.New[float32](d, o.edges(b), what),
	}
}

func freeAnswer(d *device.Device, a cudaoracles.Answer) {
	device.Free(d, a.Value)
	device.Free(d, a.Max)
	device.Free(d, a.Gold)
	device.Free(d, a.Exact)
	device.Free(d, a.Node)
	device.Free(d, a.Edge)
}

// Reserve allocates the memory that the scorer and the oracle need for an evaluation with this smoothing. Call it before capturing calls
// in a graph. Graphs captured before Reserve must not be replayed. It returns an error if the device does not support the
// scorer.
func (l *ChainEvaluation) Reserve(s oracles.Smoothing) error {
	o := l.Objective
	if err := o.Scorer.Reserve(l.Batch); err != nil {
		return err
	}
	o.Oracle.ReserveAnswer(&l.Scores, o.smoothing(s))
	o.Oracle.ReserveMax(&l.Scores)
	return o.Data.Device.Err()
}

// ReserveChange allocates memory for Change.
func (l *ChainEvaluation) ReserveChange() {
	if l.before.Value.IsEmpty() {
		l.before = l.Objective.newAnswer(l.Batch)
	}
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
	freeAnswer(d, l.Answer)
	freeAnswer(d, l.before)
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
func (l *ChainEvaluation) constrain(x device.Array[float32], rows, width int, start, end, always device.Array[uint8], shared device.Array[float32], steps int32) {
	o, b, all := l.Objective, l.Batch, rows
	if !shared.IsEmpty() {
		all += width
	}
	o.launchRows("constrain", all, width, 0, x, b.Source, b.Chain, b.Offsets, start, end, always, shared, o.transition,
		int32(rows), int32(width), int32(rowsPerBlock(width)), steps, int32(transitions), o.bad)
}

// launchRows launches a kernel over the rows of an array.
func (o *Objective) launchRows(kernel string, rows, width, shared int, args ...any) {
	o.Data.Device.Launch(kernel, device.Dim{X: rowBlocks(rows, width)}, device.Dim{X: device.BlockThreads}, shared, args...)
}

// Ask scores the batch at w and queries the smoothed oracle; a smooth loss has its own smoothing. wantMax matters for the hinge only.
func (l *ChainEvaluation) Ask(w device.Array[float32], s oracles.Smoothing, wantMax bool) {
	l.asked, l.wantMax = true, wantMax && !l.Objective.Loss.Smooth()
	l.query(w, s, l.wantMax, &l.Answer)
}

func (l *ChainEvaluation) query(w device.Array[float32], s oracles.Smoothing, wantMax bool, answer *cudaoracles.Answer) {
	o := l.Objective
	l.Score(w)
	o.Oracle.Answer(&l.Scores, o.augmentation(l.Batch), o.smoothing(s), answer, wantMax)
}

// Value scores the batch at w and adds Σ c_i f_i to sumPrimal (and sumSmoothed).
func (l *ChainEvaluation) Value(w device.Array[float32]) {
	o, a := l.Objective, l.Objective.augmentation(l.Batch)
	l.Score(w)
	if o.Loss.Smooth() {
		o.Oracle.Exp(&l.Scores, a, 1, l.Answer.Value, device.Array[float32]{}, device.Array[float32]{}, l.Answer.Gold)
	} else {
		o.Oracle.Max(&l.Scores, a, l.labels, l.Answer.Value, l.Answer.Gold)
	}
	none := device.Array[float64]{}
	l.tally(l.Answer.Value, l.Answer.Value, none, none, device.Array[int32]{}, device.Array[int32]{})
}

// Difference sets V to c_i(u_i − r_i) for the answers u_i and adds to all sums. r_i comes from the memory, or is the gold output if memory is
// nil. The memory does not change.
func (l *ChainEvaluation) Difference(memory *Memory) {
	moved := device.Array[int32]{}
	if memory == nil {
		l.difference(device.Array[float32]{}, device.Array[float32]{}, l.Batch.Source, l.Batch.Examples, moved)
	} else {
		moved = l.moved
		l.difference(memory.Node, memory.Edge, l.Batch.Source, l.Batch.Examples, moved)
	}
	value, most, exact := device.Array[float64]{}, device.Array[float64]{}, device.Array[int32]{}
	if l.asked {
		value, exact = l.Answer.Value, l.Answer.Exact
		if l.wantMax {
			most = l.Answer.Max
		}
	}
	l.tally(value, most, l.node, l.edge, exact, moved)
}

// Change sets V to the change of the answers between two points, c_i(u_i(to) − u_i(from)). It does not change the sums.
func (l *ChainEvaluation) Change(from, to device.Array[float32], s oracles.Smoothing) {
	if l.before.Value.IsEmpty() {
		l.Objective.Data.Device.Fail(errors.New("cuda: Change without ReserveChange"))
	}
	l.query(from, s, false, &l.before)
	l.Ask(to, s, false)
	none := device.Array[int32]{}
	l.difference(l.before.Node, l.before.Edge, none, none, none)
}

// Recall sets the points r_i of the batch's examples in the memory to their answers at w.
func (l *ChainEvaluation) Recall(w device.Array[float32], memory *Memory) {
	l.Score(w)
	l.asked = false
	memory.store(l)
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

// difference sets V to c(u − r) and leaves its block sums in l.node and l.edge. The references r are the rows of node and edge at the
// indices source and example, or at the batch's own indices if these are empty; there are no references if node is empty.
func (l *ChainEvaluation) difference(node, edge device.Array[float32], source, example, moved device.Array[int32]) {
	o, b, y, d := l.Objective, l.Batch, l.Scores.Y, l.Objective.Data.Device
	flags := 0
	if o.Task.ByLength {
		flags |= cudaoracles.FlagByLength
	}
	if o.Loss != engine.CRF {
		flags |= cudaoracles.FlagWithLoss
	}
	rows := func(u, r, θ, v device.Array[float32], sums device.Array[float64], width, flags int) {
		o.launchRows("difference", b.Rows, width, device.BlockThreads/32*8, u, r, source, θ, b.Chain, b.Gold, b.Offsets, b.Weight, o.cost,
			v, sums, moved, int32(b.Rows), int32(width), int32(y), int32(rowsPerBlock(width)), int32(flags))
	}
	rows(l.Answer.Node, node, l.Scores.Node, l.V.Node, l.node, y, flags)
	if l.Scores.PerPosition {
		rows(l.Answer.Edge, edge, l.Scores.Edge, l.V.Edge, l.edge, y*y, cudaoracles.FlagPerPosition)
		return
	}
	groups, shared, own := device.CeilDiv(b.Chains, groupChains), 0, 0
	if edge.IsEmpty() {
		shared = groupChains * device.BlockThreads * 4
	}
	if example.IsEmpty() {
		own = 1
	}
	d.Launch("difference_shared", device.Dim{X: groups, Y: device.CeilDiv(y*y, device.BlockThreads)}, device.Dim{X: device.BlockThreads}, shared,
		l.Answer.Edge, edge, b.Examples, b.Gold, b.Offsets, b.Weight, l.groups.v, l.groups.u, moved, int32(b.Chains), int32(y), int32(own))
	d.Launch("difference_total", device.Dim{X: device.CeilDiv(y*y, 32)}, device.Dim{X: device.BlockThreads}, 2*device.BlockThreads*8,
		l.groups.v, l.groups.u, l.Scores.Edge, l.V.Edge, l.edge, int32(groups), int32(y*y))
}

// tally adds to the objective's sums.
func (l *ChainEvaluation) tally(value, most, node, edge device.Array[float64], exact, moved device.Array[int32]) {
	o, b := l.Objective, l.Batch
	flags, pieces := 0, 3
	if o.Loss.Smooth() {
		flags |= smooth
	}
	if !l.Scores.PerPosition {
		flags, pieces = flags|sharedEdges, 2
	}
	o.Data.Device.Launch("tally", device.Dim{X: numSums}, device.Dim{X: device.BlockThreads}, device.BlockThreads/32*8,
		value, most, l.Answer.Gold, exact, b.Examples, b.Weight, node, edge, moved, o.Sums,
		int32(b.Chains), int32(node.Len()/3), int32(edge.Len()/pieces), int32(flags))
}
