// Package constituent does inference for trees of constituents: the best tree by the algorithm of Cocke, Kasami and
// Younger, the K best by lazy enumeration (Huang and Chiang 2005), and sums over all trees with their marginals by the
// inside algorithm and conditional distributions.
//
// Labels do not interact: they are maximised or summed over inside each span first, in O(n²·R). Splits then take O(n³)
// operations, on rows that are contiguous in memory: right children lie transposed. Everything is computed in float64.
package constituent

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/derivations"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/constituents"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Oracle is the oracle of trees of constituents. With s(i,j) the score of a span and l(i,j) those of its labels,
//
//	inside(i,j) = max_k left(i,k) + right(k+1,j)     for i < j; 0 for a word
//	left(i,j)   = inside(i,j) + s(i,j) + max of l(i,j) over all labels
//	right(i,j)  = inside(i,j) + s(i,j) + max of l(i,j) over the labels but 0; over all labels for a word
//
// and the best tree has inside(0,n−1) + s + max of l over the labels but 0. Exp has sums in place of maxima.
type Oracle struct {
	guard oracles.Guard
	n     int
	width int       // labels, with 0
	rate  float64   // 1/μ; 1 for Max
	span  []float32 // [n·n] of the current sentence
	label []float32 // [n·n×width]

	inside, left, right []float64 // [n·n]; right at j·n + i
	// [n·n] over labels of a left child, the maximum or the logarithm of the sum, times the rate; in products the sum
	// of weights
	leftLabel  []float64
	rightLabel []float64 // likewise of a right child

	weight          []float64 // [n·n×width] exp(l − top) of the labels, for sums
	top             []float64 // [n·n]
	spanWeight      []float64 // [n·n] exp(s − largest s), for products
	asLeft, asRight []float64 // [n·n] probabilities of a span as a left child, or a right one or the root
	most            []float64 // [n] of spans of one length: the largest term, or the probability
	terms           []float64 // of their splits

	drawn []float64 // of samples

	ranking derivations.Ranking
}

// New returns an oracle of trees of constituents.
func New() *Oracle { return &Oracle{} }

var minusInf = math.Inf(-1)

// open reads example b. It reports whether its potentials are valid.
func (o *Oracle) open(θ *structured.Potentials, b int, rate float64) bool {
	o.n, o.width, o.rate = constituents.Words(θ.Outputs[b+1]-θ.Outputs[b]), θ.Parts[1].Width, rate
	o.span, o.label = θ.Parts[0].Of(b), θ.Parts[1].Of(b)
	for _, table := range []*[]float64{&o.inside, &o.left, &o.right, &o.leftLabel, &o.rightLabel} {
		*table = vec.Grow(*table, o.n*o.n)
	}
	return o.guard.Valid(θ, b)
}

// labels returns the scores of the labels of a span.
func (o *Oracle) labels(row int) []float32 { return o.label[row*o.width : (row+1)*o.width] }

// close sets left and right of a span whose inside and labels are known.
func (o *Oracle) close(i, j int) {
	row := i*o.n + j
	base := o.inside[row] + float64(o.span[row])*o.rate
	o.left[row] = base + o.leftLabel[row]
	o.right[j*o.n+i] = base + o.rightLabel[row]
}

// splits returns the rows of left children (i,i) … (i,j−1) and of right ones (i+1,j) … (j,j), which go together.
func (o *Oracle) splits(i, j int) (left, right []float64) {
	return o.left[i*o.n+i : i*o.n+j], o.right[j*o.n+i+1 : j*o.n+j+1]
}

// Max finds the best tree of every sentence. The value is the score of the output.
func (o *Oracle) Max(θ *structured.Potentials, y []int32, value []float64) {
	o.guard.Begin(θ)
	for b := range θ.Len() {
		out := y[θ.Outputs[b]:θ.Outputs[b+1]]
		clear(out)
		switch {
		case len(out) == 0:
			value[b] = 0
			continue
		case !o.open(θ, b, 1):
			value[b] = oracles.Refuse(out)
			continue
		}
		o.chart()
		if o.right[(o.n-1)*o.n] == minusInf && o.n > 1 || o.n == 1 && o.best(0, 1) == minusInf {
			value[b] = minusInf
			continue
		}
		o.read(out, 0, o.n-1, 1)
		value[b] = θ.Score(b, out)
	}
}

// best returns the score of the best label of a span from label least on, and −∞ if the span itself is forbidden.
func (o *Oracle) best(row, least int) float64 {
	s := minusInf
	for _, l := range o.labels(row)[least:] {
		s = max(s, float64(l))
	}
	return s + float64(o.span[row])
}

// chart computes the tables of the open sentence.
func (o *Oracle) chart() {
	for length := 1; length <= o.n; length++ {
		for i := 0; i+length <= o.n; i++ {
			j := i + length - 1
			row := i*o.n + j
			o.bestLabels(row, length)
			if o.inside[row] = 0; length > 1 {
				left, right := o.splits(i, j)
				o.inside[row] = maxPlus(left, right)
			}
			o.close(i, j)
		}
	}
}

// bestLabels sets the scores of the best labels of a span.
func (o *Oracle) bestLabels(row, length int) {
	labels := o.labels(row)
	best := float32(minusInf)
	for _, l := range labels[1:] {
		best = max(best, l)
	}
	all := max(best, labels[0])
	if length == 1 {
		best = all
	}
	o.leftLabel[row], o.rightLabel[row] = float64(all), float64(best)
}

// maxPlus returns max_k x_k + y_k, with four maxima side by side.
func maxPlus(x, y []float64) float64 {
	a, b, c, d := minusInf, minusInf, minusInf, minusInf
	y = y[:len(x)]
	k := 0
	for ; k+3 < len(x); k += 4 {
		a, b = larger(a, x[k]+y[k]), larger(b, x[k+1]+y[k+1])
		c, d = larger(c, x[k+2]+y[k+2]), larger(d, x[k+3]+y[k+3])
	}
	for ; k < len(x); k++ {
		a = larger(a, x[k]+y[k])
	}
	return larger(larger(a, b), larger(c, d))
}

// larger is max without its care for NaN and signed zeros.
func larger[F float32 | float64](a, b F) F {
	if b > a {
		return b
	}
	return a
}

// read writes the best tree over words i to j whose label is at least least.
func (o *Oracle) read(y []int32, i, j, least int) {
	row := i*o.n + j
	best, score := least, float32(minusInf)
	for l, s := range o.labels(row) {
		if l >= least && s > score {
			best, score = l, s
		}
	}
	y[row] = int32(best)
	if i == j {
		return
	}
	left, right := o.splits(i, j)
	k := 0
	for s := range left {
		if left[s]+right[s] > left[k]+right[k] {
			k = s
		}
	}
	o.read(y, i, i+k, 0)
	o.read(y, i+k+1, j, leastRight(i+k+1, j))
}

// leastRight is the least label of a right child: 0 for a word only.
func leastRight(i, j int) int {
	if i == j {
		return 0
	}
	return 1
}
