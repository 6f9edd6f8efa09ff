package graph

import (
	"fmt"

	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// NewMachine makes a machine that runs programs of the network whose smallest program is p, for inputs of the given
// shape.
func NewMachine(p *Program, in Input) *Machine {
	spaces := int(SpaceCotangent) + len(p.Form.Parts)
	return &Machine{
		Mem: make([][]float32, spaces), inputs: make([][]float32, spaces),
		BLAS:             kernels.CurrentBLAS(),
		widths:           p.Needs.Windows,
		grids:            make([][]int32, len(p.Needs.Grids)),
		gridWidths:       p.Needs.Grids,
		windows:          make([][]int32, len(p.Needs.Windows)),
		placesFrom:       p.Needs.Places,
		places:           make([][]int32, len(p.Needs.Places)),
		characterIndices: p.Needs.CharacterIndices,
		ofCharacters:     make([][]int32, len(p.Needs.CharacterIndices)),
		ids:              make([][]int32, len(in.Vocab)),
	}
}

// checkedArena is the size of the arena, in numbers, from which on it is compared with the memory that there is: a long
// sentence, or a network that a model file describes, can ask for any.
const checkedArena = 1 << 26

// Load prepares the machine to run p on the batch at weights w: it gathers what the program reads of the batch, padded
// to its rows. Padding has zero features, and −1 as ids and neighbours.
func (m *Machine) Load(p *Program, in Input, w []float32, batch *structured.Batch) error {
	if n := len(m.Mem[SpaceArena]); n < p.Arena {
		if p.Arena > checkedArena {
			if err := host.CheckMemory(fmt.Sprintf("%s: the network on %d positions and %d pairs of them",
				batch.Data.Where(batch.Examples[0]), p.Rows, p.Pairs), 4*float64(p.Arena)); err != nil {
				return err
			}
		}
		m.Mem[SpaceArena] = nil                                  // before there is a new one
		m.Mem[SpaceArena] = make([]float32, max(p.Arena, n+n/8)) // a little more, since batches grow one after the other
	}
	m.Mem[SpaceLiterals], m.Mem[SpaceWeights] = p.Literals, w
	if v := in.Vectors; v != nil {
		m.vectors = v.Rows
	}
	data := batch.Data
	if p.Needs.Features {
		if !data.HasFeatures() || data.Dim != in.Own() {
			return structured.BadInput("%s has %d features per position; the network reads %d", data.Name, data.Dim, in.Own())
		}
		features, err := m.batchFeatures(batch, p.Rows)
		if err != nil {
			return err
		}
		m.Mem[SpaceFeatures] = features
	}
	if len(p.Needs.Fields) > 0 {
		if len(in.Vocab) == 0 || len(data.Vocab) != len(in.Vocab) {
			return structured.BadInput("%s has %d discrete inputs; the network reads %d", data.Name,
				len(data.Vocab), len(in.Vocab))
		}
		if err := m.batchIDs(p, in, batch); err != nil {
			return err
		}
	}
	if p.Needs.Boundary {
		b := m.Input(SpaceBoundary, 2*p.Rows)
		clear(b)
		for c := range batch.Len() {
			if lo, hi := batch.Offsets[c], batch.Offsets[c+1]; lo < hi {
				b[2*lo] = 1
				b[2*hi-1] = 1
			}
		}
		m.Mem[SpaceBoundary] = b
	}
	m.offsets, m.splits = batch.Offsets, m.splits[:0]
	if p.Needs.Split {
		m.splits = splitsOf(m.splits, batch)
		m.sourceRows = sourceRows(m.sourceRows, m.offsets, m.splits, p.Rows)
	}
	for i, width := range m.widths {
		m.windows[i] = m.windowRows(m.windows[i], width, p.Rows)
	}
	for i, first := range m.placesFrom {
		m.places[i] = placeRows(m.places[i], batch.Offsets, first, p.Rows)
	}
	for i, width := range m.gridWidths {
		m.grids[i] = gridRows(m.grids[i], batch.Offsets, in.Grid, width, p.Rows)
	}
	m.edgeRows = nil
	if p.Needs.Edges {
		if err := m.loadEdges(p, in, batch); err != nil {
			return err
		}
	}
	if p.Needs.Dependents || p.Needs.Heads {
		m.dependents, m.heads = pairRows(m.dependents, m.heads, batch.Offsets, p.Pairs)
	}
	if p.Needs.Distances {
		m.distances = distanceRows(m.distances, batch.Offsets, p.Pairs)
	}
	if p.Needs.Characters {
		if err := m.loadCharacters(batch, in.Characters, p.Size); err != nil {
			return err
		}
	}
	if err := m.loadAttributes(p, in, batch); err != nil {
		return err
	}
	if m.Seed != 0 {
		m.keys = rowKeys(m.keys, batch.Examples, p.Rows, func(b int) int { return batch.Offsets[b+1] - batch.Offsets[b] })
	}
	if m.Seed != 0 && p.Needs.Pairs {
		m.pairKeys = rowKeys(m.pairKeys, batch.Examples, p.Pairs, m.pairsOf)
	}
	return nil
}

// rowKeys hashes each row's example and its index within the example; example b of the batch has length(b) rows.
// Padding gets 0.
func rowKeys(to []uint64, examples []int, rows int, length func(b int) int) []uint64 {
	to, at := vec.Grow(to, rows), 0
	for b, example := range examples {
		for t := range length(b) {
			to[at] = mix(uint64(example)<<32 | uint64(t))
			at++
		}
	}
	clear(to[at:])
	return to
}

// batchFeatures returns the dense inputs of the batch. If they are in memory, the examples are consecutive, and there
// is no padding, it returns the data's memory without a copy.
func (m *Machine) batchFeatures(batch *structured.Batch, rows int) ([]float32, error) {
	data, d := batch.Data, batch.Data.Dim
	n, together := batch.Positions(), consecutive(batch.Examples)
	if data.Features != nil && n == rows && together {
		at := data.Offsets[batch.Examples[0]] * d
		return data.Features[at : at+n*d], nil
	}
	to := m.Input(SpaceFeatures, rows*d)
	clear(to[n*d:])
	if data.Features == nil && together { // read at once
		at := data.Offsets[batch.Examples[0]]
		return to, data.Source.Read(to[:n*d], at, at+n)
	}
	for b, e := range batch.Examples {
		if err := data.ReadFeatures(to[batch.Offsets[b]*d:batch.Offsets[b+1]*d], e); err != nil {
			return nil, err
		}
	}
	return to, nil
}

func consecutive(examples []int) bool {
	for i := 1; i < len(examples); i++ {
		if examples[i] != examples[i-1]+1 {
			return false
		}
	}
	return len(examples) > 0
}

func (m *Machine) batchIDs(p *Program, in Input, batch *structured.Batch) error {
	data, fields := batch.Data, len(batch.Data.Vocab)
	for _, f := range p.Needs.Fields {
		to := vec.Grow(m.ids[f], p.Rows)
		m.ids[f] = to
		t, size := 0, int32(in.Vocab[f])
		for _, e := range batch.Examples {
			for at := data.Offsets[e]; at < data.Offsets[e+1]; at++ {
				id := data.Ids[at*fields+f]
				if id < 0 || id >= size {
					return structured.BadInput("%s: discrete input %d is %d; the network knows 0 to %d", data.Where(e), f, id, size-1)
				}
				to[t] = id
				t++
			}
		}
		for ; t < p.Rows; t++ {
			to[t] = -1
		}
	}
	return nil
}

// windowRows lists the neighbours t−⌊width/2⌋ … t+⌊width/2⌋ of each row t, −1 outside its example, or its source or
// target items.
func (m *Machine) windowRows(to []int32, width, rows int) []int32 {
	to = vec.Grow(to, rows*width)
	at, half := 0, width/2
	for lo, hi := range m.sequences() {
		for t := lo; t < hi; t++ {
			for s := t - half; s <= t+half; s++ {
				to[at] = -1
				if s >= lo && s < hi {
					to[at] = int32(s)
				}
				at++
			}
		}
	}
	for ; at < len(to); at++ {
		to[at] = -1
	}
	return to
}

// placeRows lists first + t for position t of each example, −1 in padding.
func placeRows(to []int32, offsets []int, first, rows int) []int32 {
	to = vec.Grow(to, rows)
	row := 0
	for b := range len(offsets) - 1 {
		for t := range offsets[b+1] - offsets[b] {
			to[row] = int32(first + t)
			row++
		}
	}
	for ; row < rows; row++ {
		to[row] = -1
	}
	return to
}

// Input returns n entries of the machine's buffer for a space.
func (m *Machine) Input(s Space, n int) []float32 {
	m.inputs[s] = vec.Grow(m.inputs[s], n)
	return m.inputs[s]
}
