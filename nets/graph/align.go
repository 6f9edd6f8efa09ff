package graph

import "fmt"

// Align scores each pair of a source and a target item of the same example with K bilinear forms of E terms. From x [Rows×K·E] and
// z [Rows×E] it computes, for an example whose first position is p and that has n sources,
//
//	out[(i,j), k] = Σ_e x[p+i, k·E+e]·z[p+n+j, e].
//
// The rows of x of target items and those of z of source items are not read. Padding is zero.
type Align struct{ K, E int }

func (o Align) String() string {
	return fmt.Sprintf("bilinear %d×%d of sources and targets", o.K, o.E)
}

func (Align) accumulates() {}

func (o Align) tangent(b *builder, v *value, d []*value) *value {
	var l, r *value
	if d[0] != nil {
		l = b.add(o, v.shape, d[0], v.args[1])
	}
	if d[1] != nil {
		r = b.add(o, v.shape, v.args[0], d[1])
	}
	return b.sum(l, r)
}

func (o Align) Run(m *Machine, in *Instruction) {
	out, x, z := m.At(in.Out), m.At(in.Args[0].Buffer), m.At(in.Args[1].Buffer)
	k, e, beta := o.K, o.E, float32(0)
	if in.Accumulate {
		beta = 1
	} else {
		clear(out[pairs(m.offsets, m.splits)*k:])
	}
	for s := range m.eachSplit() {
		x, z, out := x[s.lo*k*e:s.mid*k*e], z[s.mid*e:s.hi*e], out[s.row*k:]
		if k == 1 {
			m.BLAS.Sgemm(false, true, s.n(), s.m(), e, x, z, beta, out[:s.n()*s.m()])
			continue
		}
		for i := range s.n() {
			m.BLAS.Sgemm(false, true, s.m(), k, e, z, x[i*k*e:(i+1)*k*e], beta, out[i*s.m()*k:(i+1)*s.m()*k])
		}
	}
}

// AlignSources is the pullback of Align to x. Its arguments are g [Pairs×K] and z.
type AlignSources struct{ Align }

func (o AlignSources) String() string { return o.Align.String() + ", to sources" }

func (o AlignSources) tangent(*builder, *value, []*value) *value { return nil }

func (o AlignSources) Run(m *Machine, in *Instruction) {
	out, g, z := m.At(in.Out), m.At(in.Args[0].Buffer), m.At(in.Args[1].Buffer)
	if !in.Accumulate {
		clear(out)
	}
	k, e := o.K, o.E
	for s := range m.eachSplit() {
		g, z, out := g[s.row*k:], z[s.mid*e:s.hi*e], out[s.lo*k*e:s.mid*k*e]
		if k == 1 {
			m.BLAS.Sgemm(false, false, s.n(), e, s.m(), g[:s.n()*s.m()], z, 1, out)
			continue
		}
		for i := range s.n() {
			m.BLAS.Sgemm(true, false, k, e, s.m(), g[i*s.m()*k:(i+1)*s.m()*k], z, 1, out[i*k*e:(i+1)*k*e])
		}
	}
}

// AlignTargets is the pullback of Align to z. Its arguments are g [Pairs×K] and x.
type AlignTargets struct{ Align }

func (o AlignTargets) String() string { return o.Align.String() + ", to targets" }

func (o AlignTargets) tangent(*builder, *value, []*value) *value { return nil }

func (o AlignTargets) Run(m *Machine, in *Instruction) {
	out, g, x := m.At(in.Out), m.At(in.Args[0].Buffer), m.At(in.Args[1].Buffer)
	if !in.Accumulate {
		clear(out)
	}
	k, e := o.K, o.E
	for s := range m.eachSplit() {
		g, x, out := g[s.row*k:], x[s.lo*k*e:s.mid*k*e], out[s.mid*e:s.hi*e]
		if k == 1 {
			m.BLAS.Sgemm(true, false, s.m(), e, s.n(), g[:s.n()*s.m()], x, 1, out)
			continue
		}
		for i := range s.n() {
			m.BLAS.Sgemm(false, false, s.m(), e, k, g[i*s.m()*k:(i+1)*s.m()*k], x[i*k*e:(i+1)*k*e], 1, out)
		}
	}
}
