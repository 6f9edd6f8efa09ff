// Package cudaoracles implements the oracles of package oracles for batches of chains on a GPU: max, top-K, exp and
// smoothed answers. Kernels add the task loss as they load the potentials. Potentials and answers stay in the device's
// memory; ChainOracle copies them for callers whose potentials are in the host's memory.
package cudaoracles

import (
	"cmp"

	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/oracles"
)

// Oracle answers the oracle queries of package oracles for every chain of a batch, on the device. Every run gives the
// same bits. An Oracle owns scratch memory, which grows with the batches. Before a call is captured in a graph, call
// the Reserve method of the same name.
type Oracle struct {
	d       *device.Device
	max     maxScratch
	maxLong maxLongScratch
	top     topScratch
	exp     expScratch
	expLong expLongScratch
	answer  answerScratch
}

func NewOracle(d *device.Device) *Oracle { return &Oracle{d: d} }

// Free releases the scratch memory.
func (o *Oracle) Free() {
	o.max.free(o.d)
	o.maxLong.free(o.d)
	o.top.free(o.d)
	o.exp.free(o.d)
	o.expLong.free(o.d)
	o.answer.free(o.d)
}

// Chains are the potentials θ of a ragged batch of chains on the device, in the layout of chains.Potentials. The
// capacities below are the sizes of the arrays. The current batch may be smaller: chains beyond it have length 0, and
// no kernel reads positions from Offsets[B] on.
type Chains struct {
	B, N, Y int                   // capacities: chains, positions; labels
	Longest int                   // length of the longest chain, or more
	Offsets device.Array[int32]   // [B+1]; chain b owns positions Offsets[b] to Offsets[b+1]-1
	Node    device.Array[float32] // [N×Y]
	Edge    device.Array[float32] // [Y×Y], row "from" (shared by all chains), or [N×Y×Y] with PerPosition
	// Edge[t] scores the transition from position t-1 to t; it is not read where t starts a chain
	PerPosition bool
}

// Augmentation is the task loss chains.Hamming, which an oracle adds to node potentials as it loads them, and the gold
// labels, which it scores. The zero value adds and scores nothing.
type Augmentation struct {
	// [N] gold labels; a position with −1 has no loss, and the gold score skips it and its transitions
	Gold     device.Array[int32]
	Cost     device.Array[float32] // [Y] cost of a wrong label, by gold label; empty: 1
	ByLength bool                  // divide the cost by the chain's length
	Loss     bool                  // add the loss; otherwise Gold only gives the gold score
}

// Parts returns the potentials in the order in which a scorer writes them.
func (θ *Chains) Parts() []device.Array[float32] { return []device.Array[float32]{θ.Node, θ.Edge} }

// Flags of cuda/devicecode/include/chain.cuh.
const (
	FlagPerPosition = 1 << iota
	FlagByLength
	FlagWithLoss
)

// arguments returns a kernel's first parameters, CHAINS_PARAMETERS in cuda/devicecode/include/chain.cuh.
func (θ *Chains) arguments(a Augmentation) []any {
	flags := int32(0)
	if θ.PerPosition {
		flags |= FlagPerPosition
	}
	if a.ByLength {
		flags |= FlagByLength
	}
	if a.Loss {
		flags |= FlagWithLoss
	}
	return []any{θ.Offsets, θ.Node, θ.Edge, a.Gold, a.Cost, int32(θ.Y), flags}
}

// Answer holds a smoothed oracle's answers about each chain of a batch, on the device. Arrays that are empty are not
// computed.
type Answer struct {
	Value device.Array[float64] // [B] h_μ(θ+ℓ)
	Max   device.Array[float64] // [B] max_y ⟨θ+ℓ,1_y⟩; with oracles.Entropy only if wantMax is set
	Gold  device.Array[float64] // [B] ⟨θ,1_gold⟩
	Node  device.Array[float32] // [N×Y] ∇h_μ, the marginals u; 0 beyond the last chain
	Edge  device.Array[float32] // [B×Y×Y], or [N×Y×Y] where edges are per position
	// [B] 1 if the answer equals the smoothing over all outputs (Prop. 4): always but with oracles.L2
	Exact device.Array[int32]
}

// answerScratch is the scratch memory of Answer.
type answerScratch struct {
	best  KBest
	value device.Array[float64] // [B]
}

func (s *answerScratch) free(d *device.Device) {
	s.best.Free(d)
	device.Free(d, s.value)
	*s = answerScratch{}
}

// outputsFor returns how many best outputs an ℓ₂ smoothing needs: one more than can get weight.
func outputsFor(s oracles.Smoothing) int { return 1 + cmp.Or(s.K, s.MaxK, 64) }

// ReserveAnswer allocates scratch memory for Answer on chains of these capacities.
func (o *Oracle) ReserveAnswer(θ *Chains, s oracles.Smoothing) {
	a, d := &o.answer, o.d
	switch s.Kind {
	case oracles.Entropy:
		o.reserveExp(θ)
		device.Grow(d, &a.value, θ.B, "values")
		a.best.Reserve(d, θ, 1)
		o.ReserveMax(θ)
	case oracles.L2:
		a.best.Reserve(d, θ, outputsFor(s))
		o.reserveTopK(θ, outputsFor(s))
	default:
		a.best.Reserve(d, θ, 1)
		o.ReserveMax(θ)
	}
}

// Answer fills out with the smoothed oracle's answers, as oracles.Smoothing.Answer does on the CPU. With oracles.L2 and
// K = 0 it enumerates the outputs of each chain until the next one would get no weight, or until there are MaxK.
func (o *Oracle) Answer(θ *Chains, a Augmentation, s oracles.Smoothing, out *Answer, wantMax bool) {
	o.ReserveAnswer(θ, s)
	best := &o.answer.best
	switch s.Kind {
	case oracles.Entropy:
		value := out.Value
		if value.IsEmpty() {
			value = o.answer.value
		}
		o.Exp(θ, a, s.Mu, value, out.Node, out.Edge, out.Gold)
		if wantMax {
			o.Max(θ, a, best.Labels, out.Max, device.Array[float64]{})
		}
		if !out.Exact.IsEmpty() {
			o.d.Launch("ones", device.Dim{X: device.CeilDiv(θ.B, 256)}, device.Dim{X: 256}, 0, out.Exact, int32(θ.B))
		}
	case oracles.L2:
		μ := 0.0
		if s.K == 0 {
			μ = s.Mu
		}
		o.topK(θ, a, outputsFor(s), μ, best, out.Gold)
		o.mix(θ, s.Mu, best, best.Count, out)
	default:
		o.Max(θ, a, best.Labels, best.Score, out.Gold)
		o.mix(θ, 1, best, device.Array[int32]{}, out)
	}
}

// mix computes the answers from the best outputs, whose scores it smooths.
func (o *Oracle) mix(θ *Chains, μ float64, best *KBest, count device.Array[int32], out *Answer) {
	flags := θ.arguments(Augmentation{})[6]
	o.d.Launch("mixture", device.Dim{X: θ.B}, device.Dim{X: 128}, 4*(best.K+1), θ.Offsets, int32(θ.Y), flags, int32(θ.N),
		int32(best.K), μ,
		count, best.Score, best.Labels, out.Value, out.Max, out.Exact, out.Node, out.Edge)
}
