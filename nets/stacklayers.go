package nets

import (
	"strings"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/dsp-go/dsp/nets/graph"
)

// layerKind is a kind of layer of a stack. A new one is an entry of layerKinds, and a row of the table in
// docs/guide/stacks.md.
type layerKind struct {
	name   string
	fields []field // the first is the one that "name: value" sets
	source bool    // it reads inputs
	pixels bool    // it takes rows that are pixels
	add    func(s *stack, l layer) error
}

var layerKinds []*layerKind

// nameField is the name of a layer's parameters.
var nameField = field{name: "name", kind: freeName}

func init() { // the layers that hold layers refer to the list
	layerKinds = []*layerKind{
		{name: "features", source: true, add: (*stack).features},
		{name: "pixels", source: true, add: (*stack).maps,
			fields: []field{{name: "layers", kind: layerList, required: true}}},
		{name: "embed", source: true, add: (*stack).embed, fields: []field{{name: "units", kind: wholeNumbers, least: 1}}},
		{name: "characters", source: true, add: (*stack).characters, fields: []field{
			{name: "channels", kind: wholeNumber, least: 1},
			{name: "units", kind: wholeNumber, least: 1},
			{name: "width", kind: wholeNumber, least: 1},
			{name: "activation", kind: oneWord, words: activationNames()}}},
		{name: "attributes", source: true, add: (*stack).attributes,
			fields: []field{{name: "units", kind: wholeNumber, least: 1, required: true}}},
		{name: "image", add: (*stack).pixels, fields: []field{
			{name: "size", kind: wholeNumbers, least: 1}}},
		{name: "pool", pixels: true, add: (*stack).pool},
		{name: "flatten", pixels: true, add: (*stack).flatten},
		{name: "convolution", pixels: true, add: (*stack).convolution, fields: []field{
			{name: "channels", kind: wholeNumber, least: 1, required: true},
			{name: "width", kind: wholeNumber, least: 1},
			{name: "activation", kind: oneWord, words: activationNames()}, nameField}},
		{name: "conv", pixels: true, add: (*stack).conv, fields: []field{
			{name: "channels", kind: wholeNumber, least: 1, required: true},
			{name: "kernel", kind: wholeNumber, least: 1},
			{name: "stride", kind: wholeNumber, least: 1},
			{name: "padding", kind: wholeNumber},
			{name: "activation", kind: oneWord, words: activationNames()}}},
		{name: "window", add: (*stack).window, fields: []field{{name: "width", kind: wholeNumber, least: 1, required: true}}},
		{name: "dense", add: (*stack).dense, fields: []field{
			{name: "units", kind: wholeNumber, least: 1, required: true},
			{name: "activation", kind: oneWord, words: activationNames()}, nameField}},
		{name: "activation", pixels: true, add: (*stack).activation,
			fields: []field{{name: "function", kind: oneWord, words: activationNames()}}},
		{name: "dropout", add: (*stack).dropout, fields: []field{{name: "rate", kind: realNumber, below: 1}}},
		{name: "norm", add: (*stack).norm, fields: []field{nameField}},
		{name: "recurrent", add: (*stack).recurrent,
			fields: []field{{name: "units", kind: wholeNumber, least: 1, required: true}}},
		{name: "attention", add: (*stack).attention, fields: []field{{name: "heads", kind: wholeNumber, least: 1}}},
		{name: "block", add: (*stack).block, fields: []field{
			{name: "heads", kind: wholeNumber, least: 1},
			{name: "units", kind: wholeNumber, least: 1},
			{name: "dropout", kind: realNumber, below: 1}}},
		{name: "residual", add: (*stack).residual, fields: []field{{name: "layers", kind: layerList, required: true}}},
	}
}

// activationNames lists the activations by name.
func activationNames() []string {
	var names []string
	for _, a := range graph.Activations {
		names = append(names, string(a))
	}
	return names
}

func findLayer(name string) *layerKind {
	for _, k := range layerKinds {
		if k.name == name {
			return k
		}
	}
	return nil
}

// StackLayers lists the names of the layers of a stack.
func StackLayers() []string {
	var names []string
	for _, k := range layerKinds {
		names = append(names, k.name)
	}
	return names
}

func sourceNames() []string {
	var names []string
	for _, k := range layerKinds {
		if k.source {
			names = append(names, k.name)
		}
	}
	return names
}

// listFields ends a message about an unknown field.
func (k *layerKind) listFields() string {
	var names []string
	for _, f := range k.fields {
		names = append(names, f.name)
	}
	if len(names) == 0 {
		return "; it has none"
	}
	return "; it has " + strings.Join(names, ", ")
}

// pixels makes the numbers of a position the pixels of an image, [height, width] or [height, width, channels], row by
// row; without a size, that of the data's maps.
func (s *stack) pixels(l layer) error {
	size := l.sizes("size")
	if m := s.input.Map; size == nil && m.Len() > 0 {
		size = []int{m.Height, m.Width, m.Channels}
	} else if size == nil {
		return s.refuse(l, "size: the data has no maps; expected [height, width] or [height, width, channels]")
	}
	if len(size) == 2 {
		size = append(size, 1)
	}
	if len(size) != 3 {
		return s.refuse(l, "size: expected [height, width] or [height, width, channels], found %v", size)
	}
	numbers := 1
	for _, n := range size {
		if numbers *= n; numbers > mostNumbers {
			break // more than any position has
		}
	}
	if numbers != s.width {
		return s.refuse(l, "an image of %v has %d numbers, a position %d", size, numbers, s.width)
	}
	s.image = &image{size[0], size[1]}
	s.then(size[2], func(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) {
		return gorgonia.Reshape(x, tensor.Shape{g.Rows * size[0] * size[1], size[2]})
	})
	return nil
}

// pool takes the largest of each 2×2 pixels.
func (s *stack) pool(l layer) error {
	switch {
	case s.image == nil:
		return s.refuse(l, "its rows are not pixels; put image before it")
	case s.image.height < 2 || s.image.width < 2:
		return s.refuse(l, "the image has %d×%d pixels, expected at least 2×2", s.image.height, s.image.width)
	}
	of := *s.image
	s.image = &image{of.height / 2, of.width / 2}
	s.then(s.width, func(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) {
		return g.MaxPool(x, of.height, of.width)
	})
	return nil
}

// flatten makes all pixels of a position one row.
func (s *stack) flatten(l layer) error {
	if s.image == nil {
		return s.refuse(l, "its rows are not pixels; put image before it")
	}
	width := s.image.height * s.image.width * s.width
	s.image = nil
	s.then(width, func(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) {
		return gorgonia.Reshape(x, tensor.Shape{g.Rows, width})
	})
	return nil
}

// convolution is a convolution over positions, or over 3×3 pixels of an image.
func (s *stack) convolution(l layer) error {
	channels, width, name := l.int("channels"), 3, s.name(l)
	if l.has("width") {
		width = l.int("width")
	}
	if s.image == nil {
		if err := s.join(l, width); err != nil {
			return err
		}
		return s.product(name, channels, l)
	}
	if width != 3 {
		return s.refuse(l, "width %d: over pixels it is 3", width)
	}
	of := *s.image
	s.then(9*s.width, func(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) {
		return g.Patches(x, of.height, of.width)
	})
	return s.product(name, channels, l)
}

// conv is a convolution over the cells of a map, with a filter of any size and stride. The padding is (kernel − 1)/2
// unless it is given, which keeps the size of the map where the stride is 1 and the kernel odd.
func (s *stack) conv(l layer) error {
	if s.image == nil {
		return s.refuse(l, "its rows are not pixels; put image before it")
	}
	of, name := graph.Map{Height: s.image.height, Width: s.image.width, Channels: s.width}, s.name(l)
	f := graph.Filter{Kernel: orElse(l.int("kernel"), 3), Stride: orElse(l.int("stride"), 1)}
	if f.Padding = (f.Kernel - 1) / 2; l.has("padding") {
		f.Padding = l.int("padding")
	}
	to, err := f.Over(of, l.int("channels"))
	if err != nil {
		return s.refuse(l, "%s", err)
	}
	a := graph.Activation(l.word("activation"))
	init := initFor(a)
	if a == "" {
		init = graph.Glorot
	}
	s.image = &image{to.Height, to.Width}
	s.then(to.Channels, func(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) {
		y, err := g.Conv(x, g.Param(name+".weight"), g.Param(name+".bias"), of, f)
		if err != nil {
			return nil, err
		}
		return gorgonia.Reshape(y, tensor.Shape{g.Rows * to.Cells(), to.Channels})
	}, graph.Param{Name: name + ".weight", Shape: []int{f.Kernel * f.Kernel * of.Channels, to.Channels}, Init: init},
		graph.Param{Name: name + ".bias", Shape: []int{to.Channels}})
	if a != "" {
		s.then(to.Channels, activate(a))
	}
	return nil
}

// window joins the rows of neighbouring positions.
func (s *stack) window(l layer) error { return s.join(l, l.int("width")) }

func (s *stack) join(l layer, width int) error {
	if width%2 == 0 {
		return s.refuse(l, "width %d: expected an odd number", width)
	}
	s.on(func(below body) body { return below.window(width) })
	return nil
}

func (s *stack) dense(l layer) error { return s.product(s.name(l), l.int("units"), l) }

// product multiplies by a matrix, adds a bias, and applies the layer's activation if it has one.
func (s *stack) product(name string, units int, l layer) error {
	a := graph.Activation(l.word("activation"))
	init := initFor(a)
	if a == "" {
		init = graph.Glorot
	}
	s.then(units, func(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) {
		return g.Dense(x, g.Param(name+".weight"), g.Param(name+".bias"))
	}, graph.Param{Name: name + ".weight", Shape: []int{s.width, units}, Init: init},
		graph.Param{Name: name + ".bias", Shape: []int{units}})
	if a != "" {
		s.then(units, activate(a))
	}
	return nil
}

// activation applies a function to every number; without a name, that of the setting activation.
func (s *stack) activation(l layer) error {
	a := graph.Activation(l.word("function"))
	if a == "" {
		a, s.reads.activation = s.Activation, true
	}
	s.then(s.width, activate(a))
	return nil
}

func activate(a graph.Activation) step {
	return func(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) { return g.Activate(x, a) }
}

// dropout drops numbers in training; without a rate, at that of the setting dropout.
func (s *stack) dropout(l layer) error {
	rate := l.number("rate")
	if !l.has("rate") {
		rate, s.reads.dropout = s.Dropout, true
	}
	s.then(s.width, func(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) { return g.Dropout(x, rate) })
	return nil
}

func (s *stack) norm(l layer) error {
	name := s.name(l)
	s.on(func(below body) body { return below.norm(name) })
	return nil
}

// recurrent is a recurrent layer, with units in each direction.
func (s *stack) recurrent(l layer) error {
	name := s.name(l)
	s.on(func(below body) body { return below.recurrent(name, l.int("units"), Config{}) })
	return nil
}

// defaultHeads is the number of heads of attention where a layer leaves it open.
const defaultHeads = 4

// heads returns the number of heads of a layer of attention.
func (s *stack) heads(l layer) (int, error) {
	heads := orElse(l.int("heads"), defaultHeads)
	if s.width%(2*heads) != 0 {
		return 0, s.refuse(l, "%d numbers do not divide into %d heads of an even size", s.width, heads)
	}
	return heads, nil
}

// attention is a layer norm and self-attention.
func (s *stack) attention(l layer) error {
	heads, err := s.heads(l)
	if err != nil {
		return err
	}
	name := s.name(l)
	s.on(func(below body) body { return below.attention(name, Config{Heads: heads}) })
	return nil
}

// block is attention and two dense layers, each with a layer norm and a residual connection.
func (s *stack) block(l layer) error {
	heads, err := s.heads(l)
	if err != nil {
		return err
	}
	name, c := s.name(l), Config{Heads: heads, BlockUnits: orElse(l.int("units"), 2*s.width), Dropout: l.number("dropout")}
	s.on(func(below body) body { return below.residual(below.attention(name+".attention", c)) })
	s.on(func(below body) body { return below.residual(below.feedForward(name+".dense", c)) })
	return nil
}

// residual adds what its layers compute to what they read.
func (s *stack) residual(l layer) error {
	before := s.width
	inner, err := s.nested(l)
	if err != nil {
		return err
	}
	if s.width != before {
		return s.refuse(l, "its layers make %d numbers of %d; expected as many as they read", s.width, before)
	}
	s.then(before, func(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) {
		y, err := run(g, x, inner)
		if err != nil {
			return nil, err
		}
		return gorgonia.Add(x, y)
	})
	return nil
}
