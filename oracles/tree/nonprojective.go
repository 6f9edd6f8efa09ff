package tree

// NonProjective does inference over all trees, projective or not. It owns scratch memory, so use one per goroutine.
type NonProjective struct {
	contraction contraction
	search      search
	sums        matrixTree
	walks       walks

	masked []int32 // of TopK: [k×n] trees that may have masks
	scores []float64
}

// Max finds the best tree and returns its score: Chu-Liu-Edmonds in O(n²) (Tarjan 1977), where the single root arc
// costs nothing extra (Gabow and Tarjan 1984). If no tree is allowed, heads are 0.
func (p *NonProjective) Max(arc []float32, n int, heads []int32) float64 {
	c := &p.contraction
	c.load(arc, n)
	if !c.run() {
		clear(heads[:n])
		return minusInf
	}
	c.expand(heads[:n], nil)
	return Score(arc, heads[:n])
}
