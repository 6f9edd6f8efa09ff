package tree

// TopK finds the min(k, number of allowed trees) best trees, best first, and returns how many there are. heads holds n
// per tree, score the scores. It enumerates lazily on top of Max's tables (Huang and Chiang 2005, algorithm 3): a span
// ranks its derivations only as far as the trees found need. The tables are float32, so at the end of the list, trees
// whose scores agree to float32 precision may replace each other.
func (p *Projective) TopK(arc []float32, n, k int, heads []int32, score []float64) int {
	if k == 0 || !p.findBest(arc, n) {
		return 0
	}
	p.writeBest(heads[:n])
	score[0] = Score(arc, heads[:n])
	if k == 1 || n == 0 {
		return 1
	}
	g := &p.ranking
	g.open(&p.best)
	for m := 1; m < k; m++ {
		if !g.advance(0) {
			return m
		}
		tree := heads[m*n : (m+1)*n]
		g.write(0, g.cells[0].last, tree)
		score[m] = Score(arc, tree)
		sortByScore(heads, score[:m+1], n)
	}
	return k
}
