package structured

// Narrow numbers the attributes of train anew: those that occur there at least minCount times, in the order in which they
// occur first, as if its sequences alone had been read. The attributes of the other data sets, which must have the same
// dictionary, are numbered alike, and dropped where train lacks them. Hashed attributes stay as they are.
func Narrow(minCount int, train *Dataset, others ...*Dataset) {
	was := train.Dictionary
	d := &Dictionary{HashBits: was.HashBits}
	var node, edge []int32
	d.Node, node = narrowed(was.Node, train.Attributes, minCount)
	d.Edge, edge = narrowed(was.Edge, train.EdgeAttributes, minCount)
	for _, set := range append([]*Dataset{train}, others...) {
		set.Dictionary = d
		set.Attributes = set.Attributes.renumbered(node)
		set.EdgeAttributes = set.EdgeAttributes.renumbered(edge)
	}
}

// narrowed returns the names that occur in s often enough, and for each number in names its number there, −1 where it is
// left out; nil for nil.
func narrowed(names *Alphabet, s *Sparse, minCount int) (*Alphabet, []int32) {
	if names == nil {
		return nil, nil
	}
	counts := make([]int32, names.Len())
	for _, a := range s.Index {
		counts[a]++
	}
	number := make([]int32, names.Len())
	for a := range number {
		number[a] = -1
	}
	kept := NewAlphabet()
	for _, a := range s.Index {
		if number[a] < 0 && int(counts[a]) >= minCount {
			number[a] = kept.Add(names.Name(a))
		}
	}
	return kept, number
}

// renumbered returns s with attribute a as number[a], without those where that is negative; s itself where there are no
// numbers.
func (s *Sparse) renumbered(number []int32) *Sparse {
	if s == nil || number == nil {
		return s
	}
	to := &Sparse{Offsets: make([]int, 1, len(s.Offsets)), Index: make([]int32, 0, len(s.Index))}
	if s.Value != nil {
		to.Value = make([]float32, 0, len(s.Value))
	}
	for t := range len(s.Offsets) - 1 {
		for k := s.Offsets[t]; k < s.Offsets[t+1]; k++ {
			a := number[s.Index[k]]
			if a < 0 {
				continue
			}
			to.Index = append(to.Index, a)
			if s.Value != nil {
				to.Value = append(to.Value, s.Value[k])
			}
		}
		to.Offsets = append(to.Offsets, len(to.Index))
	}
	return to
}
