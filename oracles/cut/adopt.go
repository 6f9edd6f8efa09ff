package cut

import "math"

const far = math.MaxInt32

// adopt finds a new parent for every orphan, the one closest to the root, among neighbours that are still connected to
// it. An orphan without one leaves the tree, and its children become orphans.
func (f *flow) adopt() {
	for k := 0; k < len(f.orphans); k++ {
		f.adoptOne(f.orphans[k])
	}
	f.orphans = f.orphans[:0]
}

func (f *flow) adoptOne(v int32) {
	nodes, arcs := f.nodes, f.arcs
	n := &nodes[v]
	best, nearest := none, int32(far)
	end := nodes[v+1].first
	for a := n.first; a < end; a++ {
		e := &arcs[a]
		if nodes[e.head].tree != n.tree || !f.carries(a, n.tree) {
			continue
		}
		if d := f.distance(e.head); d < nearest {
			best, nearest = a, d
		}
	}
	if best != none {
		n.parent, n.stamp, n.dist = best, f.clock, nearest+1
		return
	}
	for a := n.first; a < end; a++ {
		e := &arcs[a]
		to := &nodes[e.head]
		if to.tree != n.tree {
			continue
		}
		if f.carries(a, n.tree) {
			f.activate(e.head) // it may add v again
		}
		if to.parent >= 0 && arcs[to.parent].head == v {
			f.cutOff(e.head)
		}
	}
	n.tree, n.parent = free, none
}

// carries reports whether arc a has capacity left towards its tail, in the source's tree, or towards its head, in the
// sink's.
func (f *flow) carries(a int32, t tree) bool {
	if t == source {
		a = f.arcs[a].sister
	}
	return f.arcs[a].left > 0
}

// distance returns the number of arcs from v to the root, or far if v hangs from an orphan. It stamps the nodes on the
// way.
func (f *flow) distance(v int32) int32 {
	nodes, arcs := f.nodes, f.arcs
	d, u := int32(0), v
	for {
		n := &nodes[u]
		if n.stamp == f.clock {
			d += n.dist
			break
		}
		d++
		if n.parent == terminal {
			n.stamp, n.dist = f.clock, 1
			break
		}
		if n.parent < 0 {
			return far
		}
		u = arcs[n.parent].head
	}
	for u, up := v, d; nodes[u].stamp != f.clock; up-- {
		nodes[u].stamp, nodes[u].dist = f.clock, up
		u = arcs[nodes[u].parent].head
	}
	return d
}
