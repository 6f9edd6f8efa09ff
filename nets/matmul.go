package nets

import "fmt"

// matmul is out = op(A)·op(B), m×k by k×n, for each of batch pairs of matrices. Nothing is ever transposed in memory.
type matmul struct {
	batch, m, n, k int
	transA, transB bool
}

func (o matmul) String() string {
	mark := map[bool]string{true: "ᵀ"}
	return fmt.Sprintf("A%s[%d×%d]·B%s[%d×%d] ×%d", mark[o.transA], o.m, o.k, mark[o.transB], o.k, o.n, o.batch)
}

func (matmul) accumulates() {}

func (o matmul) tangent(b *builder, v *value, d []*value) *value {
	var l, r *value
	if d[0] != nil {
		l = b.add(o, v.shape, d[0], v.args[1])
	}
	if d[1] != nil {
		r = b.add(o, v.shape, v.args[0], d[1])
	}
	return b.sum(l, r)
}

// matmul multiplies; a factor that is itself a transposed matrix is read transposed.
func (b *builder) matmul(o matmul, shape []int, x, y *value) *value {
	if p, ok := x.op.(permute); ok && o.batch == 1 && p.isMatrix() {
		x, o.transA = x.args[0], !o.transA
	}
	if p, ok := y.op.(permute); ok && o.batch == 1 && p.isMatrix() {
		y, o.transB = y.args[0], !o.transB
	}
	return b.add(o, shape, x, y)
}

func (o matmul) run(m *machine, in *instruction) {
	out, x, y := m.at(in.out), m.at(in.args[0].buffer), m.at(in.args[1].buffer)
	beta := float32(0)
	if in.accumulate {
		beta = 1
	}
	mn, mk, kn := o.m*o.n, o.m*o.k, o.k*o.n
	for i := range o.batch {
		m.blas.Sgemm(o.transA, o.transB, o.m, o.n, o.k, x[i*mk:(i+1)*mk], y[i*kn:(i+1)*kn], beta, out[i*mn:(i+1)*mn])
	}
}
