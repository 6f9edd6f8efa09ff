package tree

import "github.com/dsp-go/dsp/structured/sys/vec"

// outside holds the derivatives of a chart's total.
type outside struct {
	right, left, joined []float64 // derivatives with respect to the chart's tables
	rightArc, leftArc   []float64 // derivative ⊗ value: total weight of the trees with the arcs i → i+w and i+w → i
	root                []float64 // [n] the same for the root's arcs
	second              []float64
}

func (g *outside) resize(c *eisner[float64], zero float64) {
	for _, table := range []*[]float64{&g.right, &g.left, &g.joined, &g.rightArc, &g.leftArc} {
		*table = vec.Grow(*table, c.size())
	}
	for _, table := range [][]float64{g.right, g.left, g.joined} {
		fill(table, zero)
	}
	g.root = vec.Grow(g.root, c.n)
	g.second = vec.Grow(g.second, c.stride)
}

// blank fills all tables with zeros. outside relies on zeros beyond the ends of rows.
func (c *eisner[F]) blank(zero F) {
	for _, table := range [][]F{c.rightScore, c.leftScore, c.joined, c.rightArc, c.leftArc, c.right, c.left} {
		fill(table, zero)
	}
}

func fill[F real](x []F, v F) {
	for i := range x {
		x[i] = v
	}
}

// run differentiates the total of a chart, from wide spans to narrow ones. The chart must have been blank before its
// scores were set.
//
// A span contributes to wider spans. The sum over those reads, for all spans of a row at once, numbers at a fixed
// distance, as in inside. In some lanes the wider spans would exceed the sentence: there one operand is a zero beyond
// the end of a row, or before its beginning, which is the end of the previous row.
func (g *outside) run(c *eisner[float64], k *semiring[float64]) {
	n, step := c.n, c.stride
	g.resize(c, k.zero)
	for w := n - 1; w > 0; w-- {
		index, wider, lanes := c.index(w, 0), c.index(w+1, 0), n-w
		right, left, second := g.right[index:][:lanes], g.left[index:][:lanes], g.second[:lanes]
		// Complete spans are parts of joined spans and of wider complete spans.
		k.splits(g.right[index:], g.joined, c.left, wider, step, c.index(0, w+1), step, lanes-1, lanes)
		k.splits(g.second, g.right, c.rightArc, wider-1, step-1, c.index(1, -1), step-1, lanes-1, lanes)
		k.plus(right, second)
		k.splits(g.left[index:], g.joined, c.right, wider-1, step-1, c.index(0, -1), step-1, lanes-1, lanes)
		k.splits(g.second, g.left, c.leftArc, wider, step, c.index(1, w), step, lanes-1, lanes)
		k.plus(left, second)
		g.addRoot(c, k, w)
		// Arcs are also parts of complete spans of the same width.
		k.splits(g.rightArc[index:], g.right, c.right, index, step, c.index(0, w), step, lanes, lanes)
		k.splits(g.leftArc[index:], g.left, c.left, index, step-1, c.index(0, 0), step-1, lanes, lanes)
		rightArc, leftArc, joined := g.rightArc[index:][:lanes], g.leftArc[index:][:lanes], g.joined[index:][:lanes]
		k.times(joined, rightArc, c.rightScore[index:])
		k.times(second, leftArc, c.leftScore[index:])
		k.plus(joined, second)
		k.times(rightArc, rightArc, c.rightArc[index:])
		k.times(leftArc, leftArc, c.leftArc[index:])
	}
	g.addRoot(c, k, 0)
}

// addRoot adds the derivatives from the trees of a root to the two complete spans of width w that touch an end of the
// sentence.
func (g *outside) addRoot(c *eisner[float64], k *semiring[float64], w int) {
	r := c.n - 1 - w
	left, right := c.sides(r) // the right side has width w
	k.times(g.second[:1], c.root[r:], c.left[left:])
	k.plus(g.right[right:][:1], g.second)
	left, right = c.sides(w)
	k.times(g.second[:1], c.root[w:], c.right[right:])
	k.plus(g.left[left:][:1], g.second)
	k.times(g.root[w:][:1], g.second, c.left[left:])
}
