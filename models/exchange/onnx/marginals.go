package onnx

// marginals adds an output [B×T×Y]: the probability of each label at each position, zero behind the end of an example.
// Forward-backward runs in the log domain in float64 (Rabiner 1989):
//
//	α_t(j) = node_t(j) + log Σ_i exp(α_{t−1}(i) + edge_t(i, j)),   β_t(i) = log Σ_j exp(edge_{t+1}(i, j) + node_{t+1}(j) + β_{t+1}(j)),
//
// with β = 0 at the last position of an example; the marginals of position t are the softmax of α_t + β_t. Node and
// edge potentials are divided by the temperature of the model's probabilities.
func (c *chain) marginals(name string, temperature float64) {
	tempered := func(x string) string {
		if x = c.cast(x, float64s); temperature != 1 {
			x = c.of("Div", x, c.cast(c.float(float32(temperature)), float64s))
		}
		return x
	}
	node := tempered(c.node)
	forth, back := tempered(c.reversed()), tempered(c.edge)
	p := c.add("Softmax", []string{c.of("Add", c.alphas(node, forth), c.betas(node, back))}, integer("axis", -1))
	p = c.cast(p, float32s)
	c.addAs(name, "Where", []string{c.of("Unsqueeze", c.alive(), c.ints(2)), p, c.float(0)})
}

func (c *chain) alphas(node, edge string) string {
	loop := newLoop(c.builder)
	none := c.cast(c.zeros(c.labels), float64s)
	before := loop.state("alpha", float64s, none)
	here := loop.each("node", float64s, node, false)
	first := loop.each("first", boolType, c.firsts(), false)
	if c.perPosition {
		edge = loop.each("edge", float64s, edge, false)
	}
	steps := loop.logSum(loop.of("Add", loop.of("Unsqueeze", before, c.ints(1)), edge)) // [B×Y to×Y from], over the latter
	next := loop.of("Add", here, loop.of("Where", first, none, steps))
	loop.next(next)
	all := loop.out("alphas", loop.of("Identity", next), float64s, false)
	loop.close()
	return all
}

func (c *chain) betas(node, edge string) string {
	loop := newLoop(c.builder)
	none := c.cast(c.zeros(c.labels), float64s)
	after := loop.state("beta", float64s, none) // of the next position, plus its node potentials
	here := loop.each("node", float64s, node, true)
	last := loop.each("last", boolType, c.last(), true)
	if c.perPosition {
		zero := c.cast(c.float(0), float64s)
		edge = loop.each("edge", float64s, c.shifted(edge, 1, 4, zero), true)
	}
	steps := loop.logSum(loop.of("Add", loop.of("Unsqueeze", after, c.ints(1)), edge)) // [B×Y from×Y to], over the latter
	β := loop.of("Where", loop.of("Unsqueeze", last, c.ints(1)), none, steps)
	loop.next(loop.of("Add", here, β))
	all := loop.out("betas", β, float64s, true)
	loop.close()
	return all
}

// logSum returns log Σ exp(x) along the last axis.
func (l *loop) logSum(x string) string {
	return l.add("ReduceLogSumExp", []string{x, l.ints(-1)}, integer("keepdims", 0))
}
