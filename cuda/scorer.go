package cuda

// Scorer is a nets.Scorer on a device: a map from weights w [Dim] and the inputs of a batch to potentials.
type Scorer interface {
	// Dim returns the number of weights.
	Dim() int
	// Labels returns Y.
	Labels() int
	// PerPosition reports whether edge potentials differ from position to position.
	PerPosition() bool
	// Affine reports whether θ is an affine function of w.
	Affine() bool

	// Reserve makes ready for a batch of b's capacities: it compiles and allocates, outside of captured graphs, and refuses what
	// cannot run on the device. The other methods may be part of captured graphs.
	Reserve(b *Batch) error
	// Score computes the potentials of the batch set now at w: θ.Node [Rows×Y] and θ.Edge.
	Score(w Array[float32], b *Batch, θ *Chains)
	// Pullback adds Jᵀv to grad [Dim], with J = ∂θ/∂w at the weights and batch of the last Score, and v as node [Rows×Y] and edge,
	// [Y×Y] summed over chains, or [Rows×Y×Y] with edges per position. Rows without a position are zero.
	Pullback(node, edge, grad Array[float32])
}
