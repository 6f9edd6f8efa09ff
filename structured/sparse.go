package structured

// Sparse is a sparse matrix with a row for each position: the attributes that hold there, such as "the word is Paris", and
// their values. Position t owns entries Offsets[t] to Offsets[t+1]-1; an attribute may occur more than once, and counts
// each time.
type Sparse struct {
	Offsets []int     // [ΣT+1]
	Index   []int32   // numbers of attributes
	Value   []float32 // their values, or nil: all 1
}

// Row returns the attributes of position t and their values, nil where all are 1.
func (s *Sparse) Row(t int) (index []int32, value []float32) {
	lo, hi := s.Offsets[t], s.Offsets[t+1]
	if s.Value == nil {
		return s.Index[lo:hi], nil
	}
	return s.Index[lo:hi], s.Value[lo:hi]
}

// Dictionary numbers the attributes of sparse inputs.
type Dictionary struct {
	Node     *Alphabet // attributes of positions; nil where they are hashed
	HashBits int       // hashed attributes are numbered below 1<<HashBits
	Edge     *Alphabet // attributes of the steps between positions, or nil
}

// Nodes returns how many attributes positions can have.
func (d *Dictionary) Nodes() int {
	if d.Node == nil {
		return 1 << d.HashBits
	}
	return d.Node.Len()
}

// Edges returns how many attributes steps can have.
func (d *Dictionary) Edges() int {
	if d.Edge == nil {
		return 0
	}
	return d.Edge.Len()
}

// Renumber gives attribute k the number number[k], and drops it where that is negative.
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

// JoinSparse returns the rows of all parts, one after the other. It takes the parts apart, so that not everything is
// there twice.
func JoinSparse(parts []*Sparse) *Sparse {
	rows, entries, valued := 0, 0, false
	for _, p := range parts {
		rows, entries, valued = rows+len(p.Offsets)-1, entries+len(p.Index), valued || p.Value != nil
	}
	all := &Sparse{Offsets: append(make([]int, 0, rows+1), 0), Index: make([]int32, 0, entries)}
	if valued {
		all.Value = make([]float32, 0, entries)
	}
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
	}
	return all
}

func Ones(n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = 1
	}
	return v
}
