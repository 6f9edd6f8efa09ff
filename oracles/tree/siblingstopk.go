package tree

import "github.com/dsp-go/dsp/oracles/derivations"

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

// TopK finds up to k trees, best first, by lazy enumeration on top of Max's tables (package derivations), and returns
// how many there are.
func (s *Siblings) TopK(arc []float32, n, k int, heads []int32, score []float64) int {
	if n == 0 {
		score[0] = 0
		return min(k, 1)
	}
	s.prepare(n, 1, func(k int) float64 { return float64(arc[k]) })
	s.inside(largestOf)
	t := siblingTable{s}
	s.ranking.Begin(t, int(kindsOfPlace)*n*n)
	root := t.entry(place{kind: ofRoot})
	for found := range k {
		x, ok := s.ranking.Derivation(root, found)
		if !ok {
			return found
		}
		score[found] = x.Score
		t.write(root, found, heads[found*n:(found+1)*n])
	}
	return k
}

// siblingTable has the entries of all tables as derivations.Table.
type siblingTable struct{ *Siblings }

// entry numbers an entry.
func (t siblingTable) entry(e place) int { return (e.i*t.n+e.j)*int(kindsOfPlace) + int(e.kind) }

// place is the reverse of entry.
func (t siblingTable) place(entry int) place {
	row := entry / int(kindsOfPlace)
	return place{placeKind(entry % int(kindsOfPlace)), row / t.n, row % t.n}
}

// Terms implements derivations.Table.
func (t siblingTable) Terms(entry int, open []derivations.Derivation) []derivations.Derivation {
	e := t.place(entry)
	if e.isLeaf() {
		return derivations.Open(open, 0, 0)
	}
	for k, v := range t.termsOf(e) {
		open = derivations.Open(open, int32(k), v)
	}
	return open
}

// Parts implements derivations.Table.
func (t siblingTable) Parts(entry int, term int32) (first, then int) {
	e := t.place(entry)
	if e.isLeaf() {
		return derivations.None, derivations.None
	}
	a, b := t.partsOf(e, int(term))
	return t.entry(a), t.entry(b)
}

// write writes the heads of an entry's derivation.
func (t siblingTable) write(entry, rank int, heads []int32) {
	e := t.place(entry)
	if e.isLeaf() {
		return
	}
	x, _ := t.ranking.Derivation(entry, rank)
	e.set(int(x.Term), heads)
	a, b := t.partsOf(e, int(x.Term))
	t.write(t.entry(a), int(x.First), heads)
	t.write(t.entry(b), int(x.Then), heads)
}
