package minibucket

import (
	"math"

	"github.com/dsp-go/dsp/oracles/factors"
)

var minusInf = math.Inf(-1)

// Bound is an upper bound of log Z that Pass lowers.
type Bound struct {
	*plan
	model  *factors.Model
	fixed  float64     // the factors without variables
	tables []work      // [bucket]
	weight []float64   // [bucket] w_r
	shift  [][]float64 // [bucket][states of v] ν_r
	q      [][]float64 // [bucket][states of v] the marginals of v in each of its mini-buckets
	upper  float64

	moves [][]float64 // [bucket][states of v]
	saved []float64   // [bucket] weights before a step
	kept  [][]float64 // [bucket][states of v] shifts before a step
	step  float64     // of shifts
	rate  float64     // of weights
}

// work is the memory of a mini-bucket.
type work struct {
	sizes   []int
	own     []float64 // the factors' part of the table
	value   []float64 // own, shift and messages; after distribute the marginals of the table
	message []float64 // [rest]
	top     []float64 // [rest]
	up, out []int     // strides of vars in the message, and in a table of v alone
	down    []int     // strides of the parent's vars in the message
}

// New returns the bound with weights that are equal among the mini-buckets of each variable, and no shifts. Tables have
// at most that many entries, unless a single factor has more.
func New(m *factors.Model, most float64) *Bound {
	b := &Bound{plan: newPlan(m, most), model: m, step: firstStep, rate: firstRate}
	for _, f := range m.Factors {
		if len(f.Scope) == 0 {
			b.fixed += f.Table[0]
		}
	}
	b.tables, b.weight, b.saved = make([]work, len(b.buckets)), make([]float64, len(b.buckets)),
		make([]float64, len(b.buckets))
	for r := range b.buckets {
		q, w := &b.buckets[r], &b.tables[r]
		w.sizes = b.sizes(q.vars)
		w.own, w.value = make([]float64, factors.Entries(w.sizes)), make([]float64, factors.Entries(w.sizes))
		w.message = make([]float64, factors.Entries(b.sizes(q.rest)))
		w.top = make([]float64, len(w.message))
		w.up, w.out = b.strides(q.vars, q.rest), b.strides(q.vars, []int{q.v})
		for _, k := range q.factors {
			f := m.Factors[k]
			add(w.own, w.sizes, b.strides(q.vars, f.Scope), f.Table)
		}
		for _, c := range q.children {
			b.tables[c].down = b.strides(q.vars, b.buckets[c].rest)
		}
		n := m.States[q.v]
		b.shift, b.q = append(b.shift, make([]float64, n)), append(b.q, make([]float64, n))
		b.moves, b.kept = append(b.moves, make([]float64, n)), append(b.kept, make([]float64, n))
	}
	for k := range m.States {
		from, to := b.first[k], b.first[k+1]
		for r := from; r < to; r++ {
			b.weight[r] = 1 / float64(to-from)
		}
	}
	b.upper = b.collect()
	b.distribute()
	return b
}

// Entries returns the number of entries of all tables that New would allocate, for each of which it needs 24 bytes or
// less.
func Entries(m *factors.Model, most float64) float64 { return newPlan(m, most).entries }

// Exact reports whether no bucket is split, so that the bound is log Z.
func (b *Bound) Exact() bool { return b.exact }

func (b *Bound) Upper() float64 { return b.upper }

func (b *Bound) sizes(vars []int) []int {
	s := make([]int, len(vars))
	for k, v := range vars {
		s[k] = b.model.States[v]
	}
	return s
}

// strides returns, for each of vars, how far apart its states are in a table over scope; 0 for a variable that scope
// lacks.
func (b *Bound) strides(vars, scope []int) []int {
	place := make(map[int]int, len(scope))
	for k, step := range b.model.Strides(scope) {
		place[scope[k]] = step
	}
	s := make([]int, len(vars))
	for k, v := range vars {
		s[k] = place[v]
	}
	return s
}

// add adds the matching entries of a table over some of the variables.
func add(to []float64, sizes, strides []int, table []float64) {
	factors.Walk(sizes, strides, func(i, j, n, stride int) {
		for k := range n {
			to[i+k] += table[j+k*stride]
		}
	})
}

// collect eliminates all variables and returns the bound. Then value is the logarithm of the probability of v given the
// other variables.
func (b *Bound) collect() float64 {
	total := b.fixed
	for r := range b.buckets {
		q, w := &b.buckets[r], &b.tables[r]
		copy(w.value, w.own)
		add(w.value, w.sizes, w.out, b.shift[r])
		for _, c := range q.children {
			add(w.value, w.sizes, b.tables[c].down, b.tables[c].message)
		}
		w.eliminate(b.weight[r])
		if q.parent < 0 {
			total += w.message[0]
		}
	}
	return total
}

// eliminate sets message to w·log Σ exp(value/w) over the states of v, and value to the logarithms of conditional
// probabilities.
func (w *work) eliminate(weight float64) {
	for i := range w.top {
		w.top[i], w.message[i] = minusInf, 0
	}
	factors.Walk(w.sizes, w.up, func(i, j, n, stride int) {
		for k, x := range w.value[i:][:n] {
			w.top[j+k*stride] = max(w.top[j+k*stride], x)
		}
	})
	factors.Walk(w.sizes, w.up, func(i, j, n, stride int) {
		for k, x := range w.value[i:][:n] {
			if x > minusInf {
				w.message[j+k*stride] += math.Exp((x - w.top[j+k*stride]) / weight)
			}
		}
	})
	for i, s := range w.message {
		w.message[i] = minusInf
		if s > 0 {
			w.message[i] = w.top[i] + weight*math.Log(s)
		}
	}
	factors.Walk(w.sizes, w.up, func(i, j, n, stride int) {
		for k, x := range w.value[i:][:n] {
			if x > minusInf {
				w.value[i+k] = (x - w.message[j+k*stride]) / weight
			}
		}
	})
}

// distribute computes the marginals of all tables, the gradient of the bound, after collect.
func (b *Bound) distribute() {
	for r := len(b.buckets) - 1; r >= 0; r-- {
		q, w := &b.buckets[r], &b.tables[r]
		joint := w.top // of the rest
		clear(joint)
		if q.parent < 0 {
			joint[0] = 1
		} else {
			p := &b.tables[q.parent]
			factors.Walk(p.sizes, w.down, func(i, j, n, stride int) {
				for k, x := range p.value[i:][:n] {
					joint[j+k*stride] += x
				}
			})
		}
		factors.Walk(w.sizes, w.up, func(i, j, n, stride int) {
			for k, x := range w.value[i:][:n] {
				if p := joint[j+k*stride]; p > 0 {
					w.value[i+k] = p * math.Exp(x)
				} else {
					w.value[i+k] = 0
				}
			}
		})
		clear(b.q[r])
		factors.Walk(w.sizes, w.out, func(i, j, n, stride int) {
			for k, x := range w.value[i:][:n] {
				b.q[r][j+k*stride] += x
			}
		})
	}
}

// Marginals returns the marginals of variables: the gradient of the bound for potentials of single variables, averaged
// over mini-buckets by weight. They are 0 if the bound is −∞.
func (b *Bound) Marginals() [][]float64 {
	p := make([][]float64, len(b.model.States))
	for v, n := range b.model.States {
		p[v] = make([]float64, n)
	}
	if math.IsInf(b.upper, -1) {
		return p
	}
	for r, q := range b.buckets {
		for s, x := range b.q[r] {
			p[q.v][s] += b.weight[r] * x
		}
	}
	return p
}
