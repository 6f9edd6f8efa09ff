package tree

import "github.com/dsp-go/dsp/structured/vec"

// outside holds what the derivatives of a chart's total need.
type outside struct {
	right, left, joined []float64 // derivatives by the chart's tables
	rightArc, leftArc   []float64 // derivative ⊗ value: the trees through the arcs i → i+w and i+w → i
	root                []float64 // [n] the same of the root's arcs
	second              []float64
}

func (g *outside) resize(c *chart[float64], zero float64) {
	for _, table := range []*[]float64{&g.right, &g.left, &g.joined, &g.rightArc, &g.leftArc} {
		*table = vec.Grow(*table, c.size())
	}
	for _, table := range [][]float64{g.right, g.left, g.joined} {
		fill(table, zero)
	}
	g.root = vec.Grow(g.root, c.n)
	g.second = vec.Grow(g.second, c.stride)
}

// blank fills all tables with zeros, which outside relies on beyond the ends of rows.
func (c *chart[F]) blank(zero F) {
	for _, table := range [][]F{c.rightScore, c.leftScore, c.joined, c.rightArc, c.leftArc, c.right, c.left} {
		fill(table, zero)
	}
}

func fill[F real](x []F, v F) {
	for i := range x {
		x[i] = v
	}
}

// run differentiates the total of a chart that was blank before its scores were set, from wide spans to narrow ones.
//
// Where a span is a part of wider ones, the sum over those runs, for all spans of a row at once, through numbers that lie a
// fixed step apart, like those of inside. In some lanes the wider spans would stick out of the sentence: there one operand is a
// zero beyond the end of a row, or before its beginning, where the row before ends.
func (g *outside) run(c *chart[float64], k *semiring[float64]) {
	n, step := c.n, c.stride
	g.resize(c, k.zero)
	for w := n - 1; w > 0; w-- {
		at, wider, lanes := c.at(w, 0), c.at(w+1, 0), n-w
		right, left, second := g.right[at:][:lanes], g.left[at:][:lanes], g.second[:lanes]
		// Complete spans are parts of joined ones, and of wider complete ones.
		k.splits(g.right[at:], g.joined, c.left, wider, step, c.at(0, w+1), step, lanes-1, lanes)
		k.splits(g.second, g.right, c.rightArc, wider-1, step-1, c.at(1, -1), step-1, lanes-1, lanes)
		k.plus(right, second)
		k.splits(g.left[at:], g.joined, c.right, wider-1, step-1, c.at(0, -1), step-1, lanes-1, lanes)
		k.splits(g.second, g.left, c.leftArc, wider, step, c.at(1, w), step, lanes-1, lanes)
		k.plus(left, second)
		g.addRoot(c, k, w)
		// Arcs are parts of complete spans of their width, too.
		k.splits(g.rightArc[at:], g.right, c.right, at, step, c.at(0, w), step, lanes, lanes)
		k.splits(g.leftArc[at:], g.left, c.left, at, step-1, c.at(0, 0), step-1, lanes, lanes)
		rightArc, leftArc, joined := g.rightArc[at:][:lanes], g.leftArc[at:][:lanes], g.joined[at:][:lanes]
		k.times(joined, rightArc, c.rightScore[at:])
		k.times(second, leftArc, c.leftScore[at:])
		k.plus(joined, second)
		k.times(rightArc, rightArc, c.rightArc[at:])
		k.times(leftArc, leftArc, c.leftArc[at:])
	}
	g.addRoot(c, k, 0)
}

// addRoot adds what the trees of a root say about the two complete spans of width w that touch an end of the sentence.
func (g *outside) addRoot(c *chart[float64], k *semiring[float64], w int) {
	r := c.n - 1 - w
	left, right := c.sides(r) // the right side has width w
	k.times(g.second[:1], c.root[r:], c.left[left:])
	k.plus(g.right[right:][:1], g.second)
	left, right = c.sides(w)
	k.times(g.second[:1], c.root[w:], c.right[right:])
	k.plus(g.left[left:][:1], g.second)
	k.times(g.root[w:][:1], g.second, c.left[left:])
}
