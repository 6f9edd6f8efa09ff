package nets

import (
	"fmt"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// No stack says conv-map and conv-crop: the dense features that follow the maps are joined above the window, which is
// above the convolutions.
func init() {
	addPreset(Preset{
		Name:     "conv-map",
		Summary:  "a convolution over a map of features at each position",
		Reads:    []Inputs{ReadsMaps},
		Scores:   []string{ScoresPositions},
		Settings: []string{"hidden", "activation", "dropout", "window", "channels", "kernel", "stride"},
		Defaults: []Defaults{{Config: Config{Window: 1, Channels: []int{16}, Kernel: 1, Stride: 1}}},
		check:    (*Config).checkMap,
		body:     mapBody,
	})
	addPreset(Preset{
		Name:    "conv-crop",
		Summary: "convolutions with stride 2 over a crop of pixels at each position",
		Reads:   []Inputs{ReadsMaps, ReadsPixels},
		Scores:  []string{ScoresPositions, ScoresNodes},
		Settings: []string{"hidden", "activation", "dropout", "window", "channels", "kernel", "stride",
			"edge-units", "submodular"},
		Defaults: []Defaults{{Config: Config{Window: 1, Kernel: 3, Stride: 2, Hidden: []int{64}}}},
		resolve: func(c *Config, in graph.Input) error {
			if m := in.Map; min(m.Height, m.Width) < 32 {
				c.Channels = orDefault(c.Channels, 16, 32)
			} else {
				c.Channels = orDefault(c.Channels, 16, 32, 32)
			}
			return nil
		},
		check: (*Config).checkMap,
		body:  mapBody,
	})
}

// ReadsPixels reports whether the network that c chooses reads the maps of positions, such as their pixels, and
// ReadsBeside whether it reads the dense features that follow them, too.
func (c Config) ReadsPixels() bool {
	return c.Preset().CanRead(ReadsMaps) || c.Net == StackNet && (c.hasLayer("pixels") || c.hasLayer("image"))
}

// ReadsBeside: see ReadsPixels.
func (c Config) ReadsBeside() bool {
	return c.Preset().CanRead(ReadsMaps) || c.Net == StackNet && c.hasLayer("pixels") && c.hasLayer("features")
}

// filter is the geometry of each convolution of conv-map and conv-crop. Its padding keeps the size of a map where the
// stride is 1 and the kernel odd.
func (c Config) filter() graph.Filter {
	return graph.Filter{Kernel: c.Kernel, Stride: c.Stride, Padding: (c.Kernel - 1) / 2}
}

// checkMap refuses maps that the convolutions of conv-map and conv-crop do not fit. Net conv-map is for maps of
// features that another network computed, as in the paper: a convolution of 1×1 cells to 16 channels, the activation,
// and a linear layer. Net conv-crop is for crops of pixels: two convolutions of 3×3 with stride 2, three from 32×32
// pixels on, and a dense layer of 64 units. A window joins what the convolutions make of neighbouring positions. Dense
// features that follow the maps are joined to that, below the dense layers.
func (c *Config) checkMap(input graph.Input) error {
	m := input.Map
	if m.Len() == 0 {
		return structured.BadInput("net %s reads maps (height×width×channels) at each position; the data has none", c.Net)
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

// mapBody has a convolution for each of c.Channels over the map of each position, a window, and a dense layer for each
// of c.Hidden.
func mapBody(c Config, input graph.Input) (body, error) {
	m := input.Map
	b := body{width: m.Len(), grid: input.Grid.Cells() > 0, build: (*graph.Graph).Maps}
	for i, channels := range c.Channels {
		b, m = b.conv(fmt.Sprintf("conv%d", i+1), m, c.filter(), channels, c.Activation)
	}
	b = b.then(b.width, func(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) { return g.Dropout(x, c.Dropout) })
	return b.window(c.Window).beside(input).hidden(c), nil
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

// conv adds a convolution of rows that are maps of shape m, which the filter must fit, and an activation. It returns
// the new shape.
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
