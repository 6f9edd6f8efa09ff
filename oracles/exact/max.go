package exact

import (
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Max implements oracles.Maximiser.
func (o *Oracle) Max(θ *structured.Potentials, y []int32, value []float64) {
	o.prepareMax(θ)
	for b := range θ.Len() {
		x := exampleOf(θ, b)
		out := y[θ.Outputs[b]:θ.Outputs[b+1]]
		if !o.guard.Valid(θ, b) {
			value[b] = oracles.Refuse(out)
			continue
		}
		if x.plan.forest {
			o.forestMax(&x, out)
		} else {
			o.loopyMax(&x, out)
		}
		value[b] = θ.Score(b, out)
	}
}

// prepareMax widens the tables of typed edges.
func (o *Oracle) prepareMax(θ *structured.Potentials) {
	o.prepare(θ)
	types := o.types(θ)
	for r := range types {
		o.k.widen(o.typed(int32(2*r)), θ.Parts[1].Values[r*o.y*o.y:], o.y, o.y, o.wide, 0)
	}
	o.transpose(types)
}

// forestMax finds the best labels of a forest (Algorithm 7).
func (o *Oracle) forestMax(x *example, y []int32) {
	o.collectMax(x, nil)
	for _, s := range x.plan.steps {
		scores := o.row
		if s.parent >= 0 {
			scores = o.given(x, s, y[s.parent])
		} else {
			clear(scores)
		}
		y[s.v] = int32(o.k.argmax(o.rowOf(o.below, s.v), scores))
	}
}

// collectMax makes below [V×wide] the best score of each variable's subtree given its label. Unless messages is nil, it
// sets it to what each variable adds to its parent's row.
func (o *Oracle) collectMax(x *example, messages []float64) {
	o.below = vec.Grow(o.below, x.n*o.wide)
	o.k.widen(o.below, x.node, x.n, o.y, o.wide, minusInf)
	for k := x.n - 1; k >= 0; k-- {
		s := x.plan.steps[k]
		if s.parent < 0 {
			continue
		}
		below, parent := o.rowOf(o.below, s.v), o.rowOf(o.below, s.parent)
		if messages != nil {
			message := o.rowOf(messages, s.v)
			clear(message)
			o.raise(x, s.edge, s.table, message, below)
			for l, m := range message {
				parent[l] += m
			}
			continue
		}
		o.raise(x, s.edge, s.table, parent, below)
	}
}

// raise adds to each label of one end of an edge the maximum over the labels of the other end of scores + θ. The number
// of the table is odd if the scores are those of the second end.
func (o *Oracle) raise(x *example, edge, table int32, to, scores []float64) {
	switch {
	case x.kind == graphs.Typed:
		o.k.maxPlus(to, scores, o.typed(table), o.y)
	case x.kind == graphs.Potts:
		raisePotts(to[:o.y], scores[:o.y], float64(x.edge[edge]))
	default:
		o.k.widen(o.table, x.table(edge), o.y, o.y, o.wide, 0)
		if table&1 == 0 {
			o.k.maxPlus(to, scores, o.table, o.y)
		} else {
			o.k.maxDots(to, scores, o.table, o.y)
		}
	}
}

// raisePotts is raise for an edge that adds same if both labels are equal: of the other labels, it needs the best two.
func raisePotts(to, scores []float64, same float64) {
	best, first, second := 0, minusInf, minusInf
	for l, s := range scores {
		if s > first {
			best, first, second = l, s, first
		} else {
			second = max(second, s)
		}
	}
	for l, s := range scores {
		other := first
		if l == best {
			other = second
		}
		to[l] += max(other, s+same)
	}
}

// given returns, for the labels of variable s.v, the scores of its edge to a parent with label l. The row is valid
// until the next call.
func (o *Oracle) given(x *example, s step, l int32) []float64 {
	at, y := int(l), o.y
	switch {
	case x.kind == graphs.Typed:
		return o.typed(s.table ^ 1)[at*o.wide:][:o.wide]
	case x.kind == graphs.Potts:
		clear(o.row)
		o.row[at] = float64(x.edge[s.edge])
	case s.table&1 == 0:
		t := x.table(s.edge)
		for k := range y {
			o.row[k] = float64(t[k*y+at])
		}
	default:
		for k, t := range x.table(s.edge)[at*y:][:y] {
			o.row[k] = float64(t)
		}
	}
	return o.row
}
