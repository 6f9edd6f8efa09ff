package nets

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// characterBody is a convolution over the characters of each word, its maximum over the word, a bias and the activation
// (Chiu and Nichols 2016). The maximum comes before the activation: for increasing functions the result is the same for
// less work. For GELU and SiLU this order is the definition.
func characterBody(c Config, input graph.Input) body {
	width, units, channels := c.CharWindow, c.CharEmbed, c.CharChannels
	weight := []int{units, width * channels}
	if !smallVocabulary(input) {
		weight = []int{width * units, channels}
	}
	return body{
		width: channels,
		params: []graph.Param{{Name: "char.embed", Shape: []int{input.Characters, units}, Init: graph.Gaussian(0.5)},
			{Name: "char.weight", Shape: weight, Init: graph.Gaussian(math.Sqrt(2 / float64(width*units)))},
			{Name: "char.bias", Shape: []int{channels}}},
		build: func(g *graph.Graph) (*gorgonia.Node, error) {
			x, err := convolveCharacters(g, width, smallVocabulary(input))
			if err != nil {
				return nil, err
			}
			if x, err = g.SegmentMax(x); err != nil {
				return nil, err
			}
			if x, err = g.AddBias(x, g.Param("char.bias")); err != nil {
				return nil, err
			}
			return g.Activate(x, c.Activation)
		},
	}
}

// smallVocabulary reports whether a step has more characters than the vocabulary. Then the filters are applied to the
// vocabulary.
func smallVocabulary(input graph.Input) bool { return input.Characters <= 1024 }

func convolveCharacters(g *graph.Graph, width int, small bool) (*gorgonia.Node, error) {
	if small {
		x, err := gorgonia.Mul(g.Param("char.embed"), g.Param("char.weight"))
		if err != nil {
			return nil, err
		}
		return g.CharacterConvolution(x, width)
	}
	x, err := g.Characters(g.Param("char.embed"))
	if err != nil {
		return nil, err
	}
	if x, err = g.CharacterWindow(x, width); err != nil {
		return nil, err
	}
	return gorgonia.Mul(x, g.Param("char.weight"))
}

// bagBody sums the attributes of each position into c.AttributeUnits units.
func bagBody(c Config, input graph.Input) body {
	return body{
		width: c.AttributeUnits,
		params: []graph.Param{{Name: "attribute.embed", Shape: []int{input.Attributes, c.AttributeUnits},
			Init: graph.Gaussian(0.05)}},
		build: func(g *graph.Graph) (*gorgonia.Node, error) { return g.Bag(g.Param("attribute.embed")) },
	}
}

// ReadsCharacters reports whether the network that c chooses reads the characters of words, ReadsAttributes whether it
// reads the attributes of tokens beside words. The settings of the network may still be open.
func (c Config) ReadsCharacters() bool {
	return c.Preset().CanRead(ReadsCharacters) || c.CharChannels > 0 || c.declares("characters", "char-channels")
}

// ReadsAttributes is described with ReadsCharacters.
func (c Config) ReadsAttributes() bool {
	return c.Preset().readsBeside() || c.declares("attributes", "attribute-units")
}

// declares reports whether a stack has a layer, or a registered network a setting.
func (c Config) declares(layer, setting string) bool {
	if c.Net == StackNet {
		return c.hasLayer(layer)
	}
	has, _ := HasSetting(c.Net, setting)
	return has
}

// resolveWords checks and fills in the sizes of what reads characters and attributes.
func (c *Config) resolveWords(input graph.Input) error {
	switch {
	case c.CharChannels == 0 && c.CharEmbed+c.CharWindow != 0:
		return structured.BadInput("net %s has char-embed and char-window only with char-channels", c.Net)
	case c.CharChannels != 0 && input.Characters == 0:
		return structured.BadInput("char-channels %d: the data has no characters of words", c.CharChannels)
	case c.AttributeUnits < 0 || c.AttributeUnits > 0 && input.Attributes == 0:
		return structured.BadInput("attribute-units %d: the data has %d attributes", c.AttributeUnits, input.Attributes)
	}
	if c.CharChannels != 0 {
		c.CharEmbed, c.CharWindow = orElse(c.CharEmbed, 25), orElse(c.CharWindow, 3)
	}
	return nil
}

// resolveEmbed fills in the sizes of the embeddings.
func (c *Config) resolveEmbed(input graph.Input) error {
	given := c.Embed
	c.Embed = append([]int(nil), given...)
	for f := len(given); f < len(input.Vocab); f++ {
		size := embeddingSize(input.Vocab[f])
		if f == 0 && input.Vectors.Trained() {
			size = input.Vectors.Dim
		}
		c.Embed = append(c.Embed, size)
	}
	switch {
	case len(c.Embed) > len(input.Vocab):
		return structured.BadInput("net %s: %d embedding sizes for %d discrete inputs", c.Net, len(c.Embed), len(input.Vocab))
	case input.Vectors.Trained() && c.Embed[0] != input.Vectors.Dim:
		return structured.BadInput("net %s: an embedding of words of size %d cannot be added to vectors of size %d; leave "+
			"its size out, or freeze the vectors",
			c.Net, c.Embed[0], input.Vectors.Dim)
	}
	return nil
}

// initUnder draws the embedding of the words: zeros for those with a vector, as otherwise for the others.
func initUnder(v *graph.WordVectors, otherwise graph.Init) graph.Init {
	return func(rng *rand.Rand, shape []int, w []float32) {
		otherwise(rng, shape, w)
		size := shape[1]
		for id := range shape[0] {
			if v.Has(id) {
				clear(w[id*size : (id+1)*size])
			}
		}
	}
}

// embedParam is the parameter that Embedding looks up for a discrete input, with an embedding of the given size.
func embedParam(input graph.Input, field, size int) graph.Param {
	p := graph.Param{Name: fmt.Sprintf("embed%d", field+1), Shape: []int{input.Vocab[field], size},
		Init: graph.Gaussian(0.1)}
	if field == 0 && input.Vectors != nil {
		p.Init = initUnder(input.Vectors, p.Init)
	}
	return p
}

// embedWidth is the width of what embedding returns.
func embedWidth(input graph.Input, field, size int) int {
	if field == 0 && input.Vectors != nil && input.Vectors.Frozen {
		return size + input.Vectors.Dim
	}
	return size
}

// embedding looks up a discrete input: in its table, and the first one also among the vectors of words.
func embedding(g *graph.Graph, field int) (*gorgonia.Node, error) {
	e, err := g.Embed(g.Param(fmt.Sprintf("embed%d", field+1)), field)
	if err != nil || field > 0 || g.Input.Vectors == nil {
		return e, err
	}
	v, err := g.Vectors()
	if err != nil {
		return nil, err
	}
	if g.Input.Vectors.Frozen {
		return gorgonia.Concat(1, e, v)
	}
	return gorgonia.Add(e, v)
}
