package nets

import (
	"fmt"
	"math/rand/v2"

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

// check refuses vectors that do not fit the vocabularies.
func (v *WordVectors) check(vocab []int) error {
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

// trained reports whether the first embedding is added to vectors.
func (v *WordVectors) trained() bool { return v != nil && !v.Frozen }

// init draws the embedding of the words: zeros for those with a vector, as otherwise for the others.
func (v *WordVectors) init(otherwise Init) Init {
	return func(rng *rand.Rand, shape []int, w []float32) {
		otherwise(rng, shape, w)
		size := shape[1]
		for id := range shape[0] {
			if v.Has(id) {
				clear(w[id*size : (id+1)*size])
			}
		}
	}
}

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

// embedParam is the parameter that Embedding looks up for a discrete input, with an embedding of the given size.
func embedParam(input Input, field, size int) Param {
	p := Param{fmt.Sprintf("embed%d", field+1), []int{input.Vocab[field], size}, Gaussian(0.1)}
	if field == 0 && input.Vectors != nil {
		p.Init = input.Vectors.init(p.Init)
	}
	return p
}

// embedWidth is the width of what embedding returns.
func embedWidth(input Input, field, size int) int {
	if field == 0 && input.Vectors != nil && input.Vectors.Frozen {
		return size + input.Vectors.Dim
	}
	return size
}

// embedding looks up a discrete input: in its table, and the first one also among the vectors of words.
func (g *Graph) embedding(field int) (*gorgonia.Node, error) {
	e, err := g.Embed(g.Param(fmt.Sprintf("embed%d", field+1)), field)
	if err != nil || field > 0 || g.Input.Vectors == nil {
		return e, err
	}
	v, err := g.Vectors()
	if err != nil {
		return nil, err
	}
	if g.Input.Vectors.Frozen {
		return gorgonia.Concat(1, e, v)
	}
	return gorgonia.Add(e, v)
}
