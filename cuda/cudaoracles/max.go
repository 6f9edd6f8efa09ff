package cudaoracles

import (
	"fmt"

	"github.com/dsp-go/dsp/cuda/device"
)

// maxScratch holds what Max passes between its kernels.
type maxScratch struct {
	scores   device.Array[float32] // [N×Y] δ, with shared edges
	pointers device.Array[uint8]   // [N×Y×2] back-pointers, with edges per position
	ends     device.Array[int32]   // [B] last labels
}

func (s *maxScratch) free(d *device.Device) {
	device.Free(d, s.scores)
	device.Free(d, s.pointers)
	device.Free(d, s.ends)
	*s = maxScratch{}
}

// MaxLabels is the largest number of labels that a device's oracles support.
const MaxLabels = 1024

// ReserveMax allocates scratch memory for Max on chains of these capacities.
func (o *Oracle) ReserveMax(θ *Chains) {
	if θ.areLong() {
		o.reserveMaxLong(θ)
	} else {
		o.reserveMax(θ)
	}
}

func (o *Oracle) reserveMax(θ *Chains) {
	const what = "Viterbi"
	s := &o.max
	device.Grow(o.d, &s.ends, θ.B, what)
	if θ.PerPosition {
		device.Grow(o.d, &s.pointers, 2*θ.N*θ.Y, what)
	} else {
		device.Grow(o.d, &s.scores, θ.N*θ.Y, what)
	}
}

// Max finds the best output of every chain, as oracles.Maximiser does. It writes the labels to y [N] and the scores to
// value [B]. Positions outside of all chains keep their labels. The scores of the gold labels go to gold [B], unless
// that is empty.
func (o *Oracle) Max(θ *Chains, a Augmentation, y device.Array[int32], value, gold device.Array[float64]) {
	if !o.supports(θ) {
		return
	}
	if θ.areLong() {
		o.runMaxLong(θ, a, y, value, gold)
	} else {
		o.runMax(θ, a, y, value, gold)
	}
}

// runMax is Max with one warp or one block per chain.
func (o *Oracle) runMax(θ *Chains, a Augmentation, y device.Array[int32], value, gold device.Array[float64]) {
	o.reserveMax(θ)
	s := &o.max
	k := viterbiFor(θ)
	o.d.Launch(k.name, device.Dim{X: device.CeilDiv(θ.B, k.chains)}, device.Dim{X: k.threads}, k.shared,
		append(θ.arguments(a), int32(θ.B), s.scores, s.pointers, s.ends)...)
	const warps = 8
	grid, block := device.Dim{X: device.CeilDiv(θ.B, warps)}, device.Dim{X: 32 * warps}
	if θ.PerPosition {
		o.d.Launch("viterbi_pointed_path", grid, block, 0,
			append(θ.arguments(a), int32(θ.B), s.pointers, s.ends, y, value, gold)...)
		return
	}
	transposed, shared := int32(0), 0
	if θ.Y <= 64 { // the shared memory of a multiprocessor holds four or more blocks
		transposed, shared = 1, 4*θ.Y*(θ.Y|1)
	}
	o.d.Launch("viterbi_path", grid, block, shared,
		append(θ.arguments(a), int32(θ.B), s.scores, s.ends, y, value, gold, transposed)...)
}

// viterbi is a kernel of the forward pass with its launch parameters.
type viterbi struct {
	name            string
	chains, threads int // per block
	shared          int // bytes
}

// viterbiFor chooses the kernel of the forward pass; see cuda/devicecode/cudaoracles/viterbi.cu.
func viterbiFor(θ *Chains) viterbi {
	// A warp needs rows for δ_{t−1}, δ_t and the costs: three numbers per label.
	warps := func(name string, labels int) viterbi { return viterbi{name, 4, 128, 4 * 4 * 3 * labels} }
	wide := func(name string, chains int) viterbi {
		return viterbi{name, chains, (θ.Y + 31) / 32 * 32, 4 * 2 * chains * ((θ.Y + 3) / 4 * 4)}
	}
	switch {
	case θ.PerPosition && θ.Y <= 8:
		return warps("viterbi_each_8", 8)
	case θ.PerPosition && θ.Y <= 16:
		return warps("viterbi_each_16", 16)
	case θ.PerPosition && θ.Y <= 32:
		return warps("viterbi_each_32", 32)
	case θ.PerPosition:
		return wide("viterbi_each_wide", 1)
	case θ.Y <= 8:
		return warps("viterbi_8", 8)
	case θ.Y <= 16:
		return warps("viterbi_16", 16)
	case θ.Y <= 32:
		return warps("viterbi_32", 32)
	case θ.Y <= 64:
		return viterbi{"viterbi_64", 1, 64, 4 * 3 * 64}
	case θ.Y <= 128:
		return viterbi{"viterbi_128", 1, 256, 4 * (3*128 + 2*2*4)}
	}
	of := chainsPerBlock(θ)
	return wide(fmt.Sprintf("viterbi_wide_%d", of), of)
}

// chainsPerBlock returns how many chains share a block's reads of shared edges between many labels: 1, or 4 if there
// are enough chains.
func chainsPerBlock(θ *Chains) int {
	if θ.B < manyChains {
		return 1
	}
	return 4
}

// manyChains is how many chains keep a large device busy with four to a block. Tests change it.
var manyChains = 4 * deviceful

// deviceful is a number of blocks that keeps all multiprocessors of a large device busy: an H200 has 132.
const deviceful = 132
