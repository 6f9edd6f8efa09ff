package tree

import "github.com/dsp-go/dsp/structured/machine/vec"

// Every entry of the tables of Siblings is ⊕ over terms, each of which has two other entries as its parts, or one.

// place is one of an entry in a table.
type place struct {
	kind placeKind
	i, j int // head and dependent, head and end, or both ends
}

type placeKind int

const (
	ofSide placeKind = iota
	ofArc
	ofJoint
	ofRoot
	kindsOfPlace
)

// leaf returns an entry of value 0, which has no terms.
func leaf(i int) place { return place{ofSide, i, i} }

func (e place) isLeaf() bool { return e.kind == ofSide && e.i == e.j }

// termsOf returns the terms of an entry. The next call changes them.
func (s *Siblings) termsOf(e place) []float64 {
	switch e.kind {
	case ofSide:
		return s.sideTerms(e.i, e.j)
	case ofArc:
		return s.arcTerms(e.i, e.j)
	case ofJoint:
		return s.jointTerms(e.i, e.j)
	}
	return s.rootTerms()
}

// valueOf returns ⊕ of an entry's terms.
func (s *Siblings) valueOf(e place) float64 {
	switch e.kind {
	case ofSide:
		return s.side[e.i*s.n+e.j]
	case ofArc:
		return s.arcs[e.i*s.n+e.j] - s.arc[e.j*s.n+e.i]
	case ofJoint:
		return s.joint[e.i*s.n+e.j]
	}
	return s.total
}

// partsOf returns the parts of a term.
func (s *Siblings) partsOf(e place, term int) (a, b place) {
	i, j := e.i, e.j
	switch lo := min(i, j) + term; {
	case e.kind == ofRoot:
		return place{ofSide, term, 0}, place{ofSide, term, s.n - 1}
	case e.kind == ofJoint:
		return place{ofSide, i, lo}, place{ofSide, j, lo + 1}
	case e.kind == ofSide:
		d := min(i+1, j) + term
		return place{ofArc, i, d}, place{ofSide, d, j}
	case term > 0:
		return place{ofArc, i, lo}, place{ofJoint, min(j, lo), max(j, lo)}
	case i < j:
		return place{ofSide, j, i + 1}, leaf(i)
	}
	return place{ofSide, j, i - 1}, leaf(i)
}

// set writes what a term of an entry says of the heads.
func (e place) set(term int, heads []int32) {
	switch e.kind {
	case ofArc:
		heads[e.j] = int32(e.i) + 1
	case ofRoot:
		heads[term] = 0
	}
}

// siblingRanking is the state of an enumeration of the best trees, by lazy enumeration on top of Max's tables (Huang and Chiang 2005, algorithm 3).
type siblingRanking struct {
	s     *Siblings
	index []int32 // places of cells in cells, by entry; −1 for those that were not needed
	cells []siblingCell
}

// siblingCell lists the best derivations of an entry.
type siblingCell struct {
	of   place
	open []derived // that may be next
	list []derived // in order
}

// derived is a term with derivations of its parts, of some ranks.
type derived struct {
	score       float64
	term        int32
	first, then int32
}

// TopK finds up to k trees, best first, and returns how many there are.
func (s *Siblings) TopK(arc []float32, n, k int, heads []int32, score []float64) int {
	if n == 0 {
		score[0] = 0
		return min(k, 1)
	}
	s.prepare(n, 1, func(k int) float64 { return float64(arc[k]) })
	s.inside(largestOf)
	r := &s.ranking
	r.s, r.cells, r.index = s, r.cells[:0], vec.Grow(r.index, int(kindsOfPlace)*n*n)
	for c := range r.index {
		r.index[c] = -1
	}
	root := r.cell(place{kind: ofRoot})
	for found := range k {
		if !r.has(root, found) {
			return found
		}
		score[found] = r.cells[root].list[found].score
		r.write(root, found, heads[found*n:(found+1)*n])
	}
	return k
}

// cell returns the place of an entry's cell, which it makes if it is new.
func (r *siblingRanking) cell(of place) int32 {
	number := (of.i*r.s.n+of.j)*int(kindsOfPlace) + int(of.kind)
	if r.index[number] >= 0 {
		return r.index[number]
	}
	at := len(r.cells)
	r.index[number] = int32(at)
	if at < cap(r.cells) {
		r.cells = r.cells[:at+1]
	} else {
		r.cells = append(r.cells, siblingCell{})
	}
	c := &r.cells[at]
	c.of, c.open, c.list = of, c.open[:0], c.list[:0]
	if of.isLeaf() {
		c.list = append(c.list, derived{})
		return int32(at)
	}
	for k, v := range r.s.termsOf(of) {
		if v > minusInf {
			c.open = append(c.open, derived{score: v, term: int32(k)})
		}
	}
	return int32(at)
}

// has finds derivations of a cell until there is one of that rank, from 0. It returns false if there is none.
func (r *siblingRanking) has(at int32, rank int) bool {
	for len(r.cells[at].list) <= rank {
		if r.cells[at].of.isLeaf() {
			return false
		}
		if n := len(r.cells[at].list); n > 0 {
			r.succeed(at, r.cells[at].list[n-1])
		}
		c := &r.cells[at]
		if len(c.open) == 0 {
			return false
		}
		best := 0
		for k, x := range c.open {
			if x.score > c.open[best].score {
				best = k
			}
		}
		c.list = append(c.list, c.open[best])
		last := len(c.open) - 1
		c.open[best] = c.open[last]
		c.open = c.open[:last]
	}
	return true
}

// succeed offers the successors of the last derivation of a cell. A pair of ranks follows from one other pair only: that with a second part one better or,
// if that is the best, with a first part one better.
func (r *siblingRanking) succeed(at int32, x derived) {
	offer := func(part place, rank int32, y derived) {
		c := r.cell(part)
		if r.has(c, int(rank)+1) {
			list := r.cells[c].list
			y.score += list[rank+1].score - list[rank].score
			r.cells[at].open = append(r.cells[at].open, y)
		}
	}
	a, b := r.s.partsOf(r.cells[at].of, int(x.term))
	offer(b, x.then, derived{x.score, x.term, x.first, x.then + 1})
	if x.then == 0 {
		offer(a, x.first, derived{x.score, x.term, x.first + 1, 0})
	}
}

// write writes the heads of a cell's derivation.
func (r *siblingRanking) write(at int32, rank int, heads []int32) {
	r.has(at, rank)
	of, x := r.cells[at].of, derived{}
	if of.isLeaf() {
		return
	}
	x = r.cells[at].list[rank]
	of.set(int(x.term), heads)
	a, b := r.s.partsOf(of, int(x.term))
	r.write(r.cell(a), int(x.first), heads)
	r.write(r.cell(b), int(x.then), heads)
}
