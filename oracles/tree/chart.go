package tree

import "github.com/dsp-go/dsp/structured/vec"

// chart holds Eisner's tables for one sentence (Eisner 1996; Eisner 2000), over any semiring. A span (w, i) covers the tokens
// from i to i+w. A complete span has its head at one end and all descendants of the head on the other side of it; an
// incomplete one ends in a head and its dependent, with an arc between them. With ⊕ for max or sum and ⊗ for + or ×:
//
//	joined(w, i)   = ⊕_{s<w}     right(s, i) ⊗ left(w−1−s, i+s+1)
//	rightArc(w, i) = joined(w, i) ⊗ score of the arc i → i+w        leftArc the same with i+w → i
//	right(w, i)    = ⊕_{0<s≤w}   rightArc(s, i) ⊗ right(w−s, i+s)   head i
//	left(w, i)     = ⊕_{s<w}     left(s, i) ⊗ leftArc(w−s, i+s)     head i+w
//	total          = ⊕_r         left(r, 0) ⊗ right(n−1−r, r) ⊗ root(r)
//
// The root takes one arc. Row w of a table holds the spans of one width, side by side: the spans (w, i) of all i take their
// s-th split from contiguous numbers of both operands, so that vectors run over i and no sum within a vector is ever needed.
//
// A row's end, and its beginning in place of the row before, is zero where outside needs it: see outside.
type chart[F real] struct {
	n, stride int

	root                  []F // [n]
	rightScore, leftScore []F // arcs' scores: i → i+w and i+w → i
	joined                []F
	rightArc, leftArc     []F
	right, left           []F
	total                 F
	terms                 [2]F // scratch
}

// margin is how many numbers before and after a table are readable.
const margin = 16

// resize makes room for n tokens. Content is undefined.
func (c *chart[F]) resize(n int) {
	c.n = n
	c.stride = (n + 2 + 7) &^ 7
	if c.stride%16 == 0 {
		c.stride += 8 // a power of two would put all rows in the same few sets of the cache
	}
	c.root = vec.Grow(c.root, n)
	for _, table := range []*[]F{&c.rightScore, &c.leftScore, &c.joined, &c.rightArc, &c.leftArc, &c.right, &c.left} {
		*table = vec.Grow(*table, c.size())
	}
}

func (c *chart[F]) size() int { return 2*margin + c.n*c.stride }

// at returns the place of span (w, i) in every table.
func (c *chart[F]) at(w, i int) int { return margin + w*c.stride + i }

// setRow spreads scores of heads of dependent d: row[h] of head h, row[d] of the root.
func (c *chart[F]) setRow(d int, row []F) {
	c.root[d] = row[d]
	to := c.at(d, 0)
	for _, v := range row[:d] {
		c.rightScore[to] = v
		to += 1 - c.stride
	}
	to = c.at(1, d)
	for _, v := range row[d+1:] {
		c.leftScore[to] = v
		to += c.stride
	}
}

// row returns the spans of width w.
func (c *chart[F]) row(table []F, w int) []F { return table[c.at(w, 0):][:c.n-w] }

// inside fills the tables from the scores.
func (c *chart[F]) inside(k *semiring[F]) {
	n, step := c.n, c.stride
	for i := range n {
		c.right[c.at(0, i)], c.left[c.at(0, i)] = k.one, k.one
	}
	for w := 1; w < n; w++ {
		at, narrower, lanes := c.at(w, 0), c.at(w-1, 1), n-w
		k.splits(c.joined[at:], c.right, c.left, c.at(0, 0), step, narrower, 1-step, w, lanes)
		k.times(c.rightArc[at:][:lanes], c.joined[at:], c.rightScore[at:])
		k.times(c.leftArc[at:][:lanes], c.joined[at:], c.leftScore[at:])
		k.splits(c.right[at:], c.rightArc, c.right, c.at(1, 0), step, narrower, 1-step, w, lanes)
		k.splits(c.left[at:], c.left, c.leftArc, c.at(0, 0), step, at, 1-step, w, lanes)
	}
}

// sides returns the places of the two complete spans of root token r.
func (c *chart[F]) sides(r int) (left, right int) { return c.at(r, 0), c.at(c.n-1-r, r) }
