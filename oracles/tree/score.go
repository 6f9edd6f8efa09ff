package tree

import "math"

// Score returns the sum of the scores of a tree's arcs, −∞ if one is forbidden.
func Score(arc []float32, heads []int32) float64 {
	n, sum := len(heads), 0.0
	for d, h := range heads {
		sum += float64(arc[d*n+column(d, h)])
	}
	return sum
}

// column returns where row d of the scores holds a head in CoNLL's numbering.
func column(d int, head int32) int {
	if head == 0 {
		return d
	}
	return int(head) - 1
}

var never = math.Inf(-1)

// sortByScore moves the last of the trees, of n heads each, to its place by descending score.
func sortByScore(heads []int32, score []float64, n int) {
	for m := len(score) - 1; m > 0 && score[m] > score[m-1]; m-- {
		score[m], score[m-1] = score[m-1], score[m]
		a, b := heads[m*n:(m+1)*n], heads[(m-1)*n:m*n]
		for d := range a {
			a[d], b[d] = b[d], a[d]
		}
	}
}
