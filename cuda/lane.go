package cuda

import (
	"errors"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train/engine"
)

// Lane evaluates an Objective on one batch, over and over with other examples, and owns the memory for that. All but NewLane
// and Free may be part of captured graphs.
type Lane struct {
	Objective *Objective
	Batch     *Batch
	Scores    Chains // θ with the constraints applied, without ℓ
	Answer    Answer // of the last Ask, or what Recall put there
	V         struct {
		Node Array[float32] // [Rows×Y]
		Edge Array[float32] // [Y×Y], summed over chains; or [Rows×Y×Y]
	} // what Pullback takes: of the last Difference or Change

	before         Answer         // of Change, at the other point
	asked, wantMax bool           // what the answer came from
	labels         Array[int32]   // [Rows] of Value
	moved          Array[int32]   // [Chains]; zero but between difference and tally
	node, edge     Array[float64] // sums of difference's blocks
	groups         struct{ v, u Array[float64] }
}

// Entries of a block of kernels over rows, chains of a group: as the kernels count on.
const (
	blockEntries = 2048
	groupChains  = 16
)

// rowsPerBlock returns how many rows of that width a block takes. It depends on nothing else: sums have the same bits
// whatever the capacities.
func rowsPerBlock(width int) int { return max(1, blockEntries/width) }

func rowBlocks(rows, width int) int { return blocks(rows, rowsPerBlock(width)) }

// NewLane returns a lane for a batch. The scorer and the oracle must have room for it before it is used.
func (o *Objective) NewLane(b *Batch) *Lane {
	d, what := o.Data.Device, "potentials and marginals"
	y, perPosition := chainShape(o.Scorer.Form())
	l := &Lane{Objective: o, Batch: b, moved: New[int32](d, b.Chains, what), labels: New[int32](d, b.Rows, what)}
	l.Scores = Chains{B: b.Chains, N: b.Rows, Y: y, Longest: b.Longest, Offsets: b.Offsets, PerPosition: perPosition,
		Node: New[float32](d, b.Rows*y, what)}
	l.V.Node = New[float32](d, b.Rows*y, what)
	l.node = New[float64](d, 3*rowBlocks(b.Rows, y), what)
	if l.Scores.PerPosition {
		l.Scores.Edge = New[float32](d, b.Rows*y*y, what)
		l.V.Edge = New[float32](d, b.Rows*y*y, what)
		l.edge = New[float64](d, 3*rowBlocks(b.Rows, y*y), what)
	} else {
		l.Scores.Edge = New[float32](d, y*y, what)
		l.V.Edge = New[float32](d, y*y, what)
		l.edge = New[float64](d, 2*blocks(y*y, 32), what)
		l.groups.v = New[float64](d, blocks(b.Chains, groupChains)*y*y, what)
		l.groups.u = New[float64](d, blocks(b.Chains, groupChains)*y*y, what)
	}
	l.Answer = o.newAnswer(b)
	Zero(d, l.moved)
	return l
}

// newAnswer returns room for the oracle's answers about a batch.
func (o *Objective) newAnswer(b *Batch) Answer {
	d, what := o.Data.Device, "the oracle's answers"
	y, _ := chainShape(o.Scorer.Form())
	return Answer{
		Value: New[float64](d, b.Chains, what), Max: New[float64](d, b.Chains, what), Gold: New[float64](d, b.Chains, what),
		Exact: New[int32](d, b.Chains, what),
		Node:  New[float32](d, b.Rows*y, what), Edge: New[float32](d, o.edges(b), what),
	}
}

func freeAnswer(d *Device, a Answer) {
	Free(d, a.Value)
	Free(d, a.Max)
	Free(d, a.Gold)
	Free(d, a.Exact)
	Free(d, a.Node)
	Free(d, a.Edge)
}

// Reserve makes room in the scorer and the oracle for what the lane will ask of them with that smoothing, before it is part of
// captured graphs: graphs that were captured with less room are not to be replayed any more. It refuses what the scorer
// cannot do on the device.
func (l *Lane) Reserve(s oracles.Smoothing) error {
	o := l.Objective
	if err := o.Scorer.Reserve(l.Batch); err != nil {
		return err
	}
	o.Oracle.ReserveAnswer(&l.Scores, o.smoothing(s))
	o.Oracle.ReserveMax(&l.Scores)
	return o.Data.Device.Err()
}

// ReserveChange makes room for Change, too.
func (l *Lane) ReserveChange() {
	if l.before.Value.IsEmpty() {
		l.before = l.Objective.newAnswer(l.Batch)
	}
}

// Free gives the memory back, but for the batch's.
func (l *Lane) Free() {
	d := l.Objective.Data.Device
	for _, x := range []Array[float32]{l.Scores.Node, l.Scores.Edge, l.V.Node, l.V.Edge} {
		Free(d, x)
	}
	for _, x := range []Array[float64]{l.node, l.edge, l.groups.v, l.groups.u} {
		Free(d, x)
	}
	Free(d, l.moved)
	Free(d, l.labels)
	freeAnswer(d, l.Answer)
	freeAnswer(d, l.before)
}

// Score computes the batch's potentials at w, notes those that are no numbers and applies the constraints.
func (l *Lane) Score(w Array[float32]) {
	o, b, y := l.Objective, l.Batch, l.Scores.Y
	o.Scorer.Score(w, b, l.Scores.Parts())
	allowed, edges := Array[uint8]{}, l.Scores.Edge
	if l.Scores.PerPosition {
		l.constrain(edges, b.Rows, y*y, allowed, allowed, o.transition, Array[float32]{}, 1)
		edges = Array[float32]{}
	}
	l.constrain(l.Scores.Node, b.Rows, y, o.start, o.end, allowed, edges, 0)
}

// constrain launches the kernel for rows of x and, unless they are empty, edges that all chains share.
func (l *Lane) constrain(x Array[float32], rows, width int, start, end, always Array[uint8], shared Array[float32], steps int32) {
	o, b, all := l.Objective, l.Batch, rows
	if !shared.IsEmpty() {
		all += width
	}
	o.launchRows("constrain", all, width, 0, x, b.Source, b.Chain, b.Offsets, start, end, always, shared, o.transition,
		int32(rows), int32(width), int32(rowsPerBlock(width)), steps, int32(transitions), o.bad)
}

// launchRows launches a kernel over the rows of an array.
func (o *Objective) launchRows(kernel string, rows, width, shared int, args ...any) {
	o.Data.Device.Launch(kernel, Dim{X: rowBlocks(rows, width)}, Dim{X: blockThreads}, shared, args...)
}

// Ask scores the batch at w and asks the smoothed oracle; a smooth loss has its own smoothing. Only the hinge has a max to want.
func (l *Lane) Ask(w Array[float32], s oracles.Smoothing, wantMax bool) {
	l.asked, l.wantMax = true, wantMax && !l.Objective.Loss.Smooth()
	l.ask(w, s, l.wantMax, &l.Answer)
}

func (l *Lane) ask(w Array[float32], s oracles.Smoothing, wantMax bool, answer *Answer) {
	o := l.Objective
	l.Score(w)
	o.Oracle.Answer(&l.Scores, o.augmentation(l.Batch), o.smoothing(s), answer, wantMax)
}

// Value scores the batch at w and adds Σ c_i f_i to SumPrimal (and SumSmoothed).
func (l *Lane) Value(w Array[float32]) {
	o, a := l.Objective, l.Objective.augmentation(l.Batch)
	l.Score(w)
	if o.Loss.Smooth() {
		o.Oracle.Exp(&l.Scores, a, 1, l.Answer.Value, Array[float32]{}, Array[float32]{}, l.Answer.Gold)
	} else {
		o.Oracle.Max(&l.Scores, a, l.labels, l.Answer.Value, l.Answer.Gold)
	}
	none := Array[float64]{}
	l.tally(l.Answer.Value, l.Answer.Value, none, none, Array[int32]{}, Array[int32]{})
}

// Difference sets V to c_i(u_i − r_i) for the answers u_i, where r_i is what the memory holds or (nil) the gold output, and
// adds to all sums. The memory stays as it is.
func (l *Lane) Difference(memory *Memory) {
	moved := Array[int32]{}
	if memory == nil {
		l.difference(Array[float32]{}, Array[float32]{}, l.Batch.Source, l.Batch.Examples, moved)
	} else {
		moved = l.moved
		l.difference(memory.Node, memory.Edge, l.Batch.Source, l.Batch.Examples, moved)
	}
	value, most, exact := Array[float64]{}, Array[float64]{}, Array[int32]{}
	if l.asked {
		value, exact = l.Answer.Value, l.Answer.Exact
		if l.wantMax {
			most = l.Answer.Max
		}
	}
	l.tally(value, most, l.node, l.edge, exact, moved)
}

// Change sets V to what changes in the answers from one point to another, c_i(u_i(to) − u_i(from)). It adds to no sums.
func (l *Lane) Change(from, to Array[float32], s oracles.Smoothing) {
	if l.before.Value.IsEmpty() {
		l.Objective.Data.Device.fail(errors.New("cuda: Change without ReserveChange"))
	}
	l.ask(from, s, false, &l.before)
	l.Ask(to, s, false)
	none := Array[int32]{}
	l.difference(l.before.Node, l.before.Edge, none, none, none)
}

// Recall makes r_i the answers for the batch at w.
func (l *Lane) Recall(w Array[float32], memory *Memory) {
	l.Score(w)
	l.asked = false
	memory.recall(l)
}

// Pullback adds Jᵀv to grad [Dim], for the v of the last Difference or Change.
func (l *Lane) Pullback(grad Array[float32]) {
	l.Objective.Scorer.Pullback(Parts{l.V.Node, l.V.Edge}, grad)
}

// Flags of cuda/kernels/tally.cu.
const (
	smooth = 1 << iota
	sharedEdges
)

// difference sets V to c(u − r) and leaves its sums in node and edge. References are rows of node and edge: those that source
// and example number, or the batch's own where these are empty; none where node is.
func (l *Lane) difference(node, edge Array[float32], source, example, moved Array[int32]) {
	o, b, y, d := l.Objective, l.Batch, l.Scores.Y, l.Objective.Data.Device
	flags := 0
	if o.Task.ByLength {
		flags |= byLength
	}
	if o.Loss != engine.CRF {
		flags |= withLoss
	}
	rows := func(u, r, θ, v Array[float32], sums Array[float64], width, flags int) {
		o.launchRows("difference", b.Rows, width, blockThreads/32*8, u, r, source, θ, b.Chain, b.Gold, b.Offsets, b.Weight, o.cost,
			v, sums, moved, int32(b.Rows), int32(width), int32(y), int32(rowsPerBlock(width)), int32(flags))
	}
	rows(l.Answer.Node, node, l.Scores.Node, l.V.Node, l.node, y, flags)
	if l.Scores.PerPosition {
		rows(l.Answer.Edge, edge, l.Scores.Edge, l.V.Edge, l.edge, y*y, perPosition)
		return
	}
	groups, shared, own := blocks(b.Chains, groupChains), 0, 0
	if edge.IsEmpty() {
		shared = groupChains * blockThreads * 4
	}
	if example.IsEmpty() {
		own = 1
	}
	d.Launch("difference_shared", Dim{X: blocks(y*y, blockThreads), Y: groups}, Dim{X: blockThreads}, shared,
		l.Answer.Edge, edge, b.Examples, b.Gold, b.Offsets, b.Weight, l.groups.v, l.groups.u, moved, int32(b.Chains), int32(y), int32(own))
	d.Launch("difference_total", Dim{X: blocks(y*y, 32)}, Dim{X: blockThreads}, 2*blockThreads*8,
		l.groups.v, l.groups.u, l.Scores.Edge, l.V.Edge, l.edge, int32(groups), int32(y*y))
}

// tally adds to the objective's sums.
func (l *Lane) tally(value, most, node, edge Array[float64], exact, moved Array[int32]) {
	o, b := l.Objective, l.Batch
	flags, pieces := 0, 3
	if o.Loss.Smooth() {
		flags |= smooth
	}
	if !l.Scores.PerPosition {
		flags, pieces = flags|sharedEdges, 2
	}
	o.Data.Device.Launch("tally", Dim{X: NumSums}, Dim{X: blockThreads}, blockThreads/32*8,
		value, most, l.Answer.Gold, exact, b.Examples, b.Weight, node, edge, moved, o.Sums,
		int32(b.Chains), int32(node.Len()/3), int32(edge.Len()/pieces), int32(flags))
}
