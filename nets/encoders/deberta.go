package encoders

import (
	"math"
	"slices"
	"strings"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/dsp-go/dsp/nets/graph"
)

// DeBERTa (versions 2 and 3) has scores of contents and distances (He et al. 2021): queries are compared with
// embeddings of distances as keys (c2p), and keys with embeddings of distances as queries (p2c).
var debertaNames = postNorm{
	words: "embeddings.word_embeddings", places: "embeddings.position_embeddings",
	types: "embeddings.token_type_embeddings", norm: "embeddings.LayerNorm", project: "embeddings.embed_proj",
	projectFirst: true, query: "encoder.layer.#.attention.self.query_proj", key: "encoder.layer.#.attention.self.key_proj",
	value: "encoder.layer.#.attention.self.value_proj", out: "encoder.layer.#.attention.output.dense",
	outNorm: "encoder.layer.#.attention.output.LayerNorm", up: "encoder.layer.#.intermediate.dense",
	down:     "encoder.layer.#.output.dense",
	downNorm: "encoder.layer.#.output.LayerNorm",
	roots:    []string{"embeddings.", "encoder."},
	attend:   attendDeBERTa,
	declare:  declareDeBERTa,
	behind:   convolveDeBERTa,
}

const (
	debertaDistances = "encoder.rel_embeddings.weight"
	debertaNorm      = "encoder.LayerNorm"
	debertaPosKey    = "encoder.layer.#.attention.self.pos_key_proj"
	debertaPosQuery  = "encoder.layer.#.attention.self.pos_query_proj"
	debertaConv      = "encoder.conv.conv"
	debertaConvNorm  = "encoder.conv.LayerNorm"
)

// debertaConfig is what only DeBERTa has.
type debertaConfig struct {
	Relative   bool // scores depend on distances
	Keys       bool // c2p
	Queries    bool // p2c
	Shared     bool // distances are projected by the matrices of the contents
	Span       int  // half the rows of the table of distances
	Exact      int  // distances with a row of their own; 0: all up to Span
	Longest    int
	Norm       bool // of the table of distances
	Kernel     int  // width of the convolution behind the first layer, 0: none
	Activation graph.Activation
}

func readDeBERTa(c *config, f *fields) {
	readPostNorm(c, f, 1e-7)
	c.Embedding = f.size(c.Width, "embedding_size")
	c.Types = f.count(0, "type_vocab_size")
	c.Longest = f.size(512, "max_position_embeddings")
	if f.flag(true, "position_biased_input") {
		c.Places = c.Longest
	}
	if size := f.count(0, "attention_head_size"); c.Heads > 0 && size != 0 && size*c.Heads != c.Width {
		f.refuse("attention_head_size is %d; dsp knows heads whose sizes sum to hidden_size", size)
	}
	d := &debertaConfig{Relative: f.flag(false, "relative_attention"), Shared: f.flag(false, "share_att_key")}
	c.DeBERTa = d
	kinds := debertaKinds(f)
	d.Keys, d.Queries = slices.Contains(kinds, "c2p"), slices.Contains(kinds, "p2c")
	longest, buckets := -1, -1
	f.get(&longest, "max_relative_positions")
	f.get(&buckets, "position_buckets")
	if longest < 1 {
		longest = c.Longest
	}
	if longest > mostSize || buckets > mostSize {
		f.refuse("max_relative_positions is %d and position_buckets %d, expected at most %d", longest, buckets, mostSize)
	}
	if d.Span = longest; buckets > 0 {
		d.Span, d.Exact, d.Longest = buckets, buckets/2, longest
		if d.Exact < 2 || longest-1 <= d.Exact {
			f.refuse("position_buckets is %d for distances up to %d, expected 4 or more, and less than twice as many", buckets,
				longest)
		}
	}
	d.Norm = slices.ContainsFunc(strings.Split(strings.ToLower(f.word("none", "norm_rel_ebd")), "|"), func(s string) bool {
		return strings.TrimSpace(s) == "layer_norm"
	})
	if d.Kernel = f.count(0, "conv_kernel_size"); d.Kernel > 0 {
		d.Activation = graph.Tanh
		if f.word("", "conv_act") != "" {
			d.Activation = f.activation("conv_act")
		}
		if groups := f.count(1, "conv_groups"); d.Kernel%2 == 0 || groups != 1 {
			f.refuse("a convolution of width %d in %d groups; dsp knows odd widths and one group", d.Kernel, groups)
		}
	}
}

// debertaKinds reads pos_att_type, a list or a text as "c2p|p2c".
func debertaKinds(f *fields) []string {
	var kinds []string
	if raw := f.values["pos_att_type"]; len(raw) > 0 && raw[0] == '"' {
		for kind := range strings.SplitSeq(f.word("", "pos_att_type"), "|") {
			kinds = append(kinds, strings.ToLower(strings.TrimSpace(kind)))
		}
		return slices.DeleteFunc(kinds, func(s string) bool { return s == "" })
	}
	f.get(&kinds, "pos_att_type")
	for _, kind := range kinds {
		f.must("pos_att_type", kind, "c2p", "p2c")
	}
	return kinds
}

func declareDeBERTa(d *declaration) {
	c := d.DeBERTa
	if c.Relative {
		d.add(debertaDistances, 2*c.Span, d.Width)
	}
	if c.Norm {
		d.norm(debertaNorm, d.Width, true)
	}
	for i := range d.Layers {
		if c.Relative && !c.Shared && c.Keys {
			d.linear(layer(debertaPosKey, i), d.Width, d.Width, true)
		}
		if c.Relative && !c.Shared && c.Queries {
			d.linear(layer(debertaPosQuery, i), d.Width, d.Width, true)
		}
	}
	if c.Kernel > 0 {
		d.add(debertaConv+".weight", d.Width, d.Width, c.Kernel)
		d.add(debertaConv+".bias", d.Width)
		d.norm(debertaConvNorm, d.Width, true)
	}
}

func attendDeBERTa(names *postNorm, b *building, x *gorgonia.Node, i int) *gorgonia.Node {
	c, terms := b.c.DeBERTa, 1
	for _, there := range []bool{c.Keys, c.Queries} {
		if there {
			terms++
		}
	}
	var o graph.Related
	o.Heads, o.Scale = b.c.Heads, float32(1/math.Sqrt(float64(b.c.Width/b.c.Heads*terms)))
	var keys, queries *gorgonia.Node
	if c.Relative {
		o.Buckets = graph.Buckets{Count: 2 * c.Span, Exact: c.Exact, Longest: c.Longest}
		distances := b.Param(debertaDistances)
		if c.Norm {
			distances = b.norm(distances, debertaNorm)
		}
		ofKeys, ofQueries := debertaPosKey, debertaPosQuery
		if c.Shared {
			ofKeys, ofQueries = names.key, names.query
		}
		if c.Keys {
			keys = b.linear(distances, layer(ofKeys, i))
		}
		if c.Queries {
			queries = b.linear(distances, layer(ofQueries, i))
		}
	}
	return node(b.RelatedAttention(o, names.joined(b, x, i), nil, keys, queries))
}

// convolveDeBERTa adds a convolution of the embeddings, which are below it, to the result of the first layer, if the
// encoder has one.
func convolveDeBERTa(b *building, below, x *gorgonia.Node, i int) *gorgonia.Node {
	c, w := b.c.DeBERTa, b.c.Width
	if i > 0 || c.Kernel == 0 {
		return x
	}
	kernel := node(gorgonia.Transpose(b.Param(debertaConv+".weight"), 2, 1, 0)) // [width of the kernel × in × out]
	kernel = node(gorgonia.Reshape(kernel, tensor.Shape{c.Kernel * w, w}))
	y := node(b.Dense(node(b.Window(below, c.Kernel)), kernel, b.Param(debertaConv+".bias")))
	return b.norm(node(gorgonia.Add(x, node(b.Activate(y, c.Activation)))), debertaConvNorm)
}
