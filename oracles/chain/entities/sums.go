// Package entities computes the exact probabilities of entities in chains of entity tags.
package entities

import (
	"math"

	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Sums holds the sums over the labelings of one chain from which the probability of every possible entity follows. With
// the potentials θ of the chain at temperature μ,
//
//	α_t(j)  sums over the labels before t, given y_t = j, node t included;   β_t(j)  over those after t,
//	open_t(j) and close_t(j) are their parts in which an entity starts at t, and in which one that has reached t ends there.
//
// An entity of type x at first…last is the event that one opens at first with a label of x, that the labels up to last
// continue it, and that it closes there. The continuing labels are those of x, at most a handful, so a probability
// takes O(last − first) after one forward-backward pass, O(T·Y²). All sums are logarithms in float64, of any range.
//
// A Sums serves one goroutine at a time and reuses its memory.
type Sums struct {
	rules *chains.Entities
	of    [][]int32 // labels of each type
	into  [][]int32 // for each label, the labels that it continues
	out   [][]int32 // for each label, the labels that continue it

	θ                 chains.Potentials
	lo, n, y          int
	scale             float64 // 1/μ
	α, open, β, close []float64
	value             float64 // log Z
	weights           []float64
	starts            []float64 // [Y×Y] exp of the edges over μ, relative to the largest, 0 where the step continues an entity
	top               float64   // the largest edge over μ
	v, next           []float64
	runs              [][][]float64 // [first][type][length − 1] probabilities of entities; nil until Best needs them
	readyOf           *float32      // the shared edges that starts holds, with readyScale
	readyScale        float64
}

// New returns sums for chains whose labels rules reads.
func New(rules *chains.Entities, labels int) *Sums {
	s := &Sums{rules: rules, of: make([][]int32, rules.Types().Len()), into: make([][]int32, labels), out: make([][]int32, labels)}
	for i := range int32(labels) {
		if x := rules.Type(i); x >= 0 {
			s.of[x] = append(s.of[x], i)
		}
		for j := range int32(labels) {
			if rules.Continue(i, j) {
				s.into[j] = append(s.into[j], i)
				s.out[i] = append(s.out[i], j)
			}
		}
	}
	return s
}

// Reset sums over the labelings of chain b of θ at temperature μ > 0. θ may forbid labels and steps with −∞.
func (s *Sums) Reset(θ *chains.Potentials, b int, μ float64) {
	s.θ, s.y, s.scale = *θ, θ.Y, 1/μ
	s.lo, s.n = θ.Offsets[b], θ.Offsets[b+1]-θ.Offsets[b]
	size := s.n * s.y
	s.α, s.open, s.β, s.close = vec.Grow(s.α, size), vec.Grow(s.open, size), vec.Grow(s.β, size), vec.Grow(s.close, size)
	s.weights, s.starts = vec.Grow(s.weights, s.y), vec.Grow(s.starts, s.y*s.y)
	s.v, s.next = vec.Grow(s.v, s.y), vec.Grow(s.next, s.y)
	s.value, s.runs = 0, nil
	if s.n == 0 {
		return
	}
	s.readyOf = nil // the caller may have changed the shared edges in place
	s.forward()
	s.backward()
	s.value = logSum(s.row(s.α, s.n-1))
}

func (s *Sums) row(of []float64, t int) []float64 { return of[t*s.y : (t+1)*s.y] }

// node returns the score of label j at position t, over μ.
func (s *Sums) node(t int, j int32) float64 {
	return float64(s.θ.Node[(s.lo+t)*s.y+int(j)]) * s.scale
}

// edge returns the score of the step from label i into label j at position t, over μ.
func (s *Sums) edge(t int, i, j int32) float64 {
	return float64(s.θ.EdgeAt(s.lo + t)[int(i)*s.y+int(j)]) * s.scale
}

// prepare computes starts for the step into position t.
func (s *Sums) prepare(t int) {
	edge := s.θ.EdgeAt(s.lo + t)
	if s.readyOf == &edge[0] && s.readyScale == s.scale {
		return
	}
	s.readyOf, s.readyScale, s.top = &edge[0], s.scale, math.Inf(-1)
	for _, e := range edge {
		s.top = math.Max(s.top, float64(e)*s.scale)
	}
	if math.IsInf(s.top, -1) {
		clear(s.starts)
		return
	}
	for k, e := range edge {
		s.starts[k] = math.Exp(float64(e)*s.scale - s.top)
	}
	for j, from := range s.into {
		for _, i := range from {
			s.starts[int(i)*s.y+j] = 0
		}
	}
}

// leastSum is a sum of scaled weights below which terms that matter may have underflowed.
const leastSum = 1e-250

func (s *Sums) forward() {
	for j := range s.y {
		s.open[j] = s.node(0, int32(j))
		s.α[j] = s.open[j]
	}
	for t := 1; t < s.n; t++ {
		s.prepare(t)
		before, open, α := s.row(s.α, t-1), s.row(s.open, t), s.row(s.α, t)
		top := s.expAll(before)
		clear(open)
		for i, w := range s.weights {
			if w == 0 {
				continue
			}
			for j, e := range s.starts[i*s.y : (i+1)*s.y] {
				open[j] += w * e
			}
		}
		for j, sum := range open {
			to := int32(j)
			if sum >= leastSum {
				open[j] = math.Log(sum) + top + s.top
			} else {
				open[j] = s.sumStarts(func(i int32) float64 { return before[i] + s.edge(t, i, to) }, func(i int32) bool { return !s.rules.Continue(i, to) })
			}
			all := open[j]
			for _, i := range s.into[j] {
				all = logAdd(all, before[i]+s.edge(t, i, to))
			}
			node := s.node(t, to)
			open[j], α[j] = open[j]+node, all+node
		}
	}
}

func (s *Sums) backward() {
	clear(s.row(s.β, s.n-1))
	clear(s.row(s.close, s.n-1))
	for t := s.n - 2; t >= 0; t-- {
		s.prepare(t + 1)
		after, closing, β := s.row(s.β, t+1), s.row(s.close, t), s.row(s.β, t)
		for k := range after {
			s.next[k] = after[k] + s.node(t+1, int32(k))
		}
		top := s.expAll(s.next)
		for j := range closing {
			sum, from := 0.0, int32(j)
			for k, e := range s.starts[j*s.y : (j+1)*s.y] {
				sum += s.weights[k] * e
			}
			if sum >= leastSum {
				closing[j] = math.Log(sum) + top + s.top
			} else {
				closing[j] = s.sumStarts(func(k int32) float64 { return s.next[k] + s.edge(t+1, from, k) }, func(k int32) bool { return !s.rules.Continue(from, k) })
			}
			β[j] = closing[j]
			for _, k := range s.out[j] {
				β[j] = logAdd(β[j], s.next[k]+s.edge(t+1, from, k))
			}
		}
	}
}

// expAll sets the weights to the exponentials of xs, relative to the largest, which it returns; 0 if all are −∞.
func (s *Sums) expAll(xs []float64) float64 {
	top := math.Inf(-1)
	for _, x := range xs {
		top = math.Max(top, x)
	}
	if math.IsInf(top, -1) {
		clear(s.weights)
		return 0
	}
	for k, x := range xs {
		s.weights[k] = math.Exp(x - top)
	}
	return top
}

// sumStarts returns log Σ exp of the terms of the labels for which counts holds.
func (s *Sums) sumStarts(term func(int32) float64, counts func(int32) bool) float64 {
	top := math.Inf(-1)
	for i := range int32(s.y) {
		if counts(i) {
			top = math.Max(top, term(i))
		}
	}
	if math.IsInf(top, -1) {
		return top
	}
	sum := 0.0
	for i := range int32(s.y) {
		if counts(i) {
			sum += math.Exp(term(i) - top)
		}
	}
	return top + math.Log(sum)
}
