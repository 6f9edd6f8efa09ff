package nets

import (
	"slices"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// Config chooses a preset network and its sizes. Resolve fills in what is left out.
type Config struct {
	Net        string     `yaml:"net" json:"net"`                                     // linear, mlp, cnn, cnn-image, embed, rnn, attention or biaffine
	Hidden     []int      `yaml:"hidden,omitempty" json:"hidden,omitempty"`           // units of each dense hidden layer
	Activation Activation `yaml:"activation,omitempty" json:"activation,omitempty"`   // elu, tanh, relu, gelu, silu or sigmoid
	Window     int        `yaml:"window,omitempty" json:"window,omitempty"`           // positions that a window spans, odd
	Channels   []int      `yaml:"channels,omitempty" json:"channels,omitempty"`       // of each convolution
	Recurrent  []int      `yaml:"recurrent,omitempty" json:"recurrent,omitempty"`     // units in each direction of each recurrent layer, for rnn and biaffine
	Layers     int        `yaml:"layers,omitempty" json:"layers,omitempty"`           // blocks of attention, for attention and biaffine
	Heads      int        `yaml:"heads,omitempty" json:"heads,omitempty"`             // of each block
	BlockUnits int        `yaml:"block-units,omitempty" json:"block-units,omitempty"` // units of the wide dense layer of each block
	Embed      []int      `yaml:"embed,omitempty" json:"embed,omitempty"`             // embedding size of each discrete input
	Dropout    float64    `yaml:"dropout,omitempty" json:"dropout,omitempty"`         // probability to drop a unit in training
	Edges      string     `yaml:"edges,omitempty" json:"edges,omitempty"`             // transition, position or none; chains only
	ArcUnits   int        `yaml:"arc-units,omitempty" json:"arc-units,omitempty"`     // of the representations that score arcs, for biaffine
	LabelUnits int        `yaml:"label-units,omitempty" json:"label-units,omitempty"` // of the representations that score relations, for biaffine
}

// The kinds of edge potentials.
const (
	EdgesTransition = "transition" // one learned matrix, and learned scores of starting and ending with each label
	EdgesPosition   = "position"   // one matrix per position, linear in the last layer
	EdgesNone       = "none"       // zero: positions are independent
)

// Nets lists the presets. All but biaffine score chains.
var Nets = append(slices.Clone(chainNets), "biaffine")

var chainNets = []string{"linear", "mlp", "cnn", "cnn-image", "embed", "rnn", "attention"}

// The size of the images that cnn-image reads. The features of a position are one image, row by row.
const (
	ImageHeight = 16
	ImageWidth  = 8
)

// Resolve checks c for inputs of the given shape and fills in the defaults, so that the result is complete. Net cnn becomes
// cnn-image if the features are 16×8 images; an empty Net becomes linear.
func (c Config) Resolve(input Input) (Config, error) {
	image := input.Dim == ImageHeight*ImageWidth
	if c.Net == "" {
		c.Net = "linear"
	}
	if c.Net == "cnn" && image {
		c.Net = "cnn-image"
	}
	switch c.Net {
	case "linear":
		c.Window = orElse(c.Window, 1)
		if len(c.Hidden) > 0 {
			return c, structured.BadInput("net linear has no hidden layers; use mlp")
		}
	case "mlp":
		c.Window = orElse(c.Window, 1)
		c.Hidden = orDefault(c.Hidden, 128)
	case "cnn":
		c.Window = orElse(c.Window, 3)
		c.Channels = orDefault(c.Channels, 128)
	case "cnn-image":
		if !image {
			return c, structured.BadInput("net cnn-image reads %d×%d images (%d features per position), the data has %d; use cnn for windows of positions",
				ImageHeight, ImageWidth, ImageHeight*ImageWidth, input.Dim)
		}
		c.Channels = orDefault(c.Channels, 16)
		c.Hidden = orDefault(c.Hidden, 64)
		if len(c.Channels) > 3 {
			return c, structured.BadInput("net cnn-image halves the image with each convolution, so at most 3 fit; the configuration has %d", len(c.Channels))
		}
	case "embed":
		c.Window = orElse(c.Window, 5)
		c.Channels = orDefault(c.Channels, 128)
		if len(input.Vocab) == 0 {
			return c, structured.BadInput("net embed reads discrete inputs (words); the data has none")
		}
	case "rnn":
		c.Recurrent = orDefault(c.Recurrent, 128)
		if len(input.Vocab) == 0 && input.Dim == 0 {
			return c, structured.BadInput("net rnn reads discrete inputs (words) or dense features; the data has neither")
		}
	case "attention":
		c.Window = orElse(c.Window, 3)
		c.Channels = orDefault(c.Channels, 128)
		c.Layers = orElse(c.Layers, 1)
		if len(input.Vocab) == 0 && input.Dim == 0 {
			return c, structured.BadInput("net attention reads discrete inputs (words) or dense features; the data has neither")
		}
	case "biaffine":
		c.Window = orElse(c.Window, 5)
		if len(c.Recurrent) == 0 {
			c.Channels = orDefault(c.Channels, 128, 128)
		}
		c.ArcUnits, c.LabelUnits = orElse(c.ArcUnits, 128), orElse(c.LabelUnits, 64)
		if len(input.Vocab) == 0 && input.Dim == 0 {
			return c, structured.BadInput("net biaffine reads discrete inputs (words) or dense features; the data has neither")
		}
	default:
		return c, structured.BadInput("net %q is not one of %s", c.Net, strings.Join(Nets, ", "))
	}
	if slices.Contains([]string{"embed", "rnn", "attention", "biaffine"}, c.Net) {
		for len(c.Embed) < len(input.Vocab) {
			c.Embed = append(slices.Clone(c.Embed), embeddingSize(input.Vocab[len(c.Embed)]))
		}
		if len(c.Embed) > len(input.Vocab) {
			return c, structured.BadInput("net %s: %d embedding sizes for %d discrete inputs", c.Net, len(c.Embed), len(input.Vocab))
		}
	} else if input.Dim == 0 {
		return c, structured.BadInput("net %s reads dense features; the data has none; net embed reads words", c.Net)
	}
	if c.Net != "linear" && c.Activation == "" {
		c.Activation = ELU
	}
	switch {
	case c.Net != "rnn" && c.Net != "biaffine" && len(c.Recurrent) > 0:
		return c, structured.BadInput("net %s has no recurrent layers; rnn and biaffine do", c.Net)
	case c.Net == "biaffine":
		c.Edges = "" // only chains have edges
	case c.ArcUnits != 0 || c.LabelUnits != 0:
		return c, structured.BadInput("net %s has no arc-units and label-units; biaffine does", c.Net)
	case c.Edges == "":
		c.Edges = EdgesTransition
	}
	c, err := c.resolveAttention()
	if err != nil {
		return c, err
	}
	return c, c.check()
}

func (c Config) check() error {
	if c.Activation != "" {
		if err := c.Activation.check(); err != nil {
			return structured.BadInput("%w", err)
		}
	}
	if c.Net != "biaffine" && !slices.Contains([]string{EdgesTransition, EdgesPosition, EdgesNone}, c.Edges) {
		return structured.BadInput("edges %q is not one of transition, position, none", c.Edges)
	}
	if c.Dropout < 0 || c.Dropout >= 1 {
		return structured.BadInput("dropout %g is not in [0, 1)", c.Dropout)
	}
	if c.Window < 0 || c.Window > 0 && c.Window%2 == 0 {
		return structured.BadInput("window %d is not odd and positive", c.Window)
	}
	sizes := slices.Concat(c.Hidden, c.Channels, c.Recurrent, c.Embed)
	if c.Net == "biaffine" {
		sizes = append(sizes, c.ArcUnits, c.LabelUnits)
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

// embeddingSize is the default embedding size: 64 for a vocabulary of words, less for a small one such as capitalisation.
func embeddingSize(vocab int) int {
	size := 4
	for size < 64 && size*size < vocab {
		size *= 2
	}
	return size
}

// New makes a preset network that scores chains, for inputs of the given shape and a number of labels. For trees see NewBiaffine.
func New(c Config, input Input, labels int) (*Net, error) {
	c, err := c.Resolve(input)
	if err != nil {
		return nil, err
	}
	if err := c.scoresChains(); err != nil {
		return nil, err
	}
	if labels < 1 {
		return nil, structured.BadInput("the data has %d labels; expected at least 1", labels)
	}
	var b body
	switch c.Net {
	case "linear", "mlp", "cnn":
		b = featureBody(input)
	case "cnn-image":
		b = imageBody(c)
	case "embed":
		b = embedBody(c, input)
	case "rnn", "attention":
		b = wordBody(c, input)
	}
	if c.Net == "cnn" || c.Net == "embed" || c.Net == "attention" {
		b = b.convolve(c)
	} else if c.Net != "cnn-image" && c.Net != "rnn" {
		b = b.window(c.Window)
	}
	b = b.recurrences(c).attentionBlocks(c)
	b = b.hidden(c)
	return Build(b.potentials(c, labels), input)
}
