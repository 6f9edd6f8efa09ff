package nets

import (
	"fmt"
	"math"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// pooling is the geometry of a maximum over 2×2 pixels: images of height×width pixels, a pixel's channels a row.
type pooling struct{ images, height, width, channels int }

// each calls f with the offsets of the four pixels of every output pixel, and the output's own.
func (p pooling) each(f func(at [4]int, out int)) {
	c, out := p.channels, 0
	for i := range p.images {
		for r := 0; r+1 < p.height; r += 2 {
			for s := 0; s+1 < p.width; s += 2 {
				at := ((i*p.height+r)*p.width + s) * c
				f([4]int{at, at + c, at + p.width*c, at + p.width*c + c}, out)
				out += c
			}
		}
	}
}

func (p pooling) outputs() []int {
	return []int{p.images * (p.height / 2) * (p.width / 2), p.channels}
}

// maxPool is the largest of four pixels, channel by channel.
type maxPool struct{ pooling }

func (o maxPool) String() string { return fmt.Sprintf("max pool %d×%d", o.height, o.width) }

func (o maxPool) tangent(b *builder, v *value, d []*value) *value {
	return b.add(poolPush(o), v.shape, v.args[0], v, d[0])
}

func (o maxPool) run(m *machine, in *instruction) {
	out, x, c := m.at(in.out), m.at(in.args[0].buffer), o.channels
	o.each(func(at [4]int, to int) {
		fast.poolMax(out[to:to+c], x[at[0]:], x[at[1]:], x[at[2]:], x[at[3]:])
	})
}

// poolPush takes the tangent of the first pixel that attains the maximum: arguments x, its pooled y, ẋ.
type poolPush struct{ pooling }

func (o poolPush) String() string { return "max pool push" }

func (o poolPush) tangent(*builder, *value, []*value) *value { return nil }

func (o poolPush) run(m *machine, in *instruction) {
	out, x, y, dx := m.at(in.out), m.at(in.args[0].buffer), m.at(in.args[1].buffer), m.at(in.args[2].buffer)
	n := o.channels
	o.each(func(at [4]int, to int) {
		fast.poolPush(out[to:to+n], x[at[0]:], x[at[1]:], x[at[2]:], y[to:], dx[at[0]:], dx[at[1]:], dx[at[2]:], dx[at[3]:])
	})
}

// poolPull gives a cotangent to the first pixel that attains the maximum: arguments x, its pooled y, g.
type poolPull struct{ pooling }

func (o poolPull) String() string { return "max pool pull" }

func (o poolPull) tangent(*builder, *value, []*value) *value { return nil }

func (o poolPull) run(m *machine, in *instruction) {
	out, x, y, g := m.at(in.out), m.at(in.args[0].buffer), m.at(in.args[1].buffer), m.at(in.args[2].buffer)
	if o.height%2+o.width%2 > 0 {
		clear(out)
	}
	n := o.channels
	o.each(func(at [4]int, to int) {
		fast.poolPull(out[at[0]:], out[at[1]:], out[at[2]:], out[at[3]:], x[at[0]:], x[at[1]:], x[at[2]:], y[to:to+n], g[to:])
	})
}

// MaxPool takes the largest of each 2×2 pixels of images: x [Rows·height·width × C] becomes
// [Rows·⌊height/2⌋·⌊width/2⌋ × C].
func (g *Graph) MaxPool(x *gorgonia.Node, height, width int) (*gorgonia.Node, error) {
	s := x.Shape()
	if len(s) != 2 || s[0] != g.Rows*height*width {
		return nil, fmt.Errorf("nets: MaxPool of %v: it must have a row for each of %d×%d×%d pixels", s, g.Rows, height, width)
	}
	p := pooling{g.Rows, height, width, s[1]}
	op := &fusedOp{name: "max pool", out: tensor.Shape(p.outputs()),
		eval: func(args [][]float64, out []float64) {
			p.each(func(at [4]int, to int) {
				for c := range p.channels {
					m := math.Inf(-1)
					for _, a := range at {
						m = max(m, args[0][a+c])
					}
					out[to+c] = m
				}
			})
		},
		lowered: func(b *builder, args []*value) *value { return b.add(maxPool{p}, p.outputs(), args[0]) },
	}
	op.pull = func(inputs gorgonia.Nodes, output, grad *gorgonia.Node) (gorgonia.Nodes, error) {
		back := &fusedOp{name: "max pool pull", out: s.Clone(),
			eval: func(args [][]float64, out []float64) {
				p.each(func(at [4]int, to int) {
					for c := range p.channels {
						for _, a := range at {
							if args[0][a+c] == args[1][to+c] {
								out[a+c] = args[2][to+c]
								break
							}
						}
					}
				})
			},
			lowered: func(b *builder, args []*value) *value {
				return b.add(poolPull{p}, s, args[0], args[1], args[2])
			},
		}
		n, err := back.apply(inputs[0], output, grad)
		return gorgonia.Nodes{n}, err
	}
	return op.apply(x)
}
