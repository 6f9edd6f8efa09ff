package graphs

import "github.com/dsp-go/dsp/structured"

// Hamming is the task loss that adds up the costs of wrong labels. A wrong label costs LabelWeights [Y] of the gold
// label (1 if nil), times the variable's entry of Gold.Costs (1 if nil), for instance the pixels of a superpixel.
type Hamming struct {
	LabelWeights []float32
}

func (h Hamming) cost(gold structured.Gold, v int, label int32) float32 {
	c := float32(1)
	if h.LabelWeights != nil {
		c = h.LabelWeights[label]
	}
	if gold.Costs != nil {
		c *= gold.Costs[v]
	}
	return c
}

// Augment implements structured.TaskLoss. A label that is not known for certain costs nothing.
func (h Hamming) Augment(θ *structured.Potentials, b int, gold structured.Gold) {
	node, labels := θ.Parts[0].Of(b), θ.Parts[0].Width
	for v, g := range gold.Output {
		if g < 0 {
			continue
		}
		c := h.cost(gold, v, g)
		for l := range labels {
			if int32(l) != g {
				node[v*labels+l] += c
			}
		}
	}
}

func (h Hamming) Dot(u *structured.Marginals, b int, gold structured.Gold) float64 {
	node, labels, s := u.Parts[0].Of(b), u.Parts[0].Width, 0.0
	for v, g := range gold.Output {
		if g < 0 {
			continue
		}
		wrong := 0.0
		for l, x := range node[v*labels : (v+1)*labels] {
			if int32(l) != g {
				wrong += float64(x)
			}
		}
		s += float64(h.cost(gold, v, g)) * wrong
	}
	return s
}

func (h Hamming) Loss(y []int32, gold structured.Gold) float64 {
	s := 0.0
	for v, g := range gold.Output {
		if y[v] != g {
			s += float64(h.cost(gold, v, g))
		}
	}
	return s
}
