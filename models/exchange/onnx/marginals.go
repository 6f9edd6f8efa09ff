package onnx

import "github.com/dsp-go/dsp/models/exchange/onnx/format"

// marginals returns [B×T×Y]: the probability of each label at each position, zero behind the end of an example.
// Forward-backward runs in the log domain in float64 (Rabiner 1989):
//
//	α_t(j) = node_t(j) + log Σ_i exp(α_{t−1}(i) + edge_t(i, j)),   β_t(i) = log Σ_j exp(edge_{t+1}(i, j) + node_{t+1}(j) + β_{t+1}(j)),
//
// with β = 0 at the last position of an example; the marginals of position t are the softmax of α_t + β_t. Node and
// edge potentials are divided by the temperature of the model's probabilities.
func (c *chain) marginals(temperature float64) string {
	tempered := func(x string) string {
		if x = c.cast(x, format.Double); temperature != 1 {
			x = c.of("Div", x, c.cast(c.float(float32(temperature)), format.Double))
		}
		return x
	}
	node := tempered(c.node)
	forth, back := tempered(c.reversed()), tempered(c.edge)
	p := c.add("Softmax", []string{c.of("Add", c.alphas(node, forth), c.betas(node, back))}, integer("axis", -1))
	p = c.cast(p, format.Float)
	return c.of("Where", c.of("Unsqueeze", c.alive(), c.ints(2)), p, c.float(0))
}

func (c *chain) alphas(node, edge string) string {
	loop := newLoop(c.builder)
	none := c.cast(c.zeros(c.labels), format.Double)
	before := loop.state("alpha", format.Double, none)
	here := loop.each("node", format.Double, node, false)
	first := loop.each("first", format.Bool, c.firsts(), false)
	if c.perPosition {
		edge = loop.each("edge", format.Double, edge, false)
	}
	steps := loop.logSum(loop.of("Add", loop.of("Unsqueeze", before, c.ints(1)), edge)) // [B×Y to×Y from], over the latter
	next := loop.of("Add", here, loop.of("Where", first, none, steps))
	loop.next(next)
	all := loop.out("alphas", loop.of("Identity", next), format.Double, false)
	loop.close()
	return all
}

func (c *chain) betas(node, edge string) string {
	loop := newLoop(c.builder)
	none := c.cast(c.zeros(c.labels), format.Double)
	after := loop.state("beta", format.Double, none) // of the next position, plus its node potentials
	here := loop.each("node", format.Double, node, true)
	last := loop.each("last", format.Bool, c.last(), true)
	if c.perPosition {
		zero := c.cast(c.float(0), format.Double)
		edge = loop.each("edge", format.Double, c.shifted(edge, 1, 4, zero), true)
	}
	steps := loop.logSum(loop.of("Add", loop.of("Unsqueeze", after, c.ints(1)), edge)) // [B×Y from×Y to], over the latter
	β := loop.of("Where", loop.of("Unsqueeze", last, c.ints(1)), none, steps)
	loop.next(loop.of("Add", here, β))
	all := loop.out("betas", β, format.Double, true)
	loop.close()
	return all
}

// logSum returns log Σ exp(x) along the last axis.
func (l *loop) logSum(x string) string {
	return l.add("ReduceLogSumExp", []string{x, l.ints(-1)}, integer("keepdims", 0))
}
