package graph

import "fmt"

// MatMul is out = op(A)·op(B), m×k by k×n, for each of batch pairs of matrices. Nothing is ever transposed in memory.
type MatMul struct {
	Batch, M, N, K int
	TransA, TransB bool
}

func (o MatMul) String() string {
	mark := map[bool]string{true: "ᵀ"}
	return fmt.Sprintf("A%s[%d×%d]·B%s[%d×%d] ×%d", mark[o.TransA], o.M, o.K, mark[o.TransB], o.K, o.N, o.Batch)
}

func (MatMul) accumulates() {}

func (o MatMul) tangent(b *builder, v *value, d []*value) *value {
	var l, r *value
	if d[0] != nil {
		l = b.add(o, v.shape, d[0], v.args[1])
	}
	if d[1] != nil {
		r = b.add(o, v.shape, v.args[0], d[1])
	}
	return b.sum(l, r)
}

// matmul multiplies x and y. A factor that is a transposed matrix is read in place, transposed.
func (b *builder) matmul(o MatMul, shape []int, x, y *value) *value {
	if p, ok := x.op.(Permute); ok && o.Batch == 1 && p.isMatrix() {
		x, o.TransA = x.args[0], !o.TransA
	}
	if p, ok := y.op.(Permute); ok && o.Batch == 1 && p.isMatrix() {
		y, o.TransB = y.args[0], !o.TransB
	}
	return b.add(o, shape, x, y)
}

func (o MatMul) Run(m *Machine, in *Instruction) {
	out, x, y := m.At(in.Out), m.At(in.Args[0].Buffer), m.At(in.Args[1].Buffer)
	beta := float32(0)
	if in.Accumulate {
		beta = 1
	}
	mn, mk, kn := o.M*o.N, o.M*o.K, o.K*o.N
	for i := range o.Batch {
		m.BLAS.Sgemm(o.TransA, o.TransB, o.M, o.N, o.K, x[i*mk:(i+1)*mk], y[i*kn:(i+1)*kn], beta, out[i*mn:(i+1)*mn])
	}
}
