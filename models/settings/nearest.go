package settings

import "strings"

// Nearest returns the candidate that name most likely stands for, or "" if none is close: the only one that starts with
// name, or the one with the fewest edits from it, at most one edit for every three letters.
func Nearest(name string, candidates []string) string {
	if len(name) >= 3 {
		var begin []string
		for _, c := range candidates {
			if strings.HasPrefix(c, name) {
				begin = append(begin, c)
			}
		}
		if len(begin) == 1 {
			return begin[0]
		}
	}
	best, distance := "", max(1, len(name)/3)+1
	for _, c := range candidates {
		if d := edits(name, c); d < distance {
			best, distance = c, d
		}
	}
	return best
}

// edits returns how many insertions, deletions, replacements and swaps of neighbours turn a into b, in bytes, where no
// letter is edited twice (the optimal string alignment distance).
func edits(a, b string) int {
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		for j := range len(b) {
			d := row[j]
			if a[i] != b[j] {
				d++
			}
			next[j+1] = min(d, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}
