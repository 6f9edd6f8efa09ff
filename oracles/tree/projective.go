package tree

import (
	"math"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Projective does inference over projective trees: those whose arcs, drawn above the sentence, do not cross. It owns
// scratch memory, so use one per goroutine.
type Projective struct {
	// scores minus the largest of their dependent, so that float32 keeps the digits that distinguish trees
	best    eisner[float32]
	shifted []float32
	ranking ranking

	sums    eisner[float64]
	weights []float64
	adjoint outside

	narrow []float32 // of rescaled sums: [n×n] scores
	heads  []int32   // [n] the best tree
}

// Max finds the best tree in float32 and returns its score, summed in float64 (Eisner 1996). Ties go to the tree whose
// root comes first, and then whose splits do, from the top down. O(n³). If no tree is allowed, heads are 0.
func (p *Projective) Max(arc []float32, n int, heads []int32) float64 {
	if !p.findBest(arc, n) {
		clear(heads[:n])
		return minusInf
	}
	p.writeBest(heads[:n])
	return Score(arc, heads[:n])
}

// findBest computes the tables of best trees and reports whether there is a tree.
func (p *Projective) findBest(arc []float32, n int) bool {
	if n == 0 {
		return true
	}
	c := &p.best
	c.resize(n)
	p.shifted = vec.Grow(p.shifted, n)
	for d := range n {
		row := arc[d*n : (d+1)*n]
		m := fastest.largest(row)
		if m == float32(minusInf) {
			return false
		}
		for h, v := range row {
			p.shifted[h] = v - m
		}
		c.setRow(d, p.shifted)
	}
	c.inside(&fastest.single)
	c.total = float32(math.Inf(-1))
	for r, v := range c.root {
		left, right := c.sides(r)
		c.total = max(c.total, c.left[left]+c.right[right]+v)
	}
	return c.total > float32(math.Inf(-1))
}

// writeBest reads the best tree from the tables.
func (p *Projective) writeBest(heads []int32) {
	c := &p.best
	if c.n == 0 || len(heads) == 0 {
		return
	}
	r, best := 0, float32(math.Inf(-1))
	for i, v := range c.root {
		left, right := c.sides(i)
		if v += c.left[left] + c.right[right]; v > best {
			r, best = i, v
		}
	}
	heads[r] = 0
	c.writeLeft(r, 0, heads)
	c.writeRight(c.n-1-r, r, heads)
}

// writeRight writes the best complete span (w, i) with head i.
func (c *eisner[F]) writeRight(w, i int, heads []int32) {
	for w > 0 {
		s := 1 + bestSplit(c.rightArc, c.right, c.index(1, i), c.stride, c.index(w-1, i+1), 1-c.stride, w)
		heads[i+s] = int32(i) + 1
		c.writeJoined(s, i, heads)
		w, i = w-s, i+s
	}
}

// writeLeft writes the best complete span (w, i) with head i+w.
func (c *eisner[F]) writeLeft(w, i int, heads []int32) {
	for w > 0 {
		s := bestSplit(c.left, c.leftArc, c.index(0, i), c.stride, c.index(w, i), 1-c.stride, w)
		heads[i+s] = int32(i+w) + 1
		c.writeJoined(w-s, i+s, heads)
		w = s
	}
}

// writeJoined writes the heads between head and dependent, the ends of span (w, i).
func (c *eisner[F]) writeJoined(w, i int, heads []int32) {
	s := bestSplit(c.right, c.left, c.index(0, i), c.stride, c.index(w-1, i+1), 1-c.stride, w)
	c.writeRight(s, i, heads)
	c.writeLeft(w-1-s, i+s+1, heads)
}

// bestSplit returns the first s < splits with the largest x[ox+s·dx] + y[oy+s·dy].
func bestSplit[F real](x, y []F, ox, dx, oy, dy, splits int) int {
	best, index := x[ox]+y[oy], 0
	for s := 1; s < splits; s++ {
		ox, oy = ox+dx, oy+dy
		if v := x[ox] + y[oy]; v > best {
			best, index = v, s
		}
	}
	return index
}
