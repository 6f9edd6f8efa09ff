package exact

import (
	"math"

	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// logs is the scratch memory of sums in logarithms.
type logs struct {
	ready         bool         // tables hold those of the batch
	tables        []float64    // [2·types × y × wide] like Oracle.tables, over μ
	table         [2][]float64 // [y×wide] the same for an edge that is not typed
	sums          []float64    // [types × y × wide] marginals of pairs
	p             []float64    // [V×wide] marginals of labels
	h, rows, cols []float64    // [wide]
}

// logExp is forestExp in logarithms, for potentials whose exponentials span too much: an exponential for every pair of
// labels, up and down. below becomes the logarithm of the sum over each variable's subtree given its label, and above
// that of the message to the parent.
func (o *Oracle) logExp(x *example, μ float64, node, edge []float32) float64 {
	g := &o.logs
	o.below, o.above = vec.Grow(o.below, x.n*o.wide), vec.Grow(o.above, x.n*o.wide)
	g.rows, g.cols, g.h = vec.Grow(g.rows, o.wide+o.k.lanes), vec.Grow(g.cols, o.wide), vec.Grow(g.h, o.wide)
	o.k.widen(o.below, x.node, x.n, o.y, o.wide, minusInf)
	over(o.below, μ)
	for k := x.n - 1; k >= 0; k-- {
		s := x.plan.steps[k]
		if s.parent < 0 {
			continue
		}
		below, above, parent := o.rowOf(o.below, s.v), o.rowOf(o.above, s.v), o.rowOf(o.below, s.parent)
		table := o.logTable(x, s, s.table, μ)
		clear(above)
		o.k.maxPlus(above, below, table, o.y)
		o.k.expSums(g.cols, below, table, above, o.y)
		for l := range above[:o.y] {
			if above[l] > minusInf {
				above[l] += math.Log(g.cols[l])
			}
			parent[l] += above[l]
		}
	}
	total := 0.0
	for _, s := range x.plan.steps {
		if s.parent < 0 {
			total += logSum(o.rowOf(o.below, s.v))
		}
	}
	if node != nil && !math.IsInf(total, -1) {
		o.spread(x, μ, node, edge)
	}
	return μ * total
}

// over divides by μ.
func over(x []float64, μ float64) {
	for i := range x {
		x[i] /= μ
	}
}

// logTable returns potentials over μ: with an even number those whose rows are labels of the first end, with an odd one
// those whose rows are labels of the second end.
func (o *Oracle) logTable(x *example, s step, number int32, μ float64) []float64 {
	g, size := &o.logs, o.y*o.wide
	if x.kind == graphs.Typed {
		if types := int32(len(o.tables) / (2 * size)); !g.ready {
			g.tables, g.ready = vec.Grow(g.tables, len(o.tables)), true
			for r := range types {
				even, odd := g.tables[int(2*r)*size:][:size], g.tables[int(2*r+1)*size:][:size]
				o.k.widen(even, x.edge[int(r)*o.y*o.y:], o.y, o.y, o.wide, 0)
				over(even, μ)
				o.turn(odd, even)
			}
		}
		return g.tables[int(number)*size:][:size]
	}
	even := vec.Grow(g.table[0], size)
	g.table[0] = even
	if x.kind == graphs.Potts {
		clear(even)
		for l := range o.y {
			even[l*o.wide+l] = float64(x.edge[s.edge]) / μ
		}
		return even
	}
	o.k.widen(even, x.table(s.edge), o.y, o.y, o.wide, 0)
	over(even, μ)
	if number&1 == 0 {
		return even
	}
	g.table[1] = vec.Grow(g.table[1], size)
	o.turn(g.table[1], even)
	return g.table[1]
}

// spread sets the marginals, from the roots to the leaves: P(k, l) = P_parent(l)·exp(below(k) + θ(k, l)/μ − above(l)).
func (o *Oracle) spread(x *example, μ float64, node, edge []float32) {
	g, y, size := &o.logs, o.y, o.y*o.wide
	g.p = vec.Grow(g.p, x.n*o.wide)
	if x.kind == graphs.Typed {
		g.sums = vec.Grow(g.sums, len(o.tables)/2)
		clear(g.sums)
	} else {
		g.sums = vec.Grow(g.sums, size)
	}
	for _, s := range x.plan.steps {
		below, p := o.rowOf(o.below, s.v), o.rowOf(g.p, s.v)
		if s.parent < 0 {
			z := logSum(below)
			for l, b := range below {
				p[l] = math.Exp(b - z)
			}
		} else {
			o.logPairs(x, s, μ, below, p, edge)
		}
		for l := range y {
			node[int(s.v)*y+l] = float32(p[l])
		}
	}
	if x.kind == graphs.Typed {
		for t := range len(g.sums) / size {
			o.narrow(edge[t*y*y:], g.sums[t*size:])
		}
	}
}

// logPairs sets p to the marginals of variable s.v and adds or sets those of the edge to its parent.
func (o *Oracle) logPairs(x *example, s step, μ float64, below, p []float64, edge []float32) {
	g, size := &o.logs, o.y*o.wide
	above := o.rowOf(o.above, s.v)
	for l, q := range o.rowOf(g.p, s.parent) {
		if g.h[l] = minusInf; q > 0 {
			g.h[l] = math.Log(q) - above[l]
		}
	}
	to := g.sums[:size]
	if x.kind == graphs.Typed {
		to = g.sums[int(s.table/2)*size:][:size]
	} else {
		clear(to)
	}
	table := o.logTable(x, s, s.table&^1, μ)
	if s.table&1 == 0 {
		o.k.jointExps(to, g.rows, g.cols, below, g.h, table, o.y)
		copy(p, g.rows)
	} else {
		o.k.jointExps(to, g.rows, g.cols, g.h, below, table, o.y)
		copy(p, g.cols)
	}
	switch x.kind {
	case graphs.Potts:
		same := 0.0
		for l := range o.y {
			same += to[l*o.wide+l]
		}
		edge[s.edge] = float32(same)
	case graphs.Own:
		o.narrow(edge[int(s.edge)*o.y*o.y:], to)
	}
}

// narrow copies a table.
func (o *Oracle) narrow(to []float32, table []float64) {
	for k := range o.y {
		for l, p := range table[k*o.wide:][:o.y] {
			to[k*o.y+l] = float32(p)
		}
	}
}

// logSum returns log Σ exp(x).
func logSum(xs []float64) float64 {
	most := highest(xs)
	if math.IsInf(most, -1) {
		return most
	}
	s := 0.0
	for _, x := range xs {
		s += math.Exp(x - most)
	}
	return most + math.Log(s)
}
