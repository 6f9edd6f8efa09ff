package graph

import (
	"fmt"
	"math"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/dsp-go/dsp/nets/kernels"
)

// Pooling is the geometry of a maximum over 2×2 pixels: Images of Height×Width pixels, one row of Channels per pixel.
type Pooling struct{ Images, Height, Width, Channels int }

// each calls f for every output pixel, with the offsets of its four input pixels and its own.
func (p Pooling) each(f func(at [4]int, out int)) {
	c, out := p.Channels, 0
	for i := range p.Images {
		for r := 0; r+1 < p.Height; r += 2 {
			for s := 0; s+1 < p.Width; s += 2 {
				at := ((i*p.Height+r)*p.Width + s) * c
				f([4]int{at, at + c, at + p.Width*c, at + p.Width*c + c}, out)
				out += c
			}
		}
	}
}

func (p Pooling) outputs() []int {
	return []int{p.Images * (p.Height / 2) * (p.Width / 2), p.Channels}
}

// MaxPool is the largest of four pixels, channel by channel.
type MaxPool struct{ Pooling }

func (o MaxPool) String() string { return fmt.Sprintf("max pool %d×%d", o.Height, o.Width) }

func (o MaxPool) tangent(b *builder, v *value, d []*value) *value {
	return b.add(PoolPush(o), v.shape, v.args[0], v, d[0])
}

func (o MaxPool) Run(m *Machine, in *Instruction) {
	out, x, c := m.At(in.Out), m.At(in.Args[0].Buffer), o.Channels
	o.each(func(at [4]int, to int) {
		kernels.Rows.PoolMax(out[to:to+c], x[at[0]:], x[at[1]:], x[at[2]:], x[at[3]:])
	})
}

// PoolPush picks the tangent of the first pixel that attains the maximum. Its arguments are x, the pooled y and ẋ.
type PoolPush struct{ Pooling }

func (o PoolPush) String() string { return "max pool push" }

func (o PoolPush) tangent(*builder, *value, []*value) *value { return nil }

func (o PoolPush) Run(m *Machine, in *Instruction) {
	out, x, y, dx := m.At(in.Out), m.At(in.Args[0].Buffer), m.At(in.Args[1].Buffer), m.At(in.Args[2].Buffer)
	n := o.Channels
	o.each(func(at [4]int, to int) {
		kernels.Rows.PoolPush(out[to:to+n], x[at[0]:], x[at[1]:], x[at[2]:], y[to:], dx[at[0]:],
			dx[at[1]:], dx[at[2]:], dx[at[3]:])
	})
}

// PoolPull sends each cotangent to the first pixel that attains the maximum. Its arguments are x, the pooled y and g.
type PoolPull struct{ Pooling }

func (o PoolPull) String() string { return "max pool pull" }

func (o PoolPull) tangent(*builder, *value, []*value) *value { return nil }

func (o PoolPull) Run(m *Machine, in *Instruction) {
	out, x, y, g := m.At(in.Out), m.At(in.Args[0].Buffer), m.At(in.Args[1].Buffer), m.At(in.Args[2].Buffer)
	if o.Height%2+o.Width%2 > 0 {
		clear(out)
	}
	n := o.Channels
	o.each(func(at [4]int, to int) {
		kernels.Rows.PoolPull(out[at[0]:], out[at[1]:], out[at[2]:], out[at[3]:], x[at[0]:], x[at[1]:],
			x[at[2]:], y[to:to+n], g[to:])
	})
}

// MaxPool takes the largest of each 2×2 pixels of images: x [Rows·height·width × C] becomes
// [Rows·⌊height/2⌋·⌊width/2⌋ × C].
func (g *Graph) MaxPool(x *gorgonia.Node, height, width int) (*gorgonia.Node, error) {
	s := x.Shape()
	if len(s) != 2 || s[0] != g.Rows*height*width {
		return nil, fmt.Errorf("nets: MaxPool of %v: expected one row for each of %d×%d×%d pixels", s, g.Rows, height, width)
	}
	p := Pooling{g.Rows, height, width, s[1]}
	op := &fusedOp{name: "max pool", out: tensor.Shape(p.outputs()),
		eval: func(args [][]float64, out []float64) {
			p.each(func(at [4]int, to int) {
				for c := range p.Channels {
					m := math.Inf(-1)
					for _, a := range at {
						m = max(m, args[0][a+c])
					}
					out[to+c] = m
				}
			})
		},
		lowered: func(b *builder, args []*value) *value { return b.add(MaxPool{p}, p.outputs(), args[0]) },
	}
	op.pull = func(inputs gorgonia.Nodes, output, grad *gorgonia.Node) (gorgonia.Nodes, error) {
		back := &fusedOp{name: "max pool pull", out: s.Clone(),
			eval: func(args [][]float64, out []float64) {
				p.each(func(at [4]int, to int) {
					for c := range p.Channels {
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
				return b.add(PoolPull{p}, s, args[0], args[1], args[2])
			},
		}
		n, err := back.apply(inputs[0], output, grad)
		return gorgonia.Nodes{n}, err
	}
	return op.apply(x)
}
