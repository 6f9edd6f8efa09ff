package segment

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Max finds the best segments of every sequence. It stores no back-pointers: it computes the argmax again on the best
// path. The value is the score of the output.
func (o *Oracle) Max(θ *structured.Potentials, y []int32, value []float64) {
	o.prepare(θ, 1)
	for b := range θ.Len() {
		tags := y[θ.Outputs[b]:θ.Outputs[b+1]]
		switch {
		case len(tags) == 0:
			value[b] = 0
			continue
		case !o.open(θ, b):
			value[b] = oracles.Refuse(tags)
			continue
		}
		o.forward()
		if !o.backtrack(tags) {
			clear(tags)
			value[b] = minusInf
			continue
		}
		value[b] = θ.Score(b, tags)
	}
}

// forward computes h and α of the open sequence.
func (o *Oracle) forward() {
	o.h, o.α = vec.Grow(o.h, o.n*o.stride), vec.Grow(o.α, o.n*o.stride)
	o.a, o.β, o.reach = vec.Grow(o.a, o.stride), vec.Grow(o.β, o.stride), vec.Grow(o.reach, o.stride)
	for t := range o.n {
		if t == 0 {
			clear(o.β)
		} else {
			o.enter(t)
			o.k.bestSteps(o.β, o.row(o.α, t-1), o.transition, o.s.Labels)
		}
		o.step(t, o.reach, o.reach)
		add(o.row(o.h, t), o.β, o.begin)
		o.swap(t)
		o.k.bestSegments(o.a, o.h, o.lengthsAt(t), o.reach, t, o.longest(t))
		o.swap(t)
		add(o.row(o.α, t), o.a, o.add)
	}
}

// backtrack writes the best output, given forward. It returns false if there is none.
func (o *Oracle) backtrack(tags []int32) bool {
	last := o.row(o.α, o.n-1)
	y := argmax(last)
	if last[y] == minusInf {
		return false
	}
	for t := o.n - 1; ; {
		first := t - o.bestLength(t, y) + 1
		write(tags[first:t+1], y)
		if first == 0 {
			return true
		}
		t, y = first-1, o.bestLabel(first, y)
	}
}

func write(tags []int32, y int) {
	for t := range tags {
		tags[t] = int32(2*y + 1)
	}
	tags[0] = int32(2 * y)
}

// bestLength returns the length of the best segment with label y that ends at position t; 1 if there is none.
func (o *Oracle) bestLength(t, y int) int {
	best, score := 1, minusInf
	for l := 1; l <= o.longest(t) && (l == 1 || o.continues(t-l+2, y)); l++ {
		if v := o.h[(t-l+1)*o.stride+y] + o.lengthScore(t, l, y); v > score {
			best, score = l, v
		}
	}
	return best
}

// bestLabel returns the label before a segment with label y that begins at position s.
func (o *Oracle) bestLabel(s, y int) int {
	best, score := 0, math.Inf(-1)
	for from := range o.s.Labels {
		if v := o.α[(s-1)*o.stride+from] + o.stepScore(s, from, y); v > score {
			best, score = from, v
		}
	}
	return best
}
