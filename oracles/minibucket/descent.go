package minibucket

import "math"

// Steps of the descent.
const (
	firstStep, longest = 0.8, 3
	firstRate, fastest = 0.1, 1
	shortest           = 1e-3
	least              = -300 // the smallest logarithm of a marginal that moves shifts
	lightest           = 1e-3 // the smallest weight
)

// Pass moves shifts towards the agreement of mini-buckets, and weights towards those that know most. It reports whether
// the bound fell.
func (b *Bound) Pass() bool {
	if b.exact || math.IsInf(b.upper, -1) {
		return false
	}
	before := b.upper
	b.match()
	b.reweigh()
	return b.upper < before
}

// match moves shifts by what makes the marginals of v in its mini-buckets proportional to their geometric mean, if
// those of other variables stayed.
func (b *Bound) match() {
	for k := range b.model.States {
		from, to := b.first[k], b.first[k+1]
		for s := range b.q[from] {
			mean := 0.0
			for r := from; r < to; r++ {
				b.moves[r][s] = max(least, math.Log(b.q[r][s]))
				mean += b.weight[r] * b.moves[r][s]
			}
			for r := from; r < to; r++ {
				b.moves[r][s] = b.weight[r] * (mean - b.moves[r][s])
			}
		}
	}
	b.keep()
	for ; b.step >= shortest; b.step /= 2 {
		for r, m := range b.moves {
			for s, x := range m {
				b.shift[r][s] = b.kept[r][s] + b.step*x
			}
		}
		if b.lowers() {
			b.step = min(longest, 1.1*b.step)
			return
		}
	}
	b.undo()
	b.step = firstStep
}

// keep remembers shifts and weights.
func (b *Bound) keep() {
	copy(b.saved, b.weight)
	for r, of := range b.shift {
		copy(b.kept[r], of)
	}
}

// undo goes back to what keep remembers.
func (b *Bound) undo() {
	copy(b.weight, b.saved)
	for r, of := range b.kept {
		copy(b.shift[r], of)
	}
	b.upper = b.collect()
	b.distribute()
}

// lowers computes the bound and, if it is not above the last one, takes it with its gradient.
func (b *Bound) lowers() bool {
	value := b.collect()
	if !(value <= b.upper) {
		return false
	}
	b.upper = value
	b.distribute()
	return true
}

// reweigh moves weights along the gradient of the bound, which is the entropy of v given the other variables of the
// mini-bucket, in logarithms of weights: their sum stays 1.
func (b *Bound) reweigh() {
	entropy := b.entropies()
	b.keep()
	for ; b.rate >= shortest; b.rate /= 2 {
		for k := range b.model.States {
			from, to := b.first[k], b.first[k+1]
			mean, sum := 0.0, 0.0
			for r := from; r < to; r++ {
				mean += b.saved[r] * entropy[r]
			}
			for r := from; r < to; r++ {
				b.weight[r] = max(lightest, b.saved[r]*math.Exp(-b.rate*(entropy[r]-mean)))
				sum += b.weight[r]
			}
			for r := from; r < to; r++ {
				b.weight[r] /= sum
			}
		}
		if b.lowers() {
			b.rate = min(fastest, 1.5*b.rate)
			return
		}
	}
	b.undo()
	b.rate = firstRate
}

// entropies returns the entropy of v given the other variables of each mini-bucket.
func (b *Bound) entropies() []float64 {
	h := make([]float64, len(b.buckets))
	for r := range b.buckets {
		w := &b.tables[r]
		for _, p := range w.value {
			if p > 0 {
				h[r] -= p * math.Log(p)
			}
		}
		for _, p := range w.top { // the marginals of the rest
			if p > 0 {
				h[r] += p * math.Log(p)
			}
		}
	}
	return h
}
