package tree

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
)

// search is the state of the enumeration of a sentence's best trees (Camerini, Fratta and Maffioli 1980). Disjoint
// subsets contain the remaining trees. A subset stores its best tree, which is already output, and one arc of that tree
// which its second best tree lacks. When the second best tree is output, the subset splits in two: the trees without
// that arc, whose best tree it is, and the trees with it.
type search struct {
	arc         []float32
	allowed     []float32 // arc, with −∞ for masks
	n           int
	trees       []int32  // [trees×n]
	subsets     []subset // a heap by next
	constraints []constraint
	ancestry    ancestry
	entries     []entry // of the latest tree
}

// subset is the set of trees that satisfy some constraints.
type subset struct {
	constraints int32   // a list, 0 at its end
	best        int32   // its best tree
	next        float64 // the score of its second best
	lacks       int32   // the dependent whose heads in the best and the second best tree differ
}

// constraint requires or forbids an arc. It is an element of a list.
type constraint struct {
	d, column int32
	required  bool
	next      int32
}

// entry is an arc of a tree, seen by the contraction as the arc that enters a node.
type entry struct {
	node, d int32
	head    int32   // −1 for the root
	other   float64 // the node's best score with the same head by an arc to another token
}

// open starts an enumeration of trees without masks.
func (g *search) open(arc []float32, n int, masks oracles.Masks) {
	g.arc, g.allowed, g.n = arc, append(g.allowed[:0], arc...), n
	for i, x := range g.allowed {
		g.allowed[i] = float32(masks.Hide(float64(x)))
	}
	g.trees, g.subsets = g.trees[:0], g.subsets[:0]
	g.constraints = append(g.constraints[:0], constraint{})
	g.ancestry.resize(n)
}

func (g *search) tree(i int32) []int32 { return g.trees[int(i)*g.n:][:g.n] }

// constrain adds a constraint to a list.
func (g *search) constrain(d int32, head int32, required bool, list int32) int32 {
	g.constraints = append(g.constraints, constraint{d, int32(column(int(d), head)), required, list})
	return int32(len(g.constraints)) - 1
}

// contract finds the best tree under constraints and adds it to the trees. It returns false if there is none.
func (g *search) contract(c *contraction, list int32) bool {
	c.load(g.allowed, g.n)
	for at := list; at > 0; at = g.constraints[at].next {
		k := g.constraints[at]
		d, h := int(k.d), int(k.column)
		row := c.rowOf(d)
		switch {
		case !k.required && h == d:
			c.root[d] = minusInf
		case !k.required:
			row[h] = minusInf
		case h == d:
			fill(row, minusInf)
		default:
			v := row[h]
			fill(row, minusInf)
			row[h], c.root[d] = v, minusInf
		}
	}
	if !c.run() {
		return false
	}
	for range g.n {
		g.trees = append(g.trees, 0)
	}
	c.expand(g.trees[len(g.trees)-g.n:], &g.entries)
	return true
}

// add adds a subset whose best tree is known, unless that is its only one. The latest contraction must be that of the
// subset, and its tree the latest one.
func (g *search) add(c *contraction, list, best int32) {
	p := subset{constraints: list, best: best}
	found := int32(len(g.trees)/g.n) - 1
	if p.lacks = firstDifference(g.tree(best), g.tree(found)); p.lacks >= 0 { // a tie
		p.next = Score(g.arc, g.tree(found))
	} else {
		var loss float64
		p.lacks, loss = g.cheapest(c, g.tree(best))
		p.next = Score(g.arc, g.tree(best)) - loss
	}
	if p.lacks >= 0 {
		g.push(p)
	}
}

// cheapest returns the dependent whose arc the best tree can lose at the least cost, or −1 if there is no other tree.
//
// An arc enters a node of the contraction. It can be replaced by the best arc into the node that does not come from a
// descendant of the dependent; then the node is expanded from there. For the arc with the least loss this gives the
// best tree without it (Camerini, Fratta and Maffioli 1980). Root arcs, which the contraction puts last, only replace
// each other.
func (g *search) cheapest(c *contraction, best []int32) (d int32, loss float64) {
	d, loss = -1, math.Inf(1)
	g.ancestry.walk(best)
	for _, e := range g.entries {
		score := c.score(e.node, e.head < 0, e.head)
		if score-e.other < loss {
			d, loss = e.d, score-e.other
		}
		if e.head < 0 {
			continue
		}
		row := c.rowOf(int(e.node))
		for h := fastest.above(row, 0, score-loss); h >= 0; h = fastest.above(row, h+1, score-loss) {
			if h != int(e.head) && !g.ancestry.descends(h, int(e.d)) {
				d, loss = e.d, score-row[h]
			}
		}
	}
	return d, loss
}

// firstDifference returns the first dependent whose heads differ, or −1 if none do.
func firstDifference(a, b []int32) int32 {
	for d := range a {
		if a[d] != b[d] {
			return int32(d)
		}
	}
	return -1
}
