package structured

// Segments holds the inputs of rows that belong to positions, such as the characters of words: position t owns rows Offsets[t] to
// Offsets[t+1]-1, possibly none.
type Segments struct {
	Offsets []int     // [ΣT+1]
	Ids     []int32   // [rows] discrete input of each row
	Vocab   *Alphabet // what Ids number; 0 stands for unknown names
}

// Rows returns how many rows the positions lo to hi-1 own.
func (s *Segments) Rows(lo, hi int) int { return s.Offsets[hi] - s.Offsets[lo] }

// subset copies the rows of the examples' positions. It returns nil for nil.
func (s *Segments) subset(offsets, examples []int) *Segments {
	if s == nil {
		return nil
	}
	to := &Segments{Offsets: make([]int, 1), Ids: []int32{}, Vocab: s.Vocab}
	for _, i := range examples {
		for t := offsets[i]; t < offsets[i+1]; t++ {
			to.Ids = append(to.Ids, s.Ids[s.Offsets[t]:s.Offsets[t+1]]...)
			to.Offsets = append(to.Offsets, len(to.Ids))
		}
	}
	return to
}
