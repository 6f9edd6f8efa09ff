package chains

import "github.com/dsp-go/dsp/structured"

// Hamming is the task loss ℓ(y, y*) = Σ_t c(y*_t)·[y_t ≠ y*_t]. It decomposes over nodes. The zero value counts wrong
// positions. With partial gold labels it is the least loss over all labelings that they allow: at each position the
// possible labels cost 0, and every other label costs the least of their weights.
type Hamming struct {
	LabelWeights []float32 // [Y] c, the cost of mislabelling a position with that gold label; nil means 1
	ByLength     bool      // divide by T, which makes the loss an error rate
}

// cost returns the cost of a wrong label in a chain of that length, at a position with these possible gold labels.
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

// Augment adds ℓ to the node potentials of chain b.
func (h Hamming) Augment(θ *structured.Potentials, b int, gold structured.Gold) {
	node, single := &θ.Parts[0], [1]int32{}
	rows, y := node.Of(b), node.Width
	for t := range gold.Output {
		right := gold.Possible(t, &single)
		if right == nil {
			continue
		}
		c := h.cost(len(gold.Output), right...)
		row := rows[t*y : (t+1)*y]
		for l := range row {
			row[l] += c
		}
		for _, g := range right {
			row[g] -= c
		}
	}
}

// Dot returns ⟨v, ℓ⟩ for chain b of v, in float64.
func (h Hamming) Dot(v *structured.Marginals, b int, gold structured.Gold) float64 {
	s, single := 0.0, [1]int32{}
	node, y := v.Parts[0].Of(b), v.Parts[0].Width
	for t := range gold.Output {
		right := gold.Possible(t, &single)
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
		s += wrong * float64(h.cost(len(gold.Output), right...))
	}
	return s
}

// Loss returns ℓ(labels, gold). All gold labels must be known.
func (h Hamming) Loss(labels []int32, gold structured.Gold) float64 {
	s := 0.0
	for t, g := range gold.Output {
		if labels[t] != g {
			s += float64(h.cost(len(gold.Output), g))
		}
	}
	return s
}
