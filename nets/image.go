package nets

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// imageBody is a convolutional network over the image of each position: for each of c.Channels a 3×3 convolution, the
// activation, and a maximum over 2×2 pixels. Arrays hold a pixel's channels a row, so that a convolution is Patches and
// a matrix product.
func imageBody(c Config) body {
	h, w := ImageHeight, ImageWidth
	b := body{width: 1, build: func(g *Graph) (*gorgonia.Node, error) {
		return gorgonia.Reshape(g.Features(), tensor.Shape{g.Rows * ImageHeight * ImageWidth, 1})
	}}
	for i, channels := range c.Channels {
		name, height, width := fmt.Sprintf("conv%d", i+1), h, w
		b = b.then(channels, func(g *Graph, x *gorgonia.Node) (*gorgonia.Node, error) {
			p, err := g.Patches(x, height, width)
			if err != nil {
				return nil, err
			}
			y, err := gorgonia.Mul(p, g.Param(name+".weight"))
			if err != nil {
				return nil, err
			}
			// Pooling first: the bias and a monotone activation commute with the maximum, and have a quarter of the entries then.
			if y, err = g.MaxPool(y, height, width); err != nil {
				return nil, err
			}
			if y, err = g.AddBias(y, g.Param(name+".bias")); err != nil {
				return nil, err
			}
			return g.Activate(y, c.Activation)
		}, Param{name + ".weight", []int{9 * b.width, channels}, initFor(c.Activation)}, Param{name + ".bias", []int{channels}, nil})
		h, w = h/2, w/2
	}
	flat := h * w * b.width
	return b.then(flat, func(g *Graph, x *gorgonia.Node) (*gorgonia.Node, error) {
		x, err := gorgonia.Reshape(x, tensor.Shape{g.Rows, flat})
		if err != nil {
			return nil, err
		}
		return g.Dropout(x, c.Dropout)
	})
}
