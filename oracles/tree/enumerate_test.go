package tree

import (
	"math"
	"slices"
)

// tree is a tree with its score.
type tree struct {
	heads []int32
	score float64
}

// enumerate returns every allowed tree, best first.
func enumerate(arc []float32, n int, projective bool) []tree {
	var all []tree
	heads := make([]int32, n)
	var extend func(d int)
	extend = func(d int) {
		if d < n {
			for h := range n + 1 {
				if h != d+1 {
					heads[d] = int32(h)
					extend(d + 1)
				}
			}
			return
		}
		if !isTree(heads) || projective && crosses(heads) {
			return
		}
		if s := Score(arc, heads); s > minusInf {
			all = append(all, tree{slices.Clone(heads), s})
		}
	}
	extend(0)
	slices.SortStableFunc(all, func(a, b tree) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	return all
}

// isTree reports whether every token descends from the single root.
func isTree(heads []int32) bool {
	roots := 0
	for d, h := range heads {
		if h == 0 {
			roots++
		}
		for steps, at := 0, int32(d+1); at != 0; steps++ {
			if steps > len(heads) {
				return false
			}
			at = heads[at-1]
		}
	}
	return len(heads) == 0 || roots == 1
}

// crosses reports whether two arcs cross; the root stands to the left of the sentence.
func crosses(heads []int32) bool {
	for d, h := range heads {
		a, b := min(int(h), d+1), max(int(h), d+1)
		for e, g := range heads {
			c, f := min(int(g), e+1), max(int(g), e+1)
			if a < c && c < b && b < f {
				return true
			}
		}
	}
	return false
}

// logSumExp returns μ log Σ exp(score/μ) and the probability of every arc.
func logSumExp(all []tree, n int, μ float64) (value float64, marginals []float64) {
	marginals = make([]float64, n*n)
	if len(all) == 0 {
		return minusInf, marginals
	}
	m, sum := all[0].score, 0.0
	for _, t := range all {
		w := math.Exp((t.score - m) / μ)
		sum += w
		for d, h := range t.heads {
			marginals[d*n+column(d, h)] += w
		}
	}
	for i := range marginals {
		marginals[i] /= sum
	}
	return m + μ*math.Log(sum), marginals
}
