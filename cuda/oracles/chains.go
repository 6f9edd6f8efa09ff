package cudaoracles

import "github.com/dsp-go/dsp/cuda/device"

// Chains are the potentials θ of a ragged batch of chains on the device, in the layout of chains.Potentials. Arrays have
// the capacities below; the batch set now may be smaller: chains beyond it have length 0, and no kernel reads positions
// from Offsets[B] on.
type Chains struct {
	B, N, Y     int                   // capacities: chains, positions; labels
	Longest     int                   // no chain is longer
	Offsets     device.Array[int32]   // [B+1]; chain b owns positions Offsets[b] to Offsets[b+1]-1
	Node        device.Array[float32] // [N×Y]
	Edge        device.Array[float32] // [Y×Y], row "from" (shared by all chains), or [N×Y×Y] with PerPosition
	PerPosition bool                  // Edge[t] scores the step from position t-1 to t; it is not read where t starts a chain
}

// Augmentation is the task loss chains.Hamming that an oracle adds to node potentials as it loads them, and the labeling that it
// scores beside its answer. The zero value adds and scores nothing.
type Augmentation struct {
	Gold     device.Array[int32]   // [N] gold labels; at −1 there is no loss, and the gold score leaves out the position and the steps to and from it
	Cost     device.Array[float32] // [Y] what a wrong label costs, by gold label; empty: 1
	ByLength bool                  // divide the cost by the chain's length
	Loss     bool                  // add the loss; else Gold is for the gold score only
}

// Parts returns the potentials as a scorer writes them.
func (θ *Chains) Parts() []device.Array[float32] { return []device.Array[float32]{θ.Node, θ.Edge} }

// Flags of cuda/kernels/chain.cuh.
const (
	FlagPerPosition = 1 << iota
	FlagByLength
	FlagWithLoss
)

// arguments are a kernel's first parameters, CHAINS_PARAMETERS in cuda/kernels/chain.cuh.
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
