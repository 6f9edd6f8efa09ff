package trees

// Crossing returns the number of arcs that are not projective: an arc is projective if all words under it descend from
// its head. heads must be a tree. The time is proportional to the total length of all arcs.
func Crossing(heads []int32) int {
	spans := subtrees(heads)
	count := 0
	for d := range heads {
		if !spans.projective(heads, d) {
			count++
		}
	}
	return count
}

// Projective reports whether all arcs of the tree are projective: none crosses another one or spans the root.
func Projective(heads []int32) bool {
	spans := subtrees(heads)
	for d := range heads {
		if !spans.projective(heads, d) {
			return false
		}
	}
	return true
}

// Projectivise makes the tree projective and returns the number of lifts. As long as an arc is not projective, it takes
// the shortest such arc (the leftmost among equals) and attaches its dependent to the head of its head. The root and
// the relations do not change.
//
// Nivre and Nilsson 2005, "Pseudo-projective dependency parsing", figure 3, without encoding the lifts in labels.
func Projectivise(heads []int32) (lifts int) {
	for {
		spans, shortest := subtrees(heads), -1
		for d := range heads {
			if spans.projective(heads, d) {
				continue
			}
			if shortest < 0 || shorter(heads, d, shortest) {
				shortest = d
			}
		}
		if shortest < 0 {
			return lifts
		}
		heads[shortest] = heads[heads[shortest]-1]
		lifts++
	}
}

// shorter reports whether the arc into the word at index a is lifted before that into the word at index b.
func shorter(heads []int32, a, b int) bool {
	fromA, toA := ends(heads, a)
	fromB, toB := ends(heads, b)
	if toA-fromA != toB-fromB {
		return toA-fromA < toB-fromB
	}
	return fromA < fromB
}

// ends returns the indices of the left and the right end of the arc into the word at index d. Its head must not be the
// root.
func ends(heads []int32, d int) (left, right int) {
	h := int(heads[d]) - 1
	return min(h, d), max(h, d)
}

// spans number the words of a tree in preorder: the descendants of word w, including w, have the numbers first[w] …
// last[w]. Both are indexed by the word's number; index 0 is the root above all words.
type spans struct{ first, last []int32 }

// subtrees numbers the words of a tree depth first.
func subtrees(heads []int32) spans {
	n := len(heads)
	child := make([]int32, n+1) // the first dependent of a word, 0 for none
	next := make([]int32, n+1)  // the next dependent of the same head, 0 for none
	for d := n; d > 0; d-- {
		h := heads[d-1]
		next[d], child[h] = child[h], int32(d)
	}
	s := spans{make([]int32, n+1), make([]int32, n+1)}
	number := int32(0)
	for w := int32(0); ; {
		s.first[w] = number
		number++
		if child[w] != 0 {
			w = child[w]
			continue
		}
		for w != 0 && next[w] == 0 {
			s.last[w] = number - 1
			w = heads[w-1]
		}
		if w == 0 {
			s.last[0] = number - 1
			return s
		}
		s.last[w] = number - 1
		w = next[w]
	}
}

// projective reports whether all words under the arc into the word at index d descend from its head.
func (s spans) projective(heads []int32, d int) bool {
	h := heads[d]
	if h == 0 {
		return true
	}
	left, right := ends(heads, d)
	for k := left + 1; k < right; k++ {
		if number := s.first[k+1]; number < s.first[h] || number > s.last[h] {
			return false
		}
	}
	return true
}
