package graph

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// Spec is a custom network: its parameters, and a function that builds it as a Gorgonia graph. Build is for networks
// that score chains; Form and Parts are for networks that score any structure.
//
// The function builds the network for g.Rows positions on g, from g.Param, g.Features, g.Embed and the like. The rows
// are positions of any number of examples, so no op may mix rows, except Window, GridWindow, LinearRecurrence,
// Attention and the ops on pairs and edges, which know the examples. nets.Build refuses an op that mixes rows and names
// it. The function is called once for every Size that occurs and must always build the same network. It must not call
// gorgonia.Grad.
type Spec struct {
	Name   string
	Params []Param
	// Build returns the potentials of chains: node [Rows×Y], and edge, which is [Y×Y] (shared), [Rows×Y×Y] (per
	// position; row t scores the step into position t), or nil (zero, so that positions are independent).
	Build func(g *Graph) (node, edge *gorgonia.Node, err error)

	// Form is the form of the potentials that Parts returns. The rows of a part are positions, source items, pairs of
	// positions of the same example or edges of its graph (see Graph.Pairs), or examples, or the part is tied.
	Form structured.Form
	// Parts returns a node for each part of Form: [rows×Width] with g.Pairs rows for pairs and edges and g.Rows rows
	// for positions and source items (see Graph.Sources), [Width] for a tied part, nil for a part that is zero, such as
	// one with a row per example.
	Parts func(g *Graph) ([]*gorgonia.Node, error)
}

// Input is the shape of what a network reads at each position.
type Input struct {
	Dim int // dense features, 0 for none; those that an encoder computes are the last of them
	// the shape of the first Map.Len() dense features if they are a map, which others may follow; zero otherwise
	Map   Map
	Grid  Grid  // the shape of every example whose positions are cells of a grid; zero otherwise
	Vocab []int // sizes of the vocabularies of the discrete inputs

	Vectors *WordVectors // of the first discrete input, or nil

	Characters int // size of the vocabulary of the characters of words, 0 for none
	Attributes int // attributes that positions can have, 0 for none

	PairAttributes int // attributes that pairs of source and target items can have, 0 for none
	EdgeDim        int // dense features of the edges of graphs, 0 for none

	Encoded int     // dense features that an encoder computes, 0 for none
	Encoder Encoder // the encoder, if its weights are those of the network, too

	Fixed Layout // of weights that stay as they are, beside those of the network (Machine.Fixed): they have no gradients
}

// Own returns how many of the dense features are the data's own.
func (in Input) Own() int { return in.Dim - in.Encoded }

// Beside returns how many dense features follow the map of a position; 0 for data without maps.
func (in Input) Beside() int {
	if in.Map.Len() == 0 {
		return 0
	}
	return in.Dim - in.Map.Len()
}

// Graph is a Gorgonia graph under construction, with the network's inputs and parameters as nodes.
type Graph struct {
	*gorgonia.ExprGraph
	// Rows is the number of positions of all examples. Pairs is the number of pairs of positions of the same example:
	// an example of n positions has n·n, and its row d·n + h pairs dependent d with head h. If Form has parts of the
	// tables structured.Sources or structured.Pairs, an example has n source items, then m target items, and n·m pairs,
	// of which row i·m + j pairs source i with target j. If Form has a part of the table structured.Edges, the pairs
	// are the edges of the example's graph. Chars is the number of characters of the positions' words. All include
	// padding.
	Size
	Dtype tensor.Dtype // of every array: Float32, except in tests
	Input Input

	layout   Layout
	params   map[string]*gorgonia.Node
	leaves   map[*gorgonia.Node]leaf // what the input nodes stand for
	masks    map[*gorgonia.Node]Mask
	ofPairs  map[*gorgonia.Node]bool // whether rows are pairs, if known
	features *gorgonia.Node
	encoded  *gorgonia.Node
	edges    *gorgonia.Node // dense features of edges
	vectors  *gorgonia.Node // [V×Dim]
	boundary *gorgonia.Node
	needs    Needs

	// Of the batch, when Gorgonia's machines run the graph.
	indices    func(Index) []int32
	offsets    []int // of its examples
	splits     []int // source items of each
	starts     func() []int32
	attributes func(row int, pairs bool) (index []int32, value []float32)
}

// Needs is what a program reads of a batch.
type Needs struct {
	Features, Boundary bool
	Encoded            bool  // rows that an encoder computes
	Windows            []int // widths
	Places             []int // the rows of tables that belong to the first position of an example
	Grids              []int // widths of the windows over cells of a grid
	Fields             []int
	Pairs              bool // pairs of positions
	Split              bool // examples have source and target items
	Sources            bool // which positions are source items
	Dependents, Heads  bool // which positions a pair is made of
	Distances          bool // how far apart they are
	Edges              bool // pairs are edges of graphs
	Ends               bool // which positions an edge joins
	EdgeFeatures       bool
	Characters         bool // the characters of words
	CharacterIndices   []CharacterIndex
	Attributes         bool     // of positions
	PairAttributes     bool     // of pairs of source and target items
	Dropout            bool     // the masks of dropout
	OwnOps             []string // names of the user's own ops, which run on the CPU only
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

// Param returns the node of the named parameter, or of weights that stay as they are (Input.Fixed). If the Spec does
// not list the name, nets.Build returns an error.
func (g *Graph) Param(name string) *gorgonia.Node {
	if n, ok := g.params[name]; ok {
		return n
	}
	space := SpaceWeights
	a, ok := g.layout.Find(name)
	if !ok {
		space = SpaceFixed
		a, ok = g.Input.Fixed.Find(name)
	}
	if !ok {
		panic(fmt.Sprintf("parameter %q is not in the Spec, which has %v", name, g.layout))
	}
	n := g.input(name, a.Shape...)
	g.params[name] = n
	g.leaves[n] = leaf{space, a.Offset}
	return n
}

// Features returns the dense inputs [Rows×Dim].
func (g *Graph) Features() *gorgonia.Node {
	if g.features == nil {
		if g.Input.Dim == 0 {
			panic("the input has no dense features")
		}
		if own := g.Input.Own(); own > 0 {
			g.features = g.input("features", g.Rows, own)
			g.leaves[g.features] = leaf{SpaceFeatures, 0}
			g.needs.Features = true
		}
		switch {
		case g.Input.Encoded == 0:
		case g.features == nil:
			g.features = g.Encoded()
		default:
			g.features = gorgonia.Must(gorgonia.Concat(1, g.features, g.Encoded()))
		}
	}
	return g.features
}

// Encoded returns the dense inputs that an encoder computes [Rows×Encoded]. Programs pull back to them, too.
func (g *Graph) Encoded() *gorgonia.Node {
	if g.encoded == nil {
		if g.Input.Encoded == 0 {
			panic("the input has no rows of an encoder")
		}
		g.encoded = g.input("encoded", g.Rows, g.Input.Encoded)
		g.leaves[g.encoded] = leaf{SpaceEncoded, 0}
		g.needs.Encoded = true
	}
	return g.encoded
}

// Maps returns the maps of positions, the first of the dense inputs [Rows×Map.Len()].
func (g *Graph) Maps() (*gorgonia.Node, error) {
	if g.Input.Beside() == 0 {
		return g.Features(), nil
	}
	return gorgonia.Slice(g.Features(), nil, gorgonia.S(0, g.Input.Map.Len()))
}

// Beside returns the dense inputs that follow the maps [Rows×Input.Beside()].
func (g *Graph) Beside() (*gorgonia.Node, error) {
	x, err := gorgonia.Slice(g.Features(), nil, gorgonia.S(g.Input.Map.Len(), g.Input.Dim))
	if err != nil {
		return nil, err
	}
	return gorgonia.Reshape(x, tensor.Shape{g.Rows, g.Input.Beside()}) // a slice of one column is a vector
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

// outputs builds the network on g. It returns the form of the potentials and a node for each part, nil for a part that
// is zero.
func (s *Spec) outputs(g *Graph) (structured.Form, []*gorgonia.Node, error) {
	switch {
	case s.Parts != nil:
		return s.parts(g)
	case s.Build != nil:
		return s.chain(g)
	}
	return structured.Form{}, nil, fmt.Errorf("the Spec has neither Build nor Parts")
}

// chain builds a network of chains. The shapes of its nodes determine the form.
func (s *Spec) chain(g *Graph) (form structured.Form, outputs []*gorgonia.Node, err error) {
	node, edge, err := s.Build(g)
	if err != nil {
		return form, nil, err
	}
	n := node.Shape()
	if len(n) != 2 || n[0] != g.Rows {
		return form, nil, fmt.Errorf("node potentials have shape %v, expected [%d×labels]", n, g.Rows)
	}
	y, perPosition := n[1], false
	if edge != nil {
		e := edge.Shape()
		tied := sameShape(e, []int{y, y})
		if perPosition = !tied; !tied && !sameShape(e, []int{g.Rows, y, y}) && !sameShape(e, []int{g.Rows, y * y}) {
			return form, nil, fmt.Errorf("edge potentials have shape %v, expected [%d×%d], or [%d×%d×%d]", e, y, y, g.Rows, y, y)
		}
	}
	return chains.Form(y, perPosition), []*gorgonia.Node{node, edge}, nil
}

// parts builds a network of any structure. The Spec states its form.
func (s *Spec) parts(g *Graph) (structured.Form, []*gorgonia.Node, error) {
	for _, shape := range s.Form.Parts {
		switch {
		case shape.Rows == structured.Sources || shape.Rows == structured.Pairs:
			g.needs.Split = true
		case shape.Rows == structured.Edges:
			g.needs.Edges = true
		}
		if PairTable(shape.Rows) {
			g.needs.Pairs = true
		}
	}
	if g.needs.Edges {
		for _, shape := range s.Form.Parts {
			if shape.Rows == structured.Sources || PairTable(shape.Rows) && shape.Rows != structured.Edges {
				return s.Form, nil, fmt.Errorf("potentials of edges and of table %q: a network scores one kind of pairs",
					shape.Rows)
			}
		}
	}
	outputs, err := s.Parts(g)
	if err != nil {
		return s.Form, nil, err
	}
	if len(outputs) != len(s.Form.Parts) || len(outputs) == 0 {
		return s.Form, nil, fmt.Errorf("function Parts returned %d nodes for potentials of %d parts",
			len(outputs), len(s.Form.Parts))
	}
	for k, shape := range s.Form.Parts {
		n := outputs[k]
		if n == nil {
			continue
		}
		if shape.Rows == structured.Examples {
			return s.Form, nil, fmt.Errorf("%s potentials have a row per example, which no network computes; expected nil",
				shape.Name)
		}
		rows, of := g.rowsOfTable(shape.Rows), n.Shape()
		if of.TotalSize() != rows*shape.Width || rows > 1 && (len(of) == 0 || of[0] != rows) {
			return s.Form, nil, fmt.Errorf("%s potentials have shape %v, expected [%d×%d]", shape.Name, of, rows, shape.Width)
		}
	}
	return s.Form, outputs, nil
}

// PairTable reports whether the rows of a table are pairs of positions of an example, edges of its graph included.
func PairTable(table string) bool {
	switch table {
	case structured.Tied, structured.Positions, structured.Steps, structured.Examples, structured.Sources:
		return false
	}
	return true
}

// rowsOfTable returns how many rows of a table the graph computes. Rows of source items are padded to as many as there
// are positions.
func (g *Graph) rowsOfTable(table string) int {
	switch {
	case table == structured.Tied:
		return 1
	case PairTable(table):
		return g.Pairs
	}
	return g.Rows
}
