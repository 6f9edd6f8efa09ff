package matchings

import "github.com/dsp-go/dsp/structured"

// Loss is the weighted Hamming loss over links:
//
//	ℓ(y, y*) = Miss · (links of y* that y lacks) + False · Σ cost of the links of y that y* lacks.
//
// The cost of a false link is its entry in Gold.Costs [n·m], or 1 without; a link that is possible but not sure
// costs 0. The loss is a sum over sources: a source with another number than in y* costs Miss if y* gives it a link,
// plus False·cost if y does.
//
// With partial gold outputs, a source costs the least over its possible numbers, and nothing if it has one of them.
type Loss struct {
	Miss, False float32
}

// source visits the task losses of a source: of being unmatched, and of every target.
func (l Loss) source(gold structured.Gold, i, m int, visit func(number int32, loss float32)) {
	var single [1]int32
	possible := gold.Possible(i, &single)
	if possible == nil {
		return
	}
	miss, right := l.Miss, possible
	if len(right) > 0 && right[0] == 0 {
		miss, right = 0, right[1:]
	}
	if miss != 0 {
		visit(0, miss)
	}
	for j := range m {
		if len(right) > 0 && right[0] == int32(j)+1 {
			right = right[1:]
			continue
		}
		loss := miss + l.False*cost(gold, i*m+j)
		if loss != 0 {
			visit(int32(j)+1, loss)
		}
	}
}

func cost(gold structured.Gold, row int) float32 {
	if gold.Costs == nil {
		return 1
	}
	return gold.Costs[row]
}

func (l Loss) Augment(θ *structured.Potentials, b int, gold structured.Gold) {
	pair, m := θ.Parts[0].Of(b), targets(θ.Parts, b, gold.Output)
	for i := range gold.Output {
		l.source(gold, i, m, func(number int32, loss float32) {
			switch {
			case number > 0:
				pair[i*m+int(number)-1] += loss
			case len(θ.Parts) > 1:
				θ.Parts[1].Of(b)[i] += loss
			}
		})
	}
}

func (l Loss) Dot(v *structured.Marginals, b int, gold structured.Gold) float64 {
	pair, m, sum := v.Parts[0].Of(b), targets(v.Parts, b, gold.Output), 0.0
	for i := range gold.Output {
		l.source(gold, i, m, func(number int32, loss float32) {
			switch {
			case number > 0:
				sum += float64(loss) * float64(pair[i*m+int(number)-1])
			case len(v.Parts) > 1:
				sum += float64(loss) * float64(v.Parts[1].Of(b)[i])
			}
		})
	}
	return sum
}

func (l Loss) Loss(y []int32, gold structured.Gold) float64 {
	_, m := Sizes(len(y), len(gold.Costs))
	sum := 0.0
	for i, g := range gold.Output {
		if y[i] == g {
			continue
		}
		if g > 0 {
			sum += float64(l.Miss)
		}
		if y[i] > 0 {
			sum += float64(l.False * cost(gold, i*m+int(y[i])-1))
		}
	}
	return sum
}
