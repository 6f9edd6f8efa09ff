package structured

import "runtime/debug"

// Sparse is a sparse matrix with one row per position: the attributes of the position, such as "the word is Paris", and
// their values. Position t owns entries Offsets[t] to Offsets[t+1]-1. An attribute may occur several times in a row,
// and every occurrence counts.
type Sparse struct {
	Offsets []int     // [ΣT+1]
	Index   []int32   // attribute numbers
	Value   []float32 // attribute values, or nil: all 1
}

// Row returns the attributes of position t and their values, nil if all are 1.
func (s *Sparse) Row(t int) (index []int32, value []float32) {
	lo, hi := s.Offsets[t], s.Offsets[t+1]
	if s.Value == nil {
		return s.Index[lo:hi], nil
	}
	return s.Index[lo:hi], s.Value[lo:hi]
}

// Dictionary numbers the attributes of sparse inputs.
type Dictionary struct {
	Node     *Alphabet // attributes of positions; nil if they are hashed
	HashBits int       // hashed attributes are numbered below 1<<HashBits
	Edge     *Alphabet // attributes of the steps between positions, or nil
	Segment  *Alphabet // attributes of segments as a whole, or nil
}

// Segments returns the number of attributes of segments as a whole.
func (d *Dictionary) Segments() int {
	if d.Segment == nil {
		return 0
	}
	return d.Segment.Len()
}

// Nodes returns the number of attributes of positions.
func (d *Dictionary) Nodes() int {
	if d.Node == nil {
		return 1 << d.HashBits
	}
	return d.Node.Len()
}

// Edges returns the number of attributes of steps.
func (d *Dictionary) Edges() int {
	if d.Edge == nil {
		return 0
	}
	return d.Edge.Len()
}

// Renumber changes attribute k to number[k] in place and removes it if that is negative.
func (s *Sparse) Renumber(number []int32) {
	kept, from := 0, 0
	for t, end := range s.Offsets[1:] {
		for e := from; e < end; e++ {
			n := number[s.Index[e]]
			if n < 0 {
				continue
			}
			s.Index[kept] = n
			if s.Value != nil {
				s.Value[kept] = s.Value[e]
			}
			kept++
		}
		from, s.Offsets[t+1] = end, kept
	}
	s.Index = s.Index[:kept]
	if s.Value != nil {
		s.Value = s.Value[:kept]
	}
}

// returned is how many entries JoinSparse copies before it gives the memory of the parts that it has emptied back to
// the system.
const returned = 1 << 24

// JoinSparse concatenates the rows of all parts. It empties each part once it is copied, so that memory never holds two
// full copies. Of one part it takes the memory.
func JoinSparse(parts []*Sparse) *Sparse {
	if len(parts) == 1 {
		all := *parts[0]
		*parts[0] = Sparse{}
		return &all
	}
	rows, entries, valued := 0, 0, false
	for _, p := range parts {
		rows, entries, valued = rows+len(p.Offsets)-1, entries+len(p.Index), valued || p.Value != nil
	}
	all := &Sparse{Offsets: append(make([]int, 0, rows+1), 0), Index: make([]int32, 0, entries)}
	if valued {
		all.Value = make([]float32, 0, entries)
	}
	copied := 0
	for _, p := range parts {
		for _, end := range p.Offsets[1:] {
			all.Offsets = append(all.Offsets, len(all.Index)+end)
		}
		all.Index = append(all.Index, p.Index...)
		if valued && p.Value == nil {
			p.Value = Ones(len(p.Index))
		}
		all.Value = append(all.Value, p.Value...)
		*p = Sparse{}
		if len(all.Index)-copied > returned {
			copied = len(all.Index)
			debug.FreeOSMemory() // the collector would wait until both copies are there
		}
	}
	return all
}

// Ones returns n ones.
func Ones(n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = 1
	}
	return v
}
