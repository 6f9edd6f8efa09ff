package tree

import "slices"

// bestProjective returns the score of the best projective tree, by Eisner's recurrence in float64, implemented
// directly.
func bestProjective(arc []float32, n int) float64 {
	at := func(d, h int) float64 { return float64(arc[d*n+h]) }
	table := func() [][]float64 {
		t := make([][]float64, n)
		for i := range t {
			t[i] = make([]float64, n)
		}
		return t
	}
	right, left, rightArc, leftArc := table(), table(), table(), table()
	for w := 1; w < n; w++ {
		for i := 0; i+w < n; i++ {
			j, joined := i+w, minusInf
			for k := i; k < j; k++ {
				joined = max(joined, right[i][k]+left[k+1][j])
			}
			rightArc[i][j], leftArc[i][j] = joined+at(j, i), joined+at(i, j)
			right[i][j], left[i][j] = minusInf, minusInf
			for k := i; k < j; k++ {
				right[i][j] = max(right[i][j], rightArc[i][k+1]+right[k+1][j])
				left[i][j] = max(left[i][j], left[i][k]+leftArc[k][j])
			}
		}
	}
	best := minusInf
	for r := range n {
		best = max(best, left[0][r]+right[r][n-1]+at(r, r))
	}
	return best
}

// bestTree returns the score of the best tree: the largest maximum arborescence over all roots, by textbook
// contraction.
func bestTree(arc []float32, n int) float64 {
	best := minusInf
	for r := range n {
		score := make([][]float64, n)
		for d := range n {
			score[d] = make([]float64, n)
			for h := range n {
				score[d][h] = float64(arc[d*n+h])
			}
		}
		best = max(best, float64(arc[r*n+r])+arborescence(score, r))
	}
	return best
}

// arborescence returns the largest sum of score[d][h] over trees with the given root.
func arborescence(score [][]float64, root int) float64 {
	n, sum := len(score), 0.0
	head := make([]int, n)
	for d := range n {
		if d == root {
			continue
		}
		head[d] = -1
		for h := range n {
			if h != d && (head[d] < 0 || score[d][h] > score[d][head[d]]) {
				head[d] = h
			}
		}
		if score[d][head[d]] == minusInf {
			return minusInf
		}
		sum += score[d][head[d]]
	}
	on := make([]int, n) // number of the walk that first reached a node
	for start := range n {
		at := start
		for at != root && on[at] == 0 {
			on[at] = start + 1
			at = head[at]
		}
		if at == root || on[at] != start+1 {
			continue
		}
		// Contract the cycle into one node, the last of the remaining ones.
		cycle := map[int]bool{}
		for cycle[at] = true; !cycle[head[at]]; at = head[at] {
			cycle[head[at]] = true
		}
		var rest []int
		for i := range n {
			if !cycle[i] {
				rest = append(rest, i)
			}
		}
		m := len(rest) + 1
		less := make([][]float64, m)
		for i := range less {
			less[i] = make([]float64, m)
			for j := range less[i] {
				less[i][j] = minusInf
			}
		}
		for i, d := range rest {
			for j, h := range rest {
				less[i][j] = score[d][h]
			}
			for c := range cycle {
				less[i][m-1] = max(less[i][m-1], score[d][c])
				less[m-1][i] = max(less[m-1][i], score[c][d]-score[c][head[c]])
			}
		}
		inside := 0.0
		for c := range cycle {
			inside += score[c][head[c]]
		}
		return inside + arborescence(less, slices.Index(rest, root))
	}
	return sum
}
