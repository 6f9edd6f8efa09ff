package tree

import "math"

// view holds the weights between the remaining tokens, and those of the root.
type view struct {
	weight []float64 // [size×stride]
	root   []float64 // [size]
	stride int
}

// level is one step of the halving: a copy of the view that the level above produced.
type level = view

func (l *level) copy(from view, size int) {
	for i := range size {
		copy(l.weight[i*l.stride:][:size], from.weight[i*from.stride:][:size])
	}
	copy(l.root[:size], from.root[:size])
}

// halve eliminates all tokens but lo to hi-1 and recurses; closed says whether a token is known to be under the root.
// It returns false if there is no tree, or if numbers leave the range of float64.
func (m *matrixTree) halve(k *elimination, depth, lo, hi int, from view, closed bool) bool {
	size := hi - lo
	if size == 1 {
		return m.leaf(k, lo, from.root[0], closed)
	}
	l, half := &m.levels[depth], (size+1)/2

	l.copy(from, size)
	under := -1 // the token found to be under the root at this level
	for j := size - 1; j >= half; j-- {
		if !m.eliminate(k, l, j, 0, j, lo == 0, closed, &under) {
			return false
		}
	}
	if !m.halve(k, depth+1, lo, lo+half, *l, closed || under >= 0) {
		return false
	}
	if !m.marginals {
		return true
	}
	for j := half; j < size; j++ {
		m.follow(k, l, lo, j, 0, j, lo, lo+half, closed || under > j, under == j)
	}

	l.copy(from, size)
	under = -1
	for j := range half {
		if !m.eliminate(k, l, j, j+1, size, false, closed, &under) {
			return false
		}
	}
	right := view{l.weight[half*l.stride+half:], l.root[half:], l.stride}
	if !m.halve(k, depth+1, lo+half, hi, right, closed || under >= 0) {
		return false
	}
	for j := half - 1; j >= 0; j-- {
		m.follow(k, l, lo, j, j+1, size, lo+half, hi, closed || under >= 0 && under < j, under == j)
	}
	return true
}

// leaf finishes the case in which token d is the only one left.
func (m *matrixTree) leaf(k *elimination, d int, root float64, closed bool) bool {
	m.last[d], m.open[d], m.reach[d*m.stride+d] = root, k.one, k.zero
	if closed {
		m.open[d] = k.zero
	}
	if !(root > k.zero && root <= math.MaxFloat64) {
		return false
	}
	if d == 0 {
		m.logTotal = m.factors + k.log(m.product) + k.log(root)
	}
	return true
}

// eliminate eliminates token j of a level, while tokens lo to hi-1 remain. It returns false as halve does.
func (m *matrixTree) eliminate(k *elimination, l *level, j, lo, hi int, count, closed bool, under *int) bool {
	row := l.weight[j*l.stride+lo : j*l.stride+hi]
	closed = closed || *under >= 0
	s := k.sum(row)
	if closed {
		s = k.plus(s, l.root[j])
	}
	if s > k.zero {
		if count {
			m.count(k, s)
		}
		k.divide(row, s)
		k.divide(l.root[j:j+1], s)
		k.eliminate(l.weight, l.root, l.root[j], l.stride, j, lo, hi)
		return l.root[j] <= math.MaxFloat64
	}
	if closed || !(l.root[j] > k.zero) {
		return false
	}
	if count {
		m.count(k, l.root[j])
	}
	for i := lo; i < hi; i++ {
		l.root[i] = l.weight[i*l.stride+j]
	}
	*under = j
	return true
}

// count counts a factor of the sum.
func (m *matrixTree) count(k *elimination, factor float64) {
	product := k.times(m.product, factor)
	if product < fewTrees {
		m.factors += k.log(m.product)
		product = factor
	}
	m.product = product
}

// follow computes what reaches the root from token j of the level that begins at token from, before each of the tokens
// first to end-1, which were each the last one in turn. Tokens lo to hi-1 of the level remained when j was eliminated.
// closed says that another token was already known to be under the root; under says that j was.
func (m *matrixTree) follow(k *elimination, l *level, from, j, lo, hi, first, end int, closed, under bool) {
	to := m.reach[(from+j)*m.stride+first:]
	switch root := l.root[j]; {
	case under:
		fill(to[:end-first], k.one)
		return
	case closed:
		fill(to[:end-first], root)
	default:
		for d, open := range m.open[first:end] {
			to[d] = k.times(root, open)
		}
	}
	row := l.weight[j*l.stride:]
	k.combine(to, row[lo:hi], m.reach[(from+lo)*m.stride+first:], m.stride, end-first)
}
