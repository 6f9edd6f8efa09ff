package monotone

import (
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/monotone"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Max finds the best path of every example. It stores no back-pointers: it compares the predecessors again on the best
// path. The value is the score of the output.
func (o *Oracle) Max(θ *structured.Potentials, y []int32, value []float64) {
	o.guard.Begin(θ)
	for b := range θ.Len() {
		out := y[θ.Outputs[b]:θ.Outputs[b+1]]
		switch {
		case len(out) == 0:
			value[b] = 0
			continue
		case !o.open(θ, b):
			value[b] = oracles.Refuse(out)
			continue
		}
		clear(out)
		if o.forward(); o.at(o.n-1, o.m-1) == minusInf {
			value[b] = minusInf
			continue
		}
		o.backtrack(out)
		value[b] = θ.Score(b, out)
	}
}

// forward computes α of the open example.
func (o *Oracle) forward() {
	rows := o.n + o.m - 1
	o.α = vec.Grow(o.α, rows*o.stride)
	o.down, o.diag = vec.Grow(o.down, o.stride), vec.Grow(o.diag, o.stride)
	copy(o.down, o.nothing)
	copy(o.diag, o.nothing)
	for i := range o.n {
		o.down[lanes+i], o.diag[lanes+i] = float64(o.step[2*i+monotone.Down]), float64(o.step[2*i+monotone.Diagonal])
	}
	first := o.row(o.α, 0)
	copy(first, o.nothing)
	first[lanes] = float64(o.pair[0])
	two := o.nothing
	for d := 1; d < rows; d++ {
		to, one := o.row(o.α, d), o.row(o.α, d-1)
		lo, hi := o.read(d, 1)
		o.k.best(to, one, two, o.x, o.down, o.diag, lo, hi)
		margins(to, lo, hi)
		two = one
	}
}

// at returns α of a pair; −∞ for one outside.
func (o *Oracle) at(i, j int) float64 {
	if i < 0 || j < 0 {
		return minusInf
	}
	return o.α[(i+j)*o.stride+lanes+i]
}

// The steps that a pair is reached by.
const (
	byRight = iota
	byDown
	byDiagonal
	noStep // of the first pair
)

// before returns the pair before a step to (i, j).
func before(i, j, step int) (int, int) {
	switch step {
	case byRight:
		return i, j - 1
	case byDown:
		return i - 1, j
	}
	return i - 1, j - 1
}

// reached returns the scores of the best paths to the pair (i, j) by each step, without the score of the pair.
func (o *Oracle) reached(i, j int) (by [3]float64) {
	return [3]float64{o.at(i, j-1), o.at(i-1, j) + o.down[lanes+i], o.at(i-1, j-1) + o.diag[lanes+i]}
}

// backtrack writes the best output, given forward.
func (o *Oracle) backtrack(y []int32) {
	for i, j := o.n-1, o.m-1; ; {
		y[i+j] = int32(i) + 1
		if i == 0 && j == 0 {
			return
		}
		by := o.reached(i, j)
		i, j = before(i, j, argmax(by[:]))
	}
}

func argmax(x []float64) int {
	best := 0
	for k, v := range x {
		if v > x[best] {
			best = k
		}
	}
	return best
}
