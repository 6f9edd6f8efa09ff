package junction

import (
	"math"

	"github.com/dsp-go/dsp/oracles/factors"
)

// Tree is a junction tree with the tables of a model. It answers queries about the model that it was made for.
type Tree struct {
	*Plan
	model  *factors.Model
	tables [][]float64 // per clique: its factors and, after collect, what its children sent
	sent   [][]float64 // per clique: its message to the parent, one entry per assignment of the separator
}

// NewTree allocates the tables of a plan.
func NewTree(m *factors.Model, p *Plan) *Tree {
	t := &Tree{Plan: p, model: m, tables: make([][]float64, len(p.Cliques)), sent: make([][]float64, len(p.Cliques))}
	for c, q := range p.Cliques {
		t.tables[c] = make([]float64, factors.Entries(t.sizes(q.Vars)))
		t.sent[c] = make([]float64, factors.Entries(t.sizes(q.Separator)))
	}
	return t
}

func (t *Tree) sizes(vars []int) []int {
	s := make([]int, len(vars))
	for k, v := range vars {
		s[k] = t.model.States[v]
	}
	return s
}

// stridesIn returns, for each of vars, how far apart its states are in a table over scope; 0 for a variable that scope
// lacks.
func (t *Tree) stridesIn(vars, scope []int) []int {
	place := make(map[int]int, len(scope))
	for k, step := range t.model.Strides(scope) {
		place[scope[k]] = step
	}
	s := make([]int, len(vars))
	for k, v := range vars {
		s[k] = place[v]
	}
	return s
}

// semiring sums up or maximises over entries, in logarithms.
type semiring bool

const (
	sums  semiring = false
	maxes semiring = true
)

// reduce returns, in to, the sum or the maximum over the entries of clique c that agree with each entry of a table over
// scope.
func (t *Tree) reduce(c int, scope []int, over semiring, to []float64) {
	q := t.Cliques[c]
	sizes, strides, table := t.sizes(q.Vars), t.stridesIn(q.Vars, scope), t.tables[c]
	for k := range to {
		to[k] = math.Inf(-1)
	}
	factors.Walk(sizes, strides, func(i, j, n, stride int) {
		for k := range n {
			to[j+k*stride] = max(to[j+k*stride], table[i+k])
		}
	})
	if over == maxes {
		return
	}
	total := make([]float64, len(to))
	factors.Walk(sizes, strides, func(i, j, n, stride int) {
		for k := range n {
			if most := to[j+k*stride]; table[i+k] > math.Inf(-1) {
				total[j+k*stride] += math.Exp(table[i+k] - most)
			}
		}
	})
	for k, s := range total {
		if s > 0 {
			to[k] += math.Log(s)
		}
	}
}

// multiply adds a table over scope to the table of clique c.
func (t *Tree) multiply(c int, scope []int, table []float64) {
	q := t.Cliques[c]
	to := t.tables[c]
	factors.Walk(t.sizes(q.Vars), t.stridesIn(q.Vars, scope), func(i, j, n, stride int) {
		for k := range n {
			to[i+k] += table[j+k*stride]
		}
	})
}

// collect fills the tables and sends messages from the leaves to the roots. It returns the sum or the maximum over all
// assignments.
func (t *Tree) collect(over semiring) float64 {
	value := 0.0
	if len(t.Cliques) == 0 { // a model without variables
		for _, f := range t.model.Factors {
			value += f.Table[0]
		}
		return value
	}
	for c, q := range t.Cliques {
		clear(t.tables[c])
		for _, f := range q.Factors {
			t.multiply(c, t.model.Factors[f].Scope, t.model.Factors[f].Table)
		}
	}
	for c, q := range t.Cliques {
		t.reduce(c, q.Separator, over, t.sent[c])
		if q.Parent >= 0 {
			t.multiply(q.Parent, q.Separator, t.sent[c])
		} else {
			value += t.sent[c][0]
		}
	}
	return value
}

// distribute sends messages from the roots to the leaves, after collect. Then the table of a clique sums up, or
// maximises, over the other variables.
func (t *Tree) distribute(over semiring) {
	for c := len(t.Cliques) - 1; c >= 0; c-- {
		q := t.Cliques[c]
		if q.Parent < 0 {
			continue
		}
		m := make([]float64, len(t.sent[c]))
		t.reduce(q.Parent, q.Separator, over, m)
		for k, s := range t.sent[c] {
			if m[k] > math.Inf(-1) { // else s may be −∞, too
				m[k] -= s
			}
		}
		t.multiply(c, q.Separator, m)
	}
}
