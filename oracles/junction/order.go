package junction

import (
	"container/heap"
	"math"

	"github.com/dsp-go/dsp/oracles/factors"
)

// Heuristic chooses the variable that is eliminated next.
type Heuristic int

// The heuristics of Koller and Friedman 2009, section 9.4.3.
const (
	MinFill   Heuristic = iota // that joins the fewest pairs of neighbours anew
	MinWeight                  // whose table is smallest
)

// Order returns an order in which to eliminate the variables of a model. Ties go to the smaller table, then to the
// lower number.
func Order(m *factors.Model, h Heuristic) []int {
	order, _ := orderWithin(m, h, math.Inf(1))
	return order
}

// orderWithin is Order, but returns no order if the logarithm of the size of some clique's table exceeds most. largest
// is the logarithm of the largest size so far.
func orderWithin(m *factors.Model, h Heuristic, most float64) (order []int, largest float64) {
	g := newInteraction(m, h == MinFill)
	q := &queue{}
	version := make([]int, len(m.States))
	push := func(v int) {
		version[v]++
		c := candidate{v: v, version: version[v], weight: g.weight[v]}
		if h == MinFill {
			c.fill = g.fill[v]
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
		if largest = max(largest, float64(c.weight)/units); largest > most {
			return nil, largest
		}
		order = append(order, c.v)
		for _, u := range g.eliminate(c.v) {
			push(u)
		}
	}
	return order, largest
}

// candidate is a variable that could be eliminated next; it is stale if its version is not the variable's.
type candidate struct {
	v, version, fill int
	weight           int64
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
