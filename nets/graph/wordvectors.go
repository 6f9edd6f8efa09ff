package graph

import (
	"fmt"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/structured"
)

// WordVectors are vectors of words that were trained elsewhere. They are an input of a network, not weights: training leaves them as
// they are, and the regulariser does not shrink them.
type WordVectors struct {
	Dim  int
	Rows []float32 // [V×Dim], by the number of the word in the first vocabulary; zeros for words without a vector

	// Frozen networks read the vectors beside the embeddings that they train. Others add an embedding of the same size, so that the
	// regulariser pulls words towards their vectors. Both embeddings start at zero for words with a vector, and those that training
	// does not see stay there.
	Frozen bool
}

// Check refuses vectors that do not fit the vocabularies.
func (v *WordVectors) Check(vocab []int) error {
	if v != nil && (len(vocab) == 0 || v.Dim < 1 || len(v.Rows) != vocab[0]*v.Dim) {
		return structured.BadInput("vectors of words: %d numbers of %d per word do not fit vocabularies of %v entries", len(v.Rows), v.Dim, vocab)
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
