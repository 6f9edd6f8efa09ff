package tree

import (
	"math"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Exp returns μ·log Σ exp(score/μ) over all trees, for μ > 0. It writes its gradient, the probability of every arc at
// temperature μ, to marginals (n×n, laid out like arc; nil skips them). Without an allowed tree the value is −∞ and
// marginals are 0. O(n³); see matrixTree.
func (p *NonProjective) Exp(arc []float64, n int, μ float64, marginals []float32) float64 {
	if marginals != nil {
		clear(marginals[:n*n])
	}
	if n == 0 {
		return 0
	}
	m := &p.sums
	m.resize(n)
	value, ok := m.setWeights(arc, μ)
	if !ok {
		return minusInf
	}
	inRange := m.run(&fastest.trees, marginals != nil)
	accurate := m.logTotal >= leastLogTotal
	value += μ * m.logTotal
	if accurate && inRange {
		if marginals != nil {
			m.write(marginals)
		}
		return value
	}
	m.setLogWeights(arc, μ)
	if !m.run(&logElimination, marginals != nil) {
		return minusInf
	}
	if marginals != nil {
		m.writeLogs(marginals)
	}
	if accurate { // only marginals left the range: the value must not depend on whether they are wanted
		return value
	}
	return μ * m.logTotal
}

// matrixTree sums over all trees with one root arc (Tutte's matrix-tree theorem; Koo et al. 2007) without a
// subtraction, so it keeps all digits at any scale of the weights.
//
// The weights a(d, h) are the rates of a Markov chain that moves from dependents to heads. Eliminating token k
// redirects its incoming rates to its successors: for all remaining i, j
//
//	a(i, j) += a(i, k)·a(k, j)/S_k,    S_k = Σ_{j remaining} a(k, j),
//
// which divides the sum over trees by S_k (Grassmann, Taksar and Heyman 1985). The root weights r are an infinitesimal
// part of the chain, so that only trees with one root arc count:
//
//	r(i) += a(i, k)·r(k)/S_k.
//
// If only token d remains, r(d) ΠS is the sum over all trees. If S_k is 0, token k must be under the root: its r(k)
// becomes a factor of the sum, and from then on r(i) is the rate from i to the tokens under the root, initially a(i,
// k), as one more destination.
//
// The probability of head h of d is a(d, h)·g_d(h)/r(d), with r(d) after all other tokens are eliminated. Here g_d(j) =
// (Σ_{i remaining} a(j, i)·g_d(i) + r(j))/S_j at the elimination of j, with g_d(d) = 0, is the weight of reaching the
// root from j before d.
//
// So every token must be the last one once. Halving achieves that in O(n³): eliminate the right half and recurse on the
// left, then from the same start eliminate the left half and recurse on the right. Each level costs a quarter of the
// level above.
type matrixTree struct {
	n, stride int
	weight    []float64 // [n×stride] each row and its root weight sum to 1
	root      []float64 // [n]
	levels    []level
	reach     []float64 // [n×stride] reach[j*stride+d] = g_d(j)
	last      []float64 // [n] r(d) after all others are eliminated
	open      []float64 // [n] one if no token was known to be under the root when d remained, else zero
	marginals bool
	factors   float64 // Σ log of the factors divided out so far on the way to token 0, but for those in product
	product   float64 // of the last factors: one logarithm for many
	logTotal  float64
}

// leastLogTotal is the smallest logarithm of a sum that is certainly accurate. An underflow loses at most 1e-307 times
// its multiplier, which is at most 1 because rows sum to at most 1, and there are fewer than 1e10 operations.
const leastLogTotal = -645

const (
	manyHeads = 1e250  // a product of sums of heads that is far from the largest number
	fewTrees  = 1e-250 // a product of factors that is far from the smallest
)

func (m *matrixTree) resize(n int) {
	m.n, m.stride = n, (n+7)&^3
	m.weight, m.reach = vec.Grow(m.weight, n*m.stride+4), vec.Grow(m.reach, n*m.stride+4)
	m.root, m.last, m.open = vec.Grow(m.root, n), vec.Grow(m.last, n), vec.Grow(m.open, n)
	for depth, size := 0, n; size > 1; depth, size = depth+1, (size+1)/2 {
		if depth == len(m.levels) {
			m.levels = append(m.levels, level{})
		}
		l := &m.levels[depth]
		l.stride = (size + 7) &^ 3
		l.weight, l.root = vec.Grow(l.weight, size*l.stride+4), vec.Grow(l.root, size)
	}
}

// setWeights sets the weights to exp(score/μ), divides each row by its sum, and returns μ times the logarithm of the
// divisors' product. It returns false if a token has no head.
func (m *matrixTree) setWeights(arc []float64, μ float64) (value float64, ok bool) {
	product := 1.0
	for d := range m.n {
		from, row := arc[d*m.n:(d+1)*m.n], m.weight[d*m.stride:][:m.n]
		largest := fastest.largestDouble(from)
		if largest == minusInf {
			return minusInf, false
		}
		fastest.exps(row, from, largest, 1/μ, 1)
		sum := fastest.trees.sum(row)
		fastest.trees.divide(row, sum)
		if value, product = value+largest, product*sum; product > manyHeads {
			value, product = value+μ*math.Log(product), 1
		}
		m.root[d], row[d] = row[d], 0
	}
	return value + μ*math.Log(product), true
}

func (m *matrixTree) setLogWeights(arc []float64, μ float64) {
	for d := range m.n {
		row := m.weight[d*m.stride:][:m.n]
		for h, v := range arc[d*m.n : (d+1)*m.n] {
			row[h] = v / μ
		}
		m.root[d], row[d] = row[d], minusInf
	}
}

// run sums over all trees. It sets logTotal, −∞ if there is no tree or the sum leaves the range of float64, and, if
// marginals are wanted, reach, last and open. It returns whether all that it set is right: with marginals, every token
// had to be the last one.
func (m *matrixTree) run(k *elimination, marginals bool) bool {
	m.marginals, m.logTotal, m.factors, m.product = marginals, minusInf, 0, k.one
	return m.halve(k, 0, 0, m.n, view{m.weight, m.root, m.stride}, false)
}

// write writes the probabilities of all arcs.
func (m *matrixTree) write(marginals []float32) {
	n := m.n
	for d := range n {
		row, to := m.weight[d*m.stride:][:n], marginals[d*n:][:n]
		scale, at := 1/m.last[d], d
		for h, v := range row {
			to[h] = float32(v * m.reach[at] * scale)
			at += m.stride
		}
		to[d] = float32(m.root[d] * m.open[d] * scale)
	}
}

// writeLogs is write on logarithms.
func (m *matrixTree) writeLogs(marginals []float32) {
	n := m.n
	for d := range n {
		row, to := m.weight[d*m.stride:][:n], marginals[d*n:][:n]
		for h, v := range row {
			to[h] = float32(math.Exp(v + m.reach[h*m.stride+d] - m.last[d]))
		}
		to[d] = float32(math.Exp(m.root[d] + m.open[d] - m.last[d]))
	}
}
