package tree

import (
	"math"

	"github.com/dsp-go/dsp/structured/vec"
)

// Exp returns μ·log Σ exp(score/μ) over all trees, for μ > 0, and its gradient, the probability of every arc at temperature μ, in
// marginals (n×n, laid out like arc; nil asks for the value only). Without an allowed tree the value is −∞ and marginals are 0.
// O(n³); see matrixTree.
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
		return never
	}
	if m.run(&fastest.trees, marginals != nil) >= leastLogTotal {
		if marginals != nil {
			m.write(marginals)
		}
		return value + μ*m.logTotal
	}
	m.setLogWeights(arc, μ)
	if m.run(&logElimination, marginals != nil) == never {
		return never
	}
	if marginals != nil {
		m.writeLogs(marginals)
	}
	return μ * m.logTotal
}

// matrixTree sums over all trees with one root arc (Tutte's matrix-tree theorem; Koo et al. 2007) without a subtraction, so that
// every digit survives whatever the scale of the weights.
//
// Read the weights a(d, h) as the rates of a Markov chain that goes from dependents to heads. To eliminate token k means to send
// what enters it where it goes next: for all i, j that are left
//
//	a(i, j) += a(i, k)·a(k, j)/S_k,    S_k = Σ_{j left} a(k, j),
//
// which divides the sum over trees by S_k (Grassmann, Taksar and Heyman 1985). Root weights r are an infinitesimal part of the
// chain, so that trees with one root arc are all that counts:
//
//	r(i) += a(i, k)·r(k)/S_k.
//
// If only token d is left, then r(d) ΠS is the sum over all trees. Where S_k is 0, token k must be under the root: its r(k)
// becomes a factor of the sum, and from there on r(i) holds the rate from i to what hangs under the root, a(i, k) at first, as
// one more place to go.
//
// The probability of head h of d is a(d, h)·g_d(h)/r(d) with r(d) as it is when all others are eliminated, where
// g_d(j) = (Σ_{i left} a(j, i)·g_d(i) + r(j))/S_j at the elimination of j, g_d(d) = 0, is what reaches the root from j before d.
//
// So every token must once be the last. Halving does that in O(n³): eliminate the right half and go on with the left, then from
// the same start eliminate the left half and go on with the right. The cost of one level is a quarter of the level's above.
type matrixTree struct {
	n, stride int
	weight    []float64 // [n×stride] rows sum to 1 with the root's
	root      []float64 // [n]
	levels    []level
	reach     []float64 // [n×stride] reach[j*stride+d] = g_d(j)
	last      []float64 // [n] r(d), all others eliminated
	open      []float64 // [n] one if no token was found to be under the root before d was left, else zero
	marginals bool
	factors   float64 // Σ log of what was divided out so far on the way to token 0
	logTotal  float64
}

// leastLogTotal is the least logarithm of a sum that proves itself. An underflow loses at most 1e-307 times what multiplies it;
// since rows sum to at most 1, that is at most 1, and there are fewer than 1e10 operations.
const leastLogTotal = -645

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

// setWeights sets the weights to exp(score/μ), each row divided by its sum, and returns μ times the logarithm of what was divided
// out. It reports false if a token has no head.
func (m *matrixTree) setWeights(arc []float64, μ float64) (value float64, ok bool) {
	for d := range m.n {
		from, row := arc[d*m.n:(d+1)*m.n], m.weight[d*m.stride:][:m.n]
		largest := fastest.largestDouble(from)
		if largest == never {
			return never, false
		}
		fastest.exps(row, from, largest, 1/μ, 1)
		sum := fastest.trees.sum(row)
		fastest.trees.divide(row, sum)
		value += largest + μ*math.Log(sum)
		m.root[d], row[d] = row[d], 0
	}
	return value, true
}

func (m *matrixTree) setLogWeights(arc []float64, μ float64) {
	for d := range m.n {
		row := m.weight[d*m.stride:][:m.n]
		for h, v := range arc[d*m.n : (d+1)*m.n] {
			row[h] = v / μ
		}
		m.root[d], row[d] = row[d], never
	}
}

// run sums over all trees, finds logTotal, and reach, last and open if marginals are wanted.
func (m *matrixTree) run(k *elimination, marginals bool) float64 {
	m.marginals, m.logTotal, m.factors = marginals, never, 0
	if !m.halve(k, 0, 0, m.n, view{m.weight, m.root, m.stride}, false) {
		m.logTotal = never
	}
	return m.logTotal
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
