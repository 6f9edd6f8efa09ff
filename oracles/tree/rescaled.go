package tree

import (
	"math"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Long sentences: the damped weights of all trees underflow beyond some 340 tokens, and sums of logarithms take ten
// times as long. So the weights of the arcs into each token are divided by that of its arc in the best tree, which
// changes the weight of every tree by the same factor, and damped alike, so that all trees sum to about 1. Where the
// sums of all parts of trees are of moderate size, too, nothing that matters underflows.

const (
	mostFactor = 1e60 // of a token's weights
	// of sums over parts of trees, and of their derivatives: what underflows loses less than
	// 1e-307·mostFactor·mostPart² of the total 1
	mostPart = 1e80
)

// fillRescaled is fill with rescaled weights, and differentiates. It returns false if the sums leave the range in which
// they are certainly accurate.
func (p *Projective) fillRescaled(arc []float64, n int, μ float64) (value float64, ok bool) {
	p.narrow, p.heads = vec.Grow(p.narrow, n*n), vec.Grow(p.heads, n)
	for i, v := range arc[:n*n] {
		p.narrow[i] = float32(v)
	}
	if !p.findBest(p.narrow, n) {
		return 0, false
	}
	p.writeBest(p.heads)
	// All trees, with the best one's weight 1, sum to at least 1 and less than (27/4)ⁿ.
	low, high := math.Log(damping), 0.0
	for {
		log := (low + high) / 2
		total, possible := p.sumRescaled(arc, n, μ, math.Exp(log))
		switch {
		case !possible || high-low < 1e-9:
			return 0, false
		case total < leastTotal:
			low = log
			continue
		case !(total < 1/leastTotal): // NaN, too
			high = log
			continue
		}
		log -= math.Log(total) / float64(n)
		if total, _ = p.sumRescaled(arc, n, μ, math.Exp(log)); !(total > 0.5 && total < 2) {
			return 0, false
		}
		c, g := &p.sums, &p.adjoint
		g.run(c, &fastest.double)
		for _, table := range [][]float64{c.left, c.right, c.joined, c.leftArc, c.rightArc, g.left, g.right,
			g.joined, g.leftArc, g.rightArc} {
			for w := range n {
				for _, x := range c.row(table, w) {
					if !(x <= mostPart) {
						return 0, false
					}
				}
			}
		}
		for d, h := range p.heads {
			value += arc[d*n+column(d, h)]
		}
		return value + μ*(math.Log(total)-float64(n)*log), true
	}
}

// sumRescaled computes the chart of sums of rescaled weights times a factor for each token, and returns their total, or
// false if a token's weights are too far apart.
func (p *Projective) sumRescaled(arc []float64, n int, μ, factor float64) (total float64, possible bool) {
	c := &p.sums
	c.blank(0)
	for d := range n {
		row := arc[d*n : (d+1)*n]
		m := fastest.largestDouble(row)
		own := factor * math.Exp((m-row[column(d, p.heads[d])])/μ)
		if !(own <= mostFactor) {
			return 0, false
		}
		fastest.exps(p.weights, row, m, 1/μ, own)
		c.setRow(d, p.weights)
	}
	return c.sum(&fastest.double), true
}
