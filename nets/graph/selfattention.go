package graph

import (
	"fmt"
	"math"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Attention is self-attention within each example: from queries, keys and values q, k and v [Rows×H·E] in H heads it
// computes softmax(Q·Kᵀ/√E)·V [Rows×H·E] for each example and head (see the op Attention). Padding rows get zeros.
// SelfAttention saves a copy if one matrix product computes all three.
func (g *Graph) Attention(q, k, v *gorgonia.Node, heads int) (*gorgonia.Node, error) {
	if s := q.Shape(); len(s) != 2 || !sameShape(s, k.Shape()) || !sameShape(s, v.Shape()) {
		return nil, fmt.Errorf("nets: Attention of queries %v, keys %v and values %v: expected three matrices [%d×heads·E]",
			s, k.Shape(), v.Shape(), g.Rows)
	}
	x, err := gorgonia.Concat(1, q, k, v)
	if err != nil {
		return nil, err
	}
	return g.SelfAttention(x, heads)
}

// SelfAttention is Attention of the columns of x [Rows×3·H·E]: queries, keys, values.
func (g *Graph) SelfAttention(x *gorgonia.Node, heads int) (*gorgonia.Node, error) {
	s := x.Shape()
	if len(s) != 2 || s[0] != g.Rows || heads < 1 || s[1]%(3*heads) != 0 {
		return nil, fmt.Errorf("nets: attention of %d heads over %v: expected [%d×3·heads·E]", heads, s, g.Rows)
	}
	o := Attention{heads, s[1] / (3 * heads)}
	wide, narrow := s.Clone(), tensor.Shape{g.Rows, o.width()}
	op := &fusedOp{name: o.String(), out: narrow,
		eval: func(args [][]float64, out []float64) {
			g.eachQuery(o, args[0], func(h headTerms) {
				for j, p := range h.p {
					for e := range o.Size {
						out[h.out+e] += p * args[0][h.value(j)+e]
					}
				}
			})
		},
		lowered: func(b *builder, args []*value) *value { return b.add(o, narrow, args[0]) },
	}
	op.pull = func(in gorgonia.Nodes, _, grad *gorgonia.Node) (gorgonia.Nodes, error) {
		back := &fusedOp{name: AttentionPull{o}.String(), out: wide,
			eval:    func(args [][]float64, out []float64) { g.evalPull(o, args[0], args[1], out) },
			lowered: func(b *builder, args []*value) *value { return b.add(AttentionPull{o}, wide, args...) },
		}
		n, err := back.apply(in[0], grad)
		return gorgonia.Nodes{n}, err
	}
	return op.apply(x)
}

// evalPull computes the pullback for Gorgonia's machines.
func (g *Graph) evalPull(o Attention, x, grad, out []float64) {
	scale := 1 / math.Sqrt(float64(o.Size))
	g.eachQuery(o, x, func(h headTerms) {
		G, mean := make([]float64, len(h.p)), 0.0
		for j, p := range h.p {
			for e := range o.Size {
				G[j] += grad[h.out+e] * x[h.value(j)+e]
				out[h.value(j)+e] += p * grad[h.out+e]
			}
			mean += p * G[j]
		}
		for j, p := range h.p {
			d := p * (G[j] - mean) * scale
			for e := range o.Size {
				out[h.query+e] += d * x[h.key(j)+e]
				out[h.key(j)+e] += d * x[h.query+e]
			}
		}
	})
}

// headTerms is what one row of one head attends to.
type headTerms struct {
	p                 []float64 // probabilities of the rows of the example
	query, out        int       // where the query starts, and the result
	first, row, width int       // the query of the first row; distance of rows; distance of queries, keys and values
}

func (h headTerms) key(j int) int   { return h.first + j*h.row + h.width }
func (h headTerms) value(j int) int { return h.first + j*h.row + 2*h.width }

// eachQuery visits each row and head, for Gorgonia's machines.
func (g *Graph) eachQuery(o Attention, x []float64, visit func(h headTerms)) {
	w := o.width()
	g.eachRow(func(row, t int) {
		n := t + 1
		for b := range len(g.offsets) - 1 {
			if row >= g.offsets[b] && row < g.offsets[b+1] {
				n = g.offsets[b+1] - g.offsets[b]
			}
		}
		for k := range o.Heads {
			h := headTerms{make([]float64, n), row*3*w + k*o.Size, row*w + k*o.Size, (row-t)*3*w + k*o.Size, 3 * w, w}
			sum := 0.0
			for j := range h.p {
				for e := range o.Size {
					h.p[j] += x[h.query+e] * x[h.key(j)+e]
				}
				h.p[j] = math.Exp(h.p[j] / math.Sqrt(float64(o.Size)))
				sum += h.p[j]
			}
			for j := range h.p {
				h.p[j] /= sum
			}
			visit(h)
		}
	})
}
