package trees

// The part "sibling" of trees with siblings (McDonald and Pereira 2006) has a row for each head h, each of its possible
// dependents d, and each word that may be the dependent of h before d, seen from the head: one of the words between h
// and d, or none, where d is the nearest on its side. The rows of (d, h) begin with that of none; those of the words
// between follow in their order. A word whose head is the root has no siblings, since the root has one dependent.

// SiblingRows is the table of these rows.
const SiblingRows = "sibling"

// Siblings returns the number of rows of a sentence of n words: Σ_{d≠h} |h−d|.
func Siblings(n int) int { return n * (n*n - 1) / 3 }

// SiblingRow returns the row of none of dependent d with head h, both counted from 0, in a sentence of n words; that of
// a word between them is as many rows further as it is places right of the left one of the two.
func SiblingRow(n, d, h int) int {
	before := func(k int) int { return k * (k + 1) / 2 } // 1 + … + k
	row := 0
	// Dependents before d have Σ_h |h−d'| rows: d'(d'+1)/2 to the left and as much to the right.
	row += (d - 1) * d * (d + 1) / 6
	row += (n-1)*n*(n+1)/6 - (n-d-1)*(n-d)*(n-d+1)/6
	if h < d {
		return row + before(d) - before(d-h)
	}
	return row + before(d) + before(h-d-1)
}

// EachSibling calls visit with the rows that a tree uses: one for every word that is no dependent of the root.
func EachSibling(heads []int32, visit func(row int)) {
	n := len(heads)
	last := make([]int, n) // of each head, 1 + its last dependent on the side, or 0
	use := func(d int) {
		h := int(heads[d]) - 1
		row := SiblingRow(n, d, h)
		if s := last[h] - 1; s >= 0 {
			row += s - min(d, h)
		}
		last[h] = d + 1
		visit(row)
	}
	for d, head := range heads {
		if head > 0 && int(head) <= d {
			use(d)
		}
	}
	clear(last)
	for d := n - 1; d >= 0; d-- {
		if int(heads[d]) > d+1 {
			use(d)
		}
	}
}
