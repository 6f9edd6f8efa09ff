package minibucket

import (
	"container/heap"
	"math"
)

// Conditioning cuts the loops that mini-buckets split: it sums over the states of the variables that are eliminated
// last, down to the first split. Given their states the rest of the sum is exact. What is not yet visited is bounded by
// the messages of the mini-buckets, the largest part being visited first (best-first search for log Z: Lou, Dechter and
// Ihler 2017). So log Z lies between the sum of all that was visited and that sum with the bounds of the rest.
type Conditioning struct {
	bound  *Bound
	levels []level // by order of elimination
	end    int     // variables that are eliminated before this one need no states
	open   nodes
	below  []*node // taken from open where that is full: visited depth first
	sum    logSum  // of what is exact
	states []int   // [V]

	lower, upper float64
	spent, count int // expanded nodes, and how many there were when upper was computed
	most         int // nodes that wait; beyond, it goes on depth-first
}

// level is what sets the bound of an assignment that gives a variable a state.
type level struct {
	v       int
	replace []lookup // messages of the variable's mini-buckets, which leave the bound
	scores  []lookup // tables and messages that mention the variable, which join it
}

// lookup reads a table for an assignment: from Σ strides·states on, entries that are step apart belong to the states of
// the level's variable.
type lookup struct {
	vars, strides []int
	step          int
	table         []float64
}

// node is an assignment to variables that are eliminated from some level on.
type node struct {
	above *node
	level int // of the last variable that has a state
	state int
	f     float64 // the bound of the sum over the others; exact at the end
}

// mostOpen is the limit of nodes that wait.
const mostOpen = 1 << 21

// Condition begins to sum. It uses the bound's tables, so that the bound must not pass while it is in use.
func (b *Bound) Condition() *Conditioning {
	n := len(b.model.States)
	c := &Conditioning{bound: b, sum: logSum{top: minusInf}, lower: minusInf, upper: b.upper,
		states: make([]int, n), end: n}
	c.most = mostOpen
	for k := range n {
		from, to := b.first[k], b.first[k+1]
		if to-from > 1 {
			c.end = min(c.end, k)
		}
		l := level{v: b.buckets[from].v}
		for r := from; r < to; r++ {
			q := &b.buckets[r]
			l.replace = append(l.replace, b.lookup(q.rest, b.tables[r].message, l.v))
			for _, f := range q.factors {
				l.scores = append(l.scores, b.lookup(b.model.Factors[f].Scope, b.model.Factors[f].Table, l.v))
			}
			for _, child := range q.children {
				l.scores = append(l.scores, b.lookup(b.buckets[child].rest, b.tables[child].message, l.v))
			}
		}
		c.levels = append(c.levels, l)
	}
	if !math.IsInf(b.upper, -1) {
		c.add(&node{level: n, f: b.upper})
	}
	c.settle()
	return c
}

func (b *Bound) lookup(scope []int, table []float64, v int) lookup {
	l := lookup{table: table}
	for k, step := range b.model.Strides(scope) {
		if scope[k] == v {
			l.step = step
		} else {
			l.vars, l.strides = append(l.vars, scope[k]), append(l.strides, step)
		}
	}
	return l
}

func (l *lookup) at(states []int) int {
	at := 0
	for k, v := range l.vars {
		at += states[v] * l.strides[k]
	}
	return at
}

// add keeps a node: its sum if that is exact.
func (c *Conditioning) add(x *node) {
	if x.level <= c.end {
		c.sum.add(x.f)
		return
	}
	heap.Push(&c.open, x)
}

// expand returns the nodes below one, one for each state of the next variable that has a part of the sum.
func (c *Conditioning) expand(x *node) []*node {
	c.spent++
	l := &c.levels[x.level-1]
	f := x.f
	for k := range l.replace {
		f -= l.replace[k].table[l.replace[k].at(c.states)]
	}
	below := make([]*node, 0, c.bound.model.States[l.v])
	scores := make([]float64, c.bound.model.States[l.v])
	for k := range l.scores {
		at := l.scores[k].at(c.states)
		for s := range scores {
			scores[s] += l.scores[k].table[at+s*l.scores[k].step]
		}
	}
	for s, score := range scores {
		if !math.IsInf(score, -1) {
			below = append(below, &node{above: x, level: x.level - 1, state: s, f: min(f+score, x.f)})
		}
	}
	return below
}

// set gives variables the states of a node.
func (c *Conditioning) set(x *node) {
	for ; x.above != nil; x = x.above {
		c.states[c.levels[x.level].v] = x.state
	}
}

// Follow visits the assignments that agree with the given one as far as states are needed, so that the lower bound is
// at least its value. It may be called once, first.
func (c *Conditioning) Follow(states []int) {
	if len(c.open) == 0 {
		return
	}
	x := heap.Pop(&c.open).(*node)
	for x != nil && x.level > c.end {
		var next *node
		for _, y := range c.expand(x) {
			if y.state == states[c.levels[y.level].v] {
				next = y
			} else {
				c.add(y)
			}
		}
		if x = next; x != nil {
			c.states[c.levels[x.level].v] = x.state
		}
	}
	if x != nil {
		c.add(x)
	}
	c.settle()
}

// Visit expands nodes, from the largest down to where a sum is exact, until so many are expanded, nothing is left, or
// stop says so.
func (c *Conditioning) Visit(nodes int, stop func() bool) {
	for end := c.spent + nodes; c.spent < end && !c.Exact() && !stop(); {
		c.dive()
		if c.spent >= c.count+c.count/8+256 {
			c.settle()
		}
	}
	c.settle()
}

func (c *Conditioning) dive() {
	var x *node
	if full := len(c.open) >= c.most; full || len(c.below) > 0 {
		if len(c.below) == 0 {
			c.below = append(c.below, heap.Pop(&c.open).(*node))
		}
		last := len(c.below) - 1
		x, c.below = c.below[last], c.below[:last]
		c.set(x)
		for _, y := range c.expand(x) {
			if y.level <= c.end {
				c.add(y)
			} else {
				c.below = append(c.below, y)
			}
		}
		return
	}
	x = heap.Pop(&c.open).(*node)
	c.set(x)
	for x != nil && x.level > c.end {
		var best *node
		for _, y := range c.expand(x) {
			switch {
			case best == nil:
				best = y
			case y.f > best.f:
				c.add(best)
				best = y
			default:
				c.add(y)
			}
		}
		if x = best; x != nil {
			c.states[c.levels[x.level].v] = x.state
		}
	}
	if x != nil {
		c.add(x)
	}
}

// settle computes the interval anew. Sums of what is left, not differences, so that they lose nothing where log Z is
// far below the first bound.
func (c *Conditioning) settle() {
	c.count = c.spent
	c.lower = max(c.lower, c.sum.value())
	all := c.sum
	for _, left := range [][]*node{c.open, c.below} {
		for _, x := range left {
			all.add(x.f)
		}
	}
	c.upper = min(c.upper, all.value())
}

// logSum is top + log sum, of numbers that are added up as logarithms.
type logSum struct{ top, sum float64 }

func (l *logSum) add(x float64) {
	if x > l.top {
		l.sum *= math.Exp(l.top - x)
		l.top = x
	}
	l.sum += math.Exp(x - l.top)
}

func (l *logSum) value() float64 {
	if l.sum == 0 {
		return minusInf
	}
	return l.top + math.Log(l.sum)
}

// Lower returns a lower bound of log Z, −∞ where no assignment that is allowed was visited.
func (c *Conditioning) Lower() float64 { return min(c.lower, c.upper) }

// Upper returns an upper bound of log Z.
func (c *Conditioning) Upper() float64 { return c.upper }

// Exact reports whether nothing is left to visit.
func (c *Conditioning) Exact() bool { return len(c.open) == 0 && len(c.below) == 0 }

// nodes is a heap, the largest bound first.
type nodes []*node

func (q nodes) Len() int           { return len(q) }
func (q nodes) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q nodes) Less(i, j int) bool { return q[i].f > q[j].f }
func (q *nodes) Push(x any)        { *q = append(*q, x.(*node)) }
func (q *nodes) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}
