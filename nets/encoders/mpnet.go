package encoders

import (
	"math"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/nets/graph"
)

// MPNet is BERT with a bias of scores for each head and bucket of distances, shared by all layers (Song et al. 2020).
var mpnetNames = postNorm{
	words: "embeddings.word_embeddings", places: "embeddings.position_embeddings", norm: "embeddings.LayerNorm",
	query: "encoder.layer.#.attention.attn.q", key: "encoder.layer.#.attention.attn.k",
	value: "encoder.layer.#.attention.attn.v", out: "encoder.layer.#.attention.attn.o",
	outNorm: "encoder.layer.#.attention.LayerNorm", up: "encoder.layer.#.intermediate.dense",
	down:     "encoder.layer.#.output.dense",
	downNorm: "encoder.layer.#.output.LayerNorm",
	roots:    []string{"embeddings.", "encoder."},
	attend:   attendMPNet,
	declare:  func(d *declaration) { d.add(mpnetBias, d.MPNet.Buckets, d.Heads) },
}

const mpnetBias = "encoder.relative_attention_bias.weight"

// mpnetConfig is what only MPNet has.
type mpnetConfig struct{ Buckets int }

func readMPNet(c *config, f *fields) {
	readPostNorm(c, f, 1e-12)
	readPlaces(c, f, 2) // the padding piece is number 1, whatever config.json says
	c.MPNet = &mpnetConfig{f.size(32, "relative_attention_num_buckets")}
	if c.MPNet.Buckets%4 != 0 {
		f.refuse("relative_attention_num_buckets is %d, expected a multiple of 4", c.MPNet.Buckets)
	}
}

func attendMPNet(names *postNorm, b *building, x *gorgonia.Node, i int) *gorgonia.Node {
	o := graph.Related{Buckets: graph.Buckets{Count: b.c.MPNet.Buckets, Exact: b.c.MPNet.Buckets / 4,
		Longest: 128, Mirrored: true}}
	o.Heads, o.Scale = b.c.Heads, float32(1/math.Sqrt(float64(b.c.Width/b.c.Heads)))
	return node(b.RelatedAttention(o, names.joined(b, x, i), b.Param(mpnetBias), nil, nil))
}
