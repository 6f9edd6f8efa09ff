package cudaoracles

import "github.com/dsp-go/dsp/cuda/device"

// BestTrees finds best dependency trees whose relations do not interact, on the device: the trees that oracles/tree
// finds, with the same ties and scores to the bit. A BestTrees owns scratch memory, which grows with the batches.
// Before a call is captured in a graph, call Reserve.
type BestTrees struct {
	d     *device.Device
	score device.Array[float32] // [P] of arcs with their best relations
	chart device.Array[float64] // of sentences that shared memory does not hold
}

// Heads are dependency trees, one per sentence of a batch. A sentence without an allowed tree has −1 in all its words.
type Heads struct {
	Column   device.Array[int32] // [N] of the head in the word's row of pairs; the word's own: the root
	Relation device.Array[int32] // [N]
}

// NewHeads returns memory for the trees of a batch.
func NewHeads(d *device.Device, θ *Trees) Heads {
	return Heads{device.New[int32](d, θ.N, "trees"), device.New[int32](d, θ.N, "trees")}
}

// Free releases the memory.
func (h Heads) Free(d *device.Device) {
	device.Free(d, h.Column)
	device.Free(d, h.Relation)
}

// NewBestTrees returns an oracle without scratch memory.
func NewBestTrees(d *device.Device) *BestTrees { return &BestTrees{d: d} }

// Free releases the scratch memory.
func (o *BestTrees) Free() {
	device.Free(o.d, o.score)
	device.Free(o.d, o.chart)
	*o = BestTrees{d: o.d}
}

// Reserve allocates scratch memory for batches of these capacities: 4 bytes per pair, and 16 more if a sentence may be
// too long for shared memory.
func (o *BestTrees) Reserve(θ *Trees) {
	const what = "best trees"
	device.Grow(o.d, &o.score, θ.P, what)
	switch {
	case θ.bestChart() <= mostTreeShared:
	case θ.NonProjective:
		device.Grow(o.d, &o.chart, 2*θ.P+10*θ.N, what)
	default:
		device.Grow(o.d, &o.chart, 2*θ.P+3*θ.N, what)
	}
}

// bestChart returns how many float64 the longest sentence needs; see cuda/devicecode/cudaoracles/bestprojective.cu and
// contraction.cu.
func (θ *Trees) bestChart() int {
	n := θ.Longest
	if θ.NonProjective {
		return 2*n*n + 10*n
	}
	return (3*n*(n|1) + n + 1) / 2
}

// Max finds the best tree of every sentence at θ+ℓ, and writes its score there to value [B]: −∞ without an allowed
// tree. Among trees with equal scores it takes the one that oracles/tree takes, and among relations the first.
func (o *BestTrees) Max(θ *Trees, a GoldTrees, best Heads, value device.Array[float64], find FiniteTrees) {
	o.Reserve(θ)
	byPair, block := device.Dim{X: device.CeilDiv(θ.P, treeWarps)}, device.Dim{X: device.BlockThreads}
	o.d.Launch("tree_scores", byPair, block, 0, θ.Offsets, θ.Pairs, a.Source, a.Head, a.Relation,
		find.Examples, θ.Arc, θ.Label, int32(θ.B), int32(θ.P), int32(θ.R), a.flags(), o.score, find.Bad)
	kernel, threads, chart := "best_projective", device.BlockThreads, min(θ.bestChart(), mostTreeShared)
	if θ.NonProjective {
		kernel, threads = "best_spanning", 32
	}
	o.d.Launch(kernel, device.Dim{X: θ.B}, device.Dim{X: threads}, 8*chart, θ.Offsets, θ.Pairs, o.score,
		best.Column, o.chart, int32(chart))
	o.d.Launch("tree_answers", device.Dim{X: θ.B}, block, 8*device.BlockThreads, θ.Offsets, θ.Pairs, a.Source, a.Head,
		a.Relation, θ.Arc, θ.Label,
		int32(θ.R), a.flags(), best.Column, best.Relation, value)
}

// Indicators sets arc [P] and label [P×R] to the indicators of trees: 1 where a tree has an arc or a relation, else 0,
// also in padding.
func (o *BestTrees) Indicators(θ *Trees, best Heads, arc, label device.Array[float32]) {
	o.d.Launch("tree_indicators", device.Dim{X: device.CeilDiv(θ.P, treeWarps)}, device.Dim{X: device.BlockThreads}, 0,
		θ.Offsets, θ.Pairs, best.Column, best.Relation, int32(θ.B), int32(θ.P), int32(θ.R), arc, label)
}
