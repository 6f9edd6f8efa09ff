package graph

import (
	"fmt"
	"math"

	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Attention is self-attention of each example over its own rows, in Heads heads of Size channels (Vaswani et al. 2017).
// A row of its argument x [Rows×3·Heads·Size] joins the queries, keys and values of all heads; the result is
// [Rows×Heads·Size]. With q, k and v [n×Size] of one head of one example of n rows,
//
//	P = softmax(q·kᵀ/√Size), row by row,   out = P·v.
//
// Padding rows get zeros. Nothing of P is kept: pullback and push-forward compute it again, tile by tile. Keeping it
// would save a fifth of the time of attention, 3 % of a step of the preset, for memory quadratic in the length of the
// examples.
type Attention struct{ Heads, Size int }

func (o Attention) String() string { return fmt.Sprintf("attention %d×%d", o.Heads, o.Size) }

func (o Attention) width() int { return o.Heads * o.Size }

func (o Attention) tangent(b *builder, v *value, d []*value) *value {
	return b.add(AttentionPush{o}, v.shape, v.args[0], d[0])
}

func (o Attention) Run(m *Machine, in *Instruction) {
	out, x, w := m.At(in.Out), m.At(in.Args[0].Buffer), o.width()
	clear(out[m.positions()*w:])
	a := &m.attend
	for _, r := range m.eachExample() {
		x, out := x[r.lo*3*w:r.hi*3*w], out[r.lo*w:r.hi*w]
		for h := range o.Heads {
			a.open(o, x, h, r.hi-r.lo)
			transposed(a.kT, a.keys, a.wide)
			copyHead(a.v, a.values)
			for lo := 0; lo < a.n; lo += tileRows {
				t := a.tile(lo)
				a.probabilities(m.BLAS, t)
				m.BLAS.Sgemm(false, false, t.tall, o.Size, a.wide, a.p, a.v, 0, a.o)
				headOf(out, w, h*o.Size, o.Size).rows(t.lo, t.hi).set(a.o)
			}
		}
	}
}

// AttentionPush is the push-forward of Attention. Its arguments are x and its tangent ẋ.
//
//	Ṡ = (q̇·kᵀ + q·k̇ᵀ)/√Size,   Ṗ = P∘(Ṡ − ⟨P, Ṡ⟩),   result P·v̇ + Ṗ·v,   with ⟨P, Ṡ⟩ row by row.
type AttentionPush struct{ Attention }

func (o AttentionPush) String() string { return o.Attention.String() + " tangent" }

func (o AttentionPush) tangent(*builder, *value, []*value) *value { return nil }

func (o AttentionPush) Run(m *Machine, in *Instruction) {
	out, x, ẋ, w := m.At(in.Out), m.At(in.Args[0].Buffer), m.At(in.Args[1].Buffer), o.width()
	clear(out[m.positions()*w:])
	a := &m.attend
	for _, r := range m.eachExample() {
		x, ẋ, out := x[r.lo*3*w:r.hi*3*w], ẋ[r.lo*3*w:r.hi*3*w], out[r.lo*w:r.hi*w]
		for h := range o.Heads {
			a.open(o.Attention, x, h, r.hi-r.lo)
			queries, keys, values := o.split(ẋ, h)
			transposed(a.kT, a.keys, a.wide)
			transposed(a.otherT, keys, a.wide)
			copyHead(a.v, a.values)
			copyHead(a.k, values)
			for lo := 0; lo < a.n; lo += tileRows {
				t := a.tile(lo)
				a.probabilities(m.BLAS, t)
				m.BLAS.Sgemm(false, false, t.tall, a.wide, o.Size, a.q, a.otherT, 0, a.s)
				a.g = padded(a.g, t.tall*o.Size)
				copyHead(a.g, queries.rows(t.lo, t.hi))
				vec.Scale(a.scale, a.g)
				m.BLAS.Sgemm(false, false, t.tall, a.wide, o.Size, a.g, a.kT, 1, a.s)
				kernels.Rows.SoftmaxPull(a.s, a.p, a.wide)
				m.BLAS.Sgemm(false, false, t.tall, o.Size, a.wide, a.p, a.k, 0, a.o)
				m.BLAS.Sgemm(false, false, t.tall, o.Size, a.wide, a.s, a.v, 1, a.o)
				headOf(out, w, h*o.Size, o.Size).rows(t.lo, t.hi).set(a.o)
			}
		}
	}
}

// AttentionPull is the pullback of Attention. Its arguments are x and the cotangent g [Rows×Heads·Size] of the result.
// With G = g·vᵀ and D = P∘(G − ⟨P, G⟩), ⟨P, G⟩ row by row, the cotangents are D·k/√Size of q, Dᵀ·q/√Size of k, and Pᵀ·g
// of v.
type AttentionPull struct{ Attention }

func (o AttentionPull) String() string { return o.Attention.String() + "'" }

func (o AttentionPull) tangent(*builder, *value, []*value) *value { return nil }

func (o AttentionPull) Run(m *Machine, in *Instruction) {
	out, x, g, w := m.At(in.Out), m.At(in.Args[0].Buffer), m.At(in.Args[1].Buffer), o.width()
	clear(out[m.positions()*3*w:])
	a := &m.attend
	for _, r := range m.eachExample() {
		x, g, out := x[r.lo*3*w:r.hi*3*w], g[r.lo*w:r.hi*w], out[r.lo*3*w:r.hi*3*w]
		for h := range o.Heads {
			a.open(o.Attention, x, h, r.hi-r.lo)
			queries, keys, values := o.split(out, h)
			transposed(a.kT, a.keys, a.wide)
			transposed(a.otherT, a.values, a.wide)
			copyHead(a.k, a.keys)
			vec.Scale(a.scale, a.k)
			for lo := 0; lo < a.n; lo += tileRows {
				t := a.tile(lo)
				a.probabilities(m.BLAS, t)
				a.g = padded(a.g, t.tall*o.Size)
				copyHead(a.g, headOf(g, w, h*o.Size, o.Size).rows(t.lo, t.hi))
				m.BLAS.Sgemm(false, false, t.tall, a.wide, o.Size, a.g, a.otherT, 0, a.s)
				kernels.Rows.SoftmaxPull(a.s, a.p, a.wide)
				m.BLAS.Sgemm(false, false, t.tall, o.Size, a.wide, a.s, a.k, 0, a.o)
				queries.rows(t.lo, t.hi).set(a.o)
				beta := float32(1)
				if lo == 0 {
					beta = 0
				}
				m.BLAS.Sgemm(true, false, a.wide, o.Size, t.tall, a.s, a.q, beta, a.dk)
				m.BLAS.Sgemm(true, false, a.wide, o.Size, t.tall, a.p, a.g, beta, a.v)
			}
			keys.set(a.dk)
			values.set(a.v)
		}
	}
}

// split returns the queries, keys and values of head h.
func (o Attention) split(x []float32, h int) (q, k, v head) {
	w, at := o.width(), h*o.Size
	return headOf(x, 3*w, at, o.Size), headOf(x, 3*w, w+at, o.Size), headOf(x, 3*w, 2*w+at, o.Size)
}

// scaleOf is 1/√Size.
func (o Attention) scaleOf() float32 { return float32(1 / math.Sqrt(float64(o.Size))) }

// tileRows is how many rows of P are in memory at a time. The packed matrix products read their right factor in place
// for up to 64 rows of the left one.
const tileRows = 64

// attend is the scratch memory of attention for one head of one example. Its matrices are padded with zeros to whole
// tiles of the matrix products: columns of P to a multiple of 16, rows of a tile to a multiple of 8.
type attend struct {
	n, wide, size         int
	scale                 float32
	queries, keys, values head
	kT, otherT            []float32 // [size×wide]
	k, v, dk              []float32 // [wide×size]
	q, g, o               []float32 // [tall×size] of a tile
	p, s                  []float32 // [tall×wide] of a tile

	// Of Related: the buckets that the example has, padded to across, and the products of keys with them.
	first, last int32
	across      int
	byKey       []float32 // [wide×across]
}

// open starts head h of an example with n rows x.
func (a *attend) open(o Attention, x []float32, h, n int) {
	a.n, a.wide, a.size, a.scale = n, roundUp(n, 16), o.Size, o.scaleOf()
	a.queries, a.keys, a.values = o.split(x, h)
	all, tall := a.wide*o.Size, roundUp(min(n, tileRows), 8)
	for _, m := range []*[]float32{&a.kT, &a.otherT, &a.k, &a.v, &a.dk} {
		*m = padded(*m, all)
	}
	a.o, a.p, a.s = padded(a.o, tall*o.Size), padded(a.p, tall*a.wide), padded(a.s, tall*a.wide)
}

// padded is vec.Grow, with room behind the slice that the matrix products may read.
func padded(x []float32, n int) []float32 { return vec.Grow(x, n+48)[:n] }

// tile is a range of rows of P, padded to tall rows.
type tile struct{ lo, hi, tall int }

// tile returns the tile that starts with row lo, after loading its queries, scaled.
func (a *attend) tile(lo int) tile {
	t := tile{lo: lo, hi: min(lo+tileRows, a.n)}
	t.tall = roundUp(t.hi-lo, 8)
	a.q = padded(a.q, t.tall*a.size)
	copyHead(a.q, a.queries.rows(t.lo, t.hi))
	vec.Scale(a.scale, a.q)
	a.o, a.p, a.s = a.o[:t.tall*a.size], a.p[:t.tall*a.wide], a.s[:t.tall*a.wide]
	return t
}

// probabilities computes the tile's rows of P. Padding columns are zero, and so are padding rows.
func (a *attend) probabilities(blas kernels.BLAS, t tile) {
	blas.Sgemm(false, false, t.tall, a.wide, a.size, a.q, a.kT, 0, a.p)
	real := (t.hi - t.lo) * a.wide
	kernels.Softmax(a.p[:real], a.n, a.wide)
	clear(a.p[real:])
}

// head is size columns of a matrix whose rows are stride entries apart.
type head struct {
	x            []float32
	stride, size int
}

// headOf returns columns at to at+size-1 of the matrix x with rows of stride entries.
func headOf(x []float32, stride, at, size int) head { return head{x[at:], stride, size} }

func (h head) rows(lo, hi int) head {
	h.x = h.x[lo*h.stride : (hi-1)*h.stride+h.size]
	return h
}

// count returns the number of rows.
func (h head) count() int { return (len(h.x) + h.stride - h.size) / h.stride }

// set copies the rows of a dense matrix to h.
func (h head) set(from []float32) {
	for r := range h.count() {
		copy(h.x[r*h.stride:r*h.stride+h.size], from[r*h.size:])
	}
}

// copyHead copies h to a dense matrix, followed by zeros.
func copyHead(to []float32, h head) {
	n := h.count()
	for r := range n {
		copy(to[r*h.size:(r+1)*h.size], h.x[r*h.stride:])
	}
	clear(to[n*h.size:])
}

// transposed copies the transpose of h to a matrix with rows of wide entries, padded with zeros. It takes four rows at
// a time, which meet in a row of the transpose.
func transposed(to []float32, h head, wide int) {
	n, r := h.count(), 0
	for ; r+4 <= n; r += 4 {
		x0, x1 := h.x[r*h.stride:][:h.size], h.x[(r+1)*h.stride:][:h.size]
		x2, x3 := h.x[(r+2)*h.stride:][:h.size], h.x[(r+3)*h.stride:][:h.size]
		at := r
		for c, v := range x0 {
			*(*[4]float32)(to[at:]) = [4]float32{v, x1[c], x2[c], x3[c]}
			at += wide
		}
	}
	for ; r < n; r++ {
		at := r
		for _, v := range h.x[r*h.stride:][:h.size] {
			to[at] = v
			at += wide
		}
	}
	for c := range h.size {
		clear(to[c*wide+n : (c+1)*wide])
	}
}
