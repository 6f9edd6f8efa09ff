package graph

import (
	"fmt"

	"github.com/dsp-go/dsp/nets/kernels"
)

// Index says which rows a Gather reads. Row −1 stands for a row of zeros.
type Index struct {
	Kind  IndexKind
	Field int     // ids: which discrete input
	Width int     // window: positions, cells (along each axis) or characters that it spans
	Fixed []int32 // pattern: the entries of one repetition
	Rows  int     // pattern: rows of the source per repetition
}

// IndexKind is where the entries of an Index come from.
type IndexKind uint8

// The kinds of Index.
const (
	IndexIds        IndexKind = iota // the batch's discrete input: one entry per position
	IndexWindow                      // the positions t−⌊Width/2⌋ … t+⌊Width/2⌋ of the same example
	IndexPattern                     // Fixed, shifted by Rows from one repetition to the next
	IndexDependents                  // the position of each pair's dependent
	IndexHeads                       // the position of each pair's head, −1 for the root
	// Distances times the position of each pair's dependent, plus the class of its distance
	IndexDistances
	IndexGrid            // the Width×Width cells around each cell of a grid
	IndexSources         // the position of each source item
	IndexFirstEnds       // the position of each edge's first end
	IndexSecondEnds      // the position of each edge's second end
	IndexCharacters      // the number of each character in the vocabulary
	IndexCharacterWindow // the characters r−⌊Width/2⌋ … r+⌊Width/2⌋ of the same word
	IndexPlaces          // Field plus how many positions of the example come before
	// of the character at each place of that window: Width times its number, plus the place
	IndexCharacterParts
)

func (x Index) String() string {
	return [...]string{IndexIds: "ids", IndexWindow: "window", IndexPattern: "pattern", IndexDependents: "dependents",
		IndexHeads: "heads", IndexDistances: "distances", IndexSources: "sources", IndexFirstEnds: "first ends",
		IndexSecondEnds: "second ends", IndexGrid: "grid window", IndexPlaces: "places", IndexCharacters: "characters",
		IndexCharacterWindow: "character window",
		IndexCharacterParts:  "character parts"}[x.Kind]
}

// Gather copies rows of Cols entries: row j of the result is row Index[j] of the argument.
type Gather struct {
	Index Index
	Cols  int
}

func (g Gather) String() string { return fmt.Sprintf("gather %s ×%d", g.Index, g.Cols) }

func (g Gather) tangent(b *builder, v *value, d []*value) *value { return b.add(g, v.shape, d[0]) }

func (g Gather) Run(m *Machine, in *Instruction) {
	out, x, c := m.At(in.Out), m.At(in.Args[0].Buffer), g.Cols
	n := len(out) / c
	if g.Index.Kind == IndexPattern {
		p, shift := g.Index.Fixed, int32(0)
		for j := 0; j < n; j += len(p) {
			gatherRows(out[j*c:(j+len(p))*c], x[int(shift)*c:], p, c)
			shift += int32(g.Index.Rows)
		}
		return
	}
	gatherRows(out, x, m.index(g.Index), c)
}

func gatherRows(out, x []float32, rows []int32, c int) {
	if c == 1 {
		for j, r := range rows {
			if r < 0 {
				out[j] = 0
			} else {
				out[j] = x[r]
			}
		}
		return
	}
	for j, r := range rows {
		to := out[j*c : (j+1)*c]
		if r < 0 {
			clear(to)
		} else {
			copy(to, x[int(r)*c:])
		}
	}
}

// Scatter adds each row of its argument to the row that Gather read: the adjoint of Gather.
type Scatter struct{ Gather }

func (s Scatter) String() string { return fmt.Sprintf("scatter %s ×%d", s.Index, s.Cols) }

func (Scatter) accumulates() {}

func (s Scatter) tangent(b *builder, v *value, d []*value) *value { return b.add(s, v.shape, d[0]) }

func (s Scatter) Run(m *Machine, in *Instruction) {
	out, g, c := m.At(in.Out), m.At(in.Args[0].Buffer), s.Cols
	if !in.Accumulate {
		clear(out)
	}
	n := len(g) / c
	if s.Index.Kind == IndexPattern {
		p, shift := s.Index.Fixed, int32(0)
		for j := 0; j < n; j += len(p) {
			scatterRows(out[int(shift)*c:], g[j*c:(j+len(p))*c], p, c)
			shift += int32(s.Index.Rows)
		}
		return
	}
	scatterRows(out, g, m.index(s.Index), c)
}

func scatterRows(out, g []float32, rows []int32, c int) {
	if c == 1 {
		for j, r := range rows {
			if r >= 0 {
				out[r] += g[j]
			}
		}
		return
	}
	for j, r := range rows {
		if r >= 0 {
			to := out[int(r)*c : (int(r)+1)*c]
			kernels.Rows.Add(to, to, g[j*c:(j+1)*c])
		}
	}
}
