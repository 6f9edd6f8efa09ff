package nets

import (
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/dsp-go/dsp/nets/graph"
)

// The layers of a stack that read inputs.

// features reads the dense features of positions; where they follow maps that the source pixels reads, only these.
// Presets, whose files know no maps, read maps as features like others.
func (s *stack) features(l layer) error {
	switch {
	case s.input.Dim == 0:
		return s.refuse(l, "the data has no dense features; embed reads words")
	case s.input.Beside() > 0 && s.Net == StackNet:
		s.source(s.input.Beside(), func(g *graph.Graph, _ *gorgonia.Node) (*gorgonia.Node, error) { return g.Beside() })
		return nil
	case s.hasLayer("pixels"):
		return s.refuse(l, "the data has nothing beside the pixels, which the layer pixels reads")
	}
	s.source(s.input.Dim, func(g *graph.Graph, _ *gorgonia.Node) (*gorgonia.Node, error) { return g.Features(), nil })
	return nil
}

// maps reads the maps of positions, such as their pixels, through layers of its own, which end with flatten.
func (s *stack) maps(l layer) error {
	m := s.input.Map
	switch {
	case m.Len() == 0:
		return s.refuse(l, "the data has no pixels at each position")
	case s.count["pixels"] > 0:
		return s.refuse(l, "there is one already")
	}
	s.count["pixels"]++
	inner := &stack{Config: s.Config, input: s.input, file: s.file, count: s.count, names: s.names, begun: true,
		width: m.Channels, image: &image{m.Height, m.Width}}
	inner.steps = []step{func(g *graph.Graph, _ *gorgonia.Node) (*gorgonia.Node, error) {
		x, err := g.Maps()
		if err != nil {
			return nil, err
		}
		return gorgonia.Reshape(x, tensor.Shape{g.Rows * m.Cells(), m.Channels})
	}}
	for _, below := range l.layers("layers") {
		if err := inner.add(below); err != nil {
			return err
		}
	}
	if inner.image != nil {
		return s.refuse(l, "its layers end in rows of pixels; end them with flatten")
	}
	s.reads.dropout, s.reads.activation = s.reads.dropout || inner.reads.dropout, s.reads.activation ||
		inner.reads.activation
	s.source(inner.width, func(g *graph.Graph, _ *gorgonia.Node) (*gorgonia.Node, error) {
		return run(g, nil, inner.steps)
	}, inner.params...)
	return nil
}

// embed looks up every discrete input in a table of its own. Sizes that are left out depend on the vocabulary.
func (s *stack) embed(l layer) error {
	sizes := l.sizes("units")
	if len(s.input.Vocab) == 0 {
		return s.refuse(l, "the data has no discrete inputs (words); features reads dense features")
	}
	if len(sizes) > len(s.input.Vocab) {
		return s.refuse(l, "%d sizes for %d discrete inputs", len(sizes), len(s.input.Vocab))
	}
	if s.count["embed"] > 0 {
		return s.refuse(l, "there is one already; it has a size for each discrete input, as in [64, 8]")
	}
	s.count["embed"]++
	for f, vocab := range s.input.Vocab {
		size := embeddingSize(vocab)
		if f < len(sizes) {
			size = sizes[f]
		}
		s.source(embedWidth(s.input, f, size), func(g *graph.Graph, _ *gorgonia.Node) (*gorgonia.Node, error) {
			return embedding(g, f)
		},
			embedParam(s.input, f, size))
	}
	return nil
}

// characters is a convolution over the characters of each word, and its maximum over the word.
func (s *stack) characters(l layer) error {
	c := Config{
		CharChannels: orElse(l.int("channels"), 50), CharEmbed: orElse(l.int("units"), 25),
		CharWindow: orElse(l.int("width"), 3),
		Activation: graph.Activation(l.word("activation")),
	}
	switch {
	case s.input.Characters == 0:
		return s.refuse(l, "the data has no characters of words")
	case s.count["characters"] > 0:
		return s.refuse(l, "there is one already")
	case c.CharWindow%2 == 0:
		return s.refuse(l, "width %d: expected an odd number", c.CharWindow)
	}
	s.count["characters"]++
	if c.Activation == "" {
		c.Activation, s.reads.activation = s.Activation, true
	}
	s.from(characterBody(c, s.input))
	return nil
}

// attributes sums the attributes of each position into units.
func (s *stack) attributes(l layer) error {
	switch {
	case s.input.Attributes == 0:
		return s.refuse(l, "the data has no attributes")
	case s.count["attributes"] > 0:
		return s.refuse(l, "there is one already")
	}
	s.count["attributes"]++
	s.from(bagBody(Config{AttributeUnits: l.int("units")}, s.input))
	return nil
}

// from adds a body that reads inputs.
func (s *stack) from(b body) {
	s.source(b.width, func(g *graph.Graph, _ *gorgonia.Node) (*gorgonia.Node, error) { return b.build(g) }, b.params...)
}
