package nets

import (
	"slices"
	"strings"

	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// LinearNet is the preset of Config without a Net.
const LinearNet = "linear"

// Config chooses a preset network and its sizes. Resolve fills in what is left out.
type Config struct {
	// a preset (see Presets), stack, or the name of a registered network
	Net string `yaml:"net" json:"net"`
	// units of each dense hidden layer
	Hidden []int `yaml:"hidden,omitempty" json:"hidden,omitempty"`
	// elu, tanh, relu, gelu, silu or sigmoid
	Activation graph.Activation `yaml:"activation,omitempty" json:"activation,omitempty"`
	// positions that a window spans, odd; cells along each axis of a grid
	Window   int   `yaml:"window,omitempty" json:"window,omitempty"`
	Channels []int `yaml:"channels,omitempty" json:"channels,omitempty"` // of each convolution
	// cells that a filter spans along each axis, for conv-map and conv-crop
	Kernel int `yaml:"kernel,omitempty" json:"kernel,omitempty"`
	// cells by which a filter moves, for conv-map and conv-crop
	Stride int `yaml:"stride,omitempty" json:"stride,omitempty"`
	// units in each direction of each recurrent layer, for rnn, deep and biaffine
	Recurrent []int `yaml:"recurrent,omitempty" json:"recurrent,omitempty"`
	// blocks of attention, for attention and biaffine
	Layers int `yaml:"layers,omitempty" json:"layers,omitempty"`
	Heads  int `yaml:"heads,omitempty" json:"heads,omitempty"` // of each block
	// units of the wide dense layer of each block
	BlockUnits int `yaml:"block-units,omitempty" json:"block-units,omitempty"`
	// embedding size of each discrete input
	Embed []int `yaml:"embed,omitempty" json:"embed,omitempty"`
	// probability to drop a unit in training
	Dropout float64 `yaml:"dropout,omitempty" json:"dropout,omitempty"`
	// transition, position or none for chains; own, typed, potts or none for graphs
	Edges string `yaml:"edges,omitempty" json:"edges,omitempty"`
	// of a hidden layer over an edge's features and its ends, for graphs; 0: none
	EdgeUnits int `yaml:"edge-units,omitempty" json:"edge-units,omitempty"`
	// softplus keeps the edges of graphs submodular, so that cuts are exact; the scores are then not linear in the
	// weights
	Submodular string `yaml:"submodular,omitempty" json:"submodular,omitempty"`
	// of the representations that score arcs, for biaffine
	ArcUnits int `yaml:"arc-units,omitempty" json:"arc-units,omitempty"`
	// of the representations that score pairs, for bilinear
	PairUnits int `yaml:"pair-units,omitempty" json:"pair-units,omitempty"`
	// of the representations that score relations, for biaffine
	LabelUnits int `yaml:"label-units,omitempty" json:"label-units,omitempty"`
	// the layers of a stack, as YAML (see stack.go)
	Stack string `yaml:"stack,omitempty" json:"stack,omitempty"`

	// embedding size of characters, for deep and biaffine
	CharEmbed int `yaml:"char-embed,omitempty" json:"char-embed,omitempty"`
	// characters that a filter spans, odd
	CharWindow int `yaml:"char-window,omitempty" json:"char-window,omitempty"`
	// of the convolution over characters; for biaffine 0: none
	CharChannels int `yaml:"char-channels,omitempty" json:"char-channels,omitempty"`
	// that attributes are summed into, for deep; 0: none
	AttributeUnits int `yaml:"attribute-units,omitempty" json:"attribute-units,omitempty"`

	StackFile string `yaml:"-" json:"-"` // the file that Stack came from, for messages; may be empty
}

// The kinds of edge potentials of chains. Those of graphs are in edges.go.
const (
	EdgesTransition = "transition" // one learned matrix, and learned scores of starting and ending with each label
	EdgesPosition   = "position"   // one matrix per position, linear in the last layer
	EdgesNone       = "none"       // zero: positions are independent
)

// Resolve checks c for inputs of the given shape and fills in the defaults, so that the result is complete. Net cnn
// becomes cnn-image if the features are 16×8 images and no window of positions is given; an empty Net becomes linear.
func (c Config) Resolve(input graph.Input) (Config, error) {
	if o, ok := findOwn(c.Net); ok {
		c, err := o.resolve(c)
		if err != nil {
			return c, err
		}
		return c, c.check()
	}
	if c.Net == "" {
		c.Net = LinearNet
	}
	p, ok := FindPreset(c.Net)
	if !ok {
		return c, unknownNet(c.Net)
	}
	if p.ForImages != "" && c.Window == 0 && input.Dim == ImageHeight*ImageWidth {
		p, _ = FindPreset(p.ForImages)
		c.Net = p.Name
	}
	if p.resolve != nil {
		if err := p.resolve(&c, input); err != nil {
			return c, err
		}
	}
	if err := p.fill(&c); err != nil {
		return c, err
	}
	if err := p.checkInputs(input); err != nil {
		return c, err
	}
	if p.check != nil {
		if err := p.check(&c, input); err != nil {
			return c, err
		}
	}
	if err := c.resolveWords(input); err != nil {
		return c, err
	}
	if p.Takes("embed") {
		if err := c.resolveEmbed(input); err != nil {
			return c, err
		}
	}
	if !p.Linear && c.Activation == "" {
		c.Activation = graph.ELU
	}
	if !p.CanScore(ScoresPositions) && !p.CanScore(ScoresPairs) {
		c.Edges = "" // only chains and graphs have edges
	} else if c.Edges == "" {
		c.Edges = EdgesTransition
	}
	if p.Takes("layers") {
		if err := c.resolveAttention(); err != nil {
			return c, err
		}
	}
	return c, c.check()
}

// checkInputs refuses inputs that the preset does not read.
func (p *Preset) checkInputs(in graph.Input) error {
	words, features := p.CanRead(ReadsWords), p.CanRead(ReadsFeatures)
	switch {
	case words && features && len(in.Vocab) == 0 && in.Dim == 0:
		return structured.BadInput("net %s reads discrete inputs (words) or dense features; the data has neither", p.Name)
	case p.CanRead(ReadsCharacters) && (len(in.Vocab) == 0 || in.Characters == 0):
		return structured.BadInput("net %s reads words and their characters; the data has none", p.Name)
	case words && !features && len(in.Vocab) == 0:
		return structured.BadInput("net %s reads discrete inputs (words); the data has none", p.Name)
	case !words && features && in.Dim == 0 && in.PairAttributes == 0:
		return structured.BadInput("net %s reads dense features; the data has none; net embed reads words", p.Name)
	}
	return nil
}

func (c Config) check() error {
	if c.Activation != "" {
		if err := c.Activation.Check(); err != nil {
			return structured.BadInput("%w", err)
		}
	}
	if c.Edges != "" && !slices.Contains(chainEdges, c.Edges) && !slices.Contains(graphEdges, c.Edges) {
		return structured.BadInput("edges %q is not one of %s (for chains) and %s (for graphs)", c.Edges,
			strings.Join(chainEdges, ", "), strings.Join(graphEdges, ", "))
	}
	if c.Dropout < 0 || c.Dropout >= 1 {
		return structured.BadInput("dropout %g is not in [0, 1)", c.Dropout)
	}
	if c.Window < 0 || c.Window > 0 && c.Window%2 == 0 {
		return structured.BadInput("window %d is not odd and positive", c.Window)
	}
	if n := len(c.Hidden) + len(c.Channels) + len(c.Recurrent); n > mostLayers {
		return structured.BadInput("net %s: %d layers, expected at most %d", c.Net, n, mostLayers)
	}
	sizes := slices.Concat(c.Hidden, c.Channels, c.Recurrent, c.Embed)
	if c.CharChannels != 0 {
		sizes = append(sizes, c.CharEmbed, c.CharWindow, c.CharChannels)
	}
	if c.CharWindow%2 == 0 && c.CharChannels != 0 {
		return structured.BadInput("a window of %d characters is not odd and positive", c.CharWindow)
	}
	for _, n := range []int{c.ArcUnits, c.LabelUnits, c.PairUnits} {
		if n != 0 {
			sizes = append(sizes, n)
		}
	}
	for _, n := range sizes {
		if n <= 0 {
			return structured.BadInput("a layer of net %s has %d units; expected at least 1", c.Net, n)
		}
	}
	return nil
}

func orElse(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return n
}

func orDefault(n []int, otherwise ...int) []int {
	if len(n) == 0 {
		return otherwise
	}
	return n
}

// embeddingSize is the default embedding size: 64 for a vocabulary of words, less for a small one such as
// capitalisation.
func embeddingSize(vocab int) int {
	size := 4
	for size < 64 && size*size < vocab {
		size *= 2
	}
	return size
}

// New makes the network that c chooses, for chains with inputs of the given shape and a number of labels. See Make for
// others.
func New(c Config, input graph.Input, labels int) (*Net, error) {
	return Make(c, input, ChainOutput(labels, c.Edges))
}

// Make makes the network that c chooses: a preset, a stack, or a registered network.
func Make(c Config, input graph.Input, out Output) (*Net, error) {
	c, err := c.ResolveFor(input, out)
	if err != nil {
		return nil, err
	}
	if o, ok := findOwn(c.Net); ok {
		return o.build(c, input, out)
	}
	n, err := c.build(input, out)
	if err == nil {
		n.sums = n.rowSums(c, out)
	}
	return n, err
}

// build makes the preset or stack that c, which is resolved, chooses.
func (c Config) build(input graph.Input, out Output) (*Net, error) {
	switch out.scores() {
	case scoresArcs:
		return newBiaffine(c, input, out.Form)
	case scoresPairs:
		return makeMatching(c, input, out.Form)
	}
	b, err := c.body(input)
	if err != nil {
		return nil, err
	}
	if c.Net == StackNet && c.Activation != graph.ELU && !b.activation && c.EdgeUnits == 0 {
		return nil, structured.BadInput("activation %s has no effect on a stack without a layer \"activation\" that "+
			"leaves its function open", c.Activation)
	}
	if out.scores() == scoresRows {
		return Build(b.parts(c, input, out.Form), input)
	}
	return Build(b.potentials(c, out.Labels), input)
}

// ResolveFor is Resolve for a network with the given outputs.
func (c Config) ResolveFor(input graph.Input, out Output) (Config, error) {
	if err := c.checkEdges(out); err != nil {
		return c, err
	}
	c, err := c.Resolve(input)
	if _, own := findOwn(c.Net); err != nil || own {
		return c, err
	}
	if c, err = c.resolveEdges(out); err != nil {
		return c, err
	}
	kind, p := out.scores(), c.Preset()
	if out.Labels < 1 && (kind == scoresLabels || kind == scoresArcs) {
		return c, structured.BadInput("the data has %d labels; expected at least 1", out.Labels)
	}
	if what := kind.what(); !p.CanScore(what) {
		return c, structured.BadInput("net %s scores %s, not %s; expected one of %s", c.Net, p.scores(), out.name(),
			strings.Join(PresetsThat(func(p *Preset) bool { return p.CanScore(what) }), ", "))
	}
	if err := c.resolveHeads(out); err != nil {
		return c, err
	}
	if kind == scoresPairs {
		return c, c.checkMatching(input)
	}
	if p.CanRead(ReadsFeatures) && !p.CanRead(ReadsWords) && input.Dim == 0 {
		return c, structured.BadInput("net %s reads dense features of positions; the data has none", c.Net)
	}
	return c, nil
}

// resolveHeads fills in the sizes of a stack's output layer, which depends on the structure.
func (c *Config) resolveHeads(out Output) error {
	if c.Net != StackNet {
		return nil
	}
	arcs, pairs, name := out.scores() == scoresArcs, out.scores() == scoresPairs, out.name()
	switch {
	case !pairs && c.PairUnits != 0:
		return structured.BadInput("a stack that scores %s has no pair-units; one that scores matchings does", name)
	case !arcs && c.ArcUnits+c.LabelUnits != 0:
		return structured.BadInput("a stack that scores %s has no arc-units and label-units; one that scores trees does",
			name)
	case pairs:
		c.PairUnits = orElse(c.PairUnits, 64)
	case arcs:
		c.ArcUnits, c.LabelUnits = orElse(c.ArcUnits, 128), orElse(c.LabelUnits, 64)
	}
	return c.check()
}

// Preset returns the preset that c chooses; one that reads and scores nothing if the choice is open, or a registered
// network.
func (c Config) Preset() *Preset {
	p, _ := FindPreset(c.Net)
	return p
}

// body makes the layers of a preset or a stack below the output layer.
func (c Config) body(input graph.Input) (b body, err error) {
	p := c.Preset()
	if p.body != nil {
		return p.body(c, input)
	}
	layers, err := p.layers(c, input)
	if err != nil {
		return b, err
	}
	if b, err = c.stackOf("net "+c.Net, layers, input); err == nil &&
		(p.readsBeside() || p.Linear && input.Encoder != nil) {
		b.wide = input.Attributes
	}
	return b, err
}

// unknownNet refuses the name of a network that the program does not have.
func unknownNet(name string) error {
	registered, err := Registered()
	if err != nil {
		return err
	}
	return structured.BadInput("net %q is not in this program, which has %s; a network of your own is in the program "+
		"that registers it (nets.Register): use that",
		name, strings.Join(append(PresetsThat(func(*Preset) bool { return true }), registered...), ", "))
}
