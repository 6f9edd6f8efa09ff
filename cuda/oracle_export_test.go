package cuda

// What tests look at from outside.

func (o *Oracle) MaxByChain(θ *Chains, a Augmentation, y Array[int32], value, gold Array[float64]) {
	o.runMax(θ, a, y, value, gold)
}

func (o *Oracle) MaxInChunks(θ *Chains, a Augmentation, y Array[int32], value, gold Array[float64]) {
	o.runMaxLong(θ, a, y, value, gold)
}

func (θ *Chains) AreLong() bool { return θ.areLong() }

func (o *Oracle) ExpInChunks(θ *Chains, a Augmentation, μ float64, value Array[float64], node, edge Array[float32], gold Array[float64]) {
	o.ReserveExp(θ)
	o.reserveExpLong(θ)
	o.runExpLong(θ, a, μ, value, node, edge, gold)
}
