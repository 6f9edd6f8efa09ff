package structured

// Narrow renumbers attributes as if train alone had been read: it keeps those that occur in train at least minCount
// times, in order of first occurrence. The other data sets must share train's dictionary; their attributes get the same
// numbers, and those that train lacks are removed. Hashed attributes do not change.
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

// narrowed returns the names that occur in s at least minCount times, and the new number of every old one, −1 if it is
// removed. It returns nil for nil.
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

// renumbered returns a copy of s in which attribute a is number[a]; negative ones are removed. Without numbers it
// returns s.
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

// HashAttribute maps the name of an attribute to a number below 1<<bits without a dictionary: 64-bit FNV-1a (Fowler,
// Noll and Vo), mixed by the finaliser of MurmurHash3 (Appleby), of which it keeps the highest bits. bits is 1 to 31.
// Saved models index their weights by these numbers, so they must never change.
func HashAttribute(name []byte, bits int) int32 {
	h := uint64(0xcbf29ce484222325)
	for _, c := range name {
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	h ^= h >> 33
	return int32(h >> (64 - bits))
}
