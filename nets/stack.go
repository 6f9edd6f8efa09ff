package nets

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// StackNet is the network that a list of layers describes; see stacklayers.go for the layers. The output layer, which
// every stack has on top, is that of the presets: node and edge potentials of chains, or biaffine scores of trees.
const StackNet = "stack"

// IsStackFile reports whether a setting net names the YAML file of a stack.
func IsStackFile(net string) bool {
	switch strings.ToLower(filepath.Ext(net)) {
	case ".yaml", ".yml":
		return true
	}
	return false
}

func init() {
	addPreset(Preset{
		Name:    StackNet,
		Summary: "layers that a file of YAML lists",
		Scores:  []string{ScoresPositions, ScoresNodes, ScoresArcs, ScoresPairs},
		Settings: []string{"stack", "activation", "dropout", "edge-units", "submodular", "arc-units",
			"label-units", "pair-units"},
		resolve: (*Config).resolveStack,
		check:   (*Config).checkStack,
		body: func(c Config, in graph.Input) (body, error) {
			return c.stackOf(cmp.Or(c.StackFile, "stack"), c.Stack, in)
		},
	})
}

// resolveStack refuses settings that no layer reads.
func (c *Config) resolveStack(graph.Input) error {
	if len(c.Hidden)+len(c.Channels)+len(c.Embed)+len(c.Recurrent) > 0 ||
		c.Window+c.Kernel+c.Stride+c.Layers+c.Heads+c.BlockUnits+c.CharEmbed+c.CharWindow+
			c.CharChannels+c.AttributeUnits > 0 {
		return structured.BadInput("net stack takes the sizes of layers from its list of layers, not from settings")
	}
	c.Activation = cmp.Or(c.Activation, graph.ELU)
	return nil
}

// checkStack checks the layers of a stack. Errors name the line of the layer.
func (c *Config) checkStack(input graph.Input) error {
	if err := c.check(); err != nil {
		return err
	}
	b, err := c.Preset().body(*c, input)
	if err == nil && c.Dropout > 0 && !b.dropout {
		err = structured.BadInput("dropout %g has no effect on a stack without a layer \"dropout\" that leaves its rate open",
			c.Dropout)
	}
	return err
}

// stackOf makes the layers of a stack from their list; file is for messages.
func (c Config) stackOf(file, list string, input graph.Input) (body, error) {
	s := &stack{Config: c, input: input, file: file, count: map[string]int{}, names: map[string]bool{}}
	layers, err := parseLayers(file, list)
	if err != nil {
		return body{}, err
	}
	if n := countLayers(layers); n > mostLayers {
		return body{}, structured.BadInput("%s: %d layers, expected at most %d", file, n, mostLayers)
	}
	for _, l := range layers {
		if err := s.add(l); err != nil {
			return body{}, err
		}
	}
	last := layers[len(layers)-1]
	if err := s.begin(last); err != nil {
		return body{}, err
	}
	if s.image != nil {
		return body{}, s.refuse(last, "the stack ends in rows of pixels; end it with flatten")
	}
	return body{params: s.params, width: s.width, build: s.build, dropout: s.reads.dropout,
		activation: s.reads.activation}, nil
}

// hasLayer reports whether a stack has a layer of that name. A list with mistakes, which are refused elsewhere, has
// none.
func (c Config) hasLayer(name string) bool {
	layers, err := parseLayers("", c.Stack)
	return err == nil && slices.ContainsFunc(layers, func(l layer) bool { return l.kind.name == name })
}

// stack is a stack under construction.
type stack struct {
	Config
	input   graph.Input
	file    string
	sources []step
	steps   []step
	params  []graph.Param
	width   int                                // numbers per row so far
	image   *image                             // where rows are pixels
	count   map[string]int                     // layers of each kind, which number the names of parameters
	names   map[string]bool                    // names that layers were given
	begun   bool                               // a layer reads the sources
	reads   struct{ dropout, activation bool } // whether a layer reads these settings
}

// image is the size of the image of a position whose pixels are rows.
type image struct{ height, width int }

// step computes a layer; x is nil for a source.
type step func(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error)

func (s *stack) add(l layer) error {
	if l.kind.source {
		if s.begun {
			return s.refuse(l, "it reads inputs; the layers that do come first, and their results are joined")
		}
	} else if err := s.begin(l); err != nil {
		return err
	}
	if s.image != nil && !l.kind.pixels {
		return s.refuse(l, "its rows are pixels; put flatten before it")
	}
	if name := l.word("name"); s.names[name] {
		return s.refuse(l, "an earlier layer has the name %s, too", name)
	} else if name != "" {
		s.names[name] = true
	}
	if err := l.kind.add(s, l); err != nil {
		return err
	}
	pixels := 1
	if s.image != nil {
		pixels = s.image.height * s.image.width
	}
	if s.width > mostNumbers/pixels {
		return s.refuse(l, "it makes %d numbers of a position, expected at most %d", s.width*pixels, mostNumbers)
	}
	return nil
}

// The largest network: layers, those inside of others included, and of a stack numbers that a layer makes of a
// position. Files of models say both.
const (
	mostLayers  = 1000
	mostNumbers = 1 << 24
)

// countLayers counts layers, those inside of others included.
func countLayers(layers []layer) int {
	n := len(layers)
	for _, l := range layers {
		n += countLayers(l.layers("layers"))
	}
	return n
}

// begin joins the sources.
func (s *stack) begin(l layer) error {
	if s.begun {
		return nil
	}
	s.begun = true
	if len(s.sources) == 0 {
		return s.refuse(l, "nothing is read yet; begin with %s", strings.Join(sourceNames(), " or "))
	}
	return nil
}

// source adds a layer that reads inputs, width numbers per position.
func (s *stack) source(width int, f step, params ...graph.Param) {
	s.sources, s.width, s.params = append(s.sources, f), s.width+width, append(s.params, params...)
}

// then adds a layer whose rows have width numbers.
func (s *stack) then(width int, f step, params ...graph.Param) {
	s.steps, s.width, s.params = append(s.steps, f), width, append(s.params, params...)
}

// on continues with the layers of a body: f makes it from the body below, of which it reads the width only.
func (s *stack) on(f func(below body) body) {
	b := f(body{width: s.width, grid: s.input.Grid.Cells() > 0})
	s.then(b.width, b.layer, b.params...)
}

// name returns the name of a layer's parameters: the one it has, or its kind, numbered from 1.
func (s *stack) name(l layer) string {
	if name := l.word("name"); name != "" {
		return name
	}
	s.count[l.kind.name]++
	return fmt.Sprintf("%s%d", l.kind.name, s.count[l.kind.name])
}

// nested makes the steps of layers inside l, from rows of the width so far. The rows that they make have s.width.
func (s *stack) nested(l layer) ([]step, error) {
	outer := s.steps
	s.steps = nil
	for _, inner := range l.layers("layers") {
		if err := s.add(inner); err != nil {
			return nil, err
		}
	}
	steps := s.steps
	s.steps = outer
	return steps, nil
}

func (s *stack) build(g *graph.Graph) (x *gorgonia.Node, err error) {
	var parts gorgonia.Nodes
	for _, f := range s.sources {
		part, err := f(g, nil)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	if x = parts[0]; len(parts) > 1 {
		if x, err = gorgonia.Concat(1, parts...); err != nil {
			return nil, err
		}
	}
	return run(g, x, s.steps)
}

// run applies steps to x.
func run(g *graph.Graph, x *gorgonia.Node, steps []step) (*gorgonia.Node, error) {
	for _, f := range steps {
		var err error
		if x, err = f(g, x); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// refuse is an error about a layer.
func (s *stack) refuse(l layer, format string, args ...any) error {
	return structured.BadInput("%s:%d: layer %s: %s", s.file, l.line, l.kind.name, fmt.Sprintf(format, args...))
}
