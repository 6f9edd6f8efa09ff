package cudaoracles

import (
	"errors"
	"fmt"

	"github.com/dsp-go/dsp/cuda/device"
)

// mostScaled is the largest number of labels whose transitions forward_backward_32 to _128 hold in registers.
const mostScaled = 128

// expScratch is the scratch memory of Exp.
type expScratch struct {
	bounds   device.Array[float32] // [3] bounds on shared edges
	from, to device.Array[float32] // [Y×Y] exponentials of shared edges, and their transpose
	// [Y×Y] the same as Wide numbers, each with its own exponent: cuda/devicecode/cudaoracles/gibbs.cuh
	wideFrom, wideTo device.Array[uint64]
	scale            device.Array[float32] // [N×4] Scale in cuda/devicecode/cudaoracles/scaled.cuh
	declined         device.Array[int32]   // [B]
	prefix, suffix   device.Array[uint64]  // [N×Y] Wide
	mass             device.Array[uint64]  // [N] Wide
}

func (s *expScratch) free(d *device.Device) {
	for _, x := range []device.Array[float32]{s.bounds, s.from, s.to, s.scale} {
		device.Free(d, x)
	}
	for _, x := range []device.Array[uint64]{s.wideFrom, s.wideTo, s.prefix, s.suffix, s.mass} {
		device.Free(d, x)
	}
	device.Free(d, s.declined)
	*s = expScratch{}
}

// Exp writes μ·log Σ_y exp(⟨θ+ℓ,1_y⟩/μ) of every chain to value [B], and its gradient to node [N×Y] and edge ([B×Y×Y],
// or [N×Y×Y] with θ.PerPosition), with 0 in padding. An empty edge is not computed, nor is node if both are empty. Exp
// writes the score of a.Gold to gold [B], unless that is empty. A chain without allowed outputs has value −∞ and zero
// marginals.
//
// A kernel checks whether float32 probabilities can hold the range of the potentials divided by μ. If so, Exp uses
// them. For other chains, and for edges per position between more than 128 labels, it uses Wide numbers, each with its
// own exponent. A few very long chains are processed in parallel along time. Scratch memory is about 16·N·Y + 24·Y²
// bytes.
func (o *Oracle) Exp(θ *Chains, a Augmentation, μ float64, value device.Array[float64],
	node, edge device.Array[float32], gold device.Array[float64]) {
	switch {
	case !o.supports(θ):
		return
	case !(μ > 0):
		o.d.Fail(fmt.Errorf("cuda: Exp at temperature %g, expected more than 0", μ))
	case node.IsEmpty() && !edge.IsEmpty() && θ.N > 0:
		o.d.Fail(errors.New("cuda: Exp needs node marginals if it computes edge marginals"))
	}
	o.reserveExp(θ)
	if θ.areLong() {
		o.runExpLong(θ, a, μ, value, node, edge, gold)
	} else {
		o.runExp(θ, a, μ, value, node, edge, gold)
	}
}

// runExp is Exp with one block per chain.
func (o *Oracle) runExp(θ *Chains, a Augmentation, μ float64, value device.Array[float64],
	node, edge device.Array[float32], gold device.Array[float64]) {
	s := &o.exp
	launch := func(kernel string, grid, block device.Dim, shared int, args ...any) {
		o.d.Launch(kernel, grid, block, shared, append(append(θ.arguments(a), int32(θ.N), μ), args...)...)
	}
	if !θ.PerPosition {
		o.powersOfEdges(θ, μ)
	}
	q := device.CeilDiv(θ.Y, 32) // warps that cover all labels; also the tiles per side of the edge matrix
	var declined device.Array[int32]
	// whether this kernel writes padding; the chains whose edges wide_pairs computes
	lead, edgesOf := int32(0), s.declined
	switch numbers := 4*32*q + 32*q*q + 4*q + 2*q*q + q*q*32*33; { // struct Role of cuda/devicecode/cudaoracles/scaled.cuh
	case θ.Y <= mostScaled && θ.PerPosition:
		declined = s.declined
		launch(fmt.Sprintf("forward_backward_each_%d", 32*q), device.Dim{X: θ.B}, device.Dim{X: 32 * q * q}, 4*numbers,
			value, node, edge, s.scale, declined, gold)
	case θ.Y <= mostScaled:
		declined = s.declined
		launch(fmt.Sprintf("forward_backward_%d", 32*q), device.Dim{X: θ.B}, device.Dim{X: 32 * q * q}, 4*numbers,
			s.from, s.to, s.bounds, value, node, edge, s.scale, declined, gold)
	case !θ.PerPosition:
		declined, edgesOf = s.declined, device.Array[int32]{}
		o.expLarge(θ, a, μ, value, node, gold)
	default:
		lead, edgesOf = 1, device.Array[int32]{}
	}
	kernel := "wide_sums"
	if θ.PerPosition {
		kernel = "wide_sums_per_position"
	}
	chains := int32(θ.B)
	launch(kernel, device.Dim{X: wideBlocks(θ, declined, 32*q)}, device.Dim{X: 32 * q}, 8*θ.Y+4*32,
		s.wideFrom, s.wideTo, declined, value, node, s.prefix, s.suffix, s.mass, gold, lead, chains)
	if !edge.IsEmpty() {
		const threads = 256
		launch("wide_pairs", device.Dim{X: wideBlocks(θ, edgesOf, q*q*threads), Y: q * q}, device.Dim{X: threads}, 0,
			s.wideFrom, edgesOf, s.prefix, s.suffix, s.mass, edge, chains)
	}
}

// expLarge computes values and node marginals of the chains that it does not decline, for many labels with shared
// edges.
func (o *Oracle) expLarge(θ *Chains, a Augmentation, μ float64, value device.Array[float64], node device.Array[float32],
	gold device.Array[float64]) {
	s, of, threads := &o.exp, chainsPerBlock(θ), device.CeilDiv(θ.Y, 32)*32
	launch := func(kernel string, args ...any) {
		shared := 4 * (of*(6*threads+5*32) + of + 1) // struct Block of cuda/devicecode/cudaoracles/forwardbackwardlarge.cu
		o.d.Launch(fmt.Sprintf("%s_large_%d", kernel, of), device.Dim{X: device.CeilDiv(θ.B, of)},
			device.Dim{X: threads}, shared,
			append(append(θ.arguments(a), int32(θ.B)), args...)...)
	}
	launch("forward", int32(θ.N), μ, s.from, s.bounds, value, node, s.scale, s.prefix, s.declined, gold)
	if !node.IsEmpty() {
		launch("backward", μ, s.to, s.bounds, node, s.scale, s.prefix, s.suffix, s.mass, s.declined)
	}
}

// busyThreads is how many threads of wide_sums or wide_pairs a large device runs at once. Tests change it.
var busyThreads = 1024 * deviceful

// wideBlocks returns how many blocks process the chains: one for each chain, but where most have nothing to do, only as
// many as run at once. threads is how many a chain takes.
func wideBlocks(θ *Chains, declined device.Array[int32], threads int) int {
	if declined.IsEmpty() {
		return θ.B
	}
	return min(θ.B, max(1, busyThreads/threads))
}

// powersOfEdges computes the exponentials of shared edges.
func (o *Oracle) powersOfEdges(θ *Chains, μ float64) {
	s := &o.exp
	o.d.Launch("edge_bounds", device.Dim{X: 1}, device.Dim{X: 1024}, 3*32*4, θ.Edge, int32(θ.Y), s.bounds)
	o.d.Launch("edge_powers", device.Dim{X: device.CeilDiv(θ.Y*θ.Y, 256)}, device.Dim{X: 256}, 0,
		θ.Edge, int32(θ.Y), μ, s.bounds, s.from, s.to, s.wideFrom, s.wideTo)
}

// reserveExp allocates scratch memory for Exp on chains of these capacities.
func (o *Oracle) reserveExp(θ *Chains) {
	if θ.areLong() {
		o.reserveExpLong(θ)
	}
	s, d, what := &o.exp, o.d, "forward-backward"
	cells, matrix := θ.N*θ.Y, θ.Y*θ.Y
	if !θ.PerPosition {
		device.Grow(d, &s.from, matrix, what)
		device.Grow(d, &s.to, matrix, what)
		device.Grow(d, &s.wideFrom, matrix, what)
		device.Grow(d, &s.wideTo, matrix, what)
	}
	device.Grow(d, &s.bounds, 3, what)
	device.Grow(d, &s.scale, 4*θ.N, what)
	device.Grow(d, &s.declined, θ.B, what)
	device.Grow(d, &s.prefix, cells, what)
	device.Grow(d, &s.suffix, cells, what)
	device.Grow(d, &s.mass, θ.N, what)
}

// supports reports whether the kernels support chains of these capacities; if not, it sets the device's error.
func (o *Oracle) supports(θ *Chains) bool {
	if θ.Y < 1 || θ.Y > MaxLabels {
		o.d.Fail(fmt.Errorf("cuda: %d labels; oracles on a device support 1 to %d", θ.Y, MaxLabels))
		return false
	}
	return true
}
