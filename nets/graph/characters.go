package graph

import (
	"fmt"
	"math/bits"
	"slices"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Characters looks up the characters of the positions' words: row r of the result [Chars×E] is the row of table [V×E]
// with the number of character r.
func (g *Graph) Characters(table *gorgonia.Node) (*gorgonia.Node, error) {
	s := table.Shape()
	if g.Input.Characters == 0 || len(s) != 2 || s[0] != g.Input.Characters {
		return nil, fmt.Errorf("nets: Characters with a table %v: the input has %d different characters", s,
			g.Input.Characters)
	}
	return g.gatherCharacters(table, Index{Kind: IndexCharacters, Width: 1}, s[1])
}

// CharacterWindow joins the rows of neighbouring characters of the same word, as Window does for positions: x [Chars×C]
// becomes [Chars×width·C], with zeros outside the word. Width is odd.
func (g *Graph) CharacterWindow(x *gorgonia.Node, width int) (*gorgonia.Node, error) {
	s := x.Shape()
	switch {
	case width < 1 || width%2 == 0:
		return nil, fmt.Errorf("nets: CharacterWindow of width %d: expected an odd positive width", width)
	case len(s) != 2 || s[0] != g.Chars:
		return nil, fmt.Errorf("nets: CharacterWindow of %v: expected one row for each of %d characters", s, g.Chars)
	case width == 1:
		return x, nil
	}
	w, err := g.gatherCharacters(x, Index{Kind: IndexCharacterWindow, Width: width}, s[1])
	if err != nil {
		return nil, err
	}
	return gorgonia.Reshape(w, tensor.Shape{g.Chars, width * s[1]})
}

// CharacterConvolution is a convolution over the characters of each word, for vocabularies that are small beside the
// number of characters in a batch: x [V×width·C] has for each character of the vocabulary the products with the width
// parts of the filters. Row r of the result [Chars×C] is the sum over k of part k of the character k−⌊width/2⌋ places
// to the right of character r, as far as the word goes. That equals CharacterWindow of the characters' embeddings times
// a matrix, if x is the product of their table with that matrix, whose parts lie side by side.
func (g *Graph) CharacterConvolution(x *gorgonia.Node, width int) (*gorgonia.Node, error) {
	s := x.Shape()
	if width < 1 || width%2 == 0 || len(s) != 2 || g.Input.Characters == 0 || s[0] != g.Input.Characters ||
		s[1]%width != 0 {
		return nil, fmt.Errorf("nets: CharacterConvolution of %v with width %d: expected [%d×width·C] and an odd width", s,
			width, g.Input.Characters)
	}
	cols := s[1] / width
	parts, err := gorgonia.Reshape(x, tensor.Shape{s[0] * width, cols})
	if err != nil {
		return nil, err
	}
	if parts, err = g.gatherCharacters(parts, Index{Kind: IndexCharacterParts, Width: width}, cols); err != nil {
		return nil, err
	}
	if parts, err = gorgonia.Reshape(parts, tensor.Shape{g.Chars, width, cols}); err != nil {
		return nil, err
	}
	return gorgonia.Sum(parts, 1)
}

func (g *Graph) gatherCharacters(x *gorgonia.Node, at Index, cols int) (*gorgonia.Node, error) {
	g.needs.Characters = true
	if key := (CharacterIndex{at.Kind, at.Width}); !slices.Contains(g.needs.CharacterIndices, key) {
		g.needs.CharacterIndices = append(g.needs.CharacterIndices, key)
	}
	return g.gather(x, at, g.Chars*at.Width, cols)
}

// CharacterIndex is the kind and the width of an Index whose entries belong to characters, Width entries to each.
type CharacterIndex struct {
	Kind  IndexKind
	Width int
}

// CharBucket rounds a number of characters up to one of four steps per doubling, at least 64. Each combination with a
// number of rows needs a program.
func CharBucket(chars int) int {
	if chars <= 64 {
		return 64
	}
	return roundUp(chars, 1<<(bits.Len(uint(chars-1))-3))
}

// characters returns the number of characters of the batch's words, 0 if the data has none.
func characters(batch *structured.Batch) int {
	data, all := batch.Data, 0
	if data.Characters == nil {
		return 0
	}
	for _, e := range batch.Examples {
		all += data.Characters.Rows(data.Offsets[e], data.Offsets[e+1])
	}
	return all
}

// loadCharacters lists where the characters of each row begin, and the entries of every index of characters.
func (m *Machine) loadCharacters(batch *structured.Batch, known int, size Size) error {
	data := batch.Data
	if data.Characters == nil {
		return structured.BadInput("%s has no characters of words, which the network reads", data.Name)
	}
	s := data.Characters
	m.starts, m.characters = vec.Grow(m.starts, size.Rows+1), vec.Grow(m.characters, size.Chars)
	row, at := 0, 0
	for _, e := range batch.Examples {
		lo, hi := data.Offsets[e], data.Offsets[e+1]
		first := s.Offsets[lo] - at
		for t := lo; t < hi; t++ {
			m.starts[row] = int32(s.Offsets[t] - first)
			row++
		}
		ids := s.Ids[s.Offsets[lo]:s.Offsets[hi]]
		for k, id := range ids {
			if uint(id) >= uint(known) {
				return structured.BadInput("%s: character number %d; the network knows 0 to %d", data.Where(e), id, known-1)
			}
			m.characters[at+k] = id
		}
		at += len(ids)
	}
	for ; row <= size.Rows; row++ {
		m.starts[row] = int32(at)
	}
	for k := at; k < size.Chars; k++ {
		m.characters[k] = -1
	}
	for k, x := range m.characterIndices {
		m.ofCharacters[k] = x.rows(m.ofCharacters[k], m.starts, m.characters)
	}
	return nil
}

// rows lists the entries of an index: for each character and each place of a window around it in its word, the row that
// it reads there, −1 outside the word and in padding.
func (x CharacterIndex) rows(to, starts, ids []int32) []int32 {
	to = vec.Grow(to, len(ids)*x.Width)
	half, at := int32(x.Width/2), 0
	for t := range len(starts) - 1 {
		lo, hi := starts[t], starts[t+1]
		for r := lo; r < hi; r++ {
			for k := range int32(x.Width) {
				s := r + k - half
				switch {
				case s < lo || s >= hi:
					to[at] = -1
				case x.Kind == IndexCharacters:
					to[at] = ids[s]
				case x.Kind == IndexCharacterWindow:
					to[at] = s
				default:
					to[at] = ids[s]*int32(x.Width) + k
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
