// Package derivations lists the best derivations of the entries of a table, such as a chart of spans, as far as they
// are asked for: lazy enumeration (Huang and Chiang 2005, algorithm 3). An entry is the maximum over terms, and the
// score of a term is the sum of the entries that are its parts, and something of its own. The next best derivation of
// an entry is another term, or one whose parts are derived in their next best ways.
package derivations

import (
	"math"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Table is one whose entries hold the scores of their best derivations.
type Table interface {
	// Terms appends the terms of an entry by Open, each with the score of its best derivation.
	Terms(entry int, open []Derivation) []Derivation
	// Parts returns the entries that are parts of a term, None in place of those that it does not have.
	Parts(entry int, term int32) (first, then int)
}

// None stands for a part that a term does not have.
const None = -1

// Derivation is a term with derivations of its parts, each of some rank from 0.
type Derivation struct {
	Score       float64
	Term        int32
	First, Then int32
}

// Open appends the best derivation of a term to those of an entry, unless its score is −∞.
func Open(open []Derivation, term int32, score float64) []Derivation {
	if score > math.Inf(-1) {
		open = append(open, Derivation{Score: score, Term: term})
	}
	return open
}

// Ranking is the state of an enumeration. Its memory is reused by the next.
type Ranking struct {
	table Table
	index []int32 // [entries] places in cells, −1 for entries that were not needed
	cells []cell

	waiting []wait // for cells, the last first: a derivation may be made of as many as memory holds
}

// wait is for a cell's derivation of some rank.
type wait struct {
	at   int32
	rank int
}

// cell lists the derivations of an entry.
type cell struct {
	entry int
	open  []Derivation // that may be next
	list  []Derivation // the best ones, in order
	parts int          // of the last of these, how many parts have offered their successors
	done  bool         // there are no more
}

// Begin starts an enumeration over a table with so many entries, numbered from 0.
func (r *Ranking) Begin(t Table, entries int) {
	r.table, r.index, r.cells = t, vec.Grow(r.index, entries), r.cells[:0]
	for k := range r.index {
		r.index[k] = -1
	}
}

// Derivation returns the derivation of an entry of some rank, from 0; false if it has no so many.
func (r *Ranking) Derivation(entry, rank int) (Derivation, bool) {
	at := r.cell(entry)
	if !r.has(at, rank) {
		return Derivation{}, false
	}
	return r.cells[at].list[rank], true
}

// cell returns the place of an entry's cell, which it makes if it is new.
func (r *Ranking) cell(entry int) int32 {
	if r.index[entry] >= 0 {
		return r.index[entry]
	}
	at := int32(len(r.cells))
	r.index[entry] = at
	if n := len(r.cells); n < cap(r.cells) {
		r.cells = r.cells[:n+1]
	} else {
		r.cells = append(r.cells, cell{})
	}
	c := &r.cells[at]
	c.entry, c.done, c.parts, c.list = entry, false, 0, c.list[:0]
	c.open = r.table.Terms(entry, c.open[:0])
	return at
}

// has finds derivations of a cell until there is one of that rank. It returns false if there is none.
//
// The next derivation of a cell needs the successors of the parts of its last one, and so on: cells that wait for those
// are on a stack.
func (r *Ranking) has(at int32, rank int) bool {
	r.waiting = append(r.waiting[:0], wait{at, rank})
	for len(r.waiting) > 0 {
		w := r.waiting[len(r.waiting)-1]
		c := &r.cells[w.at]
		if c.done || len(c.list) > w.rank {
			r.waiting = r.waiting[:len(r.waiting)-1]
		} else if len(c.list) == 0 || r.succeed(w.at, c.list[len(c.list)-1]) {
			r.cells[w.at].next()
		}
	}
	return len(r.cells[at].list) > rank
}

// next moves the best derivation of those that may be next to the list.
func (c *cell) next() {
	if c.done = len(c.open) == 0; c.done {
		return
	}
	best := 0
	for k, x := range c.open {
		if x.Score > c.open[best].Score {
			best = k
		}
	}
	c.list, c.parts = append(c.list, c.open[best]), 0
	last := len(c.open) - 1
	c.open[best] = c.open[last]
	c.open = c.open[:last]
}

// succeed offers the successors of the last derivation of a cell, and reports whether it has offered all; else it waits
// for one. A pair of ranks follows from one other pair only: that with a second part one better or, if that is the
// best, with a first part one better.
func (r *Ranking) succeed(at int32, x Derivation) bool {
	first, then := r.table.Parts(r.cells[at].entry, x.Term)
	if r.cells[at].parts == 0 {
		if then != None && !r.offer(at, then, x.Then, Derivation{x.Score, x.Term, x.First, x.Then + 1}) {
			return false
		}
		r.cells[at].parts = 1
	}
	return first == None || x.Then > 0 || r.offer(at, first, x.First, Derivation{x.Score, x.Term, x.First + 1, 0})
}

// offer opens a derivation that differs from one with the score y.Score by the successor of a part's derivation, if
// there is one. It returns false, and waits, if that is not known yet.
func (r *Ranking) offer(at int32, part int, rank int32, y Derivation) bool {
	c := r.cell(part)
	list := r.cells[c].list
	if len(list) <= int(rank)+1 {
		if !r.cells[c].done {
			r.waiting = append(r.waiting, wait{c, int(rank) + 1})
		}
		return r.cells[c].done
	}
	y.Score += list[rank+1].Score - list[rank].Score
	r.cells[at].open = append(r.cells[at].open, y)
	return true
}
