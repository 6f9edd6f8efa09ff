package structured

// Pieces are what a text encoder reads: the words of each example cut into pieces, in one sequence with its special
// tokens, or in several that overlap if the encoder cannot read as many pieces at once.
type Pieces struct {
	First   []int   // [n+1] each example's first sequence
	Offsets []int   // [sequences+1] where each sequence begins in Ids
	Ids     []int32 // numbers of pieces
	// [ΣT] the pieces of the word at each position, Ids[Words[t][0]:Words[t][1]], of one sequence of its example; empty
	// for a word without any
	Words [][2]int
}

// Sequences appends the numbers of the sequences of some examples to list.
func (p *Pieces) Sequences(list, examples []int) []int {
	for _, i := range examples {
		for s := p.First[i]; s < p.First[i+1]; s++ {
			list = append(list, s)
		}
	}
	return list
}

// Check refuses pieces that do not fit data with these offsets of examples, or have numbers that are not below limit.
func (p *Pieces) Check(offsets []int, limit int) error {
	n := len(offsets) - 1
	if len(p.First) != n+1 || p.First[n] != len(p.Offsets)-1 || p.Offsets[len(p.Offsets)-1] != len(p.Ids) ||
		len(p.Words) != offsets[n] {
		return BadInput("pieces of %d examples and %d words, in %d sequences; the data has %d examples of %d positions",
			len(p.First)-1, len(p.Words), len(p.Offsets)-1, n, offsets[n])
	}
	for _, id := range p.Ids {
		if id < 0 || int(id) >= limit {
			return BadInput("a piece with the number %d; the encoder has %d", id, limit)
		}
	}
	for i := range n {
		lo, hi := p.Offsets[p.First[i]], p.Offsets[p.First[i+1]]
		for t := offsets[i]; t < offsets[i+1]; t++ {
			if w := p.Words[t]; w[0] < w[1] && (w[0] < lo || w[1] > hi) {
				return BadInput("pieces %d to %d of position %d are not in the sequences of its example", w[0], w[1], t)
			}
		}
	}
	return nil
}

// subset copies the sequences of the examples. It returns nil for nil.
func (p *Pieces) subset(offsets, examples []int) *Pieces {
	if p == nil {
		return nil
	}
	to := &Pieces{First: []int{0}, Offsets: []int{0}, Ids: []int32{}, Words: [][2]int{}}
	for _, i := range examples {
		lo := p.Offsets[p.First[i]]
		shift := len(to.Ids) - lo
		for s := p.First[i]; s < p.First[i+1]; s++ {
			to.Offsets = append(to.Offsets, p.Offsets[s+1]+shift)
		}
		to.First = append(to.First, len(to.Offsets)-1)
		to.Ids = append(to.Ids, p.Ids[lo:p.Offsets[p.First[i+1]]]...)
		for _, w := range p.Words[offsets[i]:offsets[i+1]] {
			to.Words = append(to.Words, [2]int{w[0] + shift, w[1] + shift})
		}
	}
	return to
}
