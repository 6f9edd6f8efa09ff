package reweighted

import (
	"math"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// chains bounds the best score of an example by sequential tree-reweighted messages (Kolmogorov 2006). Every edge
// belongs to one chain of links from parent to child, and n_v chains run through variable v: as many as it has links to
// parents or to children, whichever are more. Messages move score between edges and variables, so that the score of
// every labeling stays
//
//	Σ_v own_v + Σ_j (θ_j − up_j − down_j),  own_v = θ_v + Σ_j down_j (links to parents) + Σ_j up_j (links to children),
//
// and each chain gets own_v/n_v. The sum of the chains' best scores is the bound. It falls from pass to pass.
type chains struct {
	*example
	up, down []float64 // [E×Y] messages to the parent and to the child
	own      []float64 // [Y]
	share    []float64 // [Y]
	value    float64   // of the best labels so far
	largest  float64   // of all potentials, without their signs
	labels   []int32   // [V] the best labels so far
	trial    []int32   // [V]
}

func (c *chains) begin(x *example) {
	c.example = x
	c.up, c.down = vec.Grow(c.up, len(x.links)*x.y), vec.Grow(c.down, len(x.links)*x.y)
	c.own, c.share = vec.Grow(c.own, x.y), vec.Grow(c.share, x.y)
	c.labels, c.trial = vec.Grow(c.labels, x.n), vec.Grow(c.trial, x.n)
	clear(c.up)
	clear(c.down)
	clear(c.labels)
	c.value, c.largest = minusInf, 0
	for _, of := range [][]float64{x.node, x.table[:len(x.links)*x.y*x.y]} {
		for _, s := range of {
			if s > minusInf {
				c.largest = max(c.largest, math.Abs(s))
			}
		}
	}
}

// children returns the links to the children of v.
func (x *example) children(v int32) []int32 { return x.out[x.outOf[v]:x.outOf[v+1]] }

// gather sets own, and returns n_v.
func (c *chains) gather(k int) (through int) {
	y, v := c.y, c.order[k]
	from, to := c.of(k)
	copy(c.own, row(c.node, int(v), y))
	for j := from; j < to; j++ {
		for l, m := range row(c.down, j, y) {
			c.own[l] += m
		}
	}
	children := c.children(v)
	for _, j := range children {
		for l, m := range row(c.up, int(j), y) {
			c.own[l] += m
		}
	}
	return max(to-from, len(children), 1)
}

// without sets share to own/n less a message that own contains. −∞ stays −∞.
func (c *chains) without(message []float64, n int) {
	for l, s := range c.own {
		c.share[l] = s
		if s > minusInf {
			c.share[l] = s/float64(n) - message[l]
		}
	}
}

// forward sends messages from parents to children. On the way it decides labels: each variable takes the best one given
// the labels of its parents and the messages of its children.
func (c *chains) forward() {
	y := c.y
	for k, v := range c.order {
		n := c.gather(k)
		c.decide(k)
		for _, j := range c.children(v) {
			c.without(row(c.up, int(j), y), n)
			down, table, top := row(c.down, int(j), y), c.tableOf(int(j)), minusInf
			for l := range down {
				m := minusInf
				for i, s := range table[l*y:][:y] {
					if s += c.share[i]; s > m {
						m = s
					}
				}
				down[l], top = m, max(top, m)
			}
			lower(down, top)
		}
	}
}

// backward sends messages from children to parents and returns the bound.
func (c *chains) backward() float64 {
	y, bound := c.y, 0.0
	for k := len(c.order) - 1; k >= 0; k-- {
		n := c.gather(k)
		from, to := c.of(k)
		if begin := n - (to - from); begin > 0 { // chains that begin here
			bound += float64(begin) / float64(n) * highest(c.own)
		}
		for j := from; j < to; j++ {
			c.without(row(c.down, j, y), n)
			up, table := row(c.up, j, y), c.tableOf(j)
			for i := range up {
				up[i] = minusInf
			}
			for l, x := range c.share {
				for i, s := range table[l*y:][:len(up)] {
					if s += x; s > up[i] {
						up[i] = s
					}
				}
			}
			top := highest(up)
			lower(up, top)
			bound += top
		}
	}
	return bound
}

// lower subtracts top from a message, unless that is −∞.
func lower(message []float64, top float64) {
	if math.IsInf(top, -1) {
		return
	}
	for l := range message {
		message[l] -= top
	}
}

func highest(xs []float64) float64 {
	m := minusInf
	for _, x := range xs {
		m = max(m, x)
	}
	return m
}

// decide sets the trial label of order[k].
func (c *chains) decide(k int) {
	y, v := c.y, c.order[k]
	copy(c.share, row(c.node, int(v), y))
	from, to := c.of(k)
	for j := from; j < to; j++ {
		table, i := c.tableOf(j), int(c.trial[c.links[j].parent])
		for l := range c.share {
			c.share[l] += table[l*y+i]
		}
	}
	for _, j := range c.children(v) {
		for l, m := range row(c.up, int(j), y) {
			c.share[l] += m
		}
	}
	c.trial[v] = best(c.share, c.own)
}

// best returns the label with the highest score; among equals, and where all are forbidden, the one with the highest
// second score.
func best(score, second []float64) int32 {
	b := 0
	for l := range score {
		if score[l] > score[b] || score[l] == score[b] && second[l] > second[b] {
			b = l
		}
	}
	return int32(b)
}

// sweeps bounds the local search.
const sweeps = 10

// improve changes one trial label at a time as long as this raises the score, and keeps the labels if they are the best
// so far.
func (c *chains) improve() {
	for range sweeps {
		changed := false
		for k, v := range c.order {
			c.local(k)
			if l := best(c.share, c.share); c.share[l] > c.share[c.trial[v]] {
				c.trial[v], changed = l, true
			}
		}
		if !changed {
			break
		}
	}
	if value := c.score(c.trial); value > c.value || math.IsInf(c.value, -1) {
		c.value = value
		copy(c.labels, c.trial)
	}
}

// local sets share to what each label of order[k] scores given all other labels.
func (c *chains) local(k int) {
	y, v := c.y, c.order[k]
	copy(c.share, row(c.node, int(v), y))
	from, to := c.of(k)
	for j := from; j < to; j++ {
		table, i := c.tableOf(j), int(c.trial[c.links[j].parent])
		for l := range c.share {
			c.share[l] += table[l*y+i]
		}
	}
	for _, j := range c.children(v) {
		child := int(c.trial[c.links[j].child])
		for i, s := range c.tableOf(int(j))[child*y:][:y] {
			c.share[i] += s
		}
	}
}

func (x *example) score(labels []int32) float64 {
	s := 0.0
	for v, l := range labels {
		s += x.node[v*x.y+int(l)]
	}
	for j, l := range x.links {
		s += x.tableOf(j)[int(labels[l.child])*x.y+int(labels[l.parent])]
	}
	return s
}

// stalled is the part of the gap that a pass must close for another one to follow.
const stalled = 1e-3

// run passes messages until the bound meets the best labels up to a relative tolerance, a pass closes little of what is
// between them, or the number of passes is reached. It returns the bound.
func (c *chains) run(x *example, tolerance float64, passes int) (bound float64) {
	c.begin(x)
	bound = math.Inf(1)
	for range passes {
		c.forward()
		c.improve()
		before := bound
		bound = min(bound, c.backward())
		if gap := bound - c.value; gap <= tolerance*(min(1, c.largest)+math.Abs(bound)) || before-bound <= stalled*gap {
			break
		}
	}
	return bound
}
