package nets

// machine is the memory that a program runs in.
type machine struct {
	mem     [spaces][]float32
	ids     [][]int32 // by field
	windows [][]int32 // by position in widths
	widths  []int
	keys    []uint64 // dropout: a number for every position
	seed    uint64   // dropout: 0 in evaluation
	blas    BLAS
	scratch [block]float32
}

func (m *machine) at(b *buffer) []float32 { return m.mem[b.space][b.offset : b.offset+b.n] }

func (m *machine) index(x index) []int32 {
	if x.kind == ids {
		return m.ids[x.field]
	}
	for i, w := range m.widths {
		if w == x.width {
			return m.windows[i]
		}
	}
	return nil
}

func (m *machine) run(list []instruction) {
	for i := range list {
		list[i].op.run(m, &list[i])
	}
}
