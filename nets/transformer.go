package nets

import (
	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// attention adds a layer norm, self-attention in c.Heads heads, and dropout. Its output starts small, so that a block
// starts close to the identity.
func (b body) attention(name string, c Config) body {
	w, norm := b.width, b.norm(name+".norm")
	return b.then(w, inTurn(norm.layer,
		func(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) {
			return gorgonia.Mul(x, g.Param(name+".in"))
		},
		func(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) { return g.Rotate(x, 2*w, w/c.Heads) },
		func(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) { return g.SelfAttention(x, c.Heads) },
		func(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) {
			return gorgonia.Mul(x, g.Param(name+".out"))
		},
		func(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) { return g.Dropout(x, c.Dropout) },
	), append(norm.params[len(b.params):],
		graph.Param{Name: name + ".in", Shape: []int{w, 3 * w}, Init: graph.Glorot},
		graph.Param{Name: name + ".out", Shape: []int{w, w}, Init: scaled(graph.Glorot, 0.5)})...)
}

// feedForward adds a layer norm, a dense layer of c.BlockUnits units with GELU, a dense layer that returns to the width
// of its input, and dropout. Its output starts small, too.
func (b body) feedForward(name string, c Config) body {
	w, norm := b.width, b.norm(name+".norm")
	return b.then(w, inTurn(norm.layer,
		func(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) {
			return g.Dense(x, g.Param(name+".in"), g.Param(name+".in-bias"))
		},
		func(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) { return g.Activate(x, graph.GELU) },
		func(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) {
			return g.Dense(x, g.Param(name+".out"), g.Param(name+".out-bias"))
		},
		func(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) { return g.Dropout(x, c.Dropout) },
	), append(norm.params[len(b.params):],
		graph.Param{Name: name + ".in", Shape: []int{w, c.BlockUnits}, Init: graph.He},
		graph.Param{Name: name + ".in-bias", Shape: []int{c.BlockUnits}},
		graph.Param{Name: name + ".out", Shape: []int{c.BlockUnits, w}, Init: scaled(graph.Glorot, 0.5)},
		graph.Param{Name: name + ".out-bias", Shape: []int{w}})...)
}

// inTurn returns a layer that applies the given layers one after the other.
func inTurn(layers ...func(*graph.Graph, *gorgonia.Node) (*gorgonia.Node, error)) func(*graph.Graph,
	*gorgonia.Node) (*gorgonia.Node, error) {
	return func(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) {
		for _, layer := range layers {
			var err error
			if x, err = layer(g, x); err != nil {
				return nil, err
			}
		}
		return x, nil
	}
}

// resolveAttention checks the sizes of blocks of attention and fills in their defaults. The blocks come behind the
// convolutions, or the recurrent layers, whose width they keep.
func (c *Config) resolveAttention() error {
	if c.Layers == 0 {
		if c.Heads != 0 || c.BlockUnits != 0 {
			return structured.BadInput("net %s has no layers of attention, so it has no heads and block units; set layers",
				c.Net)
		}
		return nil
	}
	width := 0
	if n := len(c.Recurrent); n > 0 {
		width = 2 * c.Recurrent[n-1]
	} else if n := len(c.Channels); n > 0 {
		width = c.Channels[n-1]
	}
	c.Heads, c.BlockUnits = orElse(c.Heads, 4), orElse(c.BlockUnits, 2*width)
	switch {
	case c.Layers < 0 || c.BlockUnits < 0 || c.Heads < 0:
		return structured.BadInput("net %s: %d layers of attention with %d heads and %d block units; "+
			"expected positive numbers", c.Net, c.Layers, c.Heads, c.BlockUnits)
	case width%(2*c.Heads) != 0:
		return structured.BadInput("net %s: %d units do not divide into %d heads of an even size; choose channels that are "+
			"a multiple of %d, or other heads",
			c.Net, width, c.Heads, 2*c.Heads)
	}
	return nil
}
