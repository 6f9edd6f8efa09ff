package nets

import (
	"fmt"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// readsMaps reports whether the preset reads rows that are maps.
func (c Config) readsMaps() bool { return c.Net == "conv-map" || c.Net == "conv-crop" }

// ReadsPixels reports whether the network that c chooses reads the maps of positions, such as their pixels, and ReadsBeside whether it reads the
// dense features that follow them, too.
func (c Config) ReadsPixels() bool {
	return c.readsMaps() || c.Net == StackNet && (c.hasLayer("pixels") || c.hasLayer("image"))
}

// ReadsBeside: see ReadsPixels.
func (c Config) ReadsBeside() bool {
	return c.readsMaps() || c.Net == StackNet && c.hasLayer("pixels") && c.hasLayer("features")
}

// filter is the geometry of each convolution of conv-map and conv-crop. Its padding keeps the size of a map where the stride is 1 and
// the kernel odd.
func (c Config) filter() graph.Filter {
	return graph.Filter{Kernel: c.Kernel, Stride: c.Stride, Padding: (c.Kernel - 1) / 2}
}

// resolveMap checks and fills in the sizes of conv-map and conv-crop. Net conv-map is for maps of features that another network
// computed, as in the paper: a convolution of 1×1 cells to 16 channels, the activation, and a linear layer. Net conv-crop is for crops
// of pixels: two convolutions of 3×3 with stride 2, three from 32×32 pixels on, and a dense layer of 64 units. A window joins
// what the convolutions make of neighbouring positions. Dense features that follow the maps are joined to that, below the
// dense layers.
func (c *Config) resolveMap(input graph.Input) error {
	m := input.Map
	if m.Len() == 0 {
		return structured.BadInput("net %s reads maps (height×width×channels) at each position; the data has none", c.Net)
	}
	c.Window = orElse(c.Window, 1)
	if c.Net == "conv-map" {
		c.Channels, c.Kernel, c.Stride = orDefault(c.Channels, 16), orElse(c.Kernel, 1), orElse(c.Stride, 1)
	} else {
		c.Kernel, c.Stride, c.Hidden = orElse(c.Kernel, 3), orElse(c.Stride, 2), orDefault(c.Hidden, 64)
		if min(m.Height, m.Width) < 32 {
			c.Channels = orDefault(c.Channels, 16, 32)
		} else {
			c.Channels = orDefault(c.Channels, 16, 32, 32)
		}
	}
	for i, channels := range c.Channels {
		to, err := c.filter().Over(m, channels)
		if err != nil {
			return structured.BadInput("net %s, convolution %d: %w", c.Net, i+1, err)
		}
		m = to
	}
	return nil
}

// mapBody has a convolution for each of c.Channels over the map of each position.
func mapBody(c Config, input graph.Input) body {
	m := input.Map
	b := body{width: m.Len(), grid: input.Grid.Cells() > 0, build: (*graph.Graph).Maps}
	for i, channels := range c.Channels {
		b, m = b.conv(fmt.Sprintf("conv%d", i+1), m, c.filter(), channels, c.Activation)
	}
	return b.then(b.width, func(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) { return g.Dropout(x, c.Dropout) })
}

// beside joins the dense features that follow the maps of positions, if there are any.
func (b body) beside(input graph.Input) body {
	if input.Beside() == 0 {
		return b
	}
	return b.then(b.width+input.Beside(), func(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) {
		f, err := g.Beside()
		if err != nil {
			return nil, err
		}
		return gorgonia.Concat(1, x, f)
	})
}

// conv adds a convolution of rows that are maps of shape m, which the filter must fit, and an activation. It returns the new shape.
func (b body) conv(name string, m graph.Map, f graph.Filter, channels int, a graph.Activation) (body, graph.Map) {
	to, err := f.Over(m, channels)
	return b.then(to.Len(), func(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) {
		if err != nil {
			return nil, err
		}
		y, err := g.Conv(x, g.Param(name+".weight"), g.Param(name+".bias"), m, f)
		if err != nil {
			return nil, err
		}
		return g.Activate(y, a)
	}, graph.Param{Name: name + ".weight", Shape: []int{f.Kernel * f.Kernel * m.Channels, channels}, Init: initFor(a)},
		graph.Param{Name: name + ".bias", Shape: []int{channels}}), to
}
