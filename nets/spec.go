package nets

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/dsp-go/dsp/structured"
)

// Spec is a network of one's own: its parameters, and a function that builds it as a Gorgonia graph: Build for a network that
// scores chains, or Form and Parts for one that scores any structure.
//
// The function makes the network for g.Rows positions on g, from g.Param, g.Features, g.Embed and the like. Rows belong to the
// positions of any number of examples; but for Window and the ops of pairs, which know the examples, no op may mix rows, and
// one that does is refused by name. The function is called once for every Size that is met, and must always build the same
// network. It must not call gorgonia.Grad.
type Spec struct {
	Name   string
	Params []Param
	// Build returns the potentials of chains: node [Rows×Y], and edge, which is [Y×Y] (shared), [Rows×Y×Y] (per position; row t
	// scores the step into position t), or nil (zero, so that positions are independent).
	Build func(g *Graph) (node, edge *gorgonia.Node, err error)

	// Form is the form of the potentials that Parts makes. Their rows are those of the table of positions, or of a table with a row
	// for every pair of positions of the same example (see Graph.Pairs), or a part is tied.
	Form structured.Form
	// Parts returns a node for each part of Form: [rows×Width] with g.Rows or g.Pairs rows, or [Width] in all for a tied part; nil
	// for a part that is zero.
	Parts func(g *Graph) ([]*gorgonia.Node, error)
}

// Input is the shape of what a network reads at each position.
type Input struct {
	Dim   int   // dense features, 0 for none
	Vocab []int // sizes of the vocabularies of the discrete inputs
}

// Graph is a Gorgonia graph under construction, with the network's inputs and parameters as nodes.
type Graph struct {
	*gorgonia.ExprGraph
	// Rows is the number of positions, of all examples together. Pairs is the number of pairs of positions of the same example:
	// an example of n positions has n·n, and row d·n + h of them pairs dependent d with head h. Both include padding.
	Size
	Dtype tensor.Dtype // of every array: Float32 but in tests
	Input Input

	layout   Layout
	params   map[string]*gorgonia.Node
	leaves   map[*gorgonia.Node]leaf // what the input nodes stand for
	masks    map[*gorgonia.Node]Mask
	ofPairs  map[*gorgonia.Node]bool // whether rows are pairs, where that is known
	features *gorgonia.Node
	boundary *gorgonia.Node
	indices  func(Index) []int32 // the batch, where Gorgonia itself runs the graph
	needs    Needs
}

// Needs is what a program reads of a batch.
type Needs struct {
	Features, Boundary bool
	Windows            []int // widths
	Fields             []int
	Pairs              bool // pairs of positions
	Dependents, Heads  bool // which positions a pair is made of
	Distances          bool // how far apart they are
}

func newGraph(size Size, dtype tensor.Dtype, input Input, layout Layout) *Graph {
	return &Graph{
		ExprGraph: gorgonia.NewGraph(), Size: size, Dtype: dtype, Input: input,
		layout: layout,
		params: map[string]*gorgonia.Node{},
		leaves: map[*gorgonia.Node]leaf{},
		masks:  map[*gorgonia.Node]Mask{}, ofPairs: map[*gorgonia.Node]bool{},
	}
}

// Param returns the node of the named parameter. A name that the Spec does not list is a mistake in Build, which ends
// with an error.
func (g *Graph) Param(name string) *gorgonia.Node {
	if n, ok := g.params[name]; ok {
		return n
	}
	a, ok := g.layout.Find(name)
	if !ok {
		panic(fmt.Sprintf("parameter %q is not in the Spec, which has %v", name, g.layout))
	}
	n := g.input(name, a.Shape...)
	g.params[name] = n
	g.leaves[n] = leaf{SpaceWeights, a.Offset}
	return n
}

// Features returns the dense inputs [Rows×Dim].
func (g *Graph) Features() *gorgonia.Node {
	if g.features == nil {
		if g.Input.Dim == 0 {
			panic("the input has no dense features")
		}
		g.features = g.input("features", g.Rows, g.Input.Dim)
		g.leaves[g.features] = leaf{SpaceFeatures, 0}
		g.needs.Features = true
	}
	return g.features
}

// Boundary returns [Rows×2]: 1 in the first column where an example starts, in the second where one ends.
func (g *Graph) Boundary() *gorgonia.Node {
	if g.boundary == nil {
		g.boundary = g.input("boundary", g.Rows, 2)
		g.leaves[g.boundary] = leaf{SpaceBoundary, 0}
		g.needs.Boundary = true
	}
	return g.boundary
}

func (g *Graph) input(name string, shape ...int) *gorgonia.Node {
	return gorgonia.NewTensor(g.ExprGraph, g.Dtype, len(shape), gorgonia.WithShape(shape...), gorgonia.WithName(name))
}
