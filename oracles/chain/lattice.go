package chain

import "github.com/dsp-go/dsp/structured/sys/vec"

// lattice is the state of the enumeration of a chain's best outputs. Cell (t, y) lists prefixes that end with label y
// at position t, best first; one more cell after the last position lists whole outputs.
type lattice struct {
	lo        int       // the chain's first position in the batch
	n         int       // its length T
	best      []int32   // [T] its best output
	cellIndex []int32   // [T×Y] index of cell (t, y), 0 until it is needed
	cells     []cell    // the first is the one after the last position
	entries   []entry   // the first is not used
	offers    []float32 // [cells×stride] score of every predecessor label's next prefix; −∞ for the label of the last entry
	prefix    []int32   // [cells×stride] that prefix, numbered as in entry
	waiting   []step    // stack of cells, from the last position back, that wait for an entry
}

// entry is one prefix of a cell.
type entry struct {
	score  float32
	label  int32 // at the previous position
	prefix int32 // entry that this one extends, in the previous position's cell; 0: its best
	next   int32 // the next best entry of the same cell, 0 until found
}

type cell struct {
	first, last int32 // in entries
	runner      int32 // the label with the best candidate, except that of the last entry
	exhausted   bool
}

// step is a cell on the way back, with its label; the cell after the last position has no label.
type step struct {
	cell int32
	l    int32
}

// openLattice starts the enumeration for the chain at lo, given its best output.
func (c *Oracle) openLattice(lo int, best []int32) {
	g := &c.lattice
	g.lo, g.n = lo, len(best)
	g.best = append(g.best[:0], best...)
	g.cellIndex = vec.Grow(g.cellIndex, g.n*c.y)
	clear(g.cellIndex)
	g.cells, g.entries = g.cells[:0], append(g.entries[:0], entry{})
	last := c.row(g.n - 1)
	l := best[g.n-1]
	offers := c.candidates(c.addCell())
	copy(offers, last)
	c.open(0, offers, entry{score: last[l], label: l})
}

// addCell adds an empty cell whose candidates are the best prefixes of all predecessors.
func (c *Oracle) addCell() int32 {
	g, id := &c.lattice, len(c.lattice.cells)
	g.cells = append(g.cells, cell{})
	if need := (id + 1) * c.stride; need > len(g.offers) {
		g.offers = append(g.offers, make([]float32, max(need, 2*len(g.offers))-len(g.offers))...)
		g.prefix = append(g.prefix, make([]int32, len(g.offers)-len(g.prefix))...)
	}
	clear(g.prefix[id*c.stride : (id+1)*c.stride])
	return int32(id)
}

// open gives a cell its best entry. That entry's label has no candidate until the cell is extended.
func (c *Oracle) open(id int32, offers []float32, best entry) {
	c.lattice.addEntry(id, best)
	c.lattice.cells[id].runner = int32(c.k.exchange(offers, int(best.label), minusInf, int(best.label)))
}

// addEntry appends to a cell's list.
func (g *lattice) addEntry(id int32, e entry) {
	added, k := int32(len(g.entries)), &g.cells[id]
	g.entries = append(g.entries, e)
	if k.first == 0 {
		k.first = added
	} else {
		g.entries[k.last].next = added
	}
	k.last = added
}

func (c *Oracle) candidates(cell int32) []float32 {
	return c.lattice.offers[int(cell)*c.stride:][:c.stride]
}

// cellAt returns the cell of label l at position t ≥ 1, and creates it if needed.
func (c *Oracle) cellAt(t int, l int32) int32 {
	g := &c.lattice
	cellIndex := &g.cellIndex[t*c.y+int(l)]
	if *cellIndex == 0 {
		*cellIndex = c.addCell()
		offers := c.candidates(*cellIndex)
		best := c.k.addArgmax(offers, c.row(t-1), c.columnInto(g.lo+t, l))
		c.open(*cellIndex, offers, entry{score: c.row(t)[l], label: int32(best)})
	}
	return *cellIndex
}

// advance finds the next best output. It returns false if there is none.
//
// A cell's next entry needs the successor of the prefix that its last entry used, which may require the next entry of
// one cell at the previous position, and so on: a single walk back, then forth.
func (c *Oracle) advance() bool {
	g := &c.lattice
	g.waiting = append(g.waiting[:0], step{cell: 0})
	for t := g.n - 1; t > 0; t-- {
		last := g.entries[g.cells[g.waiting[len(g.waiting)-1].cell].last]
		id := c.cellAt(t, last.label)
		if used := g.entryOf(id, last.prefix); g.entries[used].next > 0 || g.cells[id].exhausted {
			break
		}
		g.waiting = append(g.waiting, step{id, last.label})
	}
	for d := len(g.waiting) - 1; d >= 0; d-- {
		c.extend(g.waiting[d], g.n-d)
	}
	return !g.cells[0].exhausted
}

// entryOf resolves a prefix that ends in the given cell; 0 is the cell's best.
func (g *lattice) entryOf(cell, prefix int32) int32 {
	if prefix == 0 {
		return g.cells[cell].first
	}
	return prefix
}

// extend gives a cell of position t its next entry, the better of two: the next candidate of the label that its last
// entry used, and the best candidate of the other labels. It marks the cell exhausted if there is none.
func (c *Oracle) extend(s step, t int) {
	g := &c.lattice
	k := &g.cells[s.cell]
	if k.exhausted {
		return
	}
	last, offers, prefix := g.entries[k.last], c.candidates(s.cell), g.prefix[int(s.cell)*c.stride:][:c.stride]
	i, successor, offer := last.label, int32(0), minusInf
	if t > 1 {
		successor = g.entries[g.entryOf(g.cellIndex[(t-1)*c.y+int(i)], last.prefix)].next
	}
	if successor > 0 {
		offer = g.entries[successor].score
		if t < g.n {
			offer += c.θ.EdgeAt(g.lo + t)[int(i)*c.y+int(s.l)]
		}
		prefix[i] = successor
	}
	score, label := offer, i
	if other := offers[k.runner]; other > offer {
		score, label = other, k.runner
		k.runner = int32(c.k.exchange(offers, int(i), offer, int(label)))
	}
	if score == minusInf {
		k.exhausted = true
		return
	}
	if t < g.n {
		score += c.node(g.lo + t)[s.l]
		score -= c.shift[t]
	}
	g.addEntry(s.cell, entry{score: score, label: label, prefix: prefix[label]})
}

// readPath writes the latest output.
func (c *Oracle) readPath(labels []int32) {
	g := &c.lattice
	current := g.entries[g.cells[0].last]
	for t := g.n - 1; ; t-- {
		l := current.label
		labels[t] = l
		switch {
		case t == 0:
			return
		case current.prefix > 0:
			current = g.entries[current.prefix]
		case l == g.best[t]:
			copy(labels[:t], g.best[:t])
			return
		default:
			current = entry{label: c.predecessor(g.lo, t, l)}
		}
	}
}
