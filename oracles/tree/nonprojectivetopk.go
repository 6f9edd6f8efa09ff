package tree

import (
	"slices"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// TopK finds the min(k, number of allowed trees) best trees, best first, and returns how many there are. heads holds n
// per tree, score the scores. Each tree costs two contractions, O(n²), for any k: see search. Contractions take
// differences, so trees with masks among their arcs come last, if there are too few others.
func (p *NonProjective) TopK(arc []float32, n, k int, heads []int32, score []float64) int {
	if k == 0 {
		return 0
	}
	masks := oracles.MasksAmong(arc, n)
	found := p.topK(arc, masks, n, k, heads, score)
	if !masks.Any() || found == k && score[k-1] > masks.Most {
		return found
	}
	p.masked, p.scores = vec.Grow(p.masked, k*n), vec.Grow(p.scores, k)
	for i := range p.topK(arc, oracles.NoMasks, n, k, p.masked, p.scores) {
		tree := p.masked[i*n : (i+1)*n]
		known := false
		for j := range found {
			known = known || slices.Equal(tree, heads[j*n:(j+1)*n])
		}
		if !known && found < k {
			copy(heads[found*n:], tree)
			score[found] = p.scores[i]
			found++
			sortByScore(heads, score[:found], n)
		}
	}
	return found
}

// topK is TopK without trees that have masks.
func (p *NonProjective) topK(arc []float32, masks oracles.Masks, n, k int, heads []int32, score []float64) int {
	if n == 0 {
		score[0] = 0
		return 1
	}
	c, g := &p.contraction, &p.search
	g.open(arc, n, masks)
	if !g.contract(c, 0) {
		return 0
	}
	g.write(0, heads, score)
	if k > 1 {
		g.add(c, 0, 0)
	}
	found := 1
	for ; found < k && len(g.subsets) > 0; found++ {
		s := g.pop()
		head := g.tree(s.best)[s.lacks]
		without := g.constrain(s.lacks, head, false, s.constraints)
		if !g.contract(c, without) { // only rounding can cause this
			found--
			continue
		}
		tree := int32(len(g.trees)/n) - 1
		g.write(found, heads, score)
		sortByScore(heads, score[:found+1], n)
		if found+1 == k {
			continue
		}
		g.add(c, without, tree)
		with := g.constrain(s.lacks, head, true, s.constraints)
		if g.contract(c, with) {
			g.add(c, with, s.best)
			g.trees = g.trees[:len(g.trees)-n]
		}
	}
	return found
}

// write writes the latest tree as the m-th best.
func (g *search) write(m int, heads []int32, score []float64) {
	tree := g.trees[len(g.trees)-g.n:]
	copy(heads[m*g.n:(m+1)*g.n], tree)
	score[m] = Score(g.arc, tree)
}
