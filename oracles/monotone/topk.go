package monotone

import (
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// TopK finds the k best paths of every example by lazy enumeration on top of Max's table (recursive enumeration,
// Jiménez and Marzal 1999). Only pairs on the paths found so far list more than the best path to them.
func (o *Oracle) TopK(θ *structured.Potentials, k int, best *oracles.KBest) {
	o.guard.Begin(θ)
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
		if !r.has(o, o.n-1, o.m-1, n) {
			return n
		}
		y := best.Output(n, lo, hi)
		r.read(o, n, y)
		best.Place(b, n, lo, hi, θ.Score(b, y))
	}
	return best.K
}

// ranking is the state of an enumeration.
type ranking struct {
	index   []int32 // [n·m] of pairs that were needed: their places in cells, else −1
	cells   []cell
	waiting []wait
}

// wait is a pair that is to have a path of some rank.
type wait struct{ i, j, rank int }

// cell lists paths to a pair, best first.
type cell struct {
	offers [3]float64 // by each step, the score of the next path; −∞ if there is none
	ranks  [3]int32   // by each step, which path to the pair before that is
	list   []path
}

// path is a path to a pair: a step, and the rank of the path before it. A step of noPath ends the list of a pair that
// has no more.
type path struct {
	score      float64
	step, rank int32
}

const noPath = -1

func (r *ranking) reset(o *Oracle) {
	r.index = vec.Grow(r.index, o.n*o.m)
	for k := range r.index {
		r.index[k] = -1
	}
	r.cells = r.cells[:0]
}

// place returns where the cell of a pair is in r.cells. It makes the cell if there is none.
func (r *ranking) place(o *Oracle, i, j int) int32 {
	to := &r.index[i*o.m+j]
	if *to >= 0 {
		return *to
	}
	*to = int32(len(r.cells))
	if n := len(r.cells); n < cap(r.cells) {
		r.cells = r.cells[:n+1]
	} else {
		r.cells = append(r.cells, cell{})
	}
	c := &r.cells[*to]
	c.list, c.ranks = c.list[:0], [3]int32{}
	if i == 0 && j == 0 {
		c.offers = [3]float64{minusInf, minusInf, minusInf}
		begin := path{o.at(0, 0), noStep, 0}
		if begin.score == minusInf {
			begin.step = noPath
		}
		c.list = append(c.list, begin)
		return *to
	}
	c.offers = o.reached(i, j)
	for k := range c.offers {
		c.offers[k] += float64(o.pair[i*o.m+j])
	}
	return *to
}

// has finds paths to a pair until there is one of that rank, from 0. It returns false if there is none.
//
// A pair's next path needs the successor of the one that its last path extends, and so on to the first pair: the pairs
// that wait for it are on a stack, since paths may be long.
func (r *ranking) has(o *Oracle, i, j, rank int) bool {
	r.waiting = append(r.waiting[:0], wait{i, j, rank})
	for len(r.waiting) > 0 {
		w := r.waiting[len(r.waiting)-1]
		at := r.place(o, w.i, w.j)
		list := r.cells[at].list
		n := len(list)
		if n > w.rank || n > 0 && list[n-1].step == noPath {
			r.waiting = r.waiting[:len(r.waiting)-1]
			continue
		}
		if n > 0 && list[n-1].step != noStep && !r.advanced(o, w.i, w.j, at) {
			last := list[n-1]
			i, j := before(w.i, w.j, int(last.step))
			r.waiting = append(r.waiting, wait{i, j, int(last.rank) + 1})
			continue
		}
		c := &r.cells[at]
		step := argmax(c.offers[:])
		if c.offers[step] == minusInf {
			c.list = append(c.list, path{minusInf, noPath, 0})
			continue
		}
		c.list = append(c.list, path{c.offers[step], int32(step), c.ranks[step]})
	}
	list := r.cells[r.index[i*o.m+j]].list
	return rank < len(list) && list[rank].step != noPath
}

// advanced offers the successor of the path that the last one to a pair extends. It returns false if that has not been
// looked for yet.
func (r *ranking) advanced(o *Oracle, i, j int, at int32) bool {
	list := r.cells[at].list
	last := list[len(list)-1]
	if r.cells[at].ranks[last.step] > last.rank {
		return true
	}
	bi, bj := before(i, j, int(last.step))
	from := r.cells[r.place(o, bi, bj)].list
	offer, next := minusInf, int(last.rank)+1
	if next >= len(from) { // next is beyond the list: there is no path yet, or none any more
		return false
	}
	if p := from[next]; p.step != noPath {
		offer = last.score + (p.score - from[last.rank].score)
	}
	c := &r.cells[at]
	c.offers[last.step], c.ranks[last.step] = offer, last.rank+1
	return true
}

// read writes the n-th output.
func (r *ranking) read(o *Oracle, n int, y []int32) {
	clear(y)
	for i, j, rank := o.n-1, o.m-1, n; ; {
		y[i+j] = int32(i) + 1
		if i == 0 && j == 0 {
			return
		}
		r.has(o, i, j, rank) // the best path to a pair that nobody asked
		p := r.cells[r.index[i*o.m+j]].list[rank]
		i, j = before(i, j, int(p.step))
		rank = int(p.rank)
	}
}
