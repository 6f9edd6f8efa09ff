package tree

import "math"

// Score returns the sum of the scores of a tree's arcs, or −∞ if one is forbidden.
func Score(arc []float32, heads []int32) float64 {
	n, sum := len(heads), 0.0
	for d, h := range heads {
		sum += float64(arc[d*n+column(d, h)])
	}
	return sum
}

// column returns the column of a head, in CoNLL's numbering, in row d of the scores.
func column(d int, head int32) int {
	if head == 0 {
		return d
	}
	return int(head) - 1
}

var minusInf = math.Inf(-1)

// sortByScore moves the last of the trees, of n heads each, to its place in descending order of scores.
func sortByScore(heads []int32, score []float64, n int) {
	for m := len(score) - 1; m > 0 && score[m] > score[m-1]; m-- {
		score[m], score[m-1] = score[m-1], score[m]
		a, b := heads[m*n:(m+1)*n], heads[(m-1)*n:m*n]
		for d := range a {
			a[d], b[d] = b[d], a[d]
		}
	}
}
