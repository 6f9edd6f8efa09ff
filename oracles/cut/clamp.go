package cut

import (
	"math"

	"github.com/dsp-go/dsp/structured/vec"
)

// clamping finds what it costs to move single nodes to the other side of a minimum cut, each time from the residual network of the
// maximum flow, which it restores (Kohli and Torr 2005).
//
// To move v from the source's side to the sink's, connect v with the sink by an arc of unlimited capacity. The cost is the flow that this
// adds. All of it comes from the source's tree, since nothing else is connected with the source, and ends in v. So one tree grows from v,
// and takes in the capacity that is left from the source wherever it meets some. Usually it needs a few nodes only.
type clamping struct {
	side    []tree // of every node, in the final trees
	touched []int32
	undo    []change
	given   []grant
}

// change is what the capacities left of an arc and its sister were.
type change struct {
	arc          int32
	left, sister float64
}

// grant is what a node's excess was.
type grant struct {
	node   int32
	excess float64
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

// cost returns how much a cut must cost more to have v on the other side, +∞ if there is no such cut. A node that is in no tree may change
// sides for nothing.
func (c *clamping) cost(f *flow, v int32) float64 {
	if c.side[v] == free {
		return 0
	}
	nodes, arcs := f.nodes, f.arcs
	root := &nodes[v]
	total := math.Abs(root.excess) // has the sign of the side, or is 0
	root.tree, root.parent, root.dist = source+sink-c.side[v], terminal, 1
	f.clock++
	root.stamp = f.clock
	c.touched = append(c.touched[:0], v)
	f.activate(v)
	for f.head != none {
		u := f.popActive()
		n := &nodes[u]
		if math.IsInf(total, 1) {
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
			for to.excess != 0 && to.tree != free && !math.IsInf(total, 1) {
				total += c.drain(f, e.head)
				f.clock++
				f.adopt()
			}
		}
	}
	c.restore(f)
	return total
}

// drain sends as much as it can of a node's excess along the tree to its root, and returns the amount. An infinite amount changes nothing.
func (c *clamping) drain(f *flow, v int32) float64 {
	nodes, arcs := f.nodes, f.arcs
	n := &nodes[v]
	most, sign := math.Abs(n.excess), math.Copysign(1, n.excess)
	for u := v; nodes[u].parent != terminal; u = arcs[nodes[u].parent].head {
		a := nodes[u].parent
		if n.tree == source {
			a = arcs[a].sister
		}
		most = min(most, arcs[a].left)
	}
	if math.IsInf(most, 1) {
		return most
	}
	c.given = append(c.given, grant{v, n.excess})
	n.excess -= sign * most
	for u := v; nodes[u].parent != terminal; {
		a := nodes[u].parent
		next := arcs[a].head
		if n.tree == source {
			a = arcs[a].sister
		}
		e := &arcs[a]
		back := &arcs[e.sister]
		c.undo = append(c.undo, change{a, e.left, back.left})
		back.left += most
		if e.left -= most; e.left <= 0 {
			f.cutOff(u)
		}
		u = next
	}
	reverse(f.orphans)
	return most
}

// restore takes all changes since the last call back.
func (c *clamping) restore(f *flow) {
	for k := len(c.undo) - 1; k >= 0; k-- {
		u := &c.undo[k]
		a := &f.arcs[u.arc]
		a.left, f.arcs[a.sister].left = u.left, u.sister
	}
	for k := len(c.given) - 1; k >= 0; k-- {
		f.nodes[c.given[k].node].excess = c.given[k].excess
	}
	for _, v := range c.touched {
		f.nodes[v].tree, f.nodes[v].parent = free, none
	}
	c.undo, c.given = c.undo[:0], c.given[:0]
}
