package segment

import (
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// TopK finds the k best outputs of every sequence by lazy enumeration on top of Max's tables (recursive enumeration,
// Jiménez and Marzal 1999). Two kinds of cells list prefixes, best first: those that end at position t with a segment
// of label y, and those that a segment with label y may follow at position s. Only cells on the paths found so far hold
// more than their best one.
func (o *Oracle) TopK(θ *structured.Potentials, k int, best *oracles.KBest) {
	o.prepare(θ, 1)
	best.Resize(θ, k)
	for b := range θ.Len() {
		switch {
		case k == 0:
			best.Count[b] = 0
		case θ.Outputs[b] == θ.Outputs[b+1]:
			best.Count[b], best.Score[b*k] = 1, 0
		case !o.open(θ, b):
			best.Refuse(θ, b)
		default:
			o.forward()
			best.Count[b] = o.enumerate(θ, b, best)
		}
	}
}

// enumerate writes the best outputs of example b, and returns how many there are.
func (o *Oracle) enumerate(θ *structured.Potentials, b int, best *oracles.KBest) int {
	r, lo, hi := &o.ranking, θ.Outputs[b], θ.Outputs[b+1]
	r.reset(o)
	for n := range best.K {
		if !r.has(o, root, n) {
			return n
		}
		tags := best.Output(n, lo, hi)
		r.read(o, n, tags)
		best.Place(b, n, lo, hi, θ.Score(b, tags))
	}
	return best.K
}

// ranking is the state of an enumeration. Cells are numbered: the root, which lists whole outputs, and for each
// position t and label y one for the prefixes that end there, and one for those that a segment which begins at t may
// follow.
type ranking struct {
	index   []int32 // [1 + 2·T·Y] of cells that were needed: their places in cells, else −1
	cells   []cell
	waiting []wait
}

// wait is a cell that is to have a prefix of some rank.
type wait struct{ number, rank int }

const root = 0

// cell lists prefixes. Its arcs are what comes last in a prefix: lengths of a segment, or labels of the one before.
type cell struct {
	offers []float64 // of each arc, the score of its next prefix; −∞ if there is none
	ranks  []int32   // of each arc, which prefix of the cell before that is
	list   []entry
}

type entry struct {
	score     float64
	arc, rank int32 // an arc of −1 ends the list of a cell that has no more prefixes
}

func (r *ranking) reset(o *Oracle) {
	r.index = vec.Grow(r.index, 1+2*o.n*o.s.Labels)
	for i := range r.index {
		r.index[i] = -1
	}
	r.cells = r.cells[:0]
}

// cellAt numbers the cell of prefixes that end at position t with label y, and cellBefore that of those before a
// segment at position s.
func (o *Oracle) cellAt(t, y int) int     { return 1 + 2*(t*o.s.Labels+y) }
func (o *Oracle) cellBefore(s, y int) int { return 2 + 2*(s*o.s.Labels+y) }

// place returns where a cell is in r.cells. It makes the cell if there is none.
func (r *ranking) place(o *Oracle, number int) int32 {
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
	c.offers, c.list = c.offers[:0], c.list[:0]
	switch t, y, kind := o.cell(number); kind {
	case ofRoot:
		c.offers = append(c.offers, o.row(o.α, o.n-1)[:o.s.Labels]...)
	case ofEnding:
		for l := 1; l <= o.longest(t) && (l == 1 || o.continues(t-l+2, y)); l++ {
			c.offers = append(c.offers, o.h[(t-l+1)*o.stride+y]+o.lengthScore(t, l, y))
		}
	case ofFollowing:
		for from := range o.s.Labels {
			c.offers = append(c.offers, o.α[(t-1)*o.stride+from]+o.stepScore(t, from, y))
		}
	}
	c.ranks = vec.Grow(c.ranks, len(c.offers))
	clear(c.ranks)
	return int32(at)
}

type kindOfCell int

const (
	ofRoot kindOfCell = iota
	ofEnding
	ofFollowing
)

// cell returns the position and the label of a cell.
func (o *Oracle) cell(number int) (t, y int, kind kindOfCell) {
	if number == root {
		return 0, 0, ofRoot
	}
	at := (number - 1) / 2
	return at / o.s.Labels, at % o.s.Labels, ofEnding + kindOfCell((number-1)%2)
}

// before returns the cell whose prefixes an arc of a cell extends; false for a segment that begins the sequence.
func (o *Oracle) before(number int, arc int32) (int, bool) {
	switch t, y, kind := o.cell(number); kind {
	case ofRoot:
		return o.cellAt(o.n-1, int(arc)), true
	case ofEnding:
		first := t - int(arc)
		return o.cellBefore(first, y), first > 0
	default:
		return o.cellAt(t-1, int(arc)), true
	}
}

// has finds prefixes of a cell until there is one of that rank, from 0. It returns false if there is none.
//
// A cell's next prefix needs the successor of the one that its last prefix extends, and so on to the beginning of the
// sequence: the cells that wait for it are on a stack, since sequences may be long.
func (r *ranking) has(o *Oracle, number, rank int) bool {
	r.waiting = append(r.waiting[:0], wait{number, rank})
	for len(r.waiting) > 0 {
		w := r.waiting[len(r.waiting)-1]
		c := r.place(o, w.number)
		if n := len(r.cells[c].list); n > w.rank || n > 0 && r.cells[c].list[n-1].arc < 0 {
			r.waiting = r.waiting[:len(r.waiting)-1]
			continue
		} else if n > 0 {
			last := r.cells[c].list[n-1]
			if !r.advanced(o, w.number, c, last) {
				number, _ := o.before(w.number, last.arc)
				r.waiting = append(r.waiting, wait{number, int(last.rank) + 1})
				continue
			}
		}
		k := &r.cells[c]
		arc := argmax(k.offers)
		if k.offers[arc] == minusInf {
			k.list = append(k.list, entry{minusInf, -1, 0})
			continue
		}
		k.list = append(k.list, entry{k.offers[arc], int32(arc), k.ranks[arc]})
	}
	list := r.cells[r.index[number]].list
	return rank < len(list) && list[rank].arc >= 0
}

// advanced offers the successor of the prefix that a cell's last one extends. It returns false if that has not been
// looked for yet.
func (r *ranking) advanced(o *Oracle, number int, c int32, last entry) bool {
	before, ok := o.before(number, last.arc)
	offer := minusInf
	if ok {
		p := r.place(o, before)
		list, next := r.cells[p].list, int(last.rank)+1
		switch {
		case next < len(list):
			if e := list[next]; e.arc >= 0 {
				offer = last.score + (e.score - list[last.rank].score)
			}
		case len(list) == 0 || list[len(list)-1].arc >= 0:
			return false
		}
	}
	k := &r.cells[c]
	k.offers[last.arc], k.ranks[last.arc] = offer, last.rank+1
	return true
}

// read writes the n-th output.
func (r *ranking) read(o *Oracle, n int, tags []int32) {
	number, rank := root, int32(n)
	for {
		e := r.entry(o, number, rank)
		t, y, kind := o.cell(number)
		if kind == ofEnding {
			write(tags[t-int(e.arc):t+1], y)
		}
		before, ok := o.before(number, e.arc)
		if !ok {
			return
		}
		number, rank = before, e.rank
	}
}

// entry returns a prefix of a cell, of a rank that was found. The best one of a cell that nobody asked is that of Max.
func (r *ranking) entry(o *Oracle, number int, rank int32) entry {
	r.has(o, number, int(rank))
	return r.cells[r.index[number]].list[rank]
}
