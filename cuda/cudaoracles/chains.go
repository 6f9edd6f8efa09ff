package cudaoracles

import "github.com/dsp-go/dsp/cuda/device"

// Chains are the potentials θ of a ragged batch of chains on the device, in the layout of chains.Potentials. The capacities below are
// the sizes of the arrays. The current batch may be smaller: chains beyond it have length 0, and no kernel reads positions from
// Offsets[B] on.
type Chains struct {
	B, N, Y     int                   // capacities: chains, positions; labels
	Longest     int                   // length of the longest chain, or more
	Offsets     device.Array[int32]   // [B+1]; chain b owns positions Offsets[b] to Offsets[b+1]-1
	Node        device.Array[float32] // [N×Y]
	Edge        device.Array[float32] // [Y×Y], row "from" (shared by all chains), or [N×Y×Y] with PerPosition
	PerPosition bool                  // Edge[t] scores the transition from position t-1 to t; it is not read where t starts a chain
}

// Augmentation is the task loss chains.Hamming, which an oracle adds to node potentials as it loads them, and the gold labels, which it
// scores. The zero value adds and scores nothing.
type Augmentation struct {
	Gold     device.Array[int32]   // [N] gold labels; a position with −1 has no loss, and the gold score skips it and its transitions
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
