package nets

// machine is the memory that a program runs in.
type machine struct {
	mem     [Spaces][]float32
	ids     [][]int32 // by field
	windows [][]int32 // by position in widths
	widths  []int
	keys    []uint64 // dropout: a number for every position
	seed    uint64   // dropout: 0 in evaluation
	blas    BLAS
	scratch [block]float32
}

func (m *machine) at(b *Buffer) []float32 { return m.mem[b.Space][b.Offset : b.Offset+b.N] }

func (m *machine) index(x Index) []int32 {
	if x.Kind == IndexIds {
		return m.ids[x.Field]
	}
	for i, w := range m.widths {
		if w == x.Width {
			return m.windows[i]
		}
	}
	return nil
}

func (m *machine) run(list []Instruction) {
	for i := range list {
		list[i].Op.run(m, &list[i])
	}
}
