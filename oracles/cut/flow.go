package cut

import "math"

// flow is a maximum flow from a source to a sink and the minimum cut that it proves, by the algorithm of Boykov and
// Kolmogorov (2004).
//
// Two trees grow from the source and from the sink along arcs with capacity left. Where they meet there is a path for
// more flow. Arcs that the flow fills cut off parts of the trees, which look for new parents. In the end the trees do
// not meet, and the sink's tree holds the nodes that can still reach the sink: the smallest sink side of all minimum
// cuts.
//
// The arithmetic is that of float64: exact if the capacities are multiples of a power of two and their sum stays below
// 2⁵³ times it, and else with a relative error of about 1e-16 per arc and path. Capacities may be +∞.
type flow struct {
	nodes   []node // [V+1]; the last one only ends the arcs of the one before
	arcs    []arc
	orphans []int32
	clock   int32 // distances with this stamp are up to date

	head, tail int32 // queue of active nodes, linked by next; none if empty
}

type node struct {
	first  int32   // of its arcs
	parent int32   // the arc to its parent in the tree, or one of the numbers below
	stamp  int32   // when dist was right
	dist   int32   // number of arcs to the root
	excess float64 // capacity left from the source; if negative, to the sink
	next   int32   // the next active node; itself if it is the last one; none if it is not active
	tree   tree
}

// arc is an arc to head. Its sister leads back.
type arc struct {
	head, sister int32
	left         float64 // capacity left
}

type tree uint8

const (
	free tree = iota
	source
	sink
)

// Values of node.parent and node.next other than an arc or a node.
const (
	none     int32 = -1
	terminal int32 = -2
	orphan   int32 = -3
)

// maximise augments the flow until it is maximal. It returns false if the maximum is infinite.
func (f *flow) maximise() bool {
	f.exchange()
	f.head, f.tail, f.clock = none, none, 0
	for v := range int32(len(f.nodes) - 1) {
		n := &f.nodes[v]
		n.next, n.parent, n.stamp, n.tree = none, none, 0, free
		if n.excess == 0 {
			continue
		}
		n.tree, n.parent, n.dist = source, terminal, 1
		if n.excess < 0 {
			n.tree = sink
		}
		f.activate(v)
	}
	for f.head != none {
		if !f.grow(f.popActive()) {
			return false
		}
	}
	return true
}

// exchange sends flow along single arcs from nodes with capacity from the source to nodes with capacity to the sink,
// which needs no trees.
func (f *flow) exchange() {
	nodes, arcs := f.nodes, f.arcs
	for v := range int32(len(nodes) - 1) {
		n := &nodes[v]
		for a := n.first; a < nodes[v+1].first && n.excess > 0; a++ {
			e := &arcs[a]
			to := &nodes[e.head]
			if to.excess >= 0 || e.left <= 0 {
				continue
			}
			most := min(n.excess, e.left, -to.excess)
			if math.IsInf(most, 1) {
				return // maximise finds out
			}
			n.excess -= most
			to.excess += most
			e.left -= most
			arcs[e.sister].left += most
		}
	}
}

func (f *flow) activate(v int32) {
	n := &f.nodes[v]
	if n.next != none {
		return
	}
	n.next = v
	if f.tail == none {
		f.head = v
	} else {
		f.nodes[f.tail].next = v
	}
	f.tail = v
}

func (f *flow) popActive() int32 {
	v := f.head
	n := &f.nodes[v]
	if n.next == v {
		f.head, f.tail = none, none
	} else {
		f.head = n.next
	}
	n.next = none
	return v
}

// grow adds the free neighbours of v to its tree, and augments the flow wherever it meets the other tree.
func (f *flow) grow(v int32) bool {
	nodes, arcs := f.nodes, f.arcs
	n := &nodes[v]
	for a := n.first; a < nodes[v+1].first && n.tree != free; a++ {
		e := &arcs[a]
		left := e.left
		if n.tree == sink {
			left = arcs[e.sister].left
		}
		if left <= 0 {
			continue
		}
		switch to := &nodes[e.head]; to.tree {
		case free:
			to.tree, to.parent, to.stamp, to.dist = n.tree, e.sister, n.stamp, n.dist+1
			f.activate(e.head)
		case n.tree:
			if to.stamp <= n.stamp && to.dist > n.dist+1 { // a shorter way
				to.parent, to.stamp, to.dist = e.sister, n.stamp, n.dist+1
			}
		default:
			middle := a
			if n.tree == sink {
				middle = e.sister
			}
			if !f.augment(middle) {
				return false
			}
			f.clock++
			f.adopt()
			a-- // the arc may have capacity left
		}
	}
	return true
}

// augment sends as much flow as it can along the path through an arc from the source's tree to the sink's. It returns
// false if that is infinite. Nodes whose arc from the parent it fills become orphans.
func (f *flow) augment(middle int32) bool {
	nodes, arcs := f.nodes, f.arcs
	m := &arcs[middle]
	from, to := arcs[m.sister].head, m.head
	most := m.left
	v := from
	for ; nodes[v].parent != terminal; v = arcs[nodes[v].parent].head {
		most = min(most, arcs[arcs[nodes[v].parent].sister].left)
	}
	most = min(most, nodes[v].excess)
	for v = to; nodes[v].parent != terminal; v = arcs[nodes[v].parent].head {
		most = min(most, arcs[nodes[v].parent].left)
	}
	most = min(most, -nodes[v].excess)
	if math.IsInf(most, 1) {
		return false
	}
	m.left -= most
	arcs[m.sister].left += most

	begin := len(f.orphans)
	for v = from; nodes[v].parent != terminal; {
		up := &arcs[nodes[v].parent]
		next := up.head
		up.left += most
		down := &arcs[up.sister]
		if down.left -= most; down.left <= 0 {
			f.cutOff(v)
		}
		v = next
	}
	if nodes[v].excess -= most; nodes[v].excess <= 0 {
		f.cutOff(v)
	}
	reverse(f.orphans[begin:]) // those next to the root first

	begin = len(f.orphans)
	for v = to; nodes[v].parent != terminal; {
		up := &arcs[nodes[v].parent]
		next := up.head
		arcs[up.sister].left += most
		if up.left -= most; up.left <= 0 {
			f.cutOff(v)
		}
		v = next
	}
	if nodes[v].excess += most; nodes[v].excess >= 0 {
		f.cutOff(v)
	}
	reverse(f.orphans[begin:])
	return true
}

func (f *flow) cutOff(v int32) {
	f.nodes[v].parent = orphan
	f.orphans = append(f.orphans, v)
}

func reverse(s []int32) {
	for i, j := 0, len(s)-1; i < j; i, j = i+1, j-1 {
		s[i], s[j] = s[j], s[i]
	}
}
