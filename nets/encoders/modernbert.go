package encoders

import (
	"encoding/json"
	"math"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/nets/graph"
)

// ModernBERT has its layer norms before attention and dense layers, rotations instead of embeddings of places, gated
// dense layers, and attention that is local in most layers (Warner et al. 2024).
var modernbertFamily = &family{
	read: readModernBERT, params: modernbertParams, states: modernbertStates,
	embeddings: modernWords, roots: []string{"embeddings.", "layers.", "final_norm."},
	adapted: []string{modernJoined, modernOut},
}

const (
	modernWords    = "embeddings.tok_embeddings.weight"
	modernNorm     = "embeddings.norm"
	modernAttnNorm = "layers.#.attn_norm"
	modernJoined   = "layers.#.attn.Wqkv"
	modernOut      = "layers.#.attn.Wo"
	modernMLPNorm  = "layers.#.mlp_norm"
	modernUp       = "layers.#.mlp.Wi"
	modernDown     = "layers.#.mlp.Wo"
	modernLast     = "final_norm"
)

// modernbertConfig is what only ModernBERT has.
type modernbertConfig struct {
	Local                        []bool  // the layers whose attention is local
	Window                       int     // how far that reaches, to each side
	Theta, LocalTheta            float64 // bases of the rotations
	NormBias, OutBias, DenseBias bool
}

func readModernBERT(c *config, f *fields) {
	c.Width, c.Layers, c.Heads = f.size(0, "hidden_size"), f.layers("num_hidden_layers"), f.size(0, "num_attention_heads")
	c.Inner, c.Vocab, c.Longest = f.size(0, "intermediate_size"), f.size(0, "vocab_size"),
		f.size(8192, "max_position_embeddings")
	c.Activation, c.Floor, c.Embedding = f.activation("hidden_activation"), f.number(1e-5, "norm_eps"), c.Width
	m := &modernbertConfig{
		Theta: f.number(160000, "global_rope_theta"), LocalTheta: f.number(10000, "local_rope_theta"),
		Window: f.size(128, "local_attention") / 2, NormBias: f.flag(false, "norm_bias"),
		OutBias: f.flag(false, "attention_bias"), DenseBias: f.flag(false, "mlp_bias"),
	}
	c.ModernBERT = m
	var types []string
	if every := f.size(3, "global_attn_every_n_layers"); !f.get(&types, "layer_types") && f.err == nil {
		for i := range c.Layers {
			types = append(types, map[bool]string{true: "full_attention", false: "sliding_attention"}[i%every == 0])
		}
	}
	if f.err == nil && len(types) != c.Layers {
		f.refuse("layer_types has %d entries for %d layers", len(types), c.Layers)
	}
	for _, kind := range types {
		f.must("layer_types", kind, "full_attention", "sliding_attention")
		m.Local = append(m.Local, kind == "sliding_attention")
	}
	var rotations map[string]json.RawMessage
	f.get(&rotations, "rope_parameters")
	for kind, theta := range map[string]*float64{"full_attention": &m.Theta, "sliding_attention": &m.LocalTheta} {
		one := struct {
			Type  string  `json:"rope_type"`
			Theta float64 `json:"rope_theta"`
		}{"default", *theta}
		if raw, ok := rotations[kind]; ok {
			if err := json.Unmarshal(raw, &one); err != nil {
				f.refuse("rope_parameters of %s: %v", kind, err)
			}
		}
		f.must("rope_type", one.Type, "default")
		if *theta = one.Theta; !(*theta > 1) {
			f.refuse("the base of rotations is %g, expected more than 1", *theta)
		}
	}
	if f.err == nil && c.Width/c.Heads%2 != 0 {
		f.refuse("heads of %d channels, expected an even number", c.Width/c.Heads)
	}
}

func modernbertParams(d *declaration) {
	m := d.ModernBERT
	d.add(modernWords, d.Vocab, d.Width)
	d.norm(modernNorm, d.Width, m.NormBias)
	for i := range d.Layers {
		if i > 0 {
			d.norm(layer(modernAttnNorm, i), d.Width, m.NormBias)
		}
		d.linear(layer(modernJoined, i), d.Width, 3*d.Width, m.OutBias)
		d.linear(layer(modernOut, i), d.Width, d.Width, m.OutBias)
		d.norm(layer(modernMLPNorm, i), d.Width, m.NormBias)
		d.linear(layer(modernUp, i), d.Width, 2*d.Inner, m.DenseBias)
		d.linear(layer(modernDown, i), d.Inner, d.Width, m.DenseBias)
	}
	d.norm(modernLast, d.Width, m.NormBias)
}

// modernbertStates adds the hidden states; the last one is normalised, as transformers has it.
func modernbertStates(b *building, n int) []*gorgonia.Node {
	return b.chain(n, func(b *building) *gorgonia.Node { return b.norm(b.embed(modernWords), modernNorm) },
		modernbertBlock)
}

// modernbertBlock is layer i over x.
func modernbertBlock(b *building, x *gorgonia.Node, i int) *gorgonia.Node {
	m, size := b.c.ModernBERT, b.c.Width/b.c.Heads
	y := x
	if i > 0 {
		y = b.norm(x, layer(modernAttnNorm, i))
	}
	y = b.linear(y, layer(modernJoined, i))
	if m.Local[i] {
		o := graph.Related{Scale: float32(1 / math.Sqrt(float64(size))), Window: m.Window}
		o.Heads = b.c.Heads
		y = node(b.RelatedAttention(o, node(b.RotateBy(y, 2*b.c.Width, size, m.LocalTheta)), nil, nil, nil))
	} else {
		y = node(b.SelfAttention(node(b.RotateBy(y, 2*b.c.Width, size, m.Theta)), b.c.Heads))
	}
	x = node(gorgonia.Add(x, b.linear(y, layer(modernOut, i))))
	y = b.linear(b.norm(x, layer(modernMLPNorm, i)), layer(modernUp, i))
	gated := node(gorgonia.Slice(y, nil, gorgonia.S(0, b.c.Inner)))
	gate := node(gorgonia.Slice(y, nil, gorgonia.S(b.c.Inner, 2*b.c.Inner)))
	y = node(gorgonia.HadamardProd(node(b.Activate(gated, b.c.Activation)), gate))
	x = node(gorgonia.Add(x, b.linear(y, layer(modernDown, i))))
	if i == b.c.Layers-1 {
		x = b.norm(x, modernLast)
	}
	return x
}
