package oracles

import (
	"cmp"
	"math"
	"slices"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// BMMF makes a Ranker of a MaxMarginaler: best max-marginal first (Yanover and Weiss 2004; Pillutla et al. 2019,
// Algorithm 10).
//
// It splits the outputs into cells, each with its best output. A cell is what constraints y_v = j and y_v ≠ j leave,
// which the structure, which must be a structured.Restricter, writes into a copy of the potentials. The next best
// output of all is the second best one of some cell. It differs from the cell's best output y at some place, so its
// score is the largest max-marginal of any (v, j) with j ≠ y_v. The cell is then split by y_v = j, and the new cell's
// best output is found by MaxMarginals itself and not read off the max-marginals. Hence ties do no harm: y stays a best
// output of the cell that keeps it.
//
// The K best outputs take 2K−2 calls of MaxMarginals and a call of Max.
type BMMF struct {
	Oracle MaxMarginaler

	guard  Guard
	single structured.Potentials
	cells  []cell
	value  []float64 // [1]
	m      MaxMarginals
	gold   structured.Gold
	others []int32 // all numbers but one
	y      []int32 // a best output that is known already, or one that ties with it
	order  []int
}

// cell is a set of outputs.
type cell struct {
	θ     structured.Potentials // of one example; what is outside the cell is forbidden
	y     []int32               // its best output
	score float64               // of y

	second        float64 // the score of its second best output, −∞ if there is none
	place, number int     // which that output has and y has not
}

// TopK implements Ranker. Outputs with equal scores come in no particular order.
func (f *BMMF) TopK(θ *structured.Potentials, k int, best *KBest) {
	best.Resize(θ, k)
	f.guard.Begin(θ)
	for b := range θ.Len() {
		if !f.guard.Valid(θ, b) {
			best.Refuse(θ, b)
			continue
		}
		θ.View(b, &f.single)
		lo := θ.Outputs[b]
		n := f.rank(k)
		best.Count[b] = n
		for at, c := range f.order[:n] {
			best.Score[b*k+at] = f.cells[c].score
			copy(best.Output(at, lo, θ.Outputs[b+1]), f.cells[c].y)
		}
	}
}

// rank finds the k best outputs of single: those of cells order[:count].
func (f *BMMF) rank(k int) (count int) {
	f.order, f.value = f.order[:0], vec.Grow(f.value, 1)
	first := f.cell(0)
	first.θ.Copy(&f.single)
	f.solve(first, k > 1)
	if math.IsInf(first.score, -1) || k < 1 {
		return 0
	}
	count = 1
	for ; count < k; count++ {
		from := 0
		for c := range f.cells[:count] {
			if f.cells[c].second > f.cells[from].second {
				from = c
			}
		}
		if math.IsInf(f.cells[from].second, -1) {
			break
		}
		to, last := f.cell(count), count+1 == k
		old := &f.cells[from]
		to.θ.Copy(&old.θ)
		f.restrict(&to.θ, old.place, old.number, true)
		f.solve(to, !last)
		if !last {
			f.restrict(&old.θ, old.place, old.number, false)
			f.findSecond(old)
		}
	}
	for c := range count {
		f.order = append(f.order, c)
	}
	// Max-marginals and scores may round differently.
	slices.SortStableFunc(f.order, func(a, b int) int { return cmp.Compare(f.cells[b].score, f.cells[a].score) })
	return count
}

// cell returns cell number c, which may be new. Pointers to other cells may become invalid.
func (f *BMMF) cell(c int) *cell {
	if c == len(f.cells) {
		f.cells = append(f.cells, cell{})
	}
	return &f.cells[c]
}

// solve finds the best output of a cell and, on request, its second best one.
func (f *BMMF) solve(c *cell, second bool) {
	c.y = vec.Grow(c.y, c.θ.OutputSize())
	if !second {
		f.Oracle.Max(&c.θ, c.y, f.value)
		c.score = f.value[0]
		return
	}
	f.Oracle.MaxMarginals(&c.θ, c.y, f.value, &f.m)
	c.score = f.value[0]
	f.pickSecond(c)
}

// findSecond finds the second best output of a cell whose best one is known.
func (f *BMMF) findSecond(c *cell) {
	f.y = vec.Grow(f.y, len(c.y))
	f.Oracle.MaxMarginals(&c.θ, f.y, f.value, &f.m)
	f.pickSecond(c)
}

// pickSecond takes the second best output from the cell's max-marginals.
func (f *BMMF) pickSecond(c *cell) {
	c.second = math.Inf(-1)
	score, width := f.m.Of(0), f.m.Widths[0]
	for v, right := range c.y {
		for j, s := range score[v*width : (v+1)*width] {
			if s > c.second && int32(j) != right {
				c.second, c.place, c.number = s, v, j
			}
		}
	}
}

// restrict forbids all numbers at a place but one, or only that one.
func (f *BMMF) restrict(θ *structured.Potentials, place, number int, keep bool) {
	f.gold.Output = vec.Grow(f.gold.Output, θ.OutputSize())
	for v := range f.gold.Output {
		f.gold.Output[v] = -1
	}
	if f.gold.Sets == nil {
		f.gold.Sets = make([][]int32, 2)
	}
	if keep {
		f.gold.Output[place] = int32(number)
	} else {
		f.others = f.others[:0]
		for j := range f.m.Widths[0] {
			if j != number {
				f.others = append(f.others, int32(j))
			}
		}
		f.gold.Output[place], f.gold.Sets[1] = -2, f.others
	}
	θ.Structure.(structured.Restricter).Restrict(θ, 0, f.gold)
}
