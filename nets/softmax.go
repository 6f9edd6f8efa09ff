package nets

import (
	"fmt"
	"math"
)

// softmax normalises exp(x), or with log gives x − log Σ exp(x), along the middle axis of outer×size×inner.
type softmax struct {
	outer, size, inner int
	log                bool
}

func (s softmax) String() string {
	return fmt.Sprintf("softmax %d×(%d)×%d", s.outer, s.size, s.inner)
}

// tangent uses that the Jacobian of softmax is symmetric; that of its logarithm is I − 1·softmaxᵀ.
func (s softmax) tangent(b *builder, v *value, d []*value) *value {
	if !s.log {
		return b.add(softmaxPull{s}, v.shape, v, d[0])
	}
	p := b.add(unary{unaries["exp"]}, v.shape, v)
	mean := b.reduce(b.binary(multiplication, p, d[0]), reduce{s.outer, s.size, s.inner}, []int{s.outer, s.inner})
	return b.binary(subtraction, d[0], b.expand(mean, expand{s.outer, s.size, s.inner}, v.shape))
}

func (s softmax) run(m *machine, in *instruction) {
	out, x := m.at(in.out), m.at(in.args[0].buffer)
	for o := range s.outer {
		for i := range s.inner {
			start, top, sum := o*s.size*s.inner+i, float32(math.Inf(-1)), 0.0
			for j := range s.size {
				top = max(top, x[start+j*s.inner])
			}
			for j := range s.size {
				e := math.Exp(float64(x[start+j*s.inner] - top))
				sum += e
				out[start+j*s.inner] = float32(e)
			}
			logSum := float32(math.Log(sum))
			for j := range s.size {
				at := start + j*s.inner
				if s.log {
					out[at] = x[at] - top - logSum
				} else {
					out[at] /= float32(sum)
				}
			}
		}
	}
}

// softmaxPull is Jᵀg of softmax at its result y: y∘(g − ⟨y,g⟩), or g − exp(y)·Σg with log.
type softmaxPull struct{ softmax }

func (s softmaxPull) String() string { return s.softmax.String() + "'" }

func (s softmaxPull) tangent(b *builder, v *value, d []*value) *value {
	if d[1] == nil {
		return nil
	}
	return b.add(s, v.shape, v.args[0], d[1])
}

func (s softmaxPull) run(m *machine, in *instruction) {
	out, y, g := m.at(in.out), m.at(in.args[0].buffer), m.at(in.args[1].buffer)
	for o := range s.outer {
		for i := range s.inner {
			start, sum := o*s.size*s.inner+i, 0.0
			for j := range s.size {
				at := start + j*s.inner
				if s.log {
					sum += float64(g[at])
				} else {
					sum += float64(y[at]) * float64(g[at])
				}
			}
			for j := range s.size {
				at := start + j*s.inner
				if s.log {
					out[at] = g[at] - float32(math.Exp(float64(y[at]))*sum)
				} else {
					out[at] = y[at] * (g[at] - float32(sum))
				}
			}
		}
	}
}
