package graph

import (
	"fmt"
	"math"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Normalise shifts and scales each of Rows rows of Cols entries to mean 0 and variance 1: (x − μ)/√(σ² + ε), with ε =
// Floor, so that rows whose entries are all equal become zero.
type Normalise struct {
	Rows, Cols int
	Floor      float64
}

// NormaliseFloor is ε where the network does not choose it.
const NormaliseFloor = 1e-5

func (o Normalise) String() string { return fmt.Sprintf("normalise %d×(%d)", o.Rows, o.Cols) }

// tangent uses that the Jacobian is symmetric.
func (o Normalise) tangent(b *builder, v *value, d []*value) *value {
	return b.add(NormalisePull{o}, v.shape, v.args[0], d[0])
}

func (o Normalise) Run(m *Machine, in *Instruction) {
	out, x := m.At(in.Out), m.At(in.Args[0].Buffer)
	for at := 0; at < len(x); at += o.Cols {
		to, from := out[at:at+o.Cols], x[at:at+o.Cols]
		kernels.Numbers.Mul(to, to, centre(to, from, o.Floor))
	}
}

// centre writes x minus its mean to out and returns 1/√(σ² + ε).
func centre(out, x []float32, ε float64) float32 {
	n := float64(len(x))
	kernels.Numbers.Add(out, x, -float32(vec.Sum(x)/n))
	return float32(1 / math.Sqrt(vec.Norm2(out)/n+ε))
}

// NormalisePull is the pullback Jᵀg = Jg of Normalise at its argument x, with x̂ the result:
//
//	(g − mean(g) − x̂·mean(g⊙x̂)) / √(σ² + ε).
type NormalisePull struct{ Normalise }

func (o NormalisePull) String() string { return o.Normalise.String() + "'" }

func (o NormalisePull) tangent(b *builder, v *value, d []*value) *value {
	if d[1] == nil {
		return nil // no second derivatives are needed
	}
	return b.add(o, v.shape, v.args[0], d[1])
}

func (o NormalisePull) Run(m *Machine, in *Instruction) {
	out, x, g := m.At(in.Out), m.At(in.Args[0].Buffer), m.At(in.Args[1].Buffer)
	n := float64(o.Cols)
	for at := 0; at < len(x); at += o.Cols {
		to, from, gr := out[at:at+o.Cols], x[at:at+o.Cols], g[at:at+o.Cols]
		scale := centre(to, from, o.Floor)
		// out is scale·g − scale·mean(g) − c·(x − μ), with c·(x − μ) = scale·x̂·mean(g⊙x̂)
		c := float32(float64(scale) * float64(scale) * float64(scale) * vec.Dot64(to, gr) / n)
		mean := float32(vec.Sum(gr) / n)
		kernels.Numbers.Mul(to, to, -c)
		kernels.Numbers.Add(to, to, -scale*mean)
		vec.Axpy(scale, gr, to)
	}
}

// Normalise gives each row of x [M×C] mean 0 and variance 1, up to NormaliseFloor in the variance.
func (g *Graph) Normalise(x *gorgonia.Node) (*gorgonia.Node, error) {
	return g.NormaliseAbove(x, NormaliseFloor)
}

// NormaliseAbove is Normalise with ε = floor.
func (g *Graph) NormaliseAbove(x *gorgonia.Node, floor float64) (*gorgonia.Node, error) {
	s := x.Shape().Clone()
	if len(s) != 2 {
		return nil, fmt.Errorf("nets: Normalise of %v: expected a matrix", s)
	}
	o := Normalise{s[0], s[1], floor}
	op := &fusedOp{name: o.String(), out: s,
		eval: func(args [][]float64, out []float64) {
			o.eachRow(args[0], func(at int, mean, scale float64) {
				for c := range o.Cols {
					out[at+c] = (args[0][at+c] - mean) * scale
				}
			})
		},
		lowered: func(b *builder, args []*value) *value { return b.add(o, s, args[0]) },
	}
	op.pull = func(inputs gorgonia.Nodes, _, grad *gorgonia.Node) (gorgonia.Nodes, error) {
		back := &fusedOp{name: o.String() + "'", out: s,
			eval: func(args [][]float64, out []float64) {
				o.eachRow(args[0], func(at int, mean, scale float64) {
					sum, along := 0.0, 0.0
					for c := range o.Cols {
						sum += args[1][at+c]
						along += args[1][at+c] * (args[0][at+c] - mean) * scale
					}
					for c := range o.Cols {
						out[at+c] = scale * (args[1][at+c] - sum/float64(o.Cols) - (args[0][at+c]-mean)*scale*along/float64(o.Cols))
					}
				})
			},
			lowered: func(b *builder, args []*value) *value { return b.add(NormalisePull{o}, s, args...) },
		}
		n, err := back.apply(inputs[0], grad)
		return gorgonia.Nodes{n}, err
	}
	return op.apply(x)
}

// eachRow visits the rows of x, for Gorgonia's machines, with where each starts, its mean and 1/√(σ² + ε).
func (o Normalise) eachRow(x []float64, visit func(at int, mean, scale float64)) {
	n := float64(o.Cols)
	for at := 0; at < len(x); at += o.Cols {
		mean, variance := 0.0, 0.0
		for _, v := range x[at : at+o.Cols] {
			mean += v / n
		}
		for _, v := range x[at : at+o.Cols] {
			variance += (v - mean) * (v - mean) / n
		}
		visit(at, mean, 1/math.Sqrt(variance+o.Floor))
	}
}

// LayerNorm normalises each row of x [M×C], scales its entries by gain [C] and adds bias [C] (Ba, Kiros and Hinton
// 2016).
func (g *Graph) LayerNorm(x, gain, bias *gorgonia.Node) (*gorgonia.Node, error) {
	return g.LayerNormAbove(x, gain, bias, NormaliseFloor)
}

// LayerNormAbove is LayerNorm with ε = floor. A nil bias is zero.
func (g *Graph) LayerNormAbove(x, gain, bias *gorgonia.Node, floor float64) (*gorgonia.Node, error) {
	n, err := g.NormaliseAbove(x, floor)
	if err != nil {
		return nil, err
	}
	row, err := gorgonia.Reshape(gain, tensor.Shape{1, gain.Shape().TotalSize()})
	if err != nil {
		return nil, err
	}
	if n, err = gorgonia.BroadcastHadamardProd(n, row, nil, []byte{0}); err != nil || bias == nil {
		return n, err
	}
	return g.AddBias(n, bias)
}

// Softmax is exp(x) / Σ exp(x) or, with Log, x − log Σ exp(x), along the middle axis of Outer×Size×Inner.
type Softmax struct {
	Outer, Size, Inner int
	Log                bool
}

func (s Softmax) String() string {
	return fmt.Sprintf("softmax %d×(%d)×%d", s.Outer, s.Size, s.Inner)
}

// tangent uses that the Jacobian of softmax is symmetric. The Jacobian of its logarithm is I − 1·softmaxᵀ.
func (s Softmax) tangent(b *builder, v *value, d []*value) *value {
	if !s.Log {
		return b.add(SoftmaxPull{s}, v.shape, v, d[0])
	}
	p := b.add(Unary{unaries["exp"]}, v.shape, v)
	mean := b.reduce(b.binary(multiplication, p, d[0]), Sum{s.Outer, s.Size, s.Inner}, []int{s.Outer, s.Inner})
	return b.binary(subtraction, d[0], b.expand(mean, Expand{s.Outer, s.Size, s.Inner}, v.shape))
}

func (s Softmax) Run(m *Machine, in *Instruction) {
	out, x := m.At(in.Out), m.At(in.Args[0].Buffer)
	for o := range s.Outer {
		for i := range s.Inner {
			start, top, sum := o*s.Size*s.Inner+i, float32(math.Inf(-1)), 0.0
			for j := range s.Size {
				top = max(top, x[start+j*s.Inner])
			}
			for j := range s.Size {
				e := math.Exp(float64(x[start+j*s.Inner] - top))
				sum += e
				out[start+j*s.Inner] = float32(e)
			}
			logSum := float32(math.Log(sum))
			for j := range s.Size {
				at := start + j*s.Inner
				if s.Log {
					out[at] = x[at] - top - logSum
				} else {
					out[at] /= float32(sum)
				}
			}
		}
	}
}

// SoftmaxPull is the pullback Jᵀg of softmax from its result y: y∘(g − ⟨y,g⟩) or, with Log, g − exp(y)·Σg.
type SoftmaxPull struct{ Softmax }

func (s SoftmaxPull) String() string { return s.Softmax.String() + "'" }

func (s SoftmaxPull) tangent(b *builder, v *value, d []*value) *value {
	if d[1] == nil {
		return nil
	}
	return b.add(s, v.shape, v.args[0], d[1])
}

func (s SoftmaxPull) Run(m *Machine, in *Instruction) {
	out, y, g := m.At(in.Out), m.At(in.Args[0].Buffer), m.At(in.Args[1].Buffer)
	for o := range s.Outer {
		for i := range s.Inner {
			start, sum := o*s.Size*s.Inner+i, 0.0
			for j := range s.Size {
				at := start + j*s.Inner
				if s.Log {
					sum += float64(g[at])
				} else {
					sum += float64(y[at]) * float64(g[at])
				}
			}
			for j := range s.Size {
				at := start + j*s.Inner
				if s.Log {
					out[at] = g[at] - float32(math.Exp(float64(y[at]))*sum)
				} else {
					out[at] = y[at] * (g[at] - float32(sum))
				}
			}
		}
	}
}
