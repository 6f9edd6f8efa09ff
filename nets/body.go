package nets

import (
	"fmt"
	"math/rand/v2"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/dsp-go/dsp/nets/graph"
)

// body is a network without its output layer: it computes width numbers for each position.
type body struct {
	params []graph.Param
	width  int
	build  func(g *graph.Graph) (*gorgonia.Node, error)
	layer  func(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) // the last one
	grid   bool                                                           // positions are cells of a grid
	// attributes whose weights are added to the node potentials
	wide int

	dropout, activation bool // whether the layers of a stack read these settings
}

// then adds a layer with its own parameters on top.
func (b body) then(width int, layer func(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error),
	params ...graph.Param) body {
	return body{
		params: append(append([]graph.Param(nil), b.params...), params...),
		width:  width,
		grid:   b.grid,
		layer:  layer,
		build: func(g *graph.Graph) (*gorgonia.Node, error) {
			x, err := b.build(g)
			if err != nil {
				return nil, err
			}
			return layer(g, x)
		},
	}
}

// featureBody returns the dense features unchanged.
func featureBody(input graph.Input) body {
	return body{width: input.Dim, grid: input.Grid.Cells() > 0, build: func(g *graph.Graph) (*gorgonia.Node, error) {
		return g.Features(), nil
	}}
}

// window joins neighbouring positions, or the width×width cells around each cell of a grid.
func (b body) window(width int) body {
	if b.grid {
		return b.then(b.width*width*width, func(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) {
			return g.GridWindow(x, width)
		})
	}
	return b.then(b.width*width, func(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) {
		return g.Window(x, width)
	})
}

// dense adds a dense layer with bias, activation and dropout.
func (b body) dense(name string, units int, c Config) body {
	return b.then(units, func(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) {
		h, err := g.Dense(x, g.Param(name+".weight"), g.Param(name+".bias"))
		if err != nil {
			return nil, err
		}
		if h, err = g.Activate(h, c.Activation); err != nil {
			return nil, err
		}
		return g.Dropout(h, c.Dropout)
	}, graph.Param{Name: name + ".weight", Shape: []int{b.width, units}, Init: initFor(c.Activation)},
		graph.Param{Name: name + ".bias", Shape: []int{units}})
}

func initFor(a graph.Activation) graph.Init {
	if a == graph.Tanh || a == graph.Sigmoid {
		return graph.Glorot
	}
	return graph.He
}

// potentials adds the output layer: node potentials linear in the last layer and, if the net is wide, in the
// attributes, and edge potentials as configured. The weights of attributes and those of a network without hidden layers
// start at zero.
func (b body) potentials(c Config, labels int) graph.Spec {
	var init graph.Init
	if !c.Preset().Linear {
		init = graph.Glorot
	}
	params := append(append([]graph.Param(nil), b.params...),
		graph.Param{Name: "node.weight", Shape: []int{b.width, labels}, Init: init},
		graph.Param{Name: "node.bias", Shape: []int{labels}})
	if b.wide > 0 {
		params = append(params, graph.Param{Name: "attributes", Shape: []int{b.wide, labels}})
	}
	switch c.Edges {
	case EdgesTransition:
		params = append(params, graph.Param{Name: "transition", Shape: []int{labels, labels}},
			graph.Param{Name: "ends", Shape: []int{2, labels}})
	case EdgesPosition:
		params = append(params,
			graph.Param{Name: "edge.weight", Shape: []int{b.width, labels * labels}, Init: scaled(init, 0.1)},
			graph.Param{Name: "edge.bias", Shape: []int{labels * labels}})
	}
	return graph.Spec{Name: c.Net, Params: params, Build: func(g *graph.Graph) (node, edge *gorgonia.Node, err error) {
		h, err := b.build(g)
		if err != nil {
			return nil, nil, err
		}
		if node, err = g.Dense(h, g.Param("node.weight"), g.Param("node.bias")); err != nil {
			return nil, nil, err
		}
		if b.wide > 0 {
			linear, err := g.Bag(g.Param("attributes"))
			if err != nil {
				return nil, nil, err
			}
			if node, err = gorgonia.Add(node, linear); err != nil {
				return nil, nil, err
			}
		}
		switch c.Edges {
		case EdgesTransition:
			ends, err := gorgonia.Mul(g.Boundary(), g.Param("ends"))
			if err != nil {
				return nil, nil, err
			}
			node, err = gorgonia.Add(node, ends)
			return node, g.Param("transition"), err
		case EdgesPosition:
			if edge, err = g.Dense(h, g.Param("edge.weight"), g.Param("edge.bias")); err != nil {
				return nil, nil, err
			}
			edge, err = gorgonia.Reshape(edge, tensor.Shape{g.Rows, labels, labels})
			return node, edge, err
		}
		return node, nil, nil
	}}
}

// scaled multiplies what init draws by a factor.
func scaled(init graph.Init, by float32) graph.Init {
	if init == nil {
		return nil
	}
	return func(rng *rand.Rand, shape []int, w []float32) {
		init(rng, shape, w)
		for i := range w {
			w[i] *= by
		}
	}
}

// hidden adds a dense layer for each of c.Hidden.
func (b body) hidden(c Config) body {
	for i, units := range c.Hidden {
		b = b.dense(fmt.Sprintf("hidden%d", i+1), units, c)
	}
	return b
}
