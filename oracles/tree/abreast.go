package tree

import (
	"cmp"
	"math"
	"slices"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// abreast is matrixTree for several sentences of one length side by side: entry i of an array is that of sentence l at
// i·lanes+l. Where matrixTree waits for short rows, all lanes are busy here. It does what matrixTree does in the same
// order, so that a sentence's answer has the same bits; but for a token that must be under the root it returns false,
// and each sentence is summed alone.
type abreast struct {
	*abreastKernels
	n         int
	weight    []float64 // [n×n×lanes]
	root      []float64 // [n×lanes]
	levels    []level
	reach     []float64 // [n×n×lanes]
	last      []float64 // [n×lanes]
	divisor   []float64 // [2·lanes]
	top       []float64 // [lanes] largest scores of a row
	value     []float64 // [lanes] Σ log of the divisors of rows, times μ, and largest scores
	factors   []float64 // [lanes] as in matrixTree
	product   []float64 // [lanes]
	logTotal  []float64 // [lanes]
	marginals bool
	to, from  [][]float32 // [lanes] rows of sentences
}

// abreastKernels are the inner loops of abreast. Each is the function of the same name of kernels or elimination in
// every lane, with the same order of additions.
type abreastKernels struct {
	lanes int
	// turn sets to[h·lanes+l] = x_l[h] + y_l[h], and turnBack sets to_l[h] = from[h·lanes+l].
	turn     func(to []float64, x, y [][]float32)
	turnBack func(to [][]float32, from []float64)
	largest  func(to, x []float64)
	// exps sets x_i = exp(scale·(x_i − shift)).
	exps   func(x, shift []float64, scale float64)
	sum    func(to, x []float64)
	divide func(x, by []float64)
	// eliminate eliminates token j, and then token k beside it, while tokens lo to hi−1 remain: it divides the rows of
	// both by their sums, and their e, before it adds them to the other rows. Without a k (k = j) it eliminates one. It
	// sets divisor to the sums of the rows of j and k.
	eliminate func(m, e, divisor []float64, stride, j, k, lo, hi int)
	// combine sets to to root, and adds to it.
	combine func(to, root, c, g []float64, stride int)
	// share sets to_i = x_i·g_i·scale, where row i of g is at g[i·stride].
	share func(to, x, g, scale []float64, stride int)
}

const (
	fewest  = 3  // sentences that take longer alone than abreast
	longest = 64 // sentences whose arrays abreast fit in a cache
)

// expAbreast answers for examples of equal lengths and removes them from o.order.
func (o *Oracle) expAbreast(θ *structured.Potentials, μ float64, value []float64, u *structured.Marginals) {
	m := &o.abreast
	if m.abreastKernels = fastest.abreast; m.abreastKernels == nil || len(o.order) < fewest {
		return
	}
	if len(o.kept) < m.lanes {
		o.kept = make([]sums, m.lanes)
	}
	words := func(b int) int { return (θ.Outputs[b+1] - θ.Outputs[b]) / 2 }
	slices.SortStableFunc(o.order, func(a, b int) int { return cmp.Compare(words(a), words(b)) })
	alone := o.order[:0]
	for left := o.order; len(left) > 0; {
		n, several := words(left[0]), 1
		for several < min(len(left), m.lanes) && words(left[several]) == n {
			several++
		}
		group := left[:several]
		left = left[several:]
		if several < fewest || n < 2 || n > longest || !o.expGroup(θ, group, n, μ, value, u) {
			alone = append(alone, group...)
		}
	}
	o.order = alone
}

// expGroup answers for examples of n words. It returns false if it answers for none.
func (o *Oracle) expGroup(θ *structured.Potentials, group []int, n int, μ float64, value []float64,
	u *structured.Marginals) bool {
	m := &o.abreast
	m.resize(n)
	o.scoresAbreast(θ, group, n, μ, u)
	if !m.setWeights(μ) || !m.run(u != nil) || slices.Min(m.logTotal) < leastLogTotal {
		return false
	}
	for l, b := range group {
		value[b] = m.value[l] + μ*m.logTotal[l]
	}
	if u == nil {
		return true
	}
	for d := range n {
		m.shares(d)
	}
	for l, b := range group {
		m.to[l] = u.Parts[0].Of(b)
	}
	m.turnBack(m.to[:len(group)], m.weight)
	for l, b := range group {
		o.sums, o.kept[l] = o.kept[l], o.sums
		s := sentenceOf(θ, b)
		arc, label := rowsOf(u, b)
		o.divide(&s, arc, label)
	}
	return true
}

// scoresAbreast sets the weights to the scores of arcs. The first sentences stand in for those that are missing.
func (o *Oracle) scoresAbreast(θ *structured.Potentials, group []int, n int, μ float64, u *structured.Marginals) {
	m := &o.abreast
	if θ.Parts[1].Width == 1 {
		for l := range m.lanes {
			s := sentenceOf(θ, group[l%len(group)])
			m.to[l], m.from[l] = s.arc, s.label
		}
		m.turn(m.weight, m.to, m.from)
		return
	}
	for l, b := range group {
		s := sentenceOf(θ, b)
		_, label := rowsOf(u, b)
		o.sum(&s, μ, label)
		o.sums, o.kept[l] = o.kept[l], o.sums
	}
	for l := range m.lanes {
		for i, v := range o.kept[l%len(group)].summed[:n*n] {
			m.weight[i*m.lanes+l] = v
		}
	}
}

func (m *abreast) resize(n int) {
	L := m.lanes
	m.n = n
	m.to, m.from = vec.Grow(m.to, L), vec.Grow(m.from, L)
	m.weight, m.reach = vec.Grow(m.weight, n*n*L), vec.Grow(m.reach, n*n*L)
	m.root, m.last, m.divisor = vec.Grow(m.root, n*L), vec.Grow(m.last, n*L), vec.Grow(m.divisor, 2*L)
	for _, x := range []*[]float64{&m.top, &m.value, &m.factors, &m.product, &m.logTotal} {
		*x = vec.Grow(*x, L)
	}
	for depth, size := 0, n; size > 1; depth, size = depth+1, (size+1)/2 {
		if depth == len(m.levels) {
			m.levels = append(m.levels, level{})
		}
		l := &m.levels[depth]
		l.stride, l.weight, l.root = size, vec.Grow(l.weight, size*size*L), vec.Grow(l.root, size*L)
	}
}

// setWeights makes weights of the scores, as matrixTree does.
func (m *abreast) setWeights(μ float64) bool {
	n, L := m.n, m.lanes
	clear(m.value)
	fill(m.product, 1)
	for d := range n {
		row := m.weight[d*n*L : (d+1)*n*L]
		largest, sum := m.top, m.divisor[:L]
		if m.abreastKernels.largest(largest, row); slices.Min(largest) == minusInf {
			return false
		}
		m.exps(row, largest, 1/μ)
		m.sum(sum, row)
		m.divide(row, sum)
		for l, v := range sum {
			m.value[l] += largest[l]
			if m.product[l] *= v; m.product[l] > manyHeads {
				m.value[l], m.product[l] = m.value[l]+μ*math.Log(m.product[l]), 1
			}
		}
		copy(m.root[d*L:(d+1)*L], row[d*L:])
		clear(row[d*L : (d+1)*L])
	}
	for l, v := range m.product {
		m.value[l] += μ * math.Log(v)
	}
	return true
}

func (m *abreast) run(marginals bool) bool {
	m.marginals = marginals
	clear(m.factors)
	fill(m.product, 1)
	return m.halve(0, 0, m.n, view{m.weight, m.root, m.n})
}

func (m *abreast) halve(depth, lo, hi int, from view) bool {
	size, L := hi-lo, m.lanes
	if size == 1 {
		return m.leaf(lo, from.root[:L])
	}
	l, half := &m.levels[depth], (size+1)/2
	for left := true; ; left = false {
		for i := range size {
			copy(l.weight[i*l.stride*L:][:size*L], from.weight[i*from.stride*L:])
		}
		copy(l.root, from.root[:size*L])
		if left {
			m.eliminateTokens(l, size-1, -1, size-half, 0, size, lo == 0)
			if !m.halve(depth+1, lo, lo+half, *l) {
				return false
			}
			if !m.marginals {
				return true
			}
			for j := half; j < size; j++ {
				m.follow(l, lo, j, 0, j, lo, lo+half)
			}
			continue
		}
		m.eliminateTokens(l, 0, 1, half, 0, size, false)
		if !m.halve(depth+1, lo+half, hi, view{l.weight[(half*l.stride+half)*L:], l.root[half*L:], l.stride}) {
			return false
		}
		for j := half - 1; j >= 0; j-- {
			m.follow(l, lo, j, j+1, size, lo+half, hi)
		}
		return true
	}
}

func (m *abreast) leaf(d int, root []float64) bool {
	L := m.lanes
	copy(m.last[d*L:(d+1)*L], root)
	clear(m.reach[(d*m.n+d)*L:][:L])
	if !positive(root) {
		return false
	}
	if d == 0 {
		for l, v := range root {
			m.logTotal[l] = m.factors[l] + math.Log(m.product[l]) + math.Log(v)
		}
	}
	return true
}

// positive reports whether all numbers are above 0, and none is beyond the range.
func positive(xs []float64) bool {
	for _, x := range xs {
		if !(x > 0 && x <= math.MaxFloat64) {
			return false
		}
	}
	return true
}

// eliminateTokens eliminates some tokens of a level, from token j on, of those from lo to hi−1, two at a time. Where a
// row sums to 0, its token must be under the root, and numbers become NaN or infinite, which leaf sees.
func (m *abreast) eliminateTokens(l *level, j, step, tokens, lo, hi int, count bool) {
	for tokens > 0 {
		k := j
		if tokens > 1 {
			k += step
		}
		if step > 0 {
			lo = k + 1
		} else {
			hi = k
		}
		m.eliminate(l.weight, l.root, m.divisor, l.stride, j, k, lo, hi)
		if count {
			m.count(m.divisor[:m.lanes])
			if k != j {
				m.count(m.divisor[m.lanes:])
			}
		}
		tokens, j = tokens-2, k+step
	}
}

// count counts a factor of the sum, as matrixTree does.
func (m *abreast) count(factor []float64) {
	for l, f := range factor {
		product := m.product[l] * f
		if product < fewTrees {
			m.factors[l] += math.Log(m.product[l])
			product = f
		}
		m.product[l] = product
	}
}

func (m *abreast) follow(l *level, from, j, lo, hi, first, end int) {
	L := m.lanes
	to, root := m.reach[((from+j)*m.n+first)*L:][:(end-first)*L], l.root[j*L:(j+1)*L]
	m.combine(to, root, l.weight[(j*l.stride+lo)*L:(j*l.stride+hi)*L], m.reach[((from+lo)*m.n+first)*L:], m.n)
}

// shares makes the weights of token d the probabilities of its heads.
func (m *abreast) shares(d int) {
	n, L := m.n, m.lanes
	scale := m.divisor[:L]
	for l, v := range m.last[d*L : (d+1)*L] {
		scale[l] = 1 / v
	}
	row := m.weight[d*n*L : (d+1)*n*L]
	m.share(row, row, m.reach[d*L:], scale, n)
	for l := range scale {
		row[d*L+l] = m.root[d*L+l] * scale[l]
	}
}
