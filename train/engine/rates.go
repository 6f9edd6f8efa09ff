package engine

import (
	"sort"
)

// Rates are factors of the step lengths of a Descent on the host. They are those of ranges of weights, in order and
// without gaps. The weights of a row of a table have one factor.
type Rates []Rate

// Rate is the factor of the weights before End that come after those of the rate before.
type Rate struct {
	End    int
	Factor float64
}

// at returns the factor of a weight.
func (r Rates) at(j int) float64 {
	if k := r.index(j); k < len(r) {
		return r[k].Factor
	}
	return 1
}

func (r Rates) index(j int) int { return sort.Search(len(r), func(k int) bool { return r[k].End > j }) }

// parts cuts a range of weights where factors change.
func (r Rates) parts(lo, hi int, do func(lo, hi int, rate float64)) {
	for k := r.index(lo); lo < hi; k++ {
		end, rate := hi, 1.0
		if k < len(r) {
			end, rate = min(hi, r[k].End), r[k].Factor
		}
		do(lo, end, rate)
		lo = end
	}
}

// blockWeights is how many weights are moved at a time where several loops follow each other, so that they find them in
// the cache.
const blockWeights = 4096

// blocks cuts a range of weights into blocks with one factor each.
func (r Rates) blocks(lo, hi int, do func(lo, hi int, rate float64)) {
	r.parts(lo, hi, func(lo, hi int, rate float64) {
		for ; lo < hi; lo += blockWeights {
			do(lo, min(hi, lo+blockWeights), rate)
		}
	})
}

// eachRated is each for ranges with one factor each; they are blocks if fromCenter will be asked about them.
func (d *hostDescent) eachRated(blocks bool, do func(lo, hi, at int, rate float64)) {
	if !blocks && d.engine.Rates == nil {
		d.each(func(lo, hi, at int) { do(lo, hi, at, 1) })
		return
	}
	cut := d.engine.Rates.parts
	if blocks {
		cut = d.engine.Rates.blocks
	}
	var first, place int
	part := func(lo, hi int, rate float64) { do(lo, hi, place+lo-first, rate) }
	d.each(func(lo, hi, at int) {
		first, place = lo, at
		cut(lo, hi, part)
	})
}
