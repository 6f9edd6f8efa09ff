package graph

import (
	"fmt"
	"slices"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/structured"
)

// WeightTable is an array of w of which Forward reads only the rows that the batch looks up: Rows rows of Cols weights,
// from Offset.
type WeightTable struct {
	Offset, Rows, Cols int
	lookups            []lookup
}

// RowsRead appends to rows the rows that a batch looks up, with repetitions. Ids that the table lacks are left out.
func (t WeightTable) RowsRead(batch *structured.Batch, rows []int32) []int32 {
	data := batch.Data
	for _, by := range t.lookups {
		for _, e := range batch.Examples {
			rows = by.read(data, e, int32(t.Rows), rows)
		}
	}
	return rows
}

// lookup is what the batch's rows are looked up by: a discrete input, or a kind of input.
type lookup int

const (
	byCharacter     lookup = -1 - iota // the characters of words
	byAttribute                        // the attributes of positions
	byPairAttribute                    // the attributes of pairs of source and target items
)

// lookupOf returns how an op looks up rows of a table of weights and how long these are; ok is false if it reads the
// table in another way.
func lookupOf(o Op) (by lookup, cols int, ok bool) {
	switch o := o.(type) {
	case Gather:
		switch o.Index.Kind {
		case IndexIds:
			return lookup(o.Index.Field), o.Cols, true
		case IndexCharacters:
			return byCharacter, o.Cols, true
		}
	case Bag:
		if o.Pairs {
			return byPairAttribute, o.Cols, true
		}
		return byAttribute, o.Cols, true
	}
	return 0, 0, false
}

// read appends the rows below limit that example e looks up.
func (by lookup) read(data *structured.Dataset, e int, limit int32, rows []int32) []int32 {
	var ids []int32
	step, lo, hi := 1, data.Offsets[e], data.Offsets[e+1]
	switch {
	case by == byPairAttribute:
		if t := data.Table(structured.Pairs); t != nil && t.Attributes != nil {
			ids = t.Attributes.Index[t.Attributes.Offsets[t.Offsets[e]]:t.Attributes.Offsets[t.Offsets[e+1]]]
		}
	case by == byCharacter && data.Characters != nil:
		ids = data.Characters.Ids[data.Characters.Offsets[lo]:data.Characters.Offsets[hi]]
	case by == byAttribute && data.Attributes != nil:
		ids = data.Attributes.Index[data.Attributes.Offsets[lo]:data.Attributes.Offsets[hi]]
	case by >= 0 && int(by) < len(data.Vocab) && lo < hi:
		step = len(data.Vocab)
		ids = data.Ids[lo*step+int(by) : hi*step]
	}
	for at := 0; at < len(ids); at += step {
		if id := ids[at]; id >= 0 && id < limit {
			rows = append(rows, id)
		}
	}
	return rows
}

// weightTables returns the arrays of w from which the outputs are computed by looking up rows only.
func weightTables(outputs []*value) []WeightTable {
	found := map[*value]*WeightTable{}
	whole := map[*value]bool{}
	seen := map[*value]bool{}
	weights := func(v *value) bool {
		l, ok := v.op.(leaf)
		return ok && l.space == SpaceWeights
	}
	var walk func(v *value)
	walk = func(v *value) {
		if v == nil || seen[v] {
			return
		}
		seen[v] = true
		for _, a := range v.args {
			if !weights(a) {
				walk(a)
				continue
			}
			by, cols, ok := lookupOf(v.op)
			if !ok {
				whole[a] = true
				continue
			}
			if found[a] == nil {
				found[a] = &WeightTable{Offset: a.op.(leaf).offset, Rows: a.size() / cols, Cols: cols}
			}
			if t := found[a]; !slices.Contains(t.lookups, by) {
				t.lookups = append(t.lookups, by)
			}
		}
	}
	for _, v := range outputs {
		if v != nil && weights(v) {
			whole[v] = true
		}
		walk(v)
	}
	var tables []WeightTable
	for a, t := range found {
		if !whole[a] {
			tables = append(tables, *t)
		}
	}
	slices.SortFunc(tables, func(a, b WeightTable) int { return a.Offset - b.Offset })
	return tables
}

// WordVectors are vectors of words that were trained elsewhere. They are an input of a network, not weights: training
// leaves them as they are, and the regulariser does not shrink them.
type WordVectors struct {
	Dim  int
	Rows []float32 // [V×Dim], by the number of the word in the first vocabulary; zeros for words without a vector

	// Frozen networks read the vectors beside the embeddings that they train. Others add an embedding of the same size,
	// so that the regulariser pulls words towards their vectors. Both embeddings start at zero for words with a vector,
	// and those that training does not see stay there.
	Frozen bool
}

// Check refuses vectors that do not fit the vocabularies.
func (v *WordVectors) Check(vocab []int) error {
	if v != nil && (len(vocab) == 0 || v.Dim < 1 || len(v.Rows) != vocab[0]*v.Dim) {
		return structured.BadInput("vectors of words: %d numbers of %d per word do not fit vocabularies of %v entries",
			len(v.Rows), v.Dim, vocab)
	}
	return nil
}

// Len returns how many words have a vector.
func (v *WordVectors) Len() int {
	n := 0
	for id := range len(v.Rows) / v.Dim {
		if v.Has(id) {
			n++
		}
	}
	return n
}

// Has reports whether word number id has a vector.
func (v *WordVectors) Has(id int) bool {
	for _, x := range v.Rows[id*v.Dim : (id+1)*v.Dim] {
		if x != 0 {
			return true
		}
	}
	return false
}

// Trained reports whether the first embedding is added to vectors.
func (v *WordVectors) Trained() bool { return v != nil && !v.Frozen }

// Vectors returns the vectors [Rows×Dim] of the words at the positions, the first discrete input.
func (g *Graph) Vectors() (*gorgonia.Node, error) {
	v := g.Input.Vectors
	if v == nil {
		return nil, fmt.Errorf("nets: Vectors: the input has no vectors of words")
	}
	if g.vectors == nil {
		g.vectors = g.input("vectors", g.Input.Vocab[0], v.Dim)
		g.leaves[g.vectors] = leaf{SpaceVectors, 0}
	}
	return g.Embed(g.vectors, 0)
}
