package main

import (
	"cmp"
	"math"
	"slices"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// oracle finds the best selection in O(T log T), and sums over all in O(T·Most). Both are exact; sums are in float64.
type oracle struct {
	order        []int
	before, from []float64 // [(T+1)×(Most+1)] scratch memory of Exp
}

var minusInf = math.Inf(-1)

// Max implements oracles.Maximiser: the items that gain most by being chosen, if they gain.
func (o *oracle) Max(θ *structured.Potentials, y []int32, value []float64) {
	most := θ.Structure.(selection).Most
	for b := range θ.Len() {
		item, y := θ.Parts[0].Of(b), y[θ.Outputs[b]:θ.Outputs[b+1]]
		if !structured.ValidPotentials(item) {
			value[b] = oracles.Refuse(y)
			continue
		}
		gain := func(t int) float64 { return float64(item[2*t+1]) - float64(item[2*t]) } // +∞ where it must be chosen
		clear(y)
		o.order = o.order[:0]
		for t := range y {
			if gain(t) > 0 {
				o.order = append(o.order, t)
			}
		}
		slices.SortStableFunc(o.order, func(s, t int) int { return cmp.Compare(gain(t), gain(s)) })
		for _, t := range o.order[:min(most, len(o.order))] {
			y[t] = 1
		}
		value[b] = θ.Score(b, y) // −∞ if more must be chosen, or an item is forbidden both ways
	}
}

// Exp implements oracles.Summer. before[t][k] is the log of the sum over the first t items with k of them chosen, and
// from[t][k] over those from t on with at most k of them chosen.
func (o *oracle) Exp(θ *structured.Potentials, μ float64, value []float64, u *structured.Marginals) {
	if u != nil {
		u.Like(θ)
		u.Clear()
	}
	n := θ.Structure.(selection).Most + 1
	for b := range θ.Len() {
		item := θ.Parts[0].Of(b)
		if !structured.ValidPotentials(item) {
			value[b] = oracles.RefuseSums(u, b)
			continue
		}
		length := len(item) / 2
		score := func(t, l int) float64 { return float64(item[2*t+l]) / μ }
		o.from = vec.Grow(o.from, (length+1)*n)
		clear(o.from[length*n:])
		for t := length - 1; t >= 0; t-- {
			for k := range n {
				out, in := score(t, 0)+o.from[(t+1)*n+k], minusInf
				if k > 0 {
					in = score(t, 1) + o.from[(t+1)*n+k-1]
				}
				o.from[t*n+k] = logAdd(out, in)
			}
		}
		total := o.from[n-1]
		if value[b] = μ * total; u == nil || math.IsInf(total, -1) {
			continue
		}
		o.before = vec.Grow(o.before, (length+1)*n)
		for k := range n {
			o.before[k] = minusInf
		}
		o.before[0] = 0
		share := u.Parts[0].Of(b)
		for t := range length {
			out, in := minusInf, minusInf
			for k := range n {
				left, chosen := o.before[t*n+k]+score(t, 0), minusInf
				out = logAdd(out, left+o.from[(t+1)*n+n-1-k])
				if k > 0 {
					chosen = o.before[t*n+k-1] + score(t, 1)
					in = logAdd(in, chosen+o.from[(t+1)*n+n-1-k])
				}
				o.before[(t+1)*n+k] = logAdd(left, chosen)
			}
			both := logAdd(out, in) // total, but for rounding
			share[2*t], share[2*t+1] = float32(math.Exp(out-both)), float32(math.Exp(in-both))
		}
	}
}

// logAdd returns log(eᵃ + eᵇ).
func logAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}
