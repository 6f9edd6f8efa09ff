// Package junction does exact inference in factor graphs of any order by junction trees: the best assignment,
// max-marginals, the logarithm of the partition function and marginals. Its cost is exponential in the width of the
// graph, which a Plan tells before any table is allocated.
package junction

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/factors"
)

// Sum returns log Z, the logarithm of the partition function.
func (t *Tree) Sum() float64 { return t.collect(sums) }

// Marginals returns log Z and the probability of every state of every variable. If Z = 0 the probabilities are 0.
func (t *Tree) Marginals() (logZ float64, p [][]float64) {
	logZ = t.collect(sums)
	t.distribute(sums)
	p = t.singles(sums)
	for _, of := range p {
		normalise(of)
	}
	return logZ, p
}

// MaxMarginals returns, for every state of every variable, the best value of an assignment with that state.
func (t *Tree) MaxMarginals() [][]float64 {
	t.collect(maxes)
	t.distribute(maxes)
	return t.singles(maxes)
}

// singles reduces the tables to single variables.
func (t *Tree) singles(over semiring) [][]float64 {
	all := make([][]float64, len(t.model.States))
	rest := 0.0 // of the other components: their best value or sum
	component := make([]float64, len(t.Cliques))
	for c := len(t.Cliques) - 1; c >= 0; c-- {
		q := t.Cliques[c]
		if q.Parent < 0 {
			component[c] = t.sent[c][0]
			rest += component[c]
		} else {
			component[c] = component[q.Parent]
		}
	}
	for v, n := range t.model.States {
		all[v] = make([]float64, n)
		c := t.cliqueOf[v]
		t.reduce(c, []int{v}, over, all[v])
		for k := range all[v] {
			if all[v][k] > math.Inf(-1) {
				all[v][k] += rest - component[c]
			}
		}
	}
	return all
}

// Max returns the best assignment and its value; −∞ if every assignment is forbidden. Among equals it prefers lower
// states, in the order of the cliques.
func (t *Tree) Max() (states []int, value float64) {
	value = t.collect(maxes)
	states = make([]int, len(t.model.States))
	for v := range states {
		states[v] = factors.Free
	}
	for c := len(t.Cliques) - 1; c >= 0; c-- {
		t.complete(c, states)
	}
	return states, value
}

// complete gives the free variables of a clique their best states, given those of the others.
func (t *Tree) complete(c int, states []int) {
	vars, sizes, strides, first := t.free(c, states)
	best, at := math.Inf(-1), 0
	factors.Walk(sizes, strides, func(i, j, n, stride int) {
		for k := range n {
			if x := t.tables[c][first+j+k*stride]; x > best {
				best, at = x, i+k
			}
		}
	})
	assign(vars, sizes, at, states)
}

// free returns the variables of a clique that have no states yet, their numbers of states, how far apart these are in
// the clique's table, and the entry of that table where all of them have state 0.
func (t *Tree) free(c int, states []int) (vars, sizes, strides []int, first int) {
	q := t.Cliques[c]
	for k, step := range t.model.Strides(q.Vars) {
		v := q.Vars[k]
		if states[v] != factors.Free {
			first += states[v] * step
			continue
		}
		vars, sizes, strides = append(vars, v), append(sizes, t.model.States[v]), append(strides, step)
	}
	return vars, sizes, strides, first
}

// assign gives variables the states of an entry of a table over them.
func assign(vars, sizes []int, at int, states []int) {
	for k := len(vars) - 1; k >= 0; k-- {
		states[vars[k]] = at % sizes[k]
		at /= sizes[k]
	}
}

// Sample draws assignments with probabilities proportional to the exponentials of their values, after Sum, which must
// not be −∞: the variables of a clique given those of its parent, from the roots to the leaves.
func (t *Tree) Sample(r *oracles.Draws, states []int) {
	for v := range states {
		states[v] = factors.Free
	}
	for c := len(t.Cliques) - 1; c >= 0; c-- {
		t.draw(c, r, states)
	}
}

// draw gives the free variables of a clique states at random, given those of the others.
func (t *Tree) draw(c int, r *oracles.Draws, states []int) {
	vars, sizes, strides, first := t.free(c, states)
	weights := make([]float64, factors.Entries(sizes))
	most := math.Inf(-1)
	factors.Walk(sizes, strides, func(i, j, n, stride int) {
		for k := range n {
			weights[i+k] = t.tables[c][first+j+k*stride]
			most = max(most, weights[i+k])
		}
	})
	sum := 0.0
	for k, x := range weights {
		weights[k] = math.Exp(x - most)
		sum += weights[k]
	}
	assign(vars, sizes, oracles.Pick(weights, r.Uniform()*sum), states)
}
