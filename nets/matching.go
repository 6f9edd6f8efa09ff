package nets

import (
	"fmt"
	"math"
	"slices"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// Networks of matchings: an example has n source items, then m target items, and the potentials score each pair of a
// source and a target item, and each source item (that it stays unmatched).

// checkMatching checks a resolved configuration for matchings.
func (c Config) checkMatching(input graph.Input) error {
	switch {
	case c.PairUnits > 0: // it reads the items
	case input.PairAttributes == 0:
		return structured.BadInput("net %s scores pairs by their attributes or features; the data has none, and net "+
			"bilinear reads the items", c.Net)
	case c.Window > 1:
		return structured.BadInput("net %s scores each pair by its own attributes or features, so that it has no window",
			c.Net)
	}
	return nil
}

// matching is a network of matchings. The items' representations are those of items; nil if the net reads the pairs
// only.
type matching struct {
	Config
	input graph.Input
	form  structured.Form
	items *body
}

// makeMatching makes the network of matchings that c, which is resolved, chooses.
//
// Nets linear and mlp score a pair by its attributes or dense features (Input.PairAttributes). Net bilinear, and a
// stack, compute representations of the items from words, characters and dense features (see body); dense layers make x
// of a source and z of a target, and
//
//	score_k(i, j) = x_iᵀ W_k z_j + ⟨v_k, z_j⟩ + b_k + the weights of the pair's attributes, if it has any.
//
// A part with a row for each source item or each position is linear in its representation, or in its dense features; if
// there are neither it is one number, the price of staying unmatched.
func makeMatching(c Config, input graph.Input, form structured.Form) (*Net, error) {
	n := &matching{Config: c, input: input, form: form}
	switch {
	case n.bilinear():
		b, err := c.body(input)
		if err != nil {
			return nil, err
		}
		n.items = &b
	case input.Dim > 0:
		b := featureBody(input)
		n.items = &b
	}
	spec := graph.Spec{Name: c.Net, Form: form, Parts: n.parts}
	if n.items != nil {
		spec.Params = slices.Clone(n.items.params)
	}
	for _, part := range form.Parts {
		switch {
		case part.Rows == structured.Pairs:
			spec.Params = append(spec.Params, n.pairParams(part)...)
		case part.Rows == structured.Tied:
			spec.Params = append(spec.Params, graph.Param{Name: part.Name, Shape: []int{part.Width}})
		case part.Rows == structured.Sources || structured.PerPosition(part.Rows):
			if n.items != nil {
				spec.Params = append(spec.Params,
					graph.Param{Name: part.Name + ".weight", Shape: []int{n.items.width, part.Width}, Init: n.last()})
			}
			spec.Params = append(spec.Params, graph.Param{Name: part.Name + ".bias", Shape: []int{part.Width}})
		case part.Rows != structured.Examples:
			return nil, structured.BadInput("net %s scores pairs of source and target items; these potentials have a "+
				"part %s with a row per %s", c.Net, part.Name, part.Rows)
		}
	}
	return Build(spec, input)
}

// bilinear reports whether pairs are scored by the representations of their items.
func (n *matching) bilinear() bool { return n.PairUnits > 0 }

// last draws the weights of an output layer; those of a network without hidden layers start at zero.
func (n *matching) last() graph.Init {
	if n.Preset().Linear {
		return nil
	}
	return graph.Glorot
}

// pairParams lists the parameters that score pairs.
func (n *matching) pairParams(part structured.Shape) (all []graph.Param) {
	k, e := part.Width, n.PairUnits
	param := func(name string, init graph.Init, shape ...int) {
		all = append(all, graph.Param{Name: part.Name + "." + name, Shape: shape, Init: init})
	}
	if n.bilinear() {
		source, target := n.sides(part)
		all = append(append(all, source.params...), target.params...)
		param("bilinear", graph.Gaussian(1/float64(e)), e, k*e)
		param("of-target", graph.Gaussian(1/math.Sqrt(float64(e))), k*e)
	}
	width := n.input.PairAttributes
	for i, units := range n.pairLayers() {
		param(fmt.Sprintf("hidden%d.weight", i+1), initFor(n.Activation), width, units)
		param(fmt.Sprintf("hidden%d.bias", i+1), nil, units)
		width = units
	}
	if width > 0 {
		init := n.last()
		if n.bilinear() {
			init = nil
		}
		param("attributes", init, width, k)
	}
	param("bias", nil, k)
	return all
}

// pairLayers returns the units of the hidden layers over the attributes of pairs.
func (n *matching) pairLayers() []int {
	if n.bilinear() {
		return nil // Hidden are layers over the items
	}
	return n.Hidden
}

// sides makes the dense layers of sources and targets, on top of the same representation.
func (n *matching) sides(part structured.Shape) (source, target body) {
	below := *n.items
	below.params = nil
	c := Config{Activation: n.Activation, Dropout: n.Dropout}
	if n.Net == StackNet {
		c.Dropout = 0 // a stack says itself where its dropout is
	}
	return below.dense(part.Name+".source", n.PairUnits, c), below.dense(part.Name+".target", n.PairUnits, c)
}

func (n *matching) parts(g *graph.Graph) ([]*gorgonia.Node, error) {
	var items *gorgonia.Node
	var err error
	if n.items != nil {
		if items, err = n.items.build(g); err != nil {
			return nil, err
		}
	}
	nodes := make([]*gorgonia.Node, len(n.form.Parts))
	for k, part := range n.form.Parts {
		switch part.Rows {
		case structured.Examples:
		case structured.Tied:
			nodes[k] = g.Param(part.Name)
		case structured.Pairs:
			nodes[k], err = n.pairs(g, items, part)
		default:
			nodes[k], err = n.rows(g, items, part)
		}
		if err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

// rows scores positions, or source items.
func (n *matching) rows(g *graph.Graph, items *gorgonia.Node, part structured.Shape) (x *gorgonia.Node, err error) {
	bias := g.Param(part.Name + ".bias")
	if items == nil { // the same number in every row
		row, err := gorgonia.Reshape(bias, tensor.Shape{1, part.Width})
		if err != nil {
			return nil, err
		}
		return gorgonia.Mul(gorgonia.NewConstant(tensor.Ones(g.Dtype, g.Rows, 1)), row)
	}
	if x, err = g.Dense(items, g.Param(part.Name+".weight"), bias); err != nil || part.Rows != structured.Sources {
		return x, err
	}
	return g.Sources(x)
}

// pairs scores pairs.
func (n *matching) pairs(g *graph.Graph, items *gorgonia.Node, part structured.Shape) (sum *gorgonia.Node, err error) {
	if n.bilinear() {
		if sum, err = n.align(g, items, part); err != nil {
			return nil, err
		}
	}
	if n.input.PairAttributes > 0 {
		x, err := n.attributes(g, part)
		if err != nil {
			return nil, err
		}
		if sum == nil {
			sum = x
		} else if sum, err = gorgonia.Add(x, sum); err != nil {
			return nil, err
		}
	}
	return g.AddBias(sum, g.Param(part.Name+".bias"))
}

// align computes the bilinear scores. The bias of the sources' side of the forms gives the terms ⟨v_k, z_j⟩.
func (n *matching) align(g *graph.Graph, items *gorgonia.Node, part structured.Shape) (*gorgonia.Node, error) {
	source, target := n.sides(part)
	x, err := source.layer(g, items)
	if err != nil {
		return nil, err
	}
	z, err := target.layer(g, items)
	if err != nil {
		return nil, err
	}
	forms, err := g.Dense(x, g.Param(part.Name+".bilinear"), g.Param(part.Name+".of-target"))
	if err != nil {
		return nil, err
	}
	return g.Align(forms, z)
}

// attributes scores pairs by their attributes: linearly, or through hidden layers.
func (n *matching) attributes(g *graph.Graph, part structured.Shape) (x *gorgonia.Node, err error) {
	param := func(name string) *gorgonia.Node { return g.Param(part.Name + "." + name) }
	product := g.PairBag
	for i := range n.pairLayers() {
		name := fmt.Sprintf("hidden%d", i+1)
		if x, err = product(param(name + ".weight")); err != nil {
			return nil, err
		}
		if x, err = g.AddBias(x, param(name+".bias")); err != nil {
			return nil, err
		}
		if x, err = g.Activate(x, n.Activation); err != nil {
			return nil, err
		}
		if x, err = g.Dropout(x, n.Dropout); err != nil {
			return nil, err
		}
		below := x
		product = func(w *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.Mul(below, w) }
	}
	return product(param("attributes"))
}
