// Package window holds the oracle of boxes in a map of scores (windows.Window): the best box, and the K best, among the
// H(H+1)/2·W(W+1)/2 boxes of a grid, by best-first branch and bound.
//
// The search is the efficient subwindow search of Lampert, Blaschko and Hofmann 2008 (Algorithm 13 of Pillutla et al.
// 2019). It keeps sets of boxes in a queue, intervals of tops, lefts, bottoms and rights, with an upper bound of the
// scores in each: the positive cells of the set's largest box plus the negative cells of its smallest, plus the largest
// size terms that its heights and widths allow, plus a bound of the loss 1 − IoU. It takes the set with the largest
// bound, splits it, and stops when no bound exceeds the scores found.
//
// On noisy maps that bound alone is too loose: the positive noise of a large set adds up. So the positive and negative
// cells are summed per column, and the bound takes the best run of columns (An, Peursum, Liu and Venkatesh 2009), which
// costs O(W) by Kadane's algorithm. Rows are split first. Once they are known, the sum of each column is exact, and
// only the terms of the width and the loss keep the bound from being a score; narrow sets are then tried box by box. At
// most H² sets of rows exist, so that even a map of pure noise takes O(H²W) steps for the cells alone. When training,
// the loss 1 − IoU is at least as large as the rest while the scores are small. Its bound is linear in the number of
// the gold box's columns inside a box, so it joins the sums of the columns (scores.discount).
package window

import (
	"fmt"
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/structured/windows"
)

// Largest is the largest height and width of a grid.
const Largest = math.MaxInt16

// Oracle implements oracles.Ranker and oracles.Relaxed for grids of at most Largest rows and columns. Which of several
// boxes with equal scores it finds depends on the potentials of the example alone.
type Oracle struct {
	// Limit is the largest number of sets of boxes to take from the queue per example; 0 means no limit. A search that
	// reaches it goes on only until it knows an allowed box.
	Limit int

	guard  oracles.Guard
	search search
	y      [4]int32  // scratch memory
	upper  []float64 // [B] of the latest call
	ended  []bool    // [B]
}

// New returns an oracle without a limit.
func New() *Oracle { return &Oracle{} }

// Max implements oracles.Maximiser. If the limit cuts the search of an example short, y is the best box found and value
// an upper bound of the largest score.
func (o *Oracle) Max(θ *structured.Potentials, y []int32, value []float64) {
	o.begin(θ)
	for b := range θ.Len() {
		out := y[θ.Outputs[b]:θ.Outputs[b+1]]
		if len(out) > 0 {
			clear(out)
			if !o.guard.Valid(θ, b) {
				o.upper[b], o.ended[b], value[b] = math.NaN(), false, math.NaN()
				continue
			}
			o.find(θ, b, 1)
			for _, best := range o.search.found.boxes {
				best.write(out)
			}
		}
		value[b] = o.upper[b]
	}
}

// TopK implements oracles.Ranker. If the limit cuts the search of an example short, the list holds the best boxes
// found, possibly fewer than k.
func (o *Oracle) TopK(θ *structured.Potentials, k int, best *oracles.KBest) {
	best.Resize(θ, k)
	o.begin(θ)
	for b := range θ.Len() {
		lo, hi := θ.Outputs[b], θ.Outputs[b+1]
		if lo == hi {
			best.Count[b], best.Score[b*k] = 1, 0
			continue
		}
		if !o.guard.Valid(θ, b) {
			o.upper[b], o.ended[b] = math.NaN(), false
			best.Refuse(θ, b)
			continue
		}
		o.find(θ, b, k)
		f := &o.search.found
		best.Count[b] = copy(best.Score[b*k:], f.score)
		for i, y := range f.boxes {
			y.write(best.Output(i, lo, hi))
		}
	}
}

func (o *Oracle) Relaxed() string {
	if o.Limit == 0 {
		return ""
	}
	return fmt.Sprintf("the search for the best box stops after %d sets of boxes", o.Limit)
}

func (o *Oracle) Bound(b int) (upper float64, exact bool) { return o.upper[b], o.ended[b] }

// begin prepares a call: examples without cells have their answers.
func (o *Oracle) begin(θ *structured.Potentials) {
	o.upper, o.ended = vec.Grow(o.upper, θ.Len()), vec.Grow(o.ended, θ.Len())
	for b := range o.upper {
		o.upper[b], o.ended[b] = 0, true
	}
	o.guard.Begin(θ)
	o.search.limit = o.Limit
	o.search.share(θ.Structure.(windows.Window), θ.Parts[1].Values)
}

// find searches the k best boxes of example b.
func (o *Oracle) find(θ *structured.Potentials, b, k int) {
	s, masks := &o.search, oracles.FindMasks(θ, b, 0)
	s.reset(θ.Structure.(windows.Window), θ, b, masks)
	f := &s.found
	f.reset(k)
	s.run()
	o.rescore(θ, b)
	if masks.Any() && f.threshold() <= masks.Most {
		s.reset(θ.Structure.(windows.Window), θ, b, oracles.NoMasks)
		s.run()
		o.rescore(θ, b)
	}
	o.upper[b], o.ended[b] = minusInf, s.ended
	if len(f.score) > 0 {
		o.upper[b] = f.score[0]
	}
	if !s.ended {
		o.upper[b] = max(o.upper[b], s.upper+slack(s.height, s.width)*s.magnitude)
	}
}

// rescore gives the boxes that were found their scores, which are differences of large sums so far.
func (o *Oracle) rescore(θ *structured.Potentials, b int) {
	f := &o.search.found
	for at, y := range f.boxes {
		y.write(o.y[:])
		f.place(at, y, θ.Score(b, o.y[:]))
	}
}

// write writes the numbers of a box.
func (y box) write(to []int32) {
	for i, v := range y {
		to[i] = int32(v)
	}
}
