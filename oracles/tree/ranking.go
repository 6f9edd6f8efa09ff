package tree

import (
	"math"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// ranking is the state of the enumeration of a sentence's best trees. Every span needed so far has a cell, which lists
// its derivations, best first. Cell 0 is the whole sentence.
type ranking struct {
	c           *eisner[float32]
	index       [3][]int32 // per kind of span and index in the tables: its cell, 0 until it is needed
	cells       []cell
	derivations []derivation // the first is not used
	candidates  []derivation // the first is not used
	fresh       []float32    // per cell and split: the score of its best derivation, −∞ once listed
}

type kind int32

const (
	joinedSpan kind = iota
	rightSpan
	leftSpan
	wholeSentence
)

// cell ranks the derivations of one span.
type cell struct {
	kind        kind
	w, i        int32
	fresh       int32 // where its splits begin in ranking.fresh
	splits      int32
	first, last int32 // in ranking.derivations
	candidates  int32 // a list: possible successors of the last derivation, from splits that are no longer fresh
	exhausted   bool
}

// derivation is a split of a span with a derivation of each part; 0 is the part's best, whose cell may not exist yet.
type derivation struct {
	score float32
	split int32
	a, b  int32
	next  int32 // in its list: in a cell the next best, 0 until found
}

// open starts an enumeration: the cell of the whole sentence with its best derivation.
func (g *ranking) open(c *eisner[float32]) {
	g.c = c
	for k := range g.index {
		g.index[k] = vec.Grow(g.index[k], c.size())
		clear(g.index[k])
	}
	g.cells, g.fresh = g.cells[:0], g.fresh[:0]
	g.derivations = append(g.derivations[:0], derivation{})
	g.candidates = append(g.candidates[:0], derivation{})
	g.add(cell{kind: wholeSentence, splits: int32(c.n)})
}

// add creates a cell with its best derivation.
func (g *ranking) add(of cell) int32 {
	c, id := g.c, int32(len(g.cells))
	of.fresh = int32(len(g.fresh))
	w, i := int(of.w), int(of.i)
	switch of.kind {
	case joinedSpan:
		g.addFresh(c.right, c.left, c.index(0, i), c.index(w-1, i+1), w)
	case rightSpan:
		g.addFresh(c.rightArc, c.right, c.index(1, i), c.index(w-1, i+1), w)
	case leftSpan:
		g.addFresh(c.left, c.leftArc, c.index(0, i), c.index(w, i), w)
	case wholeSentence:
		for r, v := range c.root {
			left, right := c.sides(r)
			g.fresh = append(g.fresh, c.left[left]+c.right[right]+v)
		}
	}
	g.cells = append(g.cells, of)
	g.extend(id)
	return id
}

func (g *ranking) addFresh(x, y []float32, ox, oy, splits int) {
	step := g.c.stride
	for range splits {
		g.fresh = append(g.fresh, x[ox]+y[oy])
		ox, oy = ox+step, oy+1-step
	}
}

// part is a span, or a single token if w is 0.
type part struct {
	kind kind
	w, i int
}

// parts returns the two parts of a cell's span at a split, and the score of the arc that the split adds.
func (g *ranking) parts(id, split int32) (a, b part, arc float32) {
	c, k, s := g.c, &g.cells[id], int(split)
	w, i := int(k.w), int(k.i)
	switch k.kind {
	case joinedSpan:
		return part{rightSpan, s, i}, part{leftSpan, w - 1 - s, i + s + 1}, 0
	case rightSpan:
		s++
		return part{joinedSpan, s, i}, part{rightSpan, w - s, i + s}, c.rightScore[c.index(s, i)]
	case leftSpan:
		return part{leftSpan, s, i}, part{joinedSpan, w - s, i + s}, c.leftScore[c.index(w-s, i+s)]
	}
	return part{leftSpan, s, 0}, part{rightSpan, c.n - 1 - s, s}, c.root[s]
}

// cellOf returns a part's cell, and creates it if needed.
func (g *ranking) cellOf(p part) int32 {
	index := &g.index[p.kind][g.c.index(p.w, p.i)]
	if *index == 0 {
		id := g.add(cell{kind: p.kind, w: int32(p.w), i: int32(p.i), splits: int32(p.w)})
		*index = id
	}
	return *index
}

// bestOf returns the score of a part's best derivation.
func (g *ranking) bestOf(p part) float32 {
	index := g.c.index(p.w, p.i)
	switch p.kind {
	case joinedSpan:
		return g.c.joined[index]
	case rightSpan:
		return g.c.right[index]
	}
	return g.c.left[index]
}

// advance finds a cell's next derivation. It returns false if there is none.
func (g *ranking) advance(id int32) bool {
	if g.cells[id].exhausted {
		return false
	}
	last := g.derivations[g.cells[id].last]
	a, b, arc := g.parts(id, last.split)
	if next := g.after(a, last.a); next > 0 {
		score := g.derivations[next].score + g.scoreOf(b, last.b) + arc
		g.push(id, derivation{score: score, split: last.split, a: next, b: last.b})
	}
	if g.isBest(a, last.a) { // proposes every pair once
		if next := g.after(b, last.b); next > 0 {
			score := g.derivations[next].score + g.scoreOf(a, last.a) + arc
			g.push(id, derivation{score: score, split: last.split, a: last.a, b: next})
		}
	}
	return g.extend(id)
}

// push adds a candidate to a cell.
func (g *ranking) push(id int32, d derivation) {
	if d.score == float32(math.Inf(-1)) {
		return
	}
	k := &g.cells[id]
	d.next, k.candidates = k.candidates, int32(len(g.candidates))
	g.candidates = append(g.candidates, d)
}

// scoreOf returns the score of derivation d of a part.
func (g *ranking) scoreOf(p part, d int32) float32 {
	if d == 0 {
		return g.bestOf(p)
	}
	return g.derivations[d].score
}

// isBest reports whether derivation d is the best of its part.
func (g *ranking) isBest(p part, d int32) bool {
	return d == 0 || d == g.cells[g.cellOf(p)].first
}

// after returns the derivation that follows d in its part's list, or 0 if there is none.
func (g *ranking) after(p part, d int32) int32 {
	if p.w == 0 {
		return 0
	}
	id := g.cellOf(p)
	if d == 0 {
		d = g.cells[id].first
	}
	if g.derivations[d].next == 0 && d == g.cells[id].last {
		g.advance(id)
	}
	return g.derivations[d].next
}

// extend lists a cell's best candidate, or marks the cell as exhausted and returns false.
func (g *ranking) extend(id int32) bool {
	k := &g.cells[id]
	fresh := g.fresh[k.fresh:][:k.splits]
	best, split := float32(math.Inf(-1)), -1
	for s, v := range fresh {
		if v > best {
			best, split = v, s
		}
	}
	d := derivation{score: best, split: int32(split)}
	before, chosen := int32(0), int32(0)
	for last, index := int32(0), k.candidates; index > 0; last, index = index, g.candidates[index].next {
		if v := g.candidates[index].score; v > best {
			best, before, chosen = v, last, index
		}
	}
	switch {
	case chosen > 0:
		d = g.candidates[chosen]
		if before > 0 {
			g.candidates[before].next = d.next
		} else {
			k.candidates = d.next
		}
	case split >= 0:
		fresh[split] = float32(math.Inf(-1))
	default:
		k.exhausted = true
		return false
	}
	d.next = 0
	added := int32(len(g.derivations))
	g.derivations = append(g.derivations, d)
	if k.first == 0 {
		k.first = added
	} else {
		g.derivations[k.last].next = added
	}
	k.last = added
	return true
}

// write writes the heads of a cell's derivation.
func (g *ranking) write(id, derivation int32, heads []int32) {
	d, k := g.derivations[derivation], g.cells[id]
	a, b, _ := g.parts(id, d.split)
	switch k.kind {
	case rightSpan:
		heads[b.i] = k.i + 1
	case leftSpan:
		heads[b.i] = k.i + k.w + 1
	case wholeSentence:
		heads[d.split] = 0
	}
	g.writePart(a, d.a, heads)
	g.writePart(b, d.b, heads)
}

func (g *ranking) writePart(p part, derivation int32, heads []int32) {
	switch {
	case derivation > 0:
		g.write(g.cellOf(p), derivation, heads)
	case p.kind == joinedSpan:
		g.c.writeJoined(p.w, p.i, heads)
	case p.kind == rightSpan:
		g.c.writeRight(p.w, p.i, heads)
	default:
		g.c.writeLeft(p.w, p.i, heads)
	}
}
