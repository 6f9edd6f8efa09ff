package segment

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/segments"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// negligible is the error per position, in nats, that differences of sums may cause.
const negligible = 1e-9

// losesDigits reports whether the fast way is too rough for example b. Prefix sums P of what continues segments, and
// the price of wrong segments, which is added and taken off again, are differences that lose the digits of all that is
// smaller; and marginals which are such differences are multiplied by these scores in ⟨u, θ⟩. So users' numbers in
// place of −∞, of any size, would blur all else. Then the oracle is direct: it sums the scores of each segment anew
// (lengthsAt), which takes a few additions more for each, and takes no differences.
func (o *Oracle) losesDigits(θ *structured.Potentials, b int) bool {
	sum, largest := 0.0, 0.0
	for t := 1; t < o.n; t++ {
		row, most := o.node[t*o.s.Tags:(t+1)*o.s.Tags], 0.0
		for at := 1; at < len(row); at += 2 {
			if x := math.Abs(float64(row[at])); x > most && x < math.Inf(1) {
				most = x
			}
		}
		sum += most
		largest = max(largest, most)
	}
	if k := len(θ.Parts) - 1; θ.Parts[k].Rows == structured.Examples {
		if x := oracles.Largest(θ.Parts[k].Of(b)); x < math.Inf(1) {
			sum += x * float64(o.n)
			largest = max(largest, x)
		}
	}
	return oracles.Double*sum*largest*o.rate*o.rate > negligible*float64(o.n)
}

// directLengths returns length_t for a direct oracle: scores of lengths, of segments as a whole, of all that continues
// them, and the price of what is wrong of them.
func (o *Oracle) directLengths(t int) []float64 {
	longest, y := o.longest(t), o.s.Labels
	o.joint = vec.Grow(o.joint, o.s.Longest*o.stride)
	inside := o.inside
	clear(inside)
	for l := 1; l <= longest; l++ {
		to, from := o.row(o.joint, l-1), o.row(o.base, l-1)
		copy(to[y:], from[y:])
		for j := range y {
			to[j] = from[j] + inside[j] + o.price(t, l, j)
		}
		if o.whole != nil {
			for j, x := range o.whole[segments.Row(t, l, o.s.Longest)*y:][:y] {
				to[j] += float64(x) * o.rate
			}
		}
		for j := range y {
			if first := t - l + 1; o.continues(first, j) {
				inside[j] += float64(o.node[first*o.s.Tags+2*j+1]) * o.rate
			}
		}
	}
	return o.joint
}

// directLength returns length_t(l, y) for a direct oracle: see directLengths.
func (o *Oracle) directLength(t, l, y int) float64 {
	inside := 0.0
	for at := t; at > t-l+1; at-- {
		inside += float64(o.node[at*o.s.Tags+2*y+1]) * o.rate
	}
	score := o.base[(l-1)*o.stride+y] + inside + o.price(t, l, y)
	if o.whole != nil {
		score += float64(o.whole[segments.Row(t, l, o.s.Longest)*o.s.Labels+y]) * o.rate
	}
	return score
}

// price returns what the segment of l positions with label y that ends at position t costs: the price for each wrong
// one that it makes.
func (o *Oracle) price(t, l, y int) float64 {
	if g := &o.gold; g.known {
		if n := g.wrong(t, l, y, o.stride); n > 0 {
			return g.price * float64(n)
		}
	}
	return 0
}

// keepDirect adds the probabilities of segments that end at position t, by their length, to those of tags that continue
// segments, and returns the expected number of wrong ones that they make.
func (o *Oracle) keepDirect(t int) (wrong float64) {
	clear(o.inside)
	for l := o.longest(t); l > 0; l-- {
		for j, p := range o.row(o.ended, l-1)[:o.s.Labels] {
			if o.gold.known && p > 0 {
				wrong += p * float64(o.gold.wrong(t, l, j, o.stride))
			}
			if o.inside[j] += p; l > 1 {
				o.within[(t-l+2)*o.stride+j] += o.inside[j]
			}
		}
	}
	return wrong
}
