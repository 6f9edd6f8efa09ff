package constituent

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Exp sums over all trees, from short spans to long ones. The marginals follow from long spans to short ones: a span (i,j) of the tree is divided
// behind word k with probability exp(left(i,k) + right(k+1,j) − inside(i,j)).
func (o *Oracle) Exp(θ *structured.Potentials, μ float64, value []float64, u *structured.Marginals) {
	o.guard.Begin(θ)
	if u != nil {
		u.Like(θ)
		u.Clear()
	}
	for b := range θ.Len() {
		switch {
		case θ.Outputs[b] == θ.Outputs[b+1]:
			value[b] = 0
			continue
		case !o.open(θ, b, 1/μ):
			value[b] = oracles.RefuseSums(u, b)
			continue
		}
		o.sums()
		all := o.n - 1 // the row of all words
		logZ := o.inside[all] + float64(o.span[all])*o.rate + o.root(all)
		value[b] = μ * logZ
		if u != nil && logZ > minusInf {
			o.marginals(u.Parts[0].Of(b), u.Parts[1].Of(b))
		}
	}
}

// sums computes the tables of the open sentence.
func (o *Oracle) sums() {
	o.weight, o.top = vec.Grow(o.weight, len(o.label)), vec.Grow(o.top, o.n*o.n)
	for length := 1; length <= o.n; length++ {
		for i := 0; i+length <= o.n; i++ {
			j := i + length - 1
			row := i*o.n + j
			o.sumLabels(row, length)
			if o.inside[row] = 0; length > 1 {
				left, right := o.splits(i, j)
				o.inside[row] = logSumPlus(left, right)
			}
			o.close(i, j)
		}
	}
}

// weights returns exp(l − top) of the labels of a span.
func (o *Oracle) weights(row int) []float64 { return o.weight[row*o.width : (row+1)*o.width] }

// sumLabels computes the weights of a span's labels and the logarithms of their sums.
func (o *Oracle) sumLabels(row, length int) {
	labels, weight := o.labels(row), o.weights(row)
	best := float32(minusInf)
	for _, l := range labels {
		best = max(best, l)
	}
	if best == float32(minusInf) {
		clear(weight)
		o.top[row], o.leftLabel[row], o.rightLabel[row] = 0, minusInf, minusInf
		return
	}
	top := float64(best)
	some := 0.0
	for l, x := range labels {
		weight[l] = exp((float64(x) - top) * o.rate)
		if l > 0 {
			some += weight[l]
		}
	}
	o.top[row] = top * o.rate
	o.leftLabel[row] = o.top[row] + math.Log(some+weight[0])
	if o.rightLabel[row] = o.leftLabel[row]; length > 1 {
		o.rightLabel[row] = o.some(row)
	}
}

// some returns the logarithm of the sum over all labels of a span but 0. Their weights may all be tiny beside that of 0: then it begins anew.
func (o *Oracle) some(row int) float64 {
	sum := 0.0
	for _, w := range o.weights(row)[1:] {
		sum += w
	}
	if sum > leastSum {
		return o.top[row] + math.Log(sum)
	}
	labels, best := o.labels(row)[1:], float32(minusInf)
	for _, l := range labels {
		best = max(best, l)
	}
	if best == float32(minusInf) {
		return minusInf
	}
	sum = 0
	for _, l := range labels {
		sum += exp((float64(l) - float64(best)) * o.rate)
	}
	return float64(best)*o.rate + math.Log(sum)
}

// leastSum is the least sum of weights in which those that underflow are negligible.
const leastSum = 1e-200

// root returns the logarithm of the sum over the labels that the span of all words may have.
func (o *Oracle) root(row int) float64 { return o.some(row) }

// logSumPlus returns log Σ_k exp(x_k + y_k).
func logSumPlus(x, y []float64) float64 {
	m := maxPlus(x, y)
	if m == minusInf {
		return m
	}
	y = y[:len(x)]
	s := 0.0
	for k, x := range x {
		s += exp(x + y[k] - m)
	}
	return m + math.Log(s)
}

// exp is math.Exp, but 0 where the result is negligible beside a term of 1.
func exp(x float64) float64 {
	if x < -700 {
		return 0
	}
	return math.Exp(x)
}

// marginals writes the marginals of the open sentence, which are zero before.
func (o *Oracle) marginals(span, label []float32) {
	n := o.n
	o.asLeft, o.asRight = vec.Grow(o.asLeft, n*n), vec.Grow(o.asRight, n*n)
	clear(o.asLeft)
	clear(o.asRight)
	for length := n; length > 0; length-- {
		for i := 0; i+length <= n; i++ {
			j := i + length - 1
			row := i*n + j
			asLeft, asRight := o.asLeft[row], o.asRight[j*n+i]
			to := label[row*o.width : (row+1)*o.width]
			if length == n {
				o.share(to, row, 1, 1, o.root(row))
				asLeft, asRight = 1, 0
			} else {
				o.share(to, row, 0, asLeft, o.leftLabel[row])
				least := 1
				if length == 1 {
					least = 0
				}
				o.share(to, row, least, asRight, o.rightLabel[row])
			}
			p := asLeft + asRight
			if p == 0 {
				continue
			}
			if span[row] = float32(p); length == 1 {
				continue
			}
			left, right := o.splits(i, j)
			toLeft, toRight := o.asLeft[i*n+i:][:len(left)], o.asRight[j*n+i+1:][:len(left)]
			for k, x := range left {
				if q := p * exp(x+right[k]-o.inside[row]); q > 0 {
					toLeft[k] += q
					toRight[k] += q
				}
			}
		}
	}
}

// share adds a probability to the labels of a span from least on, by their weights. logSum is the logarithm of the sum of these.
func (o *Oracle) share(to []float32, row, least int, p, logSum float64) {
	if p == 0 || logSum == minusInf {
		return
	}
	if rate := p * exp(o.top[row]-logSum); o.top[row]-logSum < 300 {
		for l, w := range o.weights(row)[least:] {
			to[least+l] += float32(rate * w)
		}
		return
	}
	for l, x := range o.labels(row)[least:] { // all weights are tiny
		to[least+l] += float32(p * exp(float64(x)*o.rate-logSum))
	}
}

// Rounding implements oracles.Rounder. The tree has 2n − 1 spans, each with a score and a label. All numbers of the recurrence are at most twice the
// sum of the largest scores of n spans of every length in size, plus the logarithms of sums; a path to a value meets five operations per span, and
// sums of n or R exponentials err by as many units. Max compares two trees.
func (o *Oracle) Rounding(θ *structured.Potentials, b int, μ float64) float64 {
	span, label := oracles.Largest(θ.Parts[0].Of(b)), oracles.Largest(θ.Parts[1].Of(b))
	width := float64(θ.Parts[1].Width)
	n := math.Sqrt(float64(θ.Outputs[b+1] - θ.Outputs[b]))
	spans := 2 * n
	size := spans * (span + label)
	if μ == 0 {
		return 2 * 5 * oracles.Double * spans * size
	}
	logs := spans * math.Log(1+width+n)
	return oracles.Double * spans * (8*(size+μ*logs) + μ*(width+n+64))
}
