package tree

import "github.com/dsp-go/dsp/structured/sys/vec"

// eisner holds Eisner's tables of one sentence (Eisner 1996; Eisner 2000), over any semiring. A span (w, i) covers
// tokens i to i+w. A complete span has its head at one end and contains all descendants of the head on the other side
// of it. An incomplete span ends in a head and its dependent, with an arc between them. With ⊕ for max or sum and ⊗ for
// + or ×:
//
//	joined(w, i)   = ⊕_{s<w}     right(s, i) ⊗ left(w−1−s, i+s+1)
//	rightArc(w, i) = joined(w, i) ⊗ score of the arc i → i+w        leftArc the same with i+w → i
//	right(w, i)    = ⊕_{0<s≤w}   rightArc(s, i) ⊗ right(w−s, i+s)   head i
//	left(w, i)     = ⊕_{s<w}     left(s, i) ⊗ leftArc(w−s, i+s)     head i+w
//	total          = ⊕_r         left(r, 0) ⊗ right(n−1−r, r) ⊗ root(r)
//
// The root has one arc. Row w of a table holds the spans of one width side by side. For all i, the s-th split of spans
// (w, i) reads contiguous numbers of both operands, so vectors run over i and never need a sum across lanes.
//
// The end of a row, and in its place the beginning of the previous row, is zero where outside needs it: see outside.
type eisner[F real] struct {
	n, stride int

	root                  []F // [n]
	rightScore, leftScore []F // scores of the arcs i → i+w and i+w → i
	joined                []F
	rightArc, leftArc     []F
	right, left           []F
	total                 F
	terms                 [2]F // scratch
}

// margin is the number of readable entries before and after a table.
const margin = 16

// resize allocates tables for n tokens. The values are undefined.
func (c *eisner[F]) resize(n int) {
	c.n = n
	c.stride = (n + 2 + 7) &^ 7
	if c.stride%16 == 0 {
		c.stride += 8 // a power of two would map all rows to the same few cache sets
	}
	c.root = vec.Grow(c.root, n)
	for _, table := range []*[]F{&c.rightScore, &c.leftScore, &c.joined, &c.rightArc, &c.leftArc, &c.right, &c.left} {
		*table = vec.Grow(*table, c.size())
	}
}

func (c *eisner[F]) size() int { return 2*margin + c.n*c.stride }

// index returns the index of span (w, i) in every table.
func (c *eisner[F]) index(w, i int) int { return margin + w*c.stride + i }

// setRow stores the scores of the heads of dependent d: row[h] of head h, row[d] of the root.
func (c *eisner[F]) setRow(d int, row []F) {
	c.root[d] = row[d]
	to := c.index(d, 0)
	for _, v := range row[:d] {
		c.rightScore[to] = v
		to += 1 - c.stride
	}
	to = c.index(1, d)
	for _, v := range row[d+1:] {
		c.leftScore[to] = v
		to += c.stride
	}
}

// row returns the spans of width w.
func (c *eisner[F]) row(table []F, w int) []F { return table[c.index(w, 0):][:c.n-w] }

// inside computes the tables from the scores.
func (c *eisner[F]) inside(k *semiring[F]) {
	n, step := c.n, c.stride
	for i := range n {
		c.right[c.index(0, i)], c.left[c.index(0, i)] = k.one, k.one
	}
	for w := 1; w < n; w++ {
		index, narrower, lanes := c.index(w, 0), c.index(w-1, 1), n-w
		k.splits(c.joined[index:], c.right, c.left, c.index(0, 0), step, narrower, 1-step, w, lanes)
		k.times(c.rightArc[index:][:lanes], c.joined[index:], c.rightScore[index:])
		k.times(c.leftArc[index:][:lanes], c.joined[index:], c.leftScore[index:])
		k.splits(c.right[index:], c.rightArc, c.right, c.index(1, 0), step, narrower, 1-step, w, lanes)
		k.splits(c.left[index:], c.left, c.leftArc, c.index(0, 0), step, index, 1-step, w, lanes)
	}
}

// sides returns the indices of the two complete spans of root token r.
func (c *eisner[F]) sides(r int) (left, right int) { return c.index(r, 0), c.index(c.n-1-r, r) }
