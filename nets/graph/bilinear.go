package graph

import (
	"fmt"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// The ops on pairs of positions. An example of n positions has n·n pairs: row d·n + h pairs dependent d with head h,
// and row d·n + d pairs dependent d with the root. The ops set padding to zero and otherwise skip it.

// Bilinear scores each pair with K bilinear forms of E terms (Dozat and Manning 2017). From x [Rows×K·E] for
// dependents, z [Rows×E] for heads and root [E] it computes
//
//	out[(d,h), k] = Σ_e x[d, k·E+e]·z[h, e],   with root in place of z[h] if h = d.
type Bilinear struct{ K, E int }

func (o Bilinear) String() string { return fmt.Sprintf("bilinear %d×%d", o.K, o.E) }

func (Bilinear) accumulates() {}

func (o Bilinear) tangent(b *builder, v *value, d []*value) *value {
	x, z, root := v.args[0], v.args[1], v.args[2]
	var l, r *value
	if d[0] != nil {
		l = b.add(o, v.shape, d[0], z, root)
	}
	if d[1] != nil || d[2] != nil {
		r = b.add(o, v.shape, x, b.orZero(d[1], z), b.orZero(d[2], root))
	}
	return b.sum(l, r)
}

// orZero returns a tangent of x, or zeros if it is nil.
func (b *builder) orZero(d, x *value) *value {
	if d == nil {
		return b.expand(b.scalar(0), Expand{1, x.size(), 1}, x.shape)
	}
	return d
}

func (o Bilinear) Run(m *Machine, in *Instruction) {
	out, x, z, root := m.At(in.Out), m.At(in.Args[0].Buffer), m.At(in.Args[1].Buffer), m.At(in.Args[2].Buffer)
	k, e, beta := o.K, o.E, float32(0)
	if in.Accumulate {
		beta = 1
	} else {
		clear(out[pairs(m.offsets, nil)*k:])
	}
	for row, p := range m.eachExample() {
		x, z, out := x[p.lo*k*e:p.hi*k*e], z[p.lo*e:p.hi*e], out[row*k:]
		if n := p.hi - p.lo; k == 1 {
			before := m.copyDiagonal(out, n)
			m.BLAS.Sgemm(false, true, n, n, e, x, z, beta, out[:n*n])
			for d := range n {
				s := float32(vec.Dot64(x[d*e:(d+1)*e], root))
				if in.Accumulate {
					s += before[d]
				}
				out[d*n+d] = s
			}
		} else {
			heads := m.copyRows(z)
			for d := range n {
				copy(heads[d*e:(d+1)*e], root)
				m.BLAS.Sgemm(false, true, n, k, e, heads, x[d*k*e:(d+1)*k*e], beta, out[d*n*k:(d+1)*n*k])
				copy(heads[d*e:(d+1)*e], z[d*e:])
			}
		}
	}
}

// BilinearDependents is the pullback of Bilinear to x. Its arguments are g [Pairs×K], z and root.
type BilinearDependents struct{ Bilinear }

func (o BilinearDependents) String() string { return o.Bilinear.String() + " to dependents" }

func (o BilinearDependents) tangent(*builder, *value, []*value) *value { return nil }

func (o BilinearDependents) Run(m *Machine, in *Instruction) {
	out, g, z, root := m.At(in.Out), m.At(in.Args[0].Buffer), m.At(in.Args[1].Buffer), m.At(in.Args[2].Buffer)
	k, e, beta := o.K, o.E, float32(0)
	if in.Accumulate {
		beta = 1
	} else {
		clear(out[m.positions()*k*e:])
	}
	for row, p := range m.eachExample() {
		n, z, out := p.hi-p.lo, z[p.lo*e:p.hi*e], out[p.lo*k*e:p.hi*k*e]
		g := g[row*k : (row+n*n)*k]
		if k == 1 {
			others := m.copyRows(g)
			for d := range n {
				others[d*n+d] = 0
			}
			m.BLAS.Sgemm(false, false, n, e, n, others, z, beta, out)
			for d := range n {
				vec.Axpy(g[d*n+d], root, out[d*e:(d+1)*e])
			}
			continue
		}
		heads := m.copyRows(z)
		for d := range n {
			g, to := g[d*n*k:(d+1)*n*k], out[d*k*e:(d+1)*k*e]
			copy(heads[d*e:(d+1)*e], root)
			if mostlyZero(g) {
				if !in.Accumulate {
					clear(to)
				}
				for i, c := range g {
					if c != 0 {
						vec.Axpy(c, heads[i/k*e:(i/k+1)*e], to[i%k*e:(i%k+1)*e])
					}
				}
			} else {
				m.BLAS.Sgemm(true, false, k, e, n, g, heads, beta, to)
			}
			copy(heads[d*e:(d+1)*e], z[d*e:])
		}
	}
}

// BilinearHeads is the pullback of Bilinear to z. Its arguments are g [Pairs×K] and x.
type BilinearHeads struct{ Bilinear }

func (o BilinearHeads) String() string { return o.Bilinear.String() + " to heads" }

func (BilinearHeads) accumulates() {}

func (o BilinearHeads) tangent(*builder, *value, []*value) *value { return nil }

func (o BilinearHeads) Run(m *Machine, in *Instruction) {
	out, g, x := m.At(in.Out), m.At(in.Args[0].Buffer), m.At(in.Args[1].Buffer)
	if !in.Accumulate {
		clear(out)
	}
	k, e := o.K, o.E
	for row, p := range m.eachExample() {
		n, x, out := p.hi-p.lo, x[p.lo*k*e:p.hi*k*e], out[p.lo*e:p.hi*e]
		g := g[row*k : (row+n*n)*k]
		if k == 1 {
			others := m.copyRows(g)
			for d := range n {
				others[d*n+d] = 0
			}
			m.BLAS.Sgemm(true, false, n, e, n, others, x, 1, out)
			continue
		}
		for d := range n {
			g, x := g[d*n*k:(d+1)*n*k], x[d*k*e:(d+1)*k*e]
			own := m.copyRows(out[d*e : (d+1)*e]) // the pair (d, d) belongs to the root, so row d must not change
			if mostlyZero(g) {
				for i, c := range g {
					if c != 0 {
						vec.Axpy(c, x[i%k*e:(i%k+1)*e], out[i/k*e:(i/k+1)*e])
					}
				}
			} else {
				m.BLAS.Sgemm(false, false, n, e, k, g, x, 1, out)
			}
			copy(out[d*e:(d+1)*e], own)
		}
	}
}

// BilinearRoot is the pullback of Bilinear to root. Its arguments are g [Pairs×K] and x.
type BilinearRoot struct{ Bilinear }

func (o BilinearRoot) String() string { return o.Bilinear.String() + " to the root" }

func (BilinearRoot) accumulates() {}

func (o BilinearRoot) tangent(*builder, *value, []*value) *value { return nil }

func (o BilinearRoot) Run(m *Machine, in *Instruction) {
	out, g, x := m.At(in.Out), m.At(in.Args[0].Buffer), m.At(in.Args[1].Buffer)
	if !in.Accumulate {
		clear(out)
	}
	k, e := o.K, o.E
	for row, p := range m.eachExample() {
		n := p.hi - p.lo
		for d := range n {
			x := x[(p.lo+d)*k*e:]
			for i, c := range g[(row+d*n+d)*k:][:k] {
				if c != 0 {
					vec.Axpy(c, x[i*e:(i+1)*e], out)
				}
			}
		}
	}
}

// mostlyZero reports whether at most one in 16 entries of g is nonzero, as in the difference of two outputs. Visiting
// only the nonzero entries is then faster than a matrix product.
func mostlyZero(g []float32) bool {
	left := len(g) / 16
	for _, c := range g {
		if c != 0 {
			if left--; left < 0 {
				return false
			}
		}
	}
	return true
}

// extent is the range of an example's positions in the batch.
type extent struct{ lo, hi int }

// eachExample iterates over the examples: the first row of their pairs and the extent of their positions.
func (m *Machine) eachExample() func(yield func(row int, p extent) bool) {
	return func(yield func(row int, p extent) bool) {
		row := 0
		for b := range len(m.offsets) - 1 {
			p := extent{m.offsets[b], m.offsets[b+1]}
			if n := p.hi - p.lo; n > 0 {
				if !yield(row, p) {
					return
				}
				row += n * n
			}
		}
	}
}

// positions returns how many rows of positions are not padding.
func (m *Machine) positions() int { return last(m.offsets) }

// copyRows returns a copy of xs in scratch memory. The next call overwrites it.
func (m *Machine) copyRows(xs []float32) []float32 {
	m.pairs = vec.Grow(m.pairs, len(xs))
	copy(m.pairs, xs)
	return m.pairs
}

// copyDiagonal returns a copy of the diagonal of an n×n matrix in scratch memory.
func (m *Machine) copyDiagonal(xs []float32, n int) []float32 {
	m.pairs = vec.Grow(m.pairs, n)
	for d := range n {
		m.pairs[d] = xs[d*n+d]
	}
	return m.pairs
}

func last(offsets []int) int { return offsets[len(offsets)-1] }
