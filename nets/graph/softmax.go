package graph

import (
	"fmt"
	"math"
)

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
