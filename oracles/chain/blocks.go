package chain

import (
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// blocks are the recurrences of second-order chains over states (i,j), pairs of labels that may follow each other. With
// θ_t(i,j) = node_t(j) + edge(i,j) they are those of chains,
//
//	δ_t(j,k) = θ_t(j,k) + max_i (δ_{t−1}(i,j) + triple(i,j,k)),   δ_1(j,k) = θ_1(j,k) + node_0(j),
//
// and likewise with sums. For each label j in the middle this is a product with a matrix, block j: from the states that
// end in j to those that begin with j. The latter lie one after another in a row of states; the former are gathered.
type blocks struct {
	k     *kernels
	steps *chains.Steps
	θ     chains.Potentials

	width  int       // length of a row of states: the blocks' strides
	size   []int     // [Y] states that begin with j or end in it, whichever are more
	stride []int     // [Y] size, rounded up to whole vectors
	base   []int     // [Y] where the states that begin with j lie in a row
	block  []int     // [Y] where block j [size×stride] lies
	before [][]int32 // [Y] where the states (i,j) lie in a row, by i
	at     []int32   // [pairs] where a pair lies in a row
	second []int32   // [pairs] its second label
	triple []int32   // [triples] where a triple lies in the blocks
	middle [][]int32 // [Y] the triples with label j in the middle
	edge   []float32 // the blocks: 0 where a triple has no score, −∞ where there is no triple
	span   bounds    // of the blocks

	node   []float32 // [T×width] θ_t; at position 0 scores of labels
	δ      []float32 // [T×width]
	most   int       // largest stride
	prev   []float32 // [most]
	shared []float32 // [width] edge potentials of pairs, −∞ elsewhere

	single blockSums[float32]
	double blockSums[float64]
	first  []float64 // [Y] exp((node_0 − top)/μ)
	wide   []float32 // rows of states for rounding
}

// begin starts a batch.
func (c *blocks) begin(k *kernels, θ *structured.Potentials) {
	steps := θ.Structure.(chains.Second).Steps
	c.θ = chains.Of(θ)
	if c.steps != steps || c.k != k {
		*c = blocks{k: k, steps: steps, θ: c.θ}
		c.arrange()
	}
	for t, at := range c.triple {
		c.edge[at] = θ.Parts[2].Values[t]
	}
	for p, at := range c.at {
		c.shared[at] = c.θ.Edge[steps.Pairs[p]]
	}
	c.span = k.bounds(c.edge)
}

// arrange lays out states and blocks.
func (c *blocks) arrange() {
	y := c.steps.Labels
	c.before, c.middle, c.size = make([][]int32, y), make([][]int32, y), make([]int, y)
	ends := make([]int, y)
	for _, pair := range c.steps.Pairs {
		ends[int(pair)%y]++
	}
	area := 0
	for j := range y {
		c.size[j] = max(ends[j], c.steps.First[j+1]-c.steps.First[j])
		c.stride = append(c.stride, roundUp(c.size[j], c.k.lanes))
		c.base, c.block = append(c.base, c.width), append(c.block, area)
		c.width, area, c.most = c.width+c.stride[j], area+c.size[j]*c.stride[j], max(c.most, c.stride[j])
	}
	c.prev, c.shared, c.edge = make([]float32, c.most), make([]float32, c.width), make([]float32, area)
	for k := range c.shared {
		c.shared[k] = minusInf
	}
	for k := range c.edge {
		c.edge[k] = minusInf
	}
	row := make([]int, len(c.steps.Pairs)) // of the block of its second label
	for i := range y {
		for p := c.steps.First[i]; p < c.steps.First[i+1]; p++ {
			j := int(c.steps.Pairs[p]) % y
			at := int32(c.base[i] + p - c.steps.First[i])
			row[p] = len(c.before[j])
			c.at, c.second, c.before[j] = append(c.at, at), append(c.second, int32(j)), append(c.before[j], at)
		}
	}
	for p, pair := range c.steps.Pairs {
		j := int(pair) % y
		line := c.block[j] + row[p]*c.stride[j]
		for q := c.steps.First[j]; q < c.steps.First[j+1]; q++ {
			c.edge[line+q-c.steps.First[j]] = 0
		}
		for t := c.steps.Start[p]; t < c.steps.Start[p+1]; t++ {
			q := c.steps.Pair(int32(j), c.steps.Triples[t])
			if q < 0 {
				panic("chain: a triple of labels that may not follow each other")
			}
			c.middle[j] = append(c.middle[j], int32(t))
			c.triple = append(c.triple, int32(line+q-c.steps.First[j]))
		}
	}
}

// load computes θ_t of chain b, and returns its length.
func (c *blocks) load(b int) int {
	lo, y := c.θ.Offsets[b], c.θ.Y
	T := c.θ.Offsets[b+1] - lo
	c.node = vec.Grow(c.node, T*c.width)
	for t := range T {
		row, node := c.node[t*c.width:][:c.width], c.θ.Node[(lo+t)*y:][:y]
		if t == 0 {
			clear(row[copy(row, node):])
			pad(row, y)
			continue
		}
		copy(row, c.shared)
		for p, at := range c.at {
			row[at] += node[c.second[p]]
		}
	}
	return T
}

// row returns row t of a table of states.
func (c *blocks) row(x []float32, t int) []float32 { return x[t*c.width:][:c.width] }

// gather writes the entries of the states that end in label j of a block, and fills the rest of its size. It returns
// the block's size of them.
func gather[F real](c *blocks, to, x []F, j int, rest F) []F {
	to = to[:c.size[j]]
	for i, at := range c.before[j] {
		to[i] = x[at]
	}
	for i := len(c.before[j]); i < len(to); i++ {
		to[i] = rest
	}
	return to
}

// max finds the best output of chain b, whose potentials are valid. It returns false if none is allowed. Ties go as
// those of chains.
func (c *blocks) max(b int, labels []int32) bool {
	T, y := c.load(b), c.θ.Y
	if T == 0 {
		return true
	}
	if T == 1 {
		at := argmax(c.node[:y])
		labels[0] = int32(at)
		return c.node[at] > minusInf
	}
	c.δ = vec.Grow(c.δ, T*c.width)
	for t := 1; t < T; t++ {
		next, node := c.row(c.δ, t), c.row(c.node, t)
		for j := range y {
			lo, hi := c.base[j], c.base[j]+c.stride[j]
			if t == 1 {
				for k := lo; k < hi; k++ {
					next[k] = c.node[j] + node[k]
				}
				continue
			}
			c.k.maxPlus(next[lo:hi], gather(c, c.prev, c.row(c.δ, t-1), j, minusInf), c.edge[c.block[j]:], node[lo:hi], c.size[j], c.stride[j])
		}
		if t%rebase == 0 {
			subtractMax(next)
		}
	}
	last, best := c.row(c.δ, T-1), minusInf
	for p, at := range c.at { // in order of the first label
		x, pair := last[at], c.steps.Pairs[p]
		if i, j := pair/int32(y), pair%int32(y); x > best || x == best && x > minusInf && j < labels[T-1] {
			best, labels[T-2], labels[T-1] = x, i, j
		}
	}
	if best == minusInf {
		return false
	}
	for t := T - 1; t > 1; t-- {
		j := int(labels[t-1])
		k := c.steps.Pair(int32(j), labels[t]) - c.steps.First[j]
		δ, best := c.row(c.δ, t-1), minusInf
		for i, at := range c.before[j] {
			if x := δ[at] + c.edge[c.block[j]+i*c.stride[j]+k]; x > best {
				best, labels[t-2] = x, c.begins(at)
			}
		}
	}
	return true
}

// begins returns the first label of the state at a place of a row.
func (c *blocks) begins(at int32) int32 {
	i := 0
	for i+1 < len(c.base) && c.base[i+1] <= int(at) {
		i++
	}
	return int32(i)
}

// rounding bounds the rounding error of chain b: that of the chain of states, and of the sums that make its potentials.
func (c *blocks) rounding(θ *structured.Potentials, b int, μ float64) float64 {
	T, y := c.load(b), c.θ.Y
	states := max(c.width, y+len(c.at)) // blocks have as many, the Oracle of chains the latter
	c.wide = vec.Grow(c.wide, T*states)
	e := errors{k: c.k, θ: &chains.Potentials{Y: states, Node: c.wide}, y: states, n: T}
	e.edge = bounds{lo: min(c.span.lo, 0), hi: max(c.span.hi, 0)} // a label that follows none is followed at no cost
	lifting := 0.0
	path := make([]int32, T)
	for t := range T {
		row := c.wide[t*states:][:states]
		pad(row, copy(row, c.row(c.node, t)))
		e.size += oracles.Largest(row)
		if t > 0 {
			e.size += e.edge.largest()
			lifting += 2 * oracles.Single * oracles.Largest(row)
		}
		path[t] = int32(argmax(c.θ.Node[(c.θ.Offsets[b]+t)*y:][:y]))
	}
	e.node = c.k.bounds(c.wide[:T*states])
	e.greedy = θ.Score(b, path)
	of := e.ofMax
	if μ > 0 {
		of = func() float64 { return e.ofExp(μ) }
	}
	return of() + 2*lifting + 8*oracles.Double*float64(T)*e.size
}
