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
