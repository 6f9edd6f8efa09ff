package constituent

import (
	"math"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// damping keeps sums over many trees in range: n words have at most 4ⁿ⁻² trees, of n − 2 damped spans each, so that
// weights of spans of at most 1 sum to at most 1.
const damping = 1.0 / 4

// leastTotal is the smallest sum that is certainly accurate. An underflow loses less than 1e-307 of the total, since
// the multipliers of the lost number sum to less than 1; there are fewer than 1e10 operations.
const leastTotal = 1e-280

// products sums over the trees of the open sentence without logarithms. The weight of a span of several words, but for
// that of all words, is that of its score relative to the largest of the sentence, damped, times the sum over its
// labels, which are relative to the largest of such spans. Words have weight 1. It returns the logarithm of the sum,
// and false where it leaves the range of float64, or there is no tree: then sums answers.
func (o *Oracle) products() (logZ float64, ok bool) {
	n := o.n
	if n < 2 {
		return 0, false
	}
	o.weight, o.top = vec.Grow(o.weight, len(o.label)), vec.Grow(o.top, n*n)
	o.spanWeight = vec.Grow(o.spanWeight, n*n)
	all := n - 1
	spanTop, labelTop := o.tops()
	for i := range n {
		word := i*n + i
		if !o.weighWord(word) {
			return 0, false
		}
		rest := word + 1
		widen(o.weight[rest*o.width:(i+1)*n*o.width], o.label[rest*o.width:], labelTop, o.rate)
		widen(o.spanWeight[rest:(i+1)*n], o.span[rest:], spanTop, o.rate)
		if i == 0 {
			o.weighWord(all)
		}
		if i == 0 {
			o.spanWeight[all] = 0 // it is not relative to spanTop, and nobody reads it
		}
		vec.ExpDoubles(o.weight[word*o.width : (i+1)*n*o.width])
		vec.ExpDoubles(o.spanWeight[rest : (i+1)*n])
		some := total(o.weights(word))
		o.left[word], o.right[word], o.leftLabel[word] = 1, 1, some
		logZ += o.top[word] + float64(o.span[word])*o.rate + math.Log(some)
	}
	for length := 2; length < n; length++ {
		for i := 0; i+length <= n; i++ {
			j := i + length - 1
			row := i*n + j
			weights := o.weights(row)
			some := total(weights[1:])
			o.leftLabel[row], o.rightLabel[row] = some+weights[0], some
			left, right := o.splits(i, j)
			inside := dot(left, right)
			o.inside[row] = inside
			inside *= o.spanWeight[row] * (damping / float64(o.width))
			o.left[row], o.right[j*n+i] = inside*o.leftLabel[row], inside*some
		}
	}
	left, right := o.splits(0, all)
	o.inside[all] = dot(left, right)
	logZ += math.Log(o.inside[all]) + float64(o.span[all])*o.rate + o.root(all)
	logZ += float64(n-2) * ((spanTop+labelTop)*o.rate - math.Log(damping/float64(o.width)))
	return logZ, o.inside[all] >= leastTotal && logZ > minusInf
}

// tops returns the largest score and the largest score of a label of the spans of several words, but for that of all
// words; 0 where there is none.
func (o *Oracle) tops() (span, label float64) {
	n := o.n
	span, label = minusInf, minusInf
	for i := range n {
		end := (i + 1) * n
		if i == 0 {
			end--
		}
		if first := i*n + i + 1; first < end {
			spans, labels := o.span[first:end], o.label[first*o.width:end*o.width]
			span, label = max(span, largest(spans)), max(label, largest(labels))
		}
	}
	return finite(span), finite(label)
}

// finite returns x, and 0 for −∞.
func finite(x float64) float64 {
	if x == minusInf {
		return 0
	}
	return x
}

// weighWord sets the exponents of the weights of a span's labels, relative to the largest of them. It reports whether
// there is one.
func (o *Oracle) weighWord(row int) bool {
	labels := o.labels(row)
	top := largest(labels)
	o.top[row] = top * o.rate
	if top == minusInf || float64(o.span[row]) == minusInf {
		clear(o.weights(row))
		return false
	}
	widen(o.weights(row), labels, top, o.rate)
	return true
}

// largest returns the largest number, by four maxima that do not wait for each other.
func largest(x []float32) float64 {
	a, b, c, d := float32(minusInf), float32(minusInf), float32(minusInf), float32(minusInf)
	for ; len(x) >= 4; x = x[4:] {
		a, b, c, d = larger(a, x[0]), larger(b, x[1]), larger(c, x[2]), larger(d, x[3])
	}
	for _, v := range x {
		a = larger(a, v)
	}
	return float64(larger(larger(a, b), larger(c, d)))
}

// widen sets to to (x − top)·rate.
func widen(to []float64, x []float32, top, rate float64) {
	x = x[:len(to)]
	for i, v := range x {
		to[i] = (float64(v) - top) * rate
	}
}

// dot returns Σ x_k·y_k, by four sums that do not wait for each other.
func dot(x, y []float64) float64 {
	var a, b, c, d float64
	y = y[:len(x)]
	for ; len(x) >= 4 && len(y) >= 4; x, y = x[4:], y[4:] {
		a += x[0] * y[0]
		b += x[1] * y[1]
		c += x[2] * y[2]
		d += x[3] * y[3]
	}
	for k, v := range x {
		a += v * y[k]
	}
	return (a + c) + (b + d)
}

// shareProducts writes the marginals of the open sentence, which are zero before, after products.
func (o *Oracle) shareProducts(span, label []float32) {
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
			switch length {
			case n:
				asLeft = 1
				o.share(to, row, 1, 1, o.root(row))
			case 1:
				scaled(to, o.weights(row), (asLeft+asRight)/o.leftLabel[row])
			default:
				o.shareLabels(to, row, asLeft, asRight)
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
			rate := p / o.inside[row]
			for k, x := range left {
				x *= right[k] * rate
				toLeft[k] += x
				toRight[k] += x
			}
		}
	}
}

// shareLabels writes the probabilities of the labels of a span, given those of the span as a left and as a right child.
// A right child never has label 0.
func (o *Oracle) shareLabels(to []float32, row int, asLeft, asRight float64) {
	weights := o.weights(row)
	if asLeft > 0 {
		asLeft /= o.leftLabel[row]
	}
	if asRight > 0 {
		asRight /= o.rightLabel[row]
	}
	scaled(to, weights, asLeft+asRight)
	to[0] = float32(weights[0] * asLeft)
}

// scaled sets to to x·by.
func scaled(to []float32, x []float64, by float64) {
	x = x[:len(to)]
	for i, v := range x {
		to[i] = float32(v * by)
	}
}
