package chain

import "github.com/dsp-go/dsp/structured/vec"

// lattice holds what the enumeration of a chain's best outputs has found so far. Cell (t, y) lists prefixes that end with
// label y at position t, best first; one more cell after the last position lists whole outputs.
type lattice struct {
	lo      int       // the chain's first position in the batch
	n       int       // its length T
	best    []int32   // [T] its best output
	at      []int32   // [T×Y] index of cell (t, y), 0 where none was needed yet
	cells   []cell    // the first is the one after the last position
	entries []entry   // the first is not used
	cand    []float32 // [cells×stride] what every predecessor label offers next; −∞ for that of the last entry
	prefix  []int32   // [cells×stride] that prefix, as in entry
	down    []step    // cells from the last position back that wait for an entry
}

// entry is one prefix of a cell.
type entry struct {
	score  float32
	label  int32 // at the position before
	prefix int32 // entry of that position's cell which this one extends; 0: its best
	next   int32 // the next best entry of the same cell, 0 if not found yet
}

type cell struct {
	first, last int32 // entries
	runner      int32 // the label, but for that of the last entry, that offers most
	exhausted   bool
}

// step is a cell on the way back and its label; the cell after the last position has none.
type step struct {
	cell int32
	l    int32
}

// openLattice starts the enumeration of the chain at lo, given its best output.
func (c *Oracle) openLattice(lo int, best []int32) {
	g := &c.lattice
	g.lo, g.n = lo, len(best)
	g.best = append(g.best[:0], best...)
	g.at = vec.Grow(g.at, g.n*c.y)
	clear(g.at)
	g.cells, g.entries = g.cells[:0], append(g.entries[:0], entry{})
	last := c.row(g.n - 1)
	l := best[g.n-1]
	cand := c.candidates(c.addCell())
	copy(cand, last)
	c.open(0, cand, entry{score: last[l], label: l})
}

// addCell adds an empty cell, all of whose predecessors offer their best prefix.
func (c *Oracle) addCell() int32 {
	g, id := &c.lattice, len(c.lattice.cells)
	g.cells = append(g.cells, cell{})
	if need := (id + 1) * c.stride; need > len(g.cand) {
		g.cand = append(g.cand, make([]float32, max(need, 2*len(g.cand))-len(g.cand))...)
		g.prefix = append(g.prefix, make([]int32, len(g.cand)-len(g.prefix))...)
	}
	clear(g.prefix[id*c.stride : (id+1)*c.stride])
	return int32(id)
}

// open gives a cell its best entry, whose label stops offering until the cell is extended.
func (c *Oracle) open(id int32, cand []float32, best entry) {
	c.lattice.addEntry(id, best)
	c.lattice.cells[id].runner = int32(c.k.exchange(cand, int(best.label), never, int(best.label)))
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
	return c.lattice.cand[int(cell)*c.stride:][:c.stride]
}

// cellAt returns the cell of label l at position t ≥ 1, made at need.
func (c *Oracle) cellAt(t int, l int32) int32 {
	g := &c.lattice
	at := &g.at[t*c.y+int(l)]
	if *at == 0 {
		*at = c.addCell()
		cand := c.candidates(*at)
		best := c.k.addArgmax(cand, c.row(t-1), c.columnInto(g.lo+t, l))
		c.open(*at, cand, entry{score: c.row(t)[l], label: int32(best)})
	}
	return *at
}

// advance finds the next best output. It reports false when there is none.
//
// A cell's next entry needs the successor of the prefix that its last entry used, hence perhaps the next entry of one
// cell of the position before, and so on: a single walk back, then forth.
func (c *Oracle) advance() bool {
	g := &c.lattice
	g.down = append(g.down[:0], step{cell: 0})
	for t := g.n - 1; t > 0; t-- {
		last := g.entries[g.cells[g.down[len(g.down)-1].cell].last]
		id := c.cellAt(t, last.label)
		if used := g.entryOf(id, last.prefix); g.entries[used].next > 0 || g.cells[id].exhausted {
			break
		}
		g.down = append(g.down, step{id, last.label})
	}
	for d := len(g.down) - 1; d >= 0; d-- {
		c.extend(g.down[d], g.n-d)
	}
	return !g.cells[0].exhausted
}

// entryOf resolves a prefix that ends in the given cell: 0 is the cell's best.
func (g *lattice) entryOf(cell, prefix int32) int32 {
	if prefix == 0 {
		return g.cells[cell].first
	}
	return prefix
}

// extend gives a cell of position t its next entry, or marks it exhausted: the better of what the label that it used last
// has to offer next and the best offer of the other labels.
func (c *Oracle) extend(s step, t int) {
	g := &c.lattice
	k := &g.cells[s.cell]
	if k.exhausted {
		return
	}
	last, cand, prefix := g.entries[k.last], c.candidates(s.cell), g.prefix[int(s.cell)*c.stride:][:c.stride]
	i, successor, offer := last.label, int32(0), never
	if t > 1 {
		successor = g.entries[g.entryOf(g.at[(t-1)*c.y+int(i)], last.prefix)].next
	}
	if successor > 0 {
		offer = g.entries[successor].score
		if t < g.n {
			offer += c.θ.EdgeAt(g.lo + t)[int(i)*c.y+int(s.l)]
		}
		prefix[i] = successor
	}
	score, label := offer, i
	if other := cand[k.runner]; other > offer {
		score, label = other, k.runner
		k.runner = int32(c.k.exchange(cand, int(i), offer, int(label)))
	}
	if score == never {
		k.exhausted = true
		return
	}
	if t < g.n {
		score += c.node(g.lo + t)[s.l]
		score -= c.shift[t]
	}
	g.addEntry(s.cell, entry{score: score, label: label, prefix: prefix[label]})
}

// readPath writes the output found last.
func (c *Oracle) readPath(labels []int32) {
	g := &c.lattice
	at := g.entries[g.cells[0].last]
	for t := g.n - 1; ; t-- {
		l := at.label
		labels[t] = l
		switch {
		case t == 0:
			return
		case at.prefix > 0:
			at = g.entries[at.prefix]
		case l == g.best[t]:
			copy(labels[:t], g.best[:t])
			return
		default:
			at = entry{label: c.before(g.lo, t, l)}
		}
	}
}
