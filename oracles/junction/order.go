package junction

import (
	"container/heap"
	"math"
	"slices"

	"github.com/dsp-go/dsp/structured/factors"
)

// Heuristic chooses the variable that is eliminated next.
type Heuristic int

// The heuristics of Koller and Friedman 2009, section 9.4.3.
const (
	MinFill   Heuristic = iota // that joins the fewest pairs of neighbours anew
	MinWeight                  // whose table is smallest
)

// Order returns an order in which to eliminate the variables of a model. Ties go to the smaller table, then to the lower number.
func Order(m *factors.Model, h Heuristic) []int {
	order, _ := orderWithin(m, h, math.Inf(1))
	return order
}

// orderWithin is Order, but returns no order if the logarithm of the size of some clique's table exceeds most. largest is the logarithm of
// the largest size so far.
func orderWithin(m *factors.Model, h Heuristic, most float64) (order []int, largest float64) {
	g := newInteraction(m)
	q := &queue{}
	version := make([]int, len(m.States))
	push := func(v int) {
		version[v]++
		c := candidate{v: v, version: version[v], weight: g.weight(v)}
		if h == MinFill {
			c.fill = g.fill(v)
		}
		heap.Push(q, c)
	}
	for v := range m.States {
		push(v)
	}
	order = make([]int, 0, len(m.States))
	for len(order) < len(m.States) {
		c := heap.Pop(q).(candidate)
		if c.version != version[c.v] {
			continue
		}
		version[c.v] = 0
		if largest = max(largest, c.weight); largest > most {
			return nil, largest
		}
		order = append(order, c.v)
		for _, u := range g.eliminate(c.v, h == MinFill) {
			push(u)
		}
	}
	return order, largest
}

// interaction is the graph of variables that share a factor, or a factor that elimination made.
type interaction struct {
	logs       []float64 // [V] log of the number of states
	neighbours []map[int]struct{}
}

func newInteraction(m *factors.Model) *interaction {
	g := &interaction{logs: make([]float64, len(m.States)), neighbours: make([]map[int]struct{}, len(m.States))}
	for v, n := range m.States {
		g.logs[v], g.neighbours[v] = math.Log(float64(n)), map[int]struct{}{}
	}
	for _, f := range m.Factors {
		g.join(f.Scope)
	}
	return g
}

func (g *interaction) join(vars []int) {
	for i, v := range vars {
		for _, u := range vars[:i] {
			g.neighbours[v][u] = struct{}{}
			g.neighbours[u][v] = struct{}{}
		}
	}
}

// of returns the neighbours of v in order.
func (g *interaction) of(v int) []int {
	all := make([]int, 0, len(g.neighbours[v]))
	for u := range g.neighbours[v] {
		all = append(all, u)
	}
	slices.Sort(all)
	return all
}

// weight returns the logarithm of the size of the table that eliminating v makes.
func (g *interaction) weight(v int) float64 {
	w := g.logs[v]
	for _, u := range g.of(v) {
		w += g.logs[u]
	}
	return w
}

// fill returns how many pairs of v's neighbours are not neighbours yet.
func (g *interaction) fill(v int) int {
	all, missing := g.of(v), 0
	for i, u := range all {
		for _, w := range all[:i] {
			if _, joined := g.neighbours[u][w]; !joined {
				missing++
			}
		}
	}
	return missing
}

// eliminate joins the neighbours of v and removes v. It returns the variables whose costs may have changed, in order: the neighbours, and
// with wide also theirs.
func (g *interaction) eliminate(v int, wide bool) []int {
	all := g.of(v)
	g.join(all)
	changed := map[int]struct{}{}
	for _, u := range all {
		delete(g.neighbours[u], v)
		changed[u] = struct{}{}
		if wide {
			for w := range g.neighbours[u] {
				changed[w] = struct{}{}
			}
		}
	}
	g.neighbours[v] = nil
	delete(changed, v)
	list := make([]int, 0, len(changed))
	for u := range changed {
		list = append(list, u)
	}
	slices.Sort(list)
	return list
}

// candidate is a variable that could be eliminated next; it is stale if its version is not the variable's.
type candidate struct {
	v, version, fill int
	weight           float64
}

// queue is a heap of candidates, the cheapest first.
type queue []candidate

func (q queue) Len() int      { return len(q) }
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q queue) Less(i, j int) bool {
	a, b := q[i], q[j]
	switch {
	case a.fill != b.fill:
		return a.fill < b.fill
	case a.weight != b.weight:
		return a.weight < b.weight
	}
	return a.v < b.v
}
func (q *queue) Push(x any) { *q = append(*q, x.(candidate)) }
func (q *queue) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}
