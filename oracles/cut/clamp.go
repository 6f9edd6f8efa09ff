package cut

import (
	"math"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// clamping finds what it costs to move single nodes to the other side of a minimum cut, each time from the residual
// network that is left (Kohli and Torr 2005).
//
// To move v from the source's side to the sink's, connect v with the sink by an arc of unlimited capacity. The cost is
// the flow that this adds. All of it comes from the source's tree, since nothing else is connected with the source, and
// ends in v. So one tree grows from v, and takes in the capacity that is left from the source wherever it meets some.
// Usually it needs a few nodes only.
//
// The flow stays in v, as capacity from the source that is left there: that moves costs between labels and changes no
// cut's cost. The next node finds it close by.
type clamping struct {
	side    []tree // of every node, in the final trees
	touched []int32
}

// begin prepares a maximum flow for calls of cost.
func (c *clamping) begin(f *flow) {
	c.side = vec.Grow(c.side, len(f.nodes)-1)
	for v := range c.side {
		n := &f.nodes[v]
		c.side[v], n.tree, n.parent, n.stamp = n.tree, free, none, 0
	}
	f.clock = 0
}

// cost returns how much a cut must cost more to have v on the other side, +∞ if there is no such cut. A node that is in
// no tree may change sides for nothing.
func (c *clamping) cost(f *flow, v int32) float64 {
	if c.side[v] == free {
		return 0
	}
	nodes, arcs := f.nodes, f.arcs
	root := &nodes[v]
	root.tree, root.parent, root.dist = source+sink-c.side[v], terminal, 1
	f.clock++
	root.stamp = f.clock
	c.touched = append(c.touched[:0], v)
	f.activate(v)
	infinite := math.IsInf(root.excess, 0)
	for f.head != none {
		u := f.popActive()
		n := &nodes[u]
		if infinite {
			continue
		}
		for a := n.first; a < nodes[u+1].first && n.tree != free; a++ {
			e := &arcs[a]
			to := &nodes[e.head]
			if to.tree != free || c.side[e.head] != c.side[v] || !f.carries(e.sister, n.tree) {
				continue
			}
			to.tree, to.parent, to.stamp, to.dist = n.tree, e.sister, n.stamp, n.dist+1
			c.touched = append(c.touched, e.head)
			f.activate(e.head)
			for to.excess != 0 && to.tree != free && !infinite {
				infinite = !f.drain(e.head, v)
				f.clock++
				f.adopt()
			}
		}
	}
	for _, u := range c.touched {
		nodes[u].tree, nodes[u].parent = free, none
	}
	if infinite {
		return inf
	}
	return math.Abs(root.excess) // has the sign of the side, or is 0
}

// drain moves as much as it can of a node's excess along the tree to its root. It returns false if that is infinite.
func (f *flow) drain(v, root int32) bool {
	nodes, arcs := f.nodes, f.arcs
	n := &nodes[v]
	most, sign := math.Abs(n.excess), math.Copysign(1, n.excess)
	for u := v; u != root; u = arcs[nodes[u].parent].head {
		a := nodes[u].parent
		if n.tree == source {
			a = arcs[a].sister
		}
		most = min(most, arcs[a].left)
	}
	if math.IsInf(most, 1) {
		return false
	}
	n.excess -= sign * most
	nodes[root].excess += sign * most
	for u := v; u != root; {
		a := nodes[u].parent
		next := arcs[a].head
		if n.tree == source {
			a = arcs[a].sister
		}
		e := &arcs[a]
		arcs[e.sister].left += most
		if e.left -= most; e.left <= 0 {
			f.cutOff(u)
		}
		u = next
	}
	reverse(f.orphans)
	return true
}
