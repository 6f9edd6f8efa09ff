package structured

// Hamming is the task loss ℓ(y, y*) = Σ_t c(y*_t)·[y_t ≠ y*_t], which decomposes over nodes, so that a loss-augmented
// oracle is an oracle on θ + ℓ. The zero value counts wrong positions. Where not one gold label is known but a set, it is
// the least loss that any labeling the gold labels allow would give: none for the set's labels, the least of their costs
// for others.
type Hamming struct {
	LabelWeights []float32 // [Y] c, the cost of getting a position of that gold label wrong; nil: all 1
	ByLength     bool      // divide by T, so that the loss is an error rate
}

// cost is that of a wrong label at a position of a chain of that length whose gold label is one of those given.
func (h Hamming) cost(length int, gold ...int32) float32 {
	c := float32(1)
	if h.LabelWeights != nil {
		c = h.LabelWeights[gold[0]]
		for _, g := range gold[1:] {
			c = min(c, h.LabelWeights[g])
		}
	}
	if h.ByLength {
		c /= float32(length)
	}
	return c
}

// Augment adds ℓ to the node potentials of chain b with the given gold labels, those below zero being −1−k for one of
// sets[k], or any where that is nil.
func (h Hamming) Augment(p *Potentials, b int, gold []int32, sets [][]int32) {
	start, one := p.Offsets[b], [1]int32{}
	for t, g := range gold {
		right := possible(g, sets, &one)
		if right == nil {
			continue
		}
		c := h.cost(len(gold), right...)
		row := p.Node[(start+t)*p.Y : (start+t+1)*p.Y]
		for l := range row {
			row[l] += c
		}
		for _, g := range right {
			row[g] -= c
		}
	}
}

// Dot returns ⟨v, ℓ⟩ for chain b of v and gold labels as Augment takes them, in float64.
func (h Hamming) Dot(v *Marginals, b int, gold []int32, sets [][]int32) float64 {
	s, node, y, one := 0.0, v.NodeOf(b), v.Y, [1]int32{}
	for t, g := range gold {
		right := possible(g, sets, &one)
		if right == nil {
			continue
		}
		row, wrong := node[t*y:(t+1)*y], 0.0
		for _, g := range right {
			wrong -= float64(row[g])
		}
		for _, x := range row {
			wrong += float64(x)
		}
		s += wrong * float64(h.cost(len(gold), right...))
	}
	return s
}

// Loss returns ℓ(labels, gold) for gold labels that are all known.
func (h Hamming) Loss(labels, gold []int32) float64 {
	s := 0.0
	for t, g := range gold {
		if labels[t] != g {
			s += float64(h.cost(len(gold), g))
		}
	}
	return s
}
