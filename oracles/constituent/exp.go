package constituent

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Exp sums over all trees, from short spans to long ones. The marginals follow from long spans to short ones: a span
// (i,j) of the tree is divided behind word k with probability left(i,k)·right(k+1,j)/inside(i,j). Where products leave
// the range of float64 (products.go), it sums logarithms.
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
		if logZ, ok := o.products(); ok {
			value[b] = μ * logZ
			if u != nil {
				o.shareProducts(u.Parts[0].Of(b), u.Parts[1].Of(b))
			}
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
	n := o.n
	o.weight, o.top = vec.Grow(o.weight, len(o.label)), vec.Grow(o.top, n*n)
	o.most, o.terms = vec.Grow(o.most, n), vec.Grow(o.terms, n*n)
	o.weigh()
	for length := 1; length <= n; length++ {
		o.insides(length)
		for i := 0; i+length <= n; i++ {
			o.sumLabels(i*n+i+length-1, length)
			o.close(i, i+length-1)
		}
	}
}

// weights returns exp((l − top)·rate) of the labels of a span.
func (o *Oracle) weights(row int) []float64 { return o.weight[row*o.width : (row+1)*o.width] }

// weigh computes the weights of the labels of all spans.
func (o *Oracle) weigh() {
	for i := range o.n {
		for row := i*o.n + i; row < (i+1)*o.n; row++ {
			labels, weight := o.labels(row), o.weights(row)
			best := labels[0]
			for _, l := range labels {
				if l > best {
					best = l
				}
			}
			top := max(float64(best), -math.MaxFloat64) // −∞ less that is −∞
			for l, x := range labels {
				weight[l] = (float64(x) - top) * o.rate
			}
			o.top[row] = top * o.rate
		}
		vec.ExpDoubles(o.weight[(i*o.n+i)*o.width : (i+1)*o.n*o.width])
	}
}

// insides computes the sums over the trees below all spans of a length.
func (o *Oracle) insides(length int) {
	n, splits := o.n, length-1
	for i := 0; i+length <= n; i++ {
		left, right := o.splits(i, i+splits)
		most := maxPlus(left, right)
		less := max(most, -math.MaxFloat64)
		terms := o.terms[i*splits:][:splits]
		for k, x := range left {
			terms[k] = x + right[k] - less
		}
		o.most[i] = most
	}
	vec.ExpDoubles(o.terms[:(n-splits)*splits])
	for i := 0; i+length <= n; i++ {
		row := i*n + i + splits
		if o.inside[row] = 0; splits > 0 {
			o.inside[row] = o.most[i] + math.Log(total(o.terms[i*splits:][:splits]))
		}
	}
}

// total adds numbers by two sums that do not wait for each other.
func total(x []float64) float64 {
	var even, odd float64
	for ; len(x) > 1; x = x[2:] {
		even, odd = even+x[0], odd+x[1]
	}
	if len(x) > 0 {
		even += x[0]
	}
	return even + odd
}

// sumLabels computes the logarithms of the sums of a span's labels.
func (o *Oracle) sumLabels(row, length int) {
	weight := o.weights(row)
	some := total(weight[1:])
	all := o.top[row] + math.Log(some+weight[0])
	switch {
	case some+weight[0] == 0: // no label is allowed
		o.leftLabel[row], o.rightLabel[row] = minusInf, minusInf
	case length == 1 || weight[0] == 0:
		o.leftLabel[row], o.rightLabel[row] = all, all
	default:
		o.leftLabel[row], o.rightLabel[row] = all, o.some(row)
	}
}

// some returns the logarithm of the sum over all labels of a span but 0. Their weights may all be tiny beside that of
// 0: then it begins anew.
func (o *Oracle) some(row int) float64 {
	sum := total(o.weights(row)[1:])
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
			if o.most[i] = p; p > 0 {
				span[row] = float32(p)
			}
		}
		o.divide(length)
	}
}

// divide divides the probabilities of all spans of a length, in most, among their splits.
func (o *Oracle) divide(length int) {
	n, splits := o.n, length-1
	for i := 0; i+length <= n; i++ {
		terms, inside := o.terms[i*splits:][:splits], o.inside[i*n+i+splits]
		if o.most[i] == 0 {
			clear(terms)
			continue
		}
		left, right := o.splits(i, i+splits)
		for k, x := range left {
			terms[k] = x + right[k] - inside
		}
	}
	vec.ExpDoubles(o.terms[:(n-splits)*splits])
	for i := 0; i+length <= n; i++ {
		p, j := o.most[i], i+splits
		if p == 0 {
			continue
		}
		terms := o.terms[i*splits:][:splits]
		toLeft, toRight := o.asLeft[i*n+i:][:splits], o.asRight[j*n+i+1:][:splits]
		for k, x := range terms {
			toLeft[k] += p * x
			toRight[k] += p * x
		}
	}
}

// share adds a probability to the labels of a span from least on, by their weights. logSum is the logarithm of the sum
// of these.
func (o *Oracle) share(to []float32, row, least int, p, logSum float64) {
	if p == 0 || logSum == minusInf {
		return
	}
	weights := o.weights(row)[least:]
	if sum := total(weights); sum > leastSum {
		rate := p / sum
		for l, w := range weights {
			to[least+l] += float32(rate * w)
		}
		return
	}
	for l, x := range o.labels(row)[least:] { // all weights are tiny
		to[least+l] += float32(p * exp(float64(x)*o.rate-logSum))
	}
}

// Rounding implements oracles.Rounder. The tree has 2n − 1 spans, each with a score and a label. All numbers of the
// recurrence are at most twice the sum of the largest scores of n spans of every length in size, plus the logarithms of
// sums; a path to a value meets five operations per span, and sums of n or R exponentials err by as many units. Max
// compares two trees.
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
