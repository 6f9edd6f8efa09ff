package cudaoracles

import (
	"fmt"
	"math/bits"

	"github.com/dsp-go/dsp/cuda/device"
)

// Trees are the potentials of a ragged batch of sentences on the device, in the layout of trees.SpanningTree: one row
// per pair of words of a sentence. The capacities below are the sizes of the arrays. The current batch may be smaller:
// sentences beyond it have no words.
type Trees struct {
	B, N, P, R    int                   // capacities: sentences, words, pairs of words; relations
	Longest       int                   // words of the longest sentence, or more
	NonProjective bool                  // arcs may cross
	Offsets       device.Array[int32]   // [B+1]; sentence b owns words Offsets[b] to Offsets[b+1]-1
	Pairs         device.Array[int32]   // [B+1]; and pairs Pairs[b] to Pairs[b+1]-1
	Arc           device.Array[float32] // [P]
	Label         device.Array[float32] // [P×R]
}

// GoldTrees are the gold trees of a batch, and the task loss trees.Hamming. The zero value has none.
type GoldTrees struct {
	Source device.Array[int32] // [N] position in the data of each word of the batch
	// by position in the data: the column of the gold head in a word's row of pairs, and the gold relation; −1: none
	Head, Relation device.Array[int32]
	Loss           bool // add the loss to the potentials; otherwise the gold trees only have a score
}

// FiniteTrees finds potentials that are NaN or +∞. The zero value does not look for them.
type FiniteTrees struct {
	Examples device.Array[int32] // [B] index in the data of each sentence
	// [1] the least such index of a sentence with such a potential, if it is below what Bad holds
	Bad device.Array[int32]
}

// TreeSums sums over dependency trees whose relations do not interact, on the device. Every run gives the same bits. A
// TreeSums owns scratch memory, which grows with the batches. Before a call is captured in a graph, call Reserve.
type TreeSums struct {
	d          *device.Device
	score      device.Array[float64] // [P] of arcs with their relations
	top, share device.Array[float32] // [P] of the relations of a pair
	declined   device.Array[int32]   // [B] what float64 cannot hold
	chart      device.Array[float64] // of sentences that shared memory does not hold
}

// NewTreeSums returns an oracle on a device.
func NewTreeSums(d *device.Device) *TreeSums { return &TreeSums{d: d} }

// Free releases the scratch memory.
func (o *TreeSums) Free() {
	device.Free(o.d, o.score)
	device.Free(o.d, o.top)
	device.Free(o.d, o.share)
	device.Free(o.d, o.declined)
	device.Free(o.d, o.chart)
	*o = TreeSums{d: o.d}
}

// Reserve allocates scratch memory for batches of these capacities: 16 bytes per pair, and 40 more if a sentence may be
// too long for shared memory.
func (o *TreeSums) Reserve(θ *Trees) {
	const what = "sums over trees"
	device.Grow(o.d, &o.score, θ.P, what)
	device.Grow(o.d, &o.top, θ.P, what)
	device.Grow(o.d, &o.share, θ.P, what)
	device.Grow(o.d, &o.declined, θ.B, what)
	switch {
	case θ.chart() <= mostTreeShared:
	case θ.NonProjective:
		device.Grow(o.d, &o.chart, 4*θ.P+60*θ.N, what)
	default:
		device.Grow(o.d, &o.chart, 5*(θ.P+θ.N), what)
	}
}

// mostTreeShared is how many float64 of shared memory a block takes for sums over trees or for the best one: 96 KiB, of
// which an H200's multiprocessor holds two. Tests change it.
var mostTreeShared = 12 << 10

// chart returns how many float64 the longest sentence needs; see cuda/devicecode/cudaoracles/matrixtree.cu and
// eisner.cu.
func (θ *Trees) chart() int {
	n := θ.Longest
	if !θ.NonProjective {
		return 5*n*(n|1) + 2
	}
	strips, levels := n*((n+1)|1), bits.Len(uint(max(1, n)-1))
	for q := range levels {
		strips += n * (((n+1<<q-1)>>q + 1) | 1)
	}
	return strips + n*n + 6*n + 2
}

const withTreeLoss = 1 // cuda/devicecode/include/pairs.cuh

func (a GoldTrees) flags() int32 {
	if a.Loss {
		return withTreeLoss
	}
	return 0
}

// Exp writes μ·log Σ exp(⟨θ+ℓ,1_y⟩/μ) of every sentence to value [B] and its gradient to arc [P] and label [P×R], with
// 0 in padding; empty arrays are not computed, and the value has the same bits. A sentence without allowed trees has
// value −∞ and zero marginals.
//
// Sums over trees are in float64, with the errors that the CPU's have. Sums over relations err by those of float32.
func (o *TreeSums) Exp(θ *Trees, a GoldTrees, μ float64, value device.Array[float64], arc, label device.Array[float32],
	find FiniteTrees) {
	if !(μ > 0) {
		o.d.Fail(fmt.Errorf("cuda: sums over trees at temperature %g, expected more than 0", μ))
		return
	}
	byPair, block := o.relations(θ, a, μ, find)
	// with more threads it has too few registers
	kernel, threads, chart := "projective_sums", 192, min(θ.chart(), mostTreeShared)
	if θ.NonProjective {
		kernel, threads = "tree_sums", 256
	}
	for _, name := range []string{kernel, kernel + "_in_logs"} {
		o.d.Launch(name, device.Dim{X: θ.B}, device.Dim{X: threads}, 8*chart, θ.Offsets, θ.Pairs, o.score, μ, value, arc,
			o.declined, o.chart, int32(chart))
	}
	if !label.IsEmpty() {
		o.d.Launch("tree_labels", byPair, block, 0, θ.Offsets, θ.Pairs, a.Source, a.Head, a.Relation, θ.Label,
			int32(θ.B), int32(θ.P), int32(θ.R), μ, a.flags(), o.top, o.share, arc, label)
	}
}

// Score writes the score of the gold trees, without the loss, to gold [B].
func (a GoldTrees) Score(d *device.Device, θ *Trees, gold device.Array[float64]) {
	d.Launch("tree_gold", device.Dim{X: device.CeilDiv(θ.B, treeWarps)}, device.Dim{X: device.BlockThreads}, 0,
		θ.Offsets, θ.Pairs, a.Source, a.Head, a.Relation, θ.Arc, θ.Label, int32(θ.B), int32(θ.R), gold)
}

// Find looks for potentials that are not finite, without an answer.
func (o *TreeSums) Find(θ *Trees, find FiniteTrees) { o.relations(θ, GoldTrees{}, 1, find) }

const treeWarps = device.BlockThreads / 32 // per block of the kernels with a warp per pair or sentence

// relations computes the scores of arcs with their relations. It returns the grid and block of kernels with a warp per
// pair.
func (o *TreeSums) relations(θ *Trees, a GoldTrees, μ float64, find FiniteTrees) (byPair, block device.Dim) {
	o.Reserve(θ)
	byPair, block = device.Dim{X: device.CeilDiv(θ.P, treeWarps)}, device.Dim{X: device.BlockThreads}
	o.d.Launch("tree_relations", byPair, block, 0, θ.Offsets, θ.Pairs, a.Source, a.Head, a.Relation,
		find.Examples, θ.Arc, θ.Label, int32(θ.B), int32(θ.P), int32(θ.R), μ, a.flags(), o.score, o.top, o.share, find.Bad)
	return byPair, block
}
