package graph

import (
	"fmt"
	"math"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/dsp-go/dsp/nets/kernels"
)

// Related is attention whose scores depend on the distance of two rows, too. For rows i and j of an example, with
// queries q, keys k and values v of a head and b the bucket of the distance i − j, the scores are
//
//	S_ij = Scale·(⟨q_i, k_j⟩ + ⟨q_i, K_b⟩ + ⟨Q_b, k_j⟩) + B_b        for |i − j| ≤ Window,
//
// and −∞ beyond it; the result is softmax(S)·v. Arguments are x [Rows×3·Heads·Size] as for Attention, and those that
// there are of the tables B [Count×Heads], K and Q [Count×Heads·Size]. Padding rows get zeros.
//
// MPNet has B (Song et al. 2020), DeBERTa K and Q (He et al. 2021), ModernBERT a window (Warner et al. 2024).
type Related struct {
	Attention
	Scale                float32
	Window               int // 0: no limit
	Buckets              Buckets
	Bias, Keys, Querying bool // the tables that there are: B, K, Q
}

// Buckets sorts distances into Count buckets, the rows of tables.
type Buckets struct {
	Count int
	// Exact distances, up to Exact either way, have a bucket each; longer ones share buckets whose width grows with the
	// logarithm of the distance up to Longest. With Longest 0, all beyond Exact share the last one.
	Exact, Longest int
	// Mirrored buckets put distances below zero into the upper half, counted from its beginning; otherwise zero is in
	// the middle.
	Mirrored bool
}

func (b Buckets) of(distance int) int {
	size := distance
	if size < 0 {
		size = -size
	}
	half := b.Count / 2
	if b.Mirrored {
		if size >= b.Exact {
			size = min(half-1, b.Exact+
				int(math.Log(float64(size)/float64(b.Exact))/math.Log(float64(b.Longest)/float64(b.Exact))*float64(half-b.Exact)))
		}
		if distance < 0 {
			return half + size
		}
		return size
	}
	if b.Longest > 0 && size > b.Exact {
		far := math.Log(float64(size)/float64(b.Exact)) / math.Log(float64(b.Longest-1)/float64(b.Exact))
		size = b.Exact + int(math.Ceil(far*float64(b.Exact-1)))
	}
	if distance < 0 {
		size = -size
	}
	return min(max(half+size, 0), b.Count-1)
}

func (o Related) String() string {
	return fmt.Sprintf("related attention %d×%d, window %d, %d distances", o.Heads, o.Size, o.Window, o.Buckets.Count)
}

// tables says which of B, K and Q there are.
func (o Related) tables() [3]bool { return [3]bool{o.Bias, o.Keys, o.Querying} }

// shapes are those of the arguments.
func (o Related) shapes(rows int) []tensor.Shape {
	all := []tensor.Shape{{rows, 3 * o.width()}}
	for k, there := range o.tables() {
		if there {
			all = append(all, tensor.Shape{o.Buckets.Count, o.columns(k)})
		}
	}
	return all
}

// columns returns the columns of table k.
func (o Related) columns(k int) int {
	if k == 0 {
		return o.Heads
	}
	return o.width()
}

func (o Related) tangent(b *builder, v *value, d []*value) *value {
	push, args := RelatedPush{Related: o}, append([]*value(nil), v.args...)
	for i, x := range d {
		if x != nil {
			push.Moved |= 1 << i
			args = append(args, x)
		}
	}
	return b.add(push, v.shape, args...)
}

// within returns the rows lo to hi−1 of an example of n rows that row i attends to.
func (o Related) within(i, n int) (lo, hi int) {
	if o.Window == 0 {
		return 0, n
	}
	return max(0, i-o.Window), min(n, i+o.Window+1)
}

// distances returns the bucket of every distance of rows of an example of n rows: of i − j at i − j + n − 1 or later,
// and where zero is.
func (m *Machine) distancesOf(b Buckets, n int) (of []int32, zero int) {
	of = m.buckets[b]
	if len(of) < 2*n-1 {
		of = b.UpTo(max(n, len(of)))
		if m.buckets == nil {
			m.buckets = map[Buckets][]int32{}
		}
		m.buckets[b] = of
	}
	return of, len(of) / 2
}

// UpTo lists the buckets of the distances −(n−1) to n−1.
func (b Buckets) UpTo(n int) []int32 {
	all := make([]int32, 2*n-1)
	if b.Count > 0 {
		for i := range all {
			all[i] = int32(b.of(i - n + 1))
		}
	}
	return all
}

func (o Related) Run(m *Machine, in *Instruction) {
	out, x, w := m.At(in.Out), m.At(in.Args[0].Buffer), o.width()
	clear(out[m.positions()*w:])
	var tables [3][]float32
	for k, at := 0, 1; k < 3; k++ {
		if o.tables()[k] {
			tables[k] = m.At(in.Args[at].Buffer)
			at++
		}
	}
	a := &m.attend
	for _, r := range m.eachExample() {
		n := r.hi - r.lo
		x, out := x[r.lo*3*w:r.hi*3*w], out[r.lo*w:r.hi*w]
		buckets, zero := m.distancesOf(o.Buckets, n)
		for h := range o.Heads {
			a.open(o.Attention, x, h, n)
			a.scale = o.Scale
			for lo := 0; lo < n; lo += tileRows {
				hi := min(lo+tileRows, n)
				from, _ := o.within(lo, n)
				_, to := o.within(hi-1, n)
				if lo == 0 || o.Window > 0 {
					a.columns(from, to)
					a.distances(m.BLAS, o, tables, h, buckets, zero)
				}
				t := a.tile(lo)
				m.BLAS.Sgemm(false, false, t.tall, a.wide, a.size, a.q, a.kT, 0, a.p)
				o.relate(m.BLAS, a, t, from, to, tables, h, buckets, zero)
				real := (t.hi - t.lo) * a.wide
				kernels.Softmax(a.p[:real], to-from, a.wide)
				clear(a.p[real:])
				m.BLAS.Sgemm(false, false, t.tall, o.Size, a.wide, a.p, a.v, 0, a.o)
				headOf(out, w, h*o.Size, o.Size).rows(t.lo, t.hi).set(a.o)
			}
		}
	}
}

// columns loads the keys and values of rows from to to−1.
func (a *attend) columns(from, to int) {
	a.wide = roundUp(to-from, 16)
	a.kT, a.v = padded(a.kT, a.wide*a.size), padded(a.v, a.wide*a.size)
	a.p = padded(a.p, roundUp(min(a.n, tileRows), 8)*a.wide)
	transposed(a.kT, a.keys.rows(from, to), a.wide)
	copyHead(a.v, a.values.rows(from, to))
	a.k = padded(a.k, roundUp(to-from, 16)*a.size)
	copyHead(a.k, a.keys.rows(from, to))
}

// distances computes Scale·⟨Q_b, k_j⟩ of every loaded key j and every bucket b between the first and the last one that
// the example has, and loads the K_b of those.
func (a *attend) distances(blas kernels.BLAS, o Related, tables [3][]float32, h int, buckets []int32, zero int) {
	if !o.Keys && !o.Querying {
		return
	}
	a.first, a.last = buckets[zero-(a.n-1)], buckets[zero+a.n-1]
	rows := int(a.last-a.first) + 1
	a.across = roundUp(rows, 16)
	a.otherT = padded(a.otherT, a.across*a.size)
	w := o.width()
	if o.Querying {
		transposed(a.otherT, headOf(tables[2], w, h*o.Size, o.Size).rows(int(a.first), int(a.last)+1), a.across)
		a.byKey = padded(a.byKey, a.wide*a.across)
		blas.Sgemm(false, false, a.wide, a.across, a.size, a.k, a.otherT, 0, a.byKey)
	}
	if o.Keys {
		transposed(a.otherT, headOf(tables[1], w, h*o.Size, o.Size).rows(int(a.first), int(a.last)+1), a.across)
	}
}

// relate adds to the scores of a tile what depends on distances. Columns are rows from to to−1 of the example.
func (o Related) relate(blas kernels.BLAS, a *attend, t tile, from, to int, tables [3][]float32, h int,
	buckets []int32, zero int) {
	if o.Keys {
		a.s = padded(a.s, t.tall*a.across)
		blas.Sgemm(false, false, t.tall, a.across, a.size, a.q, a.otherT, 0, a.s)
	}
	for i := t.lo; i < t.hi; i++ {
		p := a.p[(i-t.lo)*a.wide:][:to-from]
		lo, hi := o.within(i, a.n)
		for j := range p[:lo-from] {
			p[j] = float32(math.Inf(-1))
		}
		for j := range p[hi-from:] {
			p[hi-from+j] = float32(math.Inf(-1))
		}
		if o.Keys {
			byQuery := a.s[(i-t.lo)*a.across:][:a.across]
			for j := lo; j < hi; j++ {
				p[j-from] += byQuery[buckets[zero+i-j]-a.first]
			}
		}
		if o.Querying {
			for j := lo; j < hi; j++ {
				p[j-from] += o.Scale * a.byKey[(j-from)*a.across+int(buckets[zero+i-j]-a.first)]
			}
		}
		if o.Bias {
			for j := lo; j < hi; j++ {
				p[j-from] += tables[0][int(buckets[zero+i-j])*o.Heads+h]
			}
		}
	}
}

// RelatedAttention is attention of the columns of x [Rows×3·H·E], queries, keys, values, with scores that depend on
// distances: see the op Related, whose Heads, Scale, Window and Buckets are those of o. A table that is nil is not
// there.
func (g *Graph) RelatedAttention(o Related, x, bias, keys, queries *gorgonia.Node) (*gorgonia.Node, error) {
	s := x.Shape()
	if len(s) != 2 || s[0] != g.Rows || o.Heads < 1 || s[1]%(3*o.Heads) != 0 || o.Window < 0 {
		return nil, fmt.Errorf("nets: related attention of %d heads over %v: expected [%d×3·heads·E]", o.Heads, s, g.Rows)
	}
	o.Size = s[1] / (3 * o.Heads)
	o.Bias, o.Keys, o.Querying = bias != nil, keys != nil, queries != nil
	inputs := gorgonia.Nodes{x}
	for k, n := range []*gorgonia.Node{bias, keys, queries} {
		if n == nil {
			continue
		}
		if t := n.Shape(); len(t) != 2 || t[0] != o.Buckets.Count || t[1] != o.columns(k) {
			return nil, fmt.Errorf("nets: related attention with a table %v: expected [%d×%d]", t, o.Buckets.Count, o.columns(k))
		}
		inputs = append(inputs, n)
	}
	if o.Buckets.Mirrored && (o.Keys || o.Querying) {
		return nil, fmt.Errorf("nets: related attention has mirrored buckets for biases only")
	}
	narrow := tensor.Shape{g.Rows, o.width()}
	op := &fusedOp{name: o.String(), out: narrow,
		eval: func(args [][]float64, out []float64) {
			relatedRows(o, g.offsets, args, func(r *relatedRow[float64]) { r.forward(out) })
		},
		lowered: func(b *builder, args []*value) *value { return b.add(o, narrow, args...) },
	}
	op.pull = func(in gorgonia.Nodes, _, grad *gorgonia.Node) (gorgonia.Nodes, error) {
		var all gorgonia.Nodes
		for i, shape := range o.shapes(g.Rows) {
			pull := RelatedPull{o, i}
			back := &fusedOp{name: pull.String(), out: shape,
				eval:    func(args [][]float64, out []float64) { relatedPull(pull, g.offsets, args, out) },
				lowered: func(b *builder, args []*value) *value { return b.add(pull, shape, args...) },
			}
			n, err := back.apply(append(in[:len(in):len(in)], grad)...)
			if err != nil {
				return nil, err
			}
			all = append(all, n)
		}
		return all, nil
	}
	return op.apply(inputs...)
}
