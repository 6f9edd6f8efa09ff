// Package relaxation bounds the best value of a factor graph from above where exact inference is too expensive: it
// maximises over the local polytope, which contains the marginal polytope, and finds an assignment whose value is a
// bound from below.
//
// The bound is the dual of the relaxation. Messages λ_fv(x_v) move value between a factor f and a variable v without
// changing the value of any assignment:
//
//	max_x Σ_v θ_v(x_v) + Σ_f θ_f(x_f)  ≤  Σ_v max (θ_v + Σ_f λ_fv)  +  Σ_f max (θ_f − Σ_v λ_fv).
//
// Every choice of messages gives a valid bound. Sequential reweighted message passing (Kolmogorov 2015, which is TRW-S
// of Kolmogorov 2006 for pairs) lowers it, pass by pass, and never raises it.
package relaxation

import (
	"math"

	"github.com/dsp-go/dsp/oracles/factors"
)

// Relaxation holds the messages of a model.
type Relaxation struct {
	model *factors.Model
	given [][]float64 // [V] θ_v
	own   [][]float64 // [V] θ_v + Σ_f λ_fv
	joint []joint     // factors of two variables or more
	ends  [][]end     // [V] where each variable occurs
	fixed float64     // the factors without variables
	free  []int       // no variable is decided

	states []int // the best assignment found
	value  float64
}

// joint is a factor of two variables or more.
type joint struct {
	factors.Factor
	sizes, strides []int
	message        [][]float64 // [scope] λ_fv
	last, first    int         // places in the scope of the last and first variable in the order
}

// end is a place in a factor's scope.
type end struct{ f, k int }

// New returns the relaxation of a model with messages that are zero. Variables are ordered by their numbers.
func New(m *factors.Model) *Relaxation {
	r := &Relaxation{model: m, own: make([][]float64, len(m.States)), ends: make([][]end, len(m.States)),
		value: math.Inf(-1)}
	for _, n := range m.States {
		r.given, r.free = append(r.given, make([]float64, n)), append(r.free, factors.Free)
	}
	for _, f := range m.Factors {
		switch len(f.Scope) {
		case 0:
			r.fixed += f.Table[0]
		case 1:
			for s, x := range f.Table {
				r.given[f.Scope[0]][s] += x
			}
		default:
			r.join(f)
		}
	}
	for v, θ := range r.given {
		r.own[v] = append([]float64(nil), θ...)
	}
	return r
}

func (r *Relaxation) join(f factors.Factor) {
	j := joint{Factor: f, strides: r.model.Strides(f.Scope)}
	for k, v := range f.Scope {
		j.sizes = append(j.sizes, r.model.States[v])
		j.message = append(j.message, make([]float64, r.model.States[v]))
		r.ends[v] = append(r.ends[v], end{len(r.joint), k})
		if v > f.Scope[j.last] {
			j.last = k
		}
		if v < f.Scope[j.first] {
			j.first = k
		}
	}
	r.joint = append(r.joint, j)
}

// reduce returns, for every state of the k-th variable of the scope, the best entry of θ_f − Σ_v λ_fv: in all over
// every state of the other variables, in agreeing over those that agree with the states decided so far.
func (r *Relaxation) reduce(e end, states []int, all, agreeing []float64) {
	j := &r.joint[e.f]
	for s := range all {
		all[s], agreeing[s] = math.Inf(-1), math.Inf(-1)
	}
	at := make([]int, len(j.Scope))
	for _, x := range j.Table {
		agrees := true
		for p, s := range at {
			v := j.Scope[p]
			if math.IsInf(r.own[v][s], -1) {
				x = math.Inf(-1)
			}
			x -= j.message[p][s]
			agrees = agrees && (states[v] == factors.Free || states[v] == s)
		}
		s := at[e.k]
		all[s] = max(all[s], x)
		if agrees {
			agreeing[s] = max(agreeing[s], x)
		}
		for p := len(at) - 1; p >= 0; p-- {
			if at[p]++; at[p] < j.sizes[p] {
				break
			}
			at[p] = 0
		}
	}
}

// Pass sends messages once forward and once backward along the order of the variables, and decodes an assignment in
// each direction.
func (r *Relaxation) Pass() {
	states := make([]int, len(r.own))
	for _, backward := range []bool{false, true} {
		for v := range states {
			states[v] = factors.Free
		}
		for i := range states {
			v := i
			if backward {
				v = len(states) - 1 - i
			}
			r.update(v, states, backward)
		}
		r.improve(states)
		if value := r.model.Value(states); value > r.value || r.states == nil {
			r.states, r.value = append(r.states[:0], states...), value
		}
	}
}

// update moves to v what its factors say about it, decides its state given those of earlier variables, and hands its
// value on to the factors with later variables. A state that a factor forbids stays forbidden in own, and no message
// mentions it.
func (r *Relaxation) update(v int, states []int, backward bool) {
	own, n := r.own[v], len(r.own[v])
	score, all, agreeing := append([]float64(nil), own...), make([]float64, n), make([]float64, n)
	ahead, behind := 0, 0
	for _, e := range r.ends[v] {
		j := &r.joint[e.f]
		r.reduce(e, states, all, agreeing)
		for s := range own {
			score[s] += agreeing[s]
			if math.IsInf(all[s], -1) {
				own[s] = all[s]
			} else {
				own[s] += all[s]
				j.message[e.k][s] += all[s]
			}
		}
		if e.k != j.last {
			ahead++
		}
		if e.k != j.first {
			behind++
		}
	}
	states[v] = best(score, own)
	share := 1 / float64(max(ahead, behind, 1))
	copy(all, own)
	for _, e := range r.ends[v] {
		j := &r.joint[e.f]
		if !backward && e.k == j.last || backward && e.k == j.first {
			continue
		}
		for s := range own {
			if !math.IsInf(all[s], -1) {
				own[s] -= share * all[s]
				j.message[e.k][s] -= share * all[s]
			}
		}
	}
}

// best returns the state with the highest score; among equals, and where all are forbidden, the one with the highest
// value of its own.
func best(score, own []float64) int {
	b := 0
	for s := range score {
		if score[s] > score[b] || score[s] == score[b] && own[s] > own[b] {
			b = s
		}
	}
	return b
}

// sweeps bounds the local search.
const sweeps = 10

// improve changes the state of one variable at a time as long as this raises the value (iterated conditional modes).
func (r *Relaxation) improve(states []int) {
	for range sweeps {
		changed := false
		for v := range states {
			score := append([]float64(nil), r.given[v]...)
			for _, e := range r.ends[v] {
				j := &r.joint[e.f]
				at := 0
				for k, u := range j.Scope {
					if k != e.k {
						at += states[u] * j.strides[k]
					}
				}
				for s := range score {
					score[s] += j.Table[at+s*j.strides[e.k]]
				}
			}
			if s := best(score, score); score[s] > score[states[v]] {
				states[v], changed = s, true
			}
		}
		if !changed {
			return
		}
	}
}

// Bound returns an upper bound of the best value.
func (r *Relaxation) Bound() float64 {
	bound := r.fixed
	for _, own := range r.own {
		bound += most(own)
	}
	for f := range r.joint {
		j := &r.joint[f]
		all, agreeing := make([]float64, j.sizes[0]), make([]float64, j.sizes[0])
		r.reduce(end{f, 0}, r.free, all, agreeing)
		bound += most(all)
	}
	return bound
}

func most(xs []float64) float64 {
	m := math.Inf(-1)
	for _, x := range xs {
		m = max(m, x)
	}
	return m
}

// Best returns the best assignment found so far and its value. Its difference from Bound is what the assignment may
// lose at most.
func (r *Relaxation) Best() (states []int, value float64) { return r.states, r.value }
