package nets

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// The size of the images that cnn-image reads. The features of a position are one image, row by row.
const (
	ImageHeight = 16
	ImageWidth  = 8
)

// No stack says cnn-image: its maximum over 2×2 pixels comes before bias and activation.
func init() {
	addPreset(Preset{
		Name:     "cnn-image",
		Summary:  "convolutions over an image of 16×8 pixels at each position",
		Reads:    []Inputs{ReadsFeatures},
		Scores:   []string{ScoresPositions},
		Settings: []string{"hidden", "activation", "dropout", "channels"},
		Defaults: []Defaults{{Config: Config{Channels: []int{16}, Hidden: []int{64}}}},
		check: func(c *Config, in graph.Input) error {
			if in.Dim != ImageHeight*ImageWidth {
				return structured.BadInput("net cnn-image reads %d×%d images (%d features per position), the data has %d; use "+
					"cnn for windows of positions",
					ImageHeight, ImageWidth, ImageHeight*ImageWidth, in.Dim)
			}
			if len(c.Channels) > 3 {
				return structured.BadInput("net cnn-image halves the image with each convolution, so at most 3 fit; "+
					"the configuration has %d", len(c.Channels))
			}
			return nil
		},
		body: func(c Config, in graph.Input) (body, error) { return imageBody(c).hidden(c), nil },
	})
}

// imageBody is a convolutional network over the image of each position: for each of c.Channels a 3×3 convolution, the
// activation, and a maximum over 2×2 pixels. Arrays have one row of channels per pixel, so that a convolution is
// Patches and a matrix product.
func imageBody(c Config) body {
	h, w := ImageHeight, ImageWidth
	b := body{width: 1, build: func(g *graph.Graph) (*gorgonia.Node, error) {
		return gorgonia.Reshape(g.Features(), tensor.Shape{g.Rows * ImageHeight * ImageWidth, 1})
	}}
	for i, channels := range c.Channels {
		name, height, width := fmt.Sprintf("conv%d", i+1), h, w
		b = b.then(channels, func(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) {
			p, err := g.Patches(x, height, width)
			if err != nil {
				return nil, err
			}
			y, err := gorgonia.Mul(p, g.Param(name+".weight"))
			if err != nil {
				return nil, err
			}
			// Pooling comes first: a bias and a monotone activation commute with the maximum, and then have a quarter
			// of the entries. For GELU and SiLU, which are not monotone, this order is the definition.
			if y, err = g.MaxPool(y, height, width); err != nil {
				return nil, err
			}
			if y, err = g.AddBias(y, g.Param(name+".bias")); err != nil {
				return nil, err
			}
			return g.Activate(y, c.Activation)
		}, graph.Param{Name: name + ".weight", Shape: []int{9 * b.width, channels}, Init: initFor(c.Activation)},
			graph.Param{Name: name + ".bias", Shape: []int{channels}})
		h, w = h/2, w/2
	}
	flat := h * w * b.width
	return b.then(flat, func(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) {
		x, err := gorgonia.Reshape(x, tensor.Shape{g.Rows, flat})
		if err != nil {
			return nil, err
		}
		return g.Dropout(x, c.Dropout)
	})
}
