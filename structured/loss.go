package structured

// Hamming is the task loss ℓ(y, y*) = Σ_t c(y*_t)·[y_t ≠ y*_t], which decomposes over nodes, so that a loss-augmented
// oracle is an oracle on θ + ℓ. The zero value counts wrong positions.
type Hamming struct {
	LabelWeights []float32 // [Y] c, the cost of getting a position of that gold label wrong; nil: all 1
	ByLength     bool      // divide by T, so that the loss is an error rate
}

func (h Hamming) cost(gold int32, length int) float32 {
	c := float32(1)
	if h.LabelWeights != nil {
		c = h.LabelWeights[gold]
	}
	if h.ByLength {
		c /= float32(length)
	}
	return c
}

// Augment adds ℓ to the node potentials of chain b with the given gold labels.
func (h Hamming) Augment(p *Potentials, b int, gold []int32) {
	start := p.Offsets[b]
	for t, g := range gold {
		c := h.cost(g, len(gold))
		row := p.Node[(start+t)*p.Y : (start+t+1)*p.Y]
		for l := range row {
			row[l] += c
		}
		row[g] -= c
	}
}

// Dot returns ⟨v, ℓ⟩ for chain b of v, in float64.
func (h Hamming) Dot(v *Marginals, b int, gold []int32) float64 {
	s, node, y := 0.0, v.NodeOf(b), v.Y
	for t, g := range gold {
		wrong := -float64(node[t*y+int(g)])
		for _, x := range node[t*y : (t+1)*y] {
			wrong += float64(x)
		}
		s += wrong * float64(h.cost(g, len(gold)))
	}
	return s
}

// Loss returns ℓ(labels, gold).
func (h Hamming) Loss(labels, gold []int32) float64 {
	s := 0.0
	for t, g := range gold {
		if labels[t] != g {
			s += float64(h.cost(g, len(gold)))
		}
	}
	return s
}
