package nets

import (
	"math/rand/v2"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/nets/graph"
)

// residual adds the input of a layer to its output, which must have the same width.
func (b body) residual(layer body) body {
	return b.then(layer.width, func(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) {
		y, err := layer.layer(g, x)
		if err != nil {
			return nil, err
		}
		return gorgonia.Add(x, y)
	}, layer.params[len(b.params):]...)
}

// norm adds a layer norm with a learned gain, which starts at 1, and bias.
func (b body) norm(name string) body {
	return b.then(b.width, func(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) {
		return g.LayerNorm(x, g.Param(name+".gain"), g.Param(name+".bias"))
	}, graph.Param{Name: name + ".gain", Shape: []int{b.width}, Init: ones},
		graph.Param{Name: name + ".bias", Shape: []int{b.width}})
}

func ones(_ *rand.Rand, _ []int, w []float32) {
	for i := range w {
		w[i] = 1
	}
}
