package monotone

import "github.com/dsp-go/dsp/structured"

// Loss is the weighted Hamming loss over links:
//
//	ℓ(y, y*) = Miss · (links of y* that y lacks) + False · Σ cost of the links of y that y* lacks.
//
// The cost of a false link is its entry in Gold.Costs [n·m], or 1 without.
type Loss struct {
	Miss, False float32
}

// pairs visits the task losses of pairs. All outputs have the pair of the first items, which gets the loss of missing
// all links; the other gold ones give theirs back.
func (l Loss) pairs(gold structured.Gold, n, m int, visit func(row int, loss float32)) {
	if len(gold.Output) == 0 {
		return
	}
	links := 0
	for d, number := range gold.Output {
		for i := max(0, d-m+1); i <= min(d, n-1); i++ {
			row := i*m + d - i
			if int(number) == i+1 {
				links++
				if row > 0 {
					visit(row, -l.Miss)
				}
				continue
			}
			visit(row, l.False*cost(gold, row))
		}
	}
	visit(0, l.Miss*float32(links-1))
}

func cost(gold structured.Gold, row int) float32 {
	if gold.Costs == nil {
		return 1
	}
	return gold.Costs[row]
}

func (l Loss) Augment(θ *structured.Potentials, b int, gold structured.Gold) {
	n, m := Sizes(θ.Parts, b)
	pair := θ.Parts[pairs].Of(b)
	l.pairs(gold, n, m, func(row int, loss float32) { pair[row] += loss })
}

func (l Loss) Dot(v *structured.Marginals, b int, gold structured.Gold) float64 {
	n, m := Sizes(v.Parts, b)
	pair, sum := v.Parts[pairs].Of(b), 0.0
	l.pairs(gold, n, m, func(row int, loss float32) { sum += float64(loss) * float64(pair[row]) })
	return sum
}

func (l Loss) Loss(y []int32, gold structured.Gold) float64 {
	sum, m := 0.0, 0
	if len(y) > 0 {
		m = len(y) + 1 - int(gold.Output[len(y)-1])
	}
	for d, g := range gold.Output {
		if y[d] == g {
			continue
		}
		if g > 0 {
			sum += float64(l.Miss)
		}
		if i := int(y[d]) - 1; i >= 0 {
			sum += float64(l.False * cost(gold, i*m+d-i))
		}
	}
	return sum
}
