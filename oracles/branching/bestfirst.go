package branching

import (
	"container/heap"
	"math"
)

// bestFirst is branch and bound in the order of bounds. A node takes a state for a variable, or excludes it; messages
// are passed anew in the network that is left, which lowers its bound and excludes more states. From the open node with
// the highest bound it dives depth-first for some nodes, and leaves what it did not get to open (hybrid best-first
// search, Allouche and others 2015). It decides by what the network is like at a node; search.go, whose order is fixed,
// wins where subproblems are independent of each other.
//
// An open node is the list of its decisions: its network is made again from the root's when its turn comes.
type bestFirst struct {
	*Solver
	root  *network
	open  frontier
	dive  int // nodes of a dive
	left  int // nodes that this dive may still take
	nodes int // of this dive
	work  int // entries that may still be visited
	held  int // entries of the networks of a dive
	most  int // entries that these may have
	ends  bool
	gain  [][2]fall // [V] what taking a variable's best state, and excluding it, lowered the bound by
	all   [2]fall
}

// fall is by how much decisions lowered the bound, as parts of the gap.
type fall struct{ sum, n float64 }

// decision takes or excludes a state.
type decision struct {
	before          *decision
	variable, state int // of the root
	exclude         bool
}

type node struct {
	*decision
	bound int64
	depth int
}

// frontier is a heap of open nodes, the highest bound first, of equals the deepest.
type frontier []node

func (f frontier) Len() int { return len(f) }
func (f frontier) Less(i, j int) bool {
	return f[i].bound > f[j].bound || f[i].bound == f[j].bound && f[i].depth > f[j].depth
}
func (f frontier) Swap(i, j int) { f[i], f[j] = f[j], f[i] }
func (f *frontier) Push(x any)   { *f = append(*f, x.(node)) }
func (f *frontier) Pop() any {
	last := len(*f) - 1
	x := (*f)[last]
	*f = (*f)[:last]
	return x
}

// Limits of dives and nodes.
const (
	shortest   = 16
	longest    = 1 << 12
	nodePasses = 8
	worthwhile = 0.1 // of the gap: a pass must lower the bound by more to be followed by another
	nodeBytes  = 64
	usualFor   = 4 // decisions, until which a variable's own gains count for less than the usual ones
)

// newBestFirst begins with a network whose states are those that the solver kept.
func newBestFirst(v *Solver, root *network, entries float64) *bestFirst {
	h := &bestFirst{Solver: v, root: root, dive: shortest, most: int(entries / 4), gain: make([][2]fall, len(root.states))}
	h.open = frontier{{bound: v.upper}}
	return h
}

// run takes nodes until they have visited about as many entries as work says, or nothing is left to do. It reports
// false where it cannot go on.
func (h *bestFirst) run(work int) bool {
	h.work = work
	for h.work > 0 && !h.done() {
		if len(h.open) == 0 {
			h.lower(h.value)
			return false
		}
		if len(h.open)*nodeBytes > 8*h.most {
			return false
		}
		at := heap.Pop(&h.open).(node)
		if h.value != forbidden && at.bound <= h.value { // so are all others
			h.open = nil
			continue
		}
		if h.left = h.dive; h.value == forbidden {
			h.left = longest // any assignment prunes
		}
		before := h.work
		small, kept := h.reopen(at)
		reopening := float64(before - h.work)
		if small != nil {
			h.explore(small, kept, at)
		}
		h.answer.Nodes += h.nodes
		h.nodes = 0
		h.local.beside(before - h.work)
		switch spent := float64(before - h.work); {
		case reopening > 0.1*spent:
			h.dive = min(2*h.dive, longest)
		case reopening < 0.05*spent:
			h.dive = max(h.dive/2, shortest)
		}
		if h.ends {
			return false
		}
		if len(h.open) > 0 {
			h.lower(h.open[0].bound)
		}
	}
	return !h.done()
}

// reopen makes the network of a node, and lists its states by their numbers in the root.
func (h *bestFirst) reopen(at node) (*network, [][]int) {
	alive := make([][]bool, len(h.root.states))
	for v, n := range h.root.states {
		alive[v] = make([]bool, n)
		for s := range alive[v] {
			alive[v][s] = true
		}
	}
	for d := at.decision; d != nil; d = d.before {
		if was := alive[d.variable][d.state]; d.exclude {
			alive[d.variable][d.state] = false
		} else {
			clear(alive[d.variable])
			alive[d.variable][d.state] = was
		}
	}
	h.work -= h.root.entries()
	return h.root.keep(alive)
}

// explore solves a node or leaves it, in parts, open.
func (h *bestFirst) explore(n *network, kept [][]int, at node) {
	n, kept, own := h.propagate(n, kept, &at)
	if n == nil || at.bound <= h.value {
		return
	}
	v, s := h.choose(n, own)
	if v < 0 {
		return
	}
	decide := func(exclude bool) node {
		return node{&decision{at.decision, v, kept[v][s], exclude}, at.bound, at.depth + 1}
	}
	take, exclude := decide(false), decide(true)
	size := n.entries()
	h.nodes++
	if h.left--; h.left < 0 || h.work <= 0 || h.held+size > h.most || h.stop() {
		heap.Push(&h.open, take)
		heap.Push(&h.open, exclude)
		return
	}
	h.held += size
	for k, next := range []node{take, exclude} {
		if h.left < 0 || h.ends {
			heap.Push(&h.open, next)
			continue
		}
		alive := make([][]bool, len(n.states))
		for u, states := range kept {
			alive[u] = make([]bool, len(states))
			for i := range states {
				alive[u][i] = u != v || (i == s) != (k == 1)
			}
		}
		small, old := n.keep(alive)
		for u := range old {
			for i, s := range old[u] {
				old[u][i] = kept[u][s]
			}
		}
		h.work -= size
		h.explore(small, old, next)
	}
	h.held -= size
}

// propagate passes messages while that pays, takes the assignment that they suggest, and lowers the node's bound. It
// returns the network without the states that messages excluded, and nil where none is left.
func (h *bestFirst) propagate(n *network, kept [][]int, at *node) (*network, [][]int, [][]int64) {
	m := newMessages(n)
	m.floor = h.value
	before := at.bound
	size := 4 * n.entries()
	for range nodePasses {
		m.above = m.bound()
		m.pass()
		h.work -= size
		bound := m.bound()
		last := at.bound
		if at.bound = min(last, bound); at.bound <= h.value || bound == forbidden {
			h.learn(at, before)
			return nil, nil, nil
		}
		if h.value == forbidden || float64(last-at.bound) < worthwhile*float64(last-h.value) {
			break
		}
	}
	if m.wide() {
		h.ends = true
		heap.Push(&h.open, *at)
		return nil, nil, nil
	}
	h.learn(at, before)
	states := m.decode()
	whole := make([]int, len(states))
	for v, s := range states {
		whole[v] = h.kept[v][kept[v][s]]
	}
	h.take(whole)
	h.work -= size / 4
	alive := m.alive(h.value)
	own := m.own
	m.end()
	small, old := m.keep(alive)
	if small == nil {
		return nil, nil, nil
	}
	left := make([][]int64, len(old))
	for v := range old {
		for i, s := range old[v] {
			left[v] = append(left[v], own[v][s])
			old[v][i] = kept[v][s]
		}
	}
	return small, old, left
}

// learn notes by how much the last decision lowered the bound.
func (h *bestFirst) learn(at *node, before int64) {
	if at.decision == nil || h.value == forbidden || before <= h.value {
		return
	}
	part := min(1, float64(before-at.bound)/float64(before-h.value))
	k := 0
	if at.exclude {
		k = 1
	}
	for _, f := range []*fall{&h.gain[at.variable][k], &h.all[k]} {
		f.sum += part
		f.n++
	}
}

// choose returns a variable and its best state: one whose decisions have lowered the bound much, which is in many
// tables and has few states.
func (h *bestFirst) choose(n *network, own [][]int64) (variable, state int) {
	variable = -1
	degrees := make([]float64, len(own))
	for _, t := range n.tables {
		if len(t.scope) > 1 {
			for _, v := range t.scope {
				degrees[v]++
			}
		}
	}
	best := math.Inf(-1)
	for v, q := range own {
		if len(q) < 2 {
			continue
		}
		top := 0
		for s, x := range q {
			if x > q[top] {
				top = s
			}
		}
		score := degrees[v] * degrees[v] / float64(len(q))
		for k := range 2 {
			usual := (h.all[k].sum + 1) / (h.all[k].n + 1)
			score *= 1e-3 + (h.gain[v][k].sum+usualFor*usual)/(h.gain[v][k].n+usualFor)
		}
		if score > best {
			best, variable, state = score, v, top
		}
	}
	return variable, state
}
