package graph

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Dependents copies each row of x [Rows×C] to the pairs [Pairs×C] of which it is the dependent.
func (g *Graph) Dependents(x *gorgonia.Node) (*gorgonia.Node, error) {
	g.needs.Dependents = true
	return g.spread(x, Index{Kind: IndexDependents})
}

// Heads copies each row of x [Rows×C] to the pairs [Pairs×C] of which it is the head. Pairs with the root get zeros.
func (g *Graph) Heads(x *gorgonia.Node) (*gorgonia.Node, error) {
	g.needs.Heads = true
	return g.spread(x, Index{Kind: IndexHeads})
}

// ByDistance selects by the distance from dependent to head: x [Rows×Distances·C] has C numbers for each class of
// distances, and row (d, h) of the result [Pairs×C] has those of row d for DistanceClass(h − d).
func (g *Graph) ByDistance(x *gorgonia.Node) (*gorgonia.Node, error) {
	if err := g.allPairs("ByDistance"); err != nil {
		return nil, err
	}
	s := x.Shape()
	if len(s) != 2 || s[0] != g.Rows || s[1]%Distances != 0 {
		return nil, fmt.Errorf("nets: ByDistance of %v: expected [%d×%d·C]", s, g.Rows, Distances)
	}
	classes, err := gorgonia.Reshape(x, tensor.Shape{g.Rows * Distances, s[1] / Distances})
	if err != nil {
		return nil, err
	}
	g.needs.Distances = true
	n, err := g.gather(classes, Index{Kind: IndexDistances}, g.Pairs, s[1]/Distances)
	return g.madePairs(n), err
}

// Distances is the number of classes of distances: one for the root, and on each side 1, 2, 3, 4–5, 6–8, 9–14 and
// beyond.
const Distances = 1 + 2*len(farthest)

// farthest is the largest distance of each class; the last class has no limit.
var farthest = [...]int{1, 2, 3, 5, 8, 14, 0}

// DistanceClass returns the class of a distance in positions from a dependent to its head, negative if the head comes
// first. Distance 0 stands for the root.
func DistanceClass(distance int) int {
	if distance == 0 {
		return 0
	}
	class, far := 1, max(distance, -distance)
	for class < len(farthest) && far > farthest[class-1] {
		class++
	}
	if distance < 0 {
		class += len(farthest)
	}
	return class
}

// distanceRows lists Distances·d + DistanceClass(h − d) for each pair, and −1 in padding.
func distanceRows(to []int32, offsets []int, rows int) []int32 {
	to = vec.Grow(to, rows)
	at := 0
	for b := range len(offsets) - 1 {
		for d := offsets[b]; d < offsets[b+1]; d++ {
			for h := offsets[b]; h < offsets[b+1]; h++ {
				to[at] = int32(Distances*d + DistanceClass(h-d))
				at++
			}
		}
	}
	for ; at < rows; at++ {
		to[at] = -1
	}
	return to
}

func (g *Graph) spread(x *gorgonia.Node, at Index) (*gorgonia.Node, error) {
	if err := g.allPairs("an op on dependents or heads"); err != nil {
		return nil, err
	}
	s := x.Shape()
	if len(s) != 2 || s[0] != g.Rows {
		return nil, fmt.Errorf("nets: rows of %s of %v: expected one row for each of %d positions", at, s, g.Rows)
	}
	n, err := g.gather(x, at, g.Pairs, s[1])
	return g.madePairs(n), err
}

// Bilinear scores each pair with K bilinear forms, as the op of that name says: x [Rows×K·E] belongs to dependents, z
// [Rows×E] to heads, and root [E] takes the place of z for the root. The result is [Pairs×K].
func (g *Graph) Bilinear(x, z, root *gorgonia.Node) (*gorgonia.Node, error) {
	if err := g.allPairs("Bilinear"); err != nil {
		return nil, err
	}
	sx, sz, sr := x.Shape(), z.Shape(), root.Shape()
	if len(sx) != 2 || len(sz) != 2 || len(sr) != 1 || sx[0] != g.Rows || sz[0] != g.Rows ||
		sr[0] != sz[1] || sx[1]%sz[1] != 0 {
		return nil, fmt.Errorf("nets: Bilinear of %v, %v and %v: expected [%d×K·E], [%d×E] and [E]",
			sx, sz, sr, g.Rows, g.Rows)
	}
	o := Bilinear{sx[1] / sz[1], sz[1]}
	op := &fusedOp{name: o.String(), out: tensor.Shape{g.Pairs, o.K},
		eval: func(args [][]float64, out []float64) {
			g.eachTerm(o, func(pair, k, e int, head int32, at int) {
				z := args[2][e]
				if head >= 0 {
					z = args[1][int(head)*o.E+e]
				}
				out[pair*o.K+k] += args[0][at] * z
			})
		},
		lowered: func(b *builder, args []*value) *value { return b.add(o, []int{g.Pairs, o.K}, args...) },
	}
	op.pull = func(in gorgonia.Nodes, _, grad *gorgonia.Node) (gorgonia.Nodes, error) {
		return g.pullBilinear(o, in[0], in[1], in[2], grad)
	}
	n, err := op.apply(x, z, root)
	return g.madePairs(n), err
}

// pullBilinear returns the cotangents of x, z and root.
func (g *Graph) pullBilinear(o Bilinear, x, z, root, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	toX := &fusedOp{name: BilinearDependents{o}.String(), out: x.Shape().Clone(),
		eval: func(args [][]float64, out []float64) {
			g.eachTerm(o, func(pair, k, e int, head int32, at int) {
				z := args[2][e]
				if head >= 0 {
					z = args[1][int(head)*o.E+e]
				}
				out[at] += args[0][pair*o.K+k] * z
			})
		},
		lowered: func(b *builder, args []*value) *value { return b.add(BilinearDependents{o}, x.Shape(), args...) },
	}
	toZ := &fusedOp{name: BilinearHeads{o}.String(), out: z.Shape().Clone(),
		eval: func(args [][]float64, out []float64) {
			g.eachTerm(o, func(pair, k, e int, head int32, at int) {
				if head >= 0 {
					out[int(head)*o.E+e] += args[0][pair*o.K+k] * args[1][at]
				}
			})
		},
		lowered: func(b *builder, args []*value) *value { return b.add(BilinearHeads{o}, z.Shape(), args...) },
	}
	toRoot := &fusedOp{name: BilinearRoot{o}.String(), out: root.Shape().Clone(),
		eval: func(args [][]float64, out []float64) {
			g.eachTerm(o, func(pair, k, e int, head int32, at int) {
				if head < 0 {
					out[e] += args[0][pair*o.K+k] * args[1][at]
				}
			})
		},
		lowered: func(b *builder, args []*value) *value { return b.add(BilinearRoot{o}, root.Shape(), args...) },
	}
	var all gorgonia.Nodes
	for _, f := range []func() (*gorgonia.Node, error){
		func() (*gorgonia.Node, error) { return toX.apply(grad, z, root) },
		func() (*gorgonia.Node, error) { return toZ.apply(grad, x) },
		func() (*gorgonia.Node, error) { return toRoot.apply(grad, x) },
	} {
		n, err := f()
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}

// eachTerm visits the terms of every bilinear form, for Gorgonia's machines: term e of form k of a pair with the given
// head (−1: the root), whose factor of x is entry at.
func (g *Graph) eachTerm(o Bilinear, visit func(pair, k, e int, head int32, at int)) {
	dependents, heads := g.indices(Index{Kind: IndexDependents}), g.indices(Index{Kind: IndexHeads})
	for pair, d := range dependents {
		if d < 0 {
			continue
		}
		for k := range o.K {
			for e := range o.E {
				visit(pair, k, e, heads[pair], (int(d)*o.K+k)*o.E+e)
			}
		}
	}
}

// madePairs notes that the rows of a node are pairs.
func (g *Graph) madePairs(n *gorgonia.Node) *gorgonia.Node {
	g.needs.Pairs = true
	if n != nil {
		g.ofPairs[n] = true
	}
	return n
}

// isPairs reports whether the rows of a node are pairs.
func (g *Graph) isPairs(n *gorgonia.Node) bool {
	if known, ok := g.ofPairs[n]; ok {
		return known
	}
	is := false
	for it := g.From(n.ID()); it.Next(); {
		is = g.isPairs(it.Node().(*gorgonia.Node)) || is
	}
	g.ofPairs[n] = is
	return is
}

// pairRows lists the positions of each pair's dependent and head, −1 for the root and in padding.
func pairRows(dependents, heads []int32, offsets []int, rows int) ([]int32, []int32) {
	dependents, heads = vec.Grow(dependents, rows), vec.Grow(heads, rows)
	at := 0
	for b := range len(offsets) - 1 {
		for d := offsets[b]; d < offsets[b+1]; d++ {
			for h := offsets[b]; h < offsets[b+1]; h++ {
				dependents[at], heads[at] = int32(d), int32(h)
				if h == d {
					heads[at] = -1
				}
				at++
			}
		}
	}
	for ; at < rows; at++ {
		dependents[at], heads[at] = -1, -1
	}
	return dependents, heads
}
