package onnx

import (
	"github.com/dsp-go/dsp/models/exchange/onnx/format"
	"github.com/dsp-go/dsp/structured/chains"
)

// chain holds the potentials of chains: node [B×T×Y], and edge [Y×Y] or, per position, [B×T×Y×Y], where entry t is the
// step into position t. Forbidden labels and steps are −∞.
type chain struct {
	*inputs
	labels      int
	node, edge  string
	perPosition bool
}

// newChain applies constraints to potentials. An empty edge is zero.
func newChain(in *inputs, labels int, node, edge string, perPosition bool, c *chains.Constraints) *chain {
	k := &chain{inputs: in, labels: labels, node: node, edge: edge, perPosition: perPosition}
	if edge == "" {
		k.edge, k.perPosition = in.floats("no_edges", make([]float32, labels*labels), labels, labels), false
	}
	if k.perPosition {
		k.edge = in.padded(k.edge, labels, labels)
	} else {
		k.edge = in.reshape(k.edge, labels, labels)
	}
	if c == nil {
		return k
	}
	never := in.float(minusInf)
	if c.Start != nil {
		first := in.of("Unsqueeze", in.of("Equal", in.positions(), in.int(0)), in.ints(1))
		k.node = in.of("Where", in.of("And", first, in.bools(c.Start, labels)), never, k.node)
	}
	if c.End != nil {
		last := in.of("Unsqueeze", in.last(), in.ints(2))
		k.node = in.of("Where", in.of("And", last, in.bools(c.End, labels)), never, k.node)
	}
	if c.Transition != nil {
		k.edge = in.of("Where", in.bools(c.Transition, labels, labels), never, k.edge)
	}
	return k
}

// reversed returns the edges with the label that a step goes to first: [Y×Y] or [B×T×Y×Y].
func (c *chain) reversed() string {
	return c.once("reversed edges", func() string {
		if c.perPosition {
			return c.transpose(c.edge, 0, 1, 3, 2)
		}
		return c.transpose(c.edge, 1, 0)
	})
}

// rebase is after how many positions the scores of paths are shifted, as in oracles/chain/viterbi.go: so labels that
// tie there tie here.
const rebase = 64

// best returns the best labels [B×T], −1 behind the end of an example, and their score [B] (Viterbi 1967). Ties go to
// the smaller label, from the last position back.
func (c *chain) best() (labels, score string) {
	δ := c.forward()
	path := c.backward(δ)
	return c.of("Where", c.alive(), path, c.int(-1)), c.score(path)
}

// forward returns δ [B×T×Y], the best scores of paths that end with each label at each position: δ_t(j) = node_t(j) +
// max_i (δ_{t−1}(i) + edge_t(i, j)).
func (c *chain) forward() string {
	loop := newLoop(c.builder)
	before := loop.state("delta", format.Float, c.zeros(c.labels))
	node := loop.each("node", format.Float, c.node, false)
	first := loop.each("first", format.Bool, c.firsts(), false)
	edge := c.reversed()
	if c.perPosition {
		edge = loop.each("edge", format.Float, edge, false)
	}
	due := c.of("And", c.of("Equal", c.of("Mod", c.positions(), c.int(rebase)), c.int(0)),
		c.of("Greater", c.positions(), c.int(0)))
	due = loop.each("rebase", format.Bool, c.of("Unsqueeze", due, c.ints(0)), false)
	steps := loop.of("Add", loop.of("Unsqueeze", before, c.ints(1)), edge) // [B×Y to×Y from]
	next := loop.of("Add", node, loop.of("Where", first, c.float(0), loop.max(steps, -1, false)))
	top := loop.max(next, 1, true)
	shift := loop.of("And", due, loop.of("Greater", top, c.float(minusInf)))
	next = loop.of("Sub", next, loop.of("Where", shift, top, c.float(0)))
	loop.next(next)
	δ := loop.out("deltas", loop.of("Identity", next), format.Float, false)
	loop.close()
	return δ
}

// backward reads the best path [B×T] from δ, from the last position back. Behind the end of an example it means
// nothing.
func (c *chain) backward(δ string) string {
	loop := newLoop(c.builder)
	zero := c.of("Expand", c.int(0), c.slice(c.size(), 0, 0, 1))
	label := loop.state("label", format.Int64, zero)
	here := loop.each("delta", format.Float, δ, true)
	last := loop.each("last", format.Bool, c.last(), true)
	edge := c.reversed()
	if c.perPosition { // the step into the next position
		edge = loop.each("edge", format.Float, c.shifted(edge, 1, 4, c.float(0)), true)
		edge = loop.add("GatherND", []string{edge, loop.of("Unsqueeze", label, c.ints(1))}, integer("batch_dims", 1))
	} else {
		edge = loop.gather(edge, label, 0)
	}
	step := loop.of("Where", loop.of("Unsqueeze", last, c.ints(1)), c.float(0), edge)
	next := loop.add("ArgMax", []string{loop.of("Add", here, step)}, integer("axis", 1), integer("keepdims", 0))
	loop.next(next)
	path := loop.out("path", loop.of("Identity", next), format.Int64, true)
	loop.close()
	return path
}

// score returns the sum [B] of the potentials along the path, added in float64.
func (c *chain) score(path string) string {
	at := c.of("Unsqueeze", path, c.ints(2))
	node := c.of("Squeeze", c.add("GatherElements", []string{c.node, at}, integer("axis", 2)), c.ints(2))
	to := c.slice(path, 1, 1, open)
	step := c.of("Add", c.of("Mul", c.slice(path, 1, 0, -1), c.int(c.labels)), to)
	var edge string
	if c.perPosition {
		all := c.slice(c.padded(c.edge, c.labels*c.labels), 1, 1, open)
		edge = c.add("GatherElements", []string{all, c.of("Unsqueeze", step, c.ints(2))}, integer("axis", 2))
		edge = c.of("Squeeze", edge, c.ints(2))
	} else {
		edge = c.gather(c.reshape(c.edge, -1), step, 0)
	}
	total := func(x, alive string) string {
		return c.sum(c.cast(c.of("Where", alive, x, c.float(0)), format.Double), 1)
	}
	sum := c.of("Add", total(node, c.alive()), total(edge, c.slice(c.alive(), 1, 1, open)))
	return c.cast(sum, format.Float)
}
