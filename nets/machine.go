package nets

import "github.com/dsp-go/dsp/nets/kernels"

// machine runs a program: its memory, by space, and what the ops read of the batch.
type machine struct {
	mem        [][]float32 // by space
	offsets    []int       // [B+1] first position of each example
	ids        [][]int32   // by field
	windows    [][]int32   // by index in widths
	widths     []int
	dependents []int32  // of every pair: the position of its dependent, −1 in padding
	heads      []int32  // of every pair: the position of its head, −1 for the root and in padding
	distances  []int32  // of every pair: its row in a table with Distances rows per position, −1 in padding
	keys       []uint64 // dropout: a key for every position
	pairKeys   []uint64 // dropout: a key for every pair
	seed       uint64   // dropout: 0 in evaluation
	blas       kernels.BLAS
	scratch    [kernels.Block]float32
	pairs      []float32 // scratch memory of the ops on pairs
	own        ownScratch
	attend     attend        // scratch memory of attention
	waves      map[int]waves // of rotations and sinusoids, by the number of frequencies
}

func (m *machine) at(b *Buffer) []float32 { return m.mem[b.Space][b.Offset : b.Offset+b.N] }

func (m *machine) index(x Index) []int32 {
	switch x.Kind {
	case IndexIds:
		return m.ids[x.Field]
	case IndexDependents:
		return m.dependents
	case IndexHeads:
		return m.heads
	case IndexDistances:
		return m.distances
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
