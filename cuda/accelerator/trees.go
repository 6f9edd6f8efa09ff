package accelerator

import (
	"errors"
	"fmt"
	"math"

	"github.com/dsp-go/dsp/cuda/cudanets"
	"github.com/dsp-go/dsp/cuda/cudaoracles"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees"
	"github.com/dsp-go/dsp/train/engine"
)

// treeKernels evaluates losses of dependency trees on the device.
type treeKernels struct {
	data      *resident.Data
	loss      engine.Loss
	scorer    cudanets.Scorer
	sum       *cudaoracles.TreeSums
	best      *cudaoracles.BestTrees
	relations int
	crossing  bool // arcs may cross

	pairs          int                 // of words, in the data
	first          device.Array[int32] // [n+1] first pair of each example
	head, relation device.Array[int32] // [ΣT] gold, as in cudaoracles.GoldTrees
	onto           device.Array[float64]
	bad            device.Array[int32] // [1] first example with a potential that is NaN or +∞
}

// hasTreeKernels reports whether treeKernels evaluates an objective of trees whose arcs score apart: with a smooth
// loss, and with the hinge unless the K best trees smooth it.
func hasTreeKernels(o *engine.Objective, s oracles.Smoothing) bool {
	of, tree := o.Scorer.Form().Structure.(trees.SpanningTree)
	_, task := o.Task.(trees.Hamming)
	return tree && !of.Siblings && (o.Loss.Smooth() || o.Loss == engine.Hinge && s.Kind != oracles.L2) &&
		(task || o.Task == nil) && o.Constraints == nil
}

func newTreeKernels(data *resident.Data, of *engine.Objective, scorer cudanets.Scorer) (*treeKernels, error) {
	d, set, form := data.Device, data.Set, scorer.Form()
	o := &treeKernels{data: data, loss: of.Loss, scorer: scorer, sum: cudaoracles.NewTreeSums(d),
		best: cudaoracles.NewBestTrees(d), relations: form.Parts[1].Width,
		crossing: form.Structure.(trees.SpanningTree).NonProjective}
	first, head, relation := []int32{0}, []int32(nil), []int32(nil)
	for i := range set.Len() {
		gold, n := set.Gold(i), set.Length(i)
		if o.pairs += n * n; o.pairs > math.MaxInt32 {
			return nil, device.Unsupported("%s: the sentences have more than %d pairs of words, which is what a CUDA device "+
				"supports", set.Name, math.MaxInt32)
		}
		first = append(first, int32(o.pairs))
		for word, h := range gold[:n] {
			if h == 0 {
				h = int32(word) + 1 // the root's column is the word's own
			}
			head = append(head, h-1)
		}
		relation = append(relation, gold[n:]...)
	}
	o.first, o.head, o.relation = device.NewFrom(d, first, "the pairs"), device.NewFrom(d, head, "the gold trees"),
		device.NewFrom(d, relation, "the gold trees")
	o.onto, o.bad = device.New[float64](d, numSums, "sums"), device.NewFrom(d, []int32{allNumbers}, "an example")
	o.ClearSums()
	return o, nil
}

func (o *treeKernels) Free() {
	d := o.data.Device
	o.sum.Free()
	o.best.Free()
	for _, x := range []device.Array[int32]{o.first, o.head, o.relation, o.bad} {
		device.Free(d, x)
	}
	device.Free(d, o.onto)
}

func (o *treeKernels) ClearSums() { device.Zero(o.data.Device, o.onto) }

func (o *treeKernels) ReadSums() engine.Sums { return readSums(o.data.Device, o.onto) }

func (o *treeKernels) sums() device.Array[float64] { return o.onto }

func (o *treeKernels) NonFinite() error {
	return badExample(o.data, o.bad)
}

// badExample returns a *engine.NonFiniteError for the example of the data that bad [1] holds, and resets bad; nil if
// there is none.
func badExample(data *resident.Data, bad device.Array[int32]) error {
	d, at := data.Device, [1]int32{allNumbers}
	device.Download(d, at[:], bad)
	if at[0] == allNumbers || d.Err() != nil {
		return nil
	}
	device.Upload(d, bad, []int32{allNumbers})
	return &engine.NonFiniteError{Where: fmt.Sprintf("example %d (%s)", at[0], data.Set.Where(int(at[0])))}
}

// treeEvaluation evaluates the loss on a batch.
type treeEvaluation struct {
	kernelEvaluation
	*treeKernels
	batch  *resident.Batch
	θ      cudaoracles.Trees // without ℓ
	heads  cudaoracles.Heads // of the best trees; empty for smooth losses, as the answers' Max is
	v      cudanets.Parts
	blocks device.Array[float64] // sums of tree_difference's blocks
	moved  device.Array[int32]   // [Chains] zero except between tree_difference and tally
	index  device.Array[int32]   // [Others] pair of the data of each pair, for memories
}

func (o *treeKernels) newEvaluation(b *resident.Batch) evaluation {
	d, what := o.data.Device, "potentials and marginals"
	l := &treeEvaluation{treeKernels: o, batch: b, moved: device.New[int32](d, b.Chains, what),
		v:      cudanets.Parts{device.New[float32](d, b.Others, what), device.New[float32](d, b.Others*o.relations, what)},
		blocks: device.New[float64](d, 3*rowBlocks(b.Others, 1+o.relations), what),
		index:  device.New[int32](d, b.Others, what)}
	l.θ = newTrees(d, b, o.scorer.Form())
	device.Zero(d, l.moved)
	if o.sum.Reserve(&l.θ); !o.loss.Smooth() {
		o.best.Reserve(&l.θ)
		l.heads = cudaoracles.NewHeads(d, &l.θ)
	}
	l.kernelEvaluation = newKernelEvaluation(l, o.loss)
	return l
}

// newAnswer allocates answers, all of which are exact.
func (l *treeEvaluation) newAnswer() (a cudaoracles.Answer) {
	d, b, what := l.data.Device, l.batch, "the oracle's answers"
	a = cudaoracles.Answer{
		Value: device.New[float64](d, b.Chains, what), Gold: device.New[float64](d, b.Chains, what),
		Node: device.New[float32](d, b.Others, what), Edge: device.New[float32](d, b.Others*l.relations, what),
		Exact: device.New[int32](d, b.Chains, what),
	}
	if !l.treeKernels.loss.Smooth() {
		a.Max = device.New[float64](d, b.Chains, what)
	}
	d.Launch("ones", device.Dim{X: device.CeilDiv(b.Chains, device.BlockThreads)}, device.Dim{X: device.BlockThreads}, 0,
		a.Exact, int32(b.Chains))
	return a
}

func (l *treeEvaluation) Free() {
	d := l.data.Device
	for _, x := range []device.Array[float32]{l.θ.Arc, l.θ.Label, l.v[0], l.v[1]} {
		device.Free(d, x)
	}
	for _, x := range []device.Array[int32]{l.moved, l.index} {
		device.Free(d, x)
	}
	device.Free(d, l.blocks)
	l.heads.Free(d)
	l.free(d)
}

func (l *treeEvaluation) trees() cudaoracles.GoldTrees {
	return cudaoracles.GoldTrees{Source: l.batch.Source, Head: l.head, Relation: l.relation,
		Loss: l.treeKernels.loss != engine.CRF}
}

func (l *treeEvaluation) finite() cudaoracles.FiniteTrees {
	return cudaoracles.FiniteTrees{Examples: l.batch.Examples, Bad: l.bad}
}

func (l *treeEvaluation) Score(w device.Array[float32]) {
	l.scorer.Score(w, l.batch, cudanets.Parts{l.θ.Arc, l.θ.Label})
}

func (l *treeEvaluation) find() { l.sum.Find(&l.θ, l.finite()) }

func (l *treeEvaluation) ask(s oracles.Smoothing, wantMax bool, a *cudaoracles.Answer) {
	switch s.Kind {
	case oracles.Entropy:
		l.sum.Exp(&l.θ, l.trees(), s.Mu, a.Value, a.Node, a.Edge, l.finite())
		if wantMax {
			l.best.Max(&l.θ, l.trees(), l.heads, a.Max, l.finite())
		}
	case oracles.None:
		l.best.Max(&l.θ, l.trees(), l.heads, a.Value, l.finite())
		l.best.Indicators(&l.θ, l.heads, a.Node, a.Edge)
		if wantMax {
			device.Copy(l.data.Device, a.Max, a.Value)
		}
	default:
		l.data.Device.Fail(errors.New("cuda: kernels of trees smooth by entropy only"))
	}
	l.trees().Score(l.data.Device, &l.θ, a.Gold)
}

func (l *treeEvaluation) value(a *cudaoracles.Answer) {
	var none device.Array[float32]
	if l.smooth() {
		l.sum.Exp(&l.θ, l.trees(), 1, a.Value, none, none, l.finite())
	} else {
		l.best.Max(&l.θ, l.trees(), l.heads, a.Value, l.finite())
	}
	l.trees().Score(l.data.Device, &l.θ, a.Gold)
}

func (l *treeEvaluation) store(of engine.DeviceMemory, a *cudaoracles.Answer) {
	l.indices()
	m := of.(*treeMemory)
	rows := func(u, r device.Array[float32], width int) {
		l.launchRows("recall", width, u, l.index, r, int32(l.θ.P), int32(width), int32(rowsPerBlock(width)))
	}
	rows(a.Node, m.arc, 1)
	rows(a.Edge, m.label, l.relations)
}

// launchRows launches a kernel over rows of a width, one per pair.
func (l *treeEvaluation) launchRows(kernel string, width int, args ...any) {
	l.data.Device.Launch(kernel, device.Dim{X: rowBlocks(l.θ.P, width)}, device.Dim{X: device.BlockThreads}, 0, args...)
}

// indices finds the pairs of the data that the batch has.
func (l *treeEvaluation) indices() {
	l.data.Device.Launch("pair_sources", device.Dim{X: device.CeilDiv(l.θ.P, device.BlockThreads)},
		device.Dim{X: device.BlockThreads}, 0,
		l.batch.Examples, l.batch.Pairs, l.first, int32(l.θ.B), uint32(l.θ.P), l.index)
}

func (l *treeEvaluation) difference(u *cudaoracles.Answer, r reference) {
	var arc, label device.Array[float32] // the rows of r, if it has any, at the indices
	var index, moved device.Array[int32]
	if r.before != nil {
		arc, label = r.before.Node, r.before.Edge
	} else if r.memory != nil {
		l.indices()
		m := r.memory.(*treeMemory)
		arc, label, index, moved = m.arc, m.label, l.index, l.moved
	}
	gold, rows := l.trees(), rowsPerBlock(1+l.relations)
	flags := device.Flag(gold.Loss)
	l.data.Device.Launch("tree_difference", device.Dim{X: rowBlocks(l.θ.P, 1+l.relations)},
		device.Dim{X: device.BlockThreads}, device.BlockThreads/32*8,
		u.Node, u.Edge, arc, label, index, l.θ.Arc, l.θ.Label, l.θ.Offsets, l.θ.Pairs, gold.Source, gold.Head, gold.Relation,
		l.batch.Weight, l.v[0], l.v[1], l.blocks, moved, int32(l.θ.B), int32(l.θ.P), int32(l.θ.R), int32(rows), flags)
}

func (l *treeEvaluation) tally(value, most, gold device.Array[float64], exact device.Array[int32], r *reference) {
	var none, blocks device.Array[float64]
	var moved device.Array[int32]
	b, flags := l.batch, 0
	if l.smooth() {
		flags = smooth
	}
	if r != nil {
		blocks = l.blocks
		if r.memory != nil {
			moved = l.moved
		}
	}
	l.data.Device.Launch("tally", device.Dim{X: numSums}, device.Dim{X: device.BlockThreads}, device.BlockThreads/32*8,
		value, most, gold, exact, b.Examples, b.Weight, blocks, none, moved, l.onto, int32(b.Chains), int32(blocks.Len()/3),
		int32(0), int32(flags))
}

func (l *treeEvaluation) Pullback(grad device.Array[float32]) { l.scorer.Pullback(l.v, grad) }

func (l *treeEvaluation) move(of engine.DeviceMemory, a *cudaoracles.Answer, by device.Array[float32], γ float32) {
	l.indices()
	m := of.(*treeMemory)
	rows := func(u, r device.Array[float32], width int) {
		l.launchRows("remember", width, u, l.index, device.Array[int32]{}, l.batch.Offsets, r, by, γ, int32(l.θ.P),
			int32(width), int32(rowsPerBlock(width)))
	}
	rows(a.Node, m.arc, 1)
	rows(a.Edge, m.label, l.relations)
}

// treeMemory is an engine.Memory of trees on a device.
type treeMemory struct {
	of         *treeKernels
	arc, label device.Array[float32] // [pairs], [pairs×R]
}

func (o *treeKernels) newMemory() ownedMemory {
	d := o.data.Device
	return &treeMemory{o, device.New[float32](d, o.pairs, "a memory"),
		device.New[float32](d, o.pairs*o.relations, "a memory")}
}

func (m *treeMemory) Free() {
	device.Free(m.of.data.Device, m.arc)
	device.Free(m.of.data.Device, m.label)
}

func (m *treeMemory) ToGold(γ float32) {
	o := m.of
	if γ == 1 {
		return
	}
	o.data.Device.Launch("tree_to_gold", device.Dim{X: device.CeilDiv(o.pairs, device.BlockThreads/32)},
		device.Dim{X: device.BlockThreads}, 0,
		m.arc, m.label, o.data.Offsets, o.first, o.head, o.relation, γ, int32(o.data.Set.Len()), int32(o.pairs),
		int32(o.relations))
}

func (m *treeMemory) Store(parts []structured.Part) error {
	return store(m.of.data.Device, parts, m.arc, m.label)
}

func (m *treeMemory) Load(parts []structured.Part) {
	load(m.of.data.Device, parts, m.arc, m.label)
}
