package minibucket

import (
	"math"

	"github.com/dsp-go/dsp/oracles/factors"
)

// smallest is the probability below which the mean field takes a state as excluded.
const smallest = 1e-200

// MeanField improves a product q of distributions [V][states] for a number of sweeps over all variables, or until a
// sweep gains less than tolerance, and returns ⟨θ, q⟩ + H(q), a lower bound of log Z; −∞ if q allows what a factor
// forbids. Every step sets the distribution of a variable to its best, given those of the others.
func MeanField(m *factors.Model, q [][]float64, sweeps int, tolerance float64) float64 {
	f := field{model: m, q: q, at: make([][]int, len(m.States))}
	for k, factor := range m.Factors {
		for _, v := range factor.Scope {
			f.at[v] = append(f.at[v], k)
		}
	}
	value := f.value()
	for range sweeps {
		for v := range q {
			f.update(v)
		}
		before := value
		value = f.value()
		if value-before < tolerance {
			break
		}
	}
	return value
}

// field is a product of distributions.
type field struct {
	model *factors.Model
	q     [][]float64
	at    [][]int // [V] factors
}

// expect adds to each state of the free variable the expected entry of factor k given that state; with free −1, to the
// only number of to.
func (f *field) expect(k, free int, to []float64) {
	scope, table := f.model.Factors[k].Scope, f.model.Factors[k].Table
	at := make([]int, len(scope))
	for _, x := range table {
		weight, s := 1.0, 0
		for p, v := range scope {
			if v == free {
				s = at[p]
			} else {
				weight *= f.q[v][at[p]]
			}
		}
		if weight > 0 {
			to[s] += weight * x
		}
		for p := len(at) - 1; p >= 0; p-- {
			if at[p]++; at[p] < f.model.States[scope[p]] {
				break
			}
			at[p] = 0
		}
	}
}

// update sets the distribution of v to its best, unless every state is forbidden.
func (f *field) update(v int) {
	score := make([]float64, len(f.q[v]))
	for _, k := range f.at[v] {
		f.expect(k, v, score)
	}
	most, sum := minusInf, 0.0
	for _, x := range score {
		most = max(most, x)
	}
	if math.IsInf(most, -1) {
		return
	}
	for s, x := range score {
		if score[s] = math.Exp(x - most); score[s] < smallest {
			score[s] = 0
		}
		sum += score[s]
	}
	for s, x := range score {
		f.q[v][s] = x / sum
	}
}

func (f *field) value() float64 {
	var total [1]float64
	for k := range f.model.Factors {
		f.expect(k, -1, total[:])
	}
	for _, of := range f.q {
		for _, p := range of {
			if p > 0 {
				total[0] -= p * math.Log(p)
			}
		}
	}
	return total[0]
}
