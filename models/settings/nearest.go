package settings

// Nearest returns the candidate with the fewest edits from name, or "" if none is close.
func Nearest(name string, candidates []string) string {
	best, distance := "", len(name)/2+1
	for _, c := range candidates {
		if d := edits(name, c); d < distance {
			best, distance = c, d
		}
	}
	return best
}

// edits returns the Levenshtein distance between a and b, in bytes.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d++
			}
			diagonal = row[j+1]
			row[j+1] = min(d, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}
