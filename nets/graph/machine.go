package graph

import (
	"slices"

	"github.com/dsp-go/dsp/nets/kernels"
)

// Machine runs programs of one network, one at a time: its memory, by space, and what the ops read of the batch. Load
// comes before Run. The caller sets the spaces of the direction, the gradient and the cotangents.
type Machine struct {
	Mem     [][]float32 // by space
	Fixed   []float32   // weights that stay as they are (Input.Fixed)
	inputs  [][]float32 // buffers that the machine owns, by space
	vectors []float32   // of words
	offsets []int       // [B+1] first position of each example
	ids     [][]int32   // by field
	windows [][]int32   // by index in widths
	widths  []int
	grids   [][]int32 // by index in gridWidths

	places     [][]int32 // by index in placesFrom
	placesFrom []int

	gridWidths []int

	characterIndices []CharacterIndex
	ofCharacters     [][]int32 // by index in characterIndices

	dependents           []int32    // of every pair: the position of its dependent, −1 in padding
	heads                []int32    // of every pair: the position of its head, −1 for the root and in padding
	splits               []int      // [B] number of source items of each example; nil if examples have none
	sourceRows           []int32    // of every source item: its position, −1 in padding
	edgeRows             []int      // [B+1] first edge of each example; nil if examples have no graphs
	ends                 [2][]int32 // of every edge: the positions of its ends, −1 in padding
	distances            []int32    // of every pair: its row in a table with Distances rows per position, −1 in padding
	keys                 []uint64   // dropout: a key for every position
	pairKeys             []uint64   // dropout: a key for every pair
	Seed                 uint64     // dropout: 0 in evaluation
	BLAS                 kernels.BLAS
	Factors              *Factors  // of forward programs
	product              []float32 // scratch memory of products that cannot read packed factors
	rounded              kernels.Int8Rows
	scratch              [kernels.Block]float32
	starts               []int32   // [Rows+1] first character of every row
	characters           []int32   // [Chars] number of every character, −1 in padding
	left                 []float32 // scratch memory of the maximum over characters
	ofPositions, ofPairs bagRows
	pairs                []float32 // scratch memory of the ops on pairs
	columns              []float32 // scratch memory of convolutions
	own                  ownScratch
	attend               attend              // scratch memory of attention
	buckets              map[Buckets][]int32 // of distances
	waves                map[waveKey]waves   // of rotations and sinusoids
}

// At returns the memory of a buffer.
func (m *Machine) At(b *Buffer) []float32 {
	switch b.Space {
	case SpaceVectors:
		return m.vectors
	case SpaceFixed:
		return m.Fixed[b.Offset : b.Offset+b.N]
	}
	return m.Mem[b.Space][b.Offset : b.Offset+b.N]
}

func (m *Machine) index(x Index) []int32 {
	switch x.Kind {
	case IndexIds:
		return m.ids[x.Field]
	case IndexDependents:
		return m.dependents
	case IndexHeads:
		return m.heads
	case IndexDistances:
		return m.distances
	case IndexSources:
		return m.sourceRows
	case IndexFirstEnds:
		return m.ends[0]
	case IndexSecondEnds:
		return m.ends[1]
	case IndexPlaces:
		return m.places[slices.Index(m.placesFrom, x.Field)]
	case IndexGrid:
		return m.grids[slices.Index(m.gridWidths, x.Width)]
	case IndexCharacters, IndexCharacterWindow, IndexCharacterParts:
		return m.ofCharacters[slices.Index(m.characterIndices, CharacterIndex{x.Kind, x.Width})]
	}
	for i, w := range m.widths {
		if w == x.Width {
			return m.windows[i]
		}
	}
	return nil
}

// Run runs instructions one after the other.
func (m *Machine) Run(list []Instruction) {
	for i := range list {
		list[i].Op.Run(m, &list[i])
	}
}

// eachRow calls f for the rows of a table that the batch looks up, with repetitions.
func (m *Machine) eachRow(by lookup, f func(row int32)) {
	var ids []int32
	switch by {
	case byAttribute, byPairAttribute:
		rows := m.bag(by == byPairAttribute)
		for _, t := range rows.sources {
			index, _ := rows.attributes.Row(int(t))
			for _, a := range index {
				f(a)
			}
		}
	case byCharacter:
		ids = m.characters
	default:
		ids = m.ids[by]
	}
	for _, id := range ids {
		if id >= 0 {
			f(id)
		}
	}
}
