package constituent

import (
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/machine/vec"
)

// TopK finds the k best trees of every sentence by lazy enumeration on top of Max's chart (Huang and Chiang 2005, algorithm 3): a cell lists its best
// subtrees only as far as the trees found so far need them.
func (o *Oracle) TopK(θ *structured.Potentials, k int, best *oracles.KBest) {
	o.guard.Begin(θ)
	best.Resize(θ, k)
	for b := range θ.Len() {
		switch {
		case k == 0:
			best.Count[b] = 0
		case θ.Outputs[b] == θ.Outputs[b+1]:
			best.Count[b], best.Score[b*k] = 1, 0
		case !o.open(θ, b, 1):
			best.Refuse(θ, b)
		default:
			o.chart()
			best.Count[b] = o.enumerate(θ, b, best)
		}
	}
}

func (o *Oracle) enumerate(θ *structured.Potentials, b int, best *oracles.KBest) int {
	lo, hi := θ.Outputs[b], θ.Outputs[b+1]
	o.ranking.reset(int(kindsOfCell) * o.n * o.n)
	root := o.cell(ofRight, 0, o.n-1)
	if o.n == 1 {
		root = o.cell(ofRoot, 0, 0)
	}
	for n := range best.K {
		if !o.has(root, n) {
			return n
		}
		y := best.Output(n, lo, hi)
		clear(y)
		o.write(y, root, n)
		best.Place(b, n, lo, hi, θ.Score(b, y))
	}
	return best.K
}

// ranking is the state of an enumeration. There are three kinds of cells for a span: its insides, and the subtrees that a left or a right child may
// be, which choose a label too.
type ranking struct {
	index []int32 // places of cells in cells, −1 for those that were not needed
	cells []cell
}

type kindOfCell int

const (
	ofInside kindOfCell = iota
	ofLeft
	ofRight // or the root, which has a label other than 0, too
	ofRoot  // of a sentence of one word
	kindsOfCell
)

type cell struct {
	kind kindOfCell
	i, j int
	open []candidate // that may be next
	list []candidate // the best ones, in order
	done bool
}

// candidate is a subtree: an inside with a split, the left child of some rank and the right one; or a label with an inside of some rank.
type candidate struct {
	score       float64
	choice      int32 // the split, or the label
	first, then int32 // ranks
}

func (r *ranking) reset(cells int) {
	r.index, r.cells = vec.Grow(r.index, cells), r.cells[:0]
	for k := range r.index {
		r.index[k] = -1
	}
}

// cell returns the place of a cell, which it makes if it is new.
func (o *Oracle) cell(kind kindOfCell, i, j int) int32 {
	r := &o.ranking
	number := (i*o.n+j)*int(kindsOfCell) + int(kind)
	if r.index[number] >= 0 {
		return r.index[number]
	}
	at := len(r.cells)
	r.index[number] = int32(at)
	if at < cap(r.cells) {
		r.cells = r.cells[:at+1]
	} else {
		r.cells = append(r.cells, cell{})
	}
	c := &r.cells[at]
	c.kind, c.i, c.j, c.done = kind, i, j, false
	c.open, c.list = c.open[:0], c.list[:0]
	row := i*o.n + j
	switch {
	case kind == ofInside && i == j:
		c.open = append(c.open, candidate{})
	case kind == ofInside:
		left, right := o.splits(i, j)
		for k := range left {
			c.offer(candidate{left[k] + right[k], int32(k), 0, 0})
		}
	default:
		least := 0
		if kind == ofRoot || kind == ofRight && i < j {
			least = 1
		}
		for l := least; l < o.width; l++ {
			c.offer(candidate{o.inside[row] + float64(o.span[row]) + float64(o.labels(row)[l]), int32(l), 0, 0})
		}
	}
	return int32(at)
}

func (c *cell) offer(x candidate) {
	if x.score > minusInf {
		c.open = append(c.open, x)
	}
}

// has finds subtrees of a cell until there is one of that rank, from 0. It returns false if there is none.
func (o *Oracle) has(at int32, rank int) bool {
	r := &o.ranking
	for len(r.cells[at].list) <= rank {
		if n := len(r.cells[at].list); n > 0 {
			o.succeed(at, r.cells[at].list[n-1])
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

// succeed offers the successors of the last subtree of a cell. A pair of ranks follows from one other pair only: that with a right child one better
// or, if that is the best, with a left child one better.
func (o *Oracle) succeed(at int32, x candidate) {
	r := &o.ranking
	if r.cells[at].done {
		return
	}
	kind, i, j := r.cells[at].kind, r.cells[at].i, r.cells[at].j
	next := func(child int32, rank int32) (gain float64, ok bool) {
		if !o.has(child, int(rank)+1) {
			return 0, false
		}
		list := r.cells[child].list
		return list[rank+1].score - list[rank].score, true
	}
	if kind != ofInside {
		if gain, ok := next(o.cell(ofInside, i, j), x.first); ok {
			r.cells[at].offer(candidate{x.score + gain, x.choice, x.first + 1, 0})
		}
		return
	}
	if i == j {
		r.cells[at].done = true
		return
	}
	left, right := o.children(i, j, x.choice)
	if gain, ok := next(right, x.then); ok {
		r.cells[at].offer(candidate{x.score + gain, x.choice, x.first, x.then + 1})
	}
	if x.then > 0 {
		return
	}
	if gain, ok := next(left, x.first); ok {
		r.cells[at].offer(candidate{x.score + gain, x.choice, x.first + 1, 0})
	}
}

// children returns the cells of the children of a split.
func (o *Oracle) children(i, j int, split int32) (left, right int32) {
	k := i + int(split)
	return o.cell(ofLeft, i, k), o.cell(ofRight, k+1, j)
}

// write writes the tree of a cell's subtree.
func (o *Oracle) write(y []int32, at int32, rank int) {
	r := &o.ranking
	o.has(at, rank)
	c := &r.cells[at]
	x, i, j := c.list[rank], c.i, c.j
	if c.kind != ofInside {
		y[i*o.n+j] = x.choice
		if i < j {
			o.write(y, o.cell(ofInside, i, j), int(x.first))
		}
		return
	}
	left, right := o.children(i, j, x.choice)
	o.write(y, left, int(x.first))
	o.write(y, right, int(x.then))
}
