package encoders

import (
	"gorgonia.org/gorgonia"
)

// postNorm are the names of tensors in families whose blocks have their layer norms behind the additions, as in the
// first transformer (Vaswani et al. 2017; Devlin et al. 2019): y = norm(x + attention(x)), norm(y +
// dense₂(f(dense₁(y)))). # stands for the number of a layer.
type postNorm struct {
	words, places, types, norm, project string
	query, key, value, out, outNorm     string
	up, down, downNorm                  string
	roots                               []string
	projectFirst                        bool // the projection, without bias, comes before the layer norm of embeddings

	// What a family has of its own: parameters, the attention of layer i over x, and what follows layer i, from the
	// embeddings and the result x. declare and behind may be nil.
	declare func(d *declaration)
	attend  func(names *postNorm, b *building, x *gorgonia.Node, i int) *gorgonia.Node
	behind  func(b *building, embeddings, x *gorgonia.Node, i int) *gorgonia.Node
}

var bertNames = postNorm{
	words: "embeddings.word_embeddings", places: "embeddings.position_embeddings",
	types: "embeddings.token_type_embeddings", norm: "embeddings.LayerNorm", project: "embeddings_project",
	query: "encoder.layer.#.attention.self.query", key: "encoder.layer.#.attention.self.key",
	value: "encoder.layer.#.attention.self.value", out: "encoder.layer.#.attention.output.dense",
	outNorm: "encoder.layer.#.attention.output.LayerNorm", up: "encoder.layer.#.intermediate.dense",
	down:     "encoder.layer.#.output.dense",
	downNorm: "encoder.layer.#.output.LayerNorm",
	roots:    []string{"embeddings.", "embeddings_project.", "encoder."},
	attend:   attendPlainly,
}

var distilNames = postNorm{
	words: "embeddings.word_embeddings", places: "embeddings.position_embeddings", norm: "embeddings.LayerNorm",
	query: "transformer.layer.#.attention.q_lin", key: "transformer.layer.#.attention.k_lin",
	value: "transformer.layer.#.attention.v_lin", out: "transformer.layer.#.attention.out_lin",
	outNorm: "transformer.layer.#.sa_layer_norm", up: "transformer.layer.#.ffn.lin1", down: "transformer.layer.#.ffn.lin2",
	downNorm: "transformer.layer.#.output_layer_norm",
	roots:    []string{"embeddings.", "transformer."},
	attend:   attendPlainly,
}

func bertFamily(read func(c *config, f *fields)) *family { return postNormFamily(bertNames, read) }

func postNormFamily(names postNorm, read func(c *config, f *fields)) *family {
	return &family{read: read, params: names.params, states: names.states, embeddings: names.words + ".weight",
		roots:   names.roots,
		adapted: []string{names.query, names.key, names.value, names.out}}
}

// readPostNorm reads what these families have in common.
func readPostNorm(c *config, f *fields, floor float64) {
	c.Width, c.Layers, c.Heads = f.size(0, "hidden_size", "dim"), f.layers("num_hidden_layers", "n_layers"),
		f.size(0, "num_attention_heads", "n_heads")
	c.Inner, c.Vocab = f.size(0, "intermediate_size", "hidden_dim"), f.size(0, "vocab_size")
	c.Activation, c.Floor = f.activation("hidden_act", "activation"), f.number(floor, "layer_norm_eps")
	c.Embedding = c.Width
	c.Dropout, c.AttentionDropout = f.rate("hidden_dropout_prob", "dropout"),
		f.rate("attention_probs_dropout_prob", "attention_dropout")
	c.OutDropout = c.Dropout
}

// readPlaces reads the table of positions, whose first row is first.
func readPlaces(c *config, f *fields, first int) {
	f.must("position_embedding_type", f.word("absolute", "position_embedding_type"), "absolute")
	c.Places, c.First = f.size(512, "max_position_embeddings"), first
	if c.Longest = c.Places - first; c.Longest < 1 {
		f.refuse("max_position_embeddings is %d, expected more than %d", c.Places, first)
	}
}

func readBERT(c *config, f *fields) {
	readPostNorm(c, f, 1e-12)
	c.Types = f.size(2, "type_vocab_size")
	readPlaces(c, f, 0)
}

func readELECTRA(c *config, f *fields) {
	readBERT(c, f)
	c.Embedding = f.size(128, "embedding_size")
}

// readRoBERTa reads RoBERTa, whose positions count from the number of the padding piece plus one.
func readRoBERTa(c *config, f *fields) {
	readPostNorm(c, f, 1e-12)
	c.Types = f.size(2, "type_vocab_size")
	readPlaces(c, f, f.count(1, "pad_token_id")+1)
}

func readDistilBERT(c *config, f *fields) {
	readPostNorm(c, f, 1e-12)
	c.OutDropout = 0 // it has none there
	readPlaces(c, f, 0)
}

func (names postNorm) params(d *declaration) {
	d.add(names.words+".weight", d.Vocab, d.Embedding)
	if d.Places > 0 {
		d.add(names.places+".weight", d.Places, d.Embedding)
	}
	if d.Types > 0 {
		d.add(names.types+".weight", d.Types, d.Embedding)
	}
	switch {
	case names.projectFirst:
		if d.Embedding != d.Width {
			d.linear(names.project, d.Embedding, d.Width, false)
		}
		d.norm(names.norm, d.Width, true)
	default:
		d.norm(names.norm, d.Embedding, true)
		if d.Embedding != d.Width {
			d.linear(names.project, d.Embedding, d.Width, true)
		}
	}
	for i := range d.Layers {
		for _, name := range []string{names.query, names.key, names.value, names.out} {
			d.linear(layer(name, i), d.Width, d.Width, true)
		}
		d.norm(layer(names.outNorm, i), d.Width, true)
		d.linear(layer(names.up, i), d.Width, d.Inner, true)
		d.linear(layer(names.down, i), d.Inner, d.Width, true)
		d.norm(layer(names.downNorm, i), d.Width, true)
	}
	if names.declare != nil {
		names.declare(d)
	}
}

func (names postNorm) states(b *building, n int) []*gorgonia.Node {
	return b.chain(n, names.embed, names.block)
}

// block is layer i over x.
func (names postNorm) block(b *building, x *gorgonia.Node, i int) *gorgonia.Node {
	a := b.drop(b.linear(names.attend(&names, b, x, i), layer(names.out, i)), b.c.OutDropout)
	y := b.norm(node(gorgonia.Add(a, x)), layer(names.outNorm, i))
	h := node(b.Activate(b.linear(y, layer(names.up, i)), b.c.Activation))
	h = b.drop(b.linear(h, layer(names.down, i)), b.c.Dropout)
	z := b.norm(node(gorgonia.Add(h, y)), layer(names.downNorm, i))
	if names.behind != nil {
		return names.behind(b, x, z, i)
	}
	return z
}

// embed adds up the embeddings of pieces, places and the first segment.
func (names postNorm) embed(b *building) *gorgonia.Node {
	x := b.embed(names.words + ".weight")
	if b.c.Places > 0 {
		x = node(gorgonia.Add(x, node(b.Places(b.Param(names.places+".weight"), b.c.First))))
	}
	if b.c.Types > 0 {
		x = node(b.AddBias(x, node(gorgonia.Slice(b.Param(names.types+".weight"), gorgonia.S(0)))))
	}
	if names.projectFirst {
		return b.drop(b.norm(names.projected(b, x), names.norm), b.c.Dropout)
	}
	return names.projected(b, b.drop(b.norm(x, names.norm), b.c.Dropout))
}

// projected brings embeddings to the width of hidden states.
func (names postNorm) projected(b *building, x *gorgonia.Node) *gorgonia.Node {
	if b.c.Embedding == b.c.Width {
		return x
	}
	return b.linear(x, names.project)
}

// joined are the queries, keys and values of layer i, side by side.
func (names postNorm) joined(b *building, x *gorgonia.Node, i int) *gorgonia.Node {
	q, k, v := b.linear(x, layer(names.query, i)), b.linear(x, layer(names.key, i)), b.linear(x, layer(names.value, i))
	return node(gorgonia.Concat(1, q, k, v))
}

func attendPlainly(names *postNorm, b *building, x *gorgonia.Node, i int) *gorgonia.Node {
	return node(b.SelfAttention(names.joined(b, x, i), b.c.Heads))
}
