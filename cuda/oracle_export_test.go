package cuda

// What tests look at from outside.

func (o *Oracle) MaxByChain(θ *Chains, a Augmentation, y Array[int32], value, gold Array[float64]) {
	o.runMax(θ, a, y, value, gold)
}

func (o *Oracle) MaxInChunks(θ *Chains, a Augmentation, y Array[int32], value, gold Array[float64]) {
	o.runMaxLong(θ, a, y, value, gold)
}

func (θ *Chains) AreLong() bool { return θ.areLong() }
