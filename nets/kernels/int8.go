package kernels

import (
	"math"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// This file multiplies by integers. A number x of a row becomes the integer q with 1 ≤ q ≤ 255 that is nearest to 128 +
// x/a, where a is the row's largest magnitude divided by 127; a weight w of a row of W becomes the integer p with −63 ≤
// p ≤ 63 that is nearest to w/b, where b is that row's largest magnitude divided by 63. A product is then
//
//	Σ_k x_k w_k ≈ a·b·(Σ_k q_k p_k − 128·Σ_k p_k).
//
// Sums of integers are exact, so all instruction sets give the same bits. Weights have 7 bits, so that the sum of two
// products fits into 16 bits: AVX2 has no other sum of products of bytes.

const (
	activationZero  = 128 // the integer of 0
	activationLimit = 127
	weightLimit     = 63
)

// WidestInt8 is the largest K of an Int8Factor. Up to it, −128·Σ p and every partial sum of q·p that is added to it fit
// into 32 bits.
const WidestInt8 = math.MaxInt32 / ((2*activationZero + activationLimit) * weightLimit)

// int8Group is how many entries of k a step of the inner loops takes.
const int8Group = 4

// Int8Factor is a matrix W [N×K], 1 ≤ K ≤ WidestInt8, that stays the same over many products x·Wᵀ and whose numbers are
// rounded to integers of 7 bits. Goroutines may share it.
type Int8Factor struct {
	N, K   int
	loops  *int8Loops
	panels []int8    // of loops.columns columns each, with the groups of k side by side for each column, padded with zeros
	start  []int32   // −128·Σ_k p_k of each column
	scales []float32 // b of each column
	group  int       // how many panels stay in the L2 cache while the rows of x run
}

// tile8 is the argument of an inner loop, which sets c to from + a·b·(start + Σ_k q p), for a tile of rows × columns.
type tile8 struct {
	steps   int       // groups of k
	a       []uint8   // q, rows aRow apart
	aRow    int       // entries from a row of a to the next
	b       []int8    // a panel
	start   []int32   // of the columns
	rows    []float32 // a of each row
	columns []float32 // b of each column
	from    []float32 // rows fromRow apart
	fromRow int       // entries from a row of from to the next; 0: all rows have the same
	c       []float32 // rows cRow apart
	cRow    int       // entries from a row of c to the next
}

// int8Loops are the inner loops of an instruction set. All sets give the same bits.
type int8Loops struct {
	name          string
	rows, columns int // of a tile
	run           func(t *tile8)
	largest       func(x []float32) uint32 // the bits of the largest magnitude, or of a NaN
	// to ← 128 + the integers nearest to scale·x, which are at most 127
	round func(to []uint8, x []float32, scale float32)
}

var plainInt8 = int8Loops{"plain", 4, 24, (*tile8).runPlain, largestPlain, roundPlain}

// bestInt8 are the fastest loops of this processor.
var bestInt8 = availableInt8()[0]

// Int8Rows are rows x [M×K], rounded for products with Int8Factors. The zero value is ready for use. One goroutine at a
// time uses it.
type Int8Rows struct {
	q      []uint8
	apart  int       // bytes between rows
	scales []float32 // a of each row
	k      int
	loops  *int8Loops
	tile   tile8
	c      []float32 // a tile that extends beyond C
}

// NewInt8Factor rounds w [n×k].
func NewInt8Factor(w []float32, n, k int) *Int8Factor {
	return newInt8Factor(bestInt8, w, n, k)
}

// int8Cache is how many bytes of panels stay in the L2 cache.
const int8Cache = 256 << 10

func newInt8Factor(loops *int8Loops, w []float32, n, k int) *Int8Factor {
	steps, wide := (k+int8Group-1)/int8Group, (n+loops.columns-1)/loops.columns*loops.columns
	f := &Int8Factor{
		N: n, K: k, loops: loops, panels: make([]int8, wide*steps*int8Group), start: make([]int32, wide),
		scales: make([]float32, wide),
		group:  max(1, int8Cache/(loops.columns*steps*int8Group)),
	}
	for j := range n {
		row := w[j*k : (j+1)*k]
		largest := largestPlain(row)
		scale := math.Float32frombits(largest) / weightLimit
		if scale == 0 {
			continue
		}
		f.scales[j] = scale
		panel := f.panels[j/loops.columns*loops.columns*steps*int8Group:]
		sum := int32(0)
		for i, x := range row {
			p := int8(max(-weightLimit, min(weightLimit, math.RoundToEven(float64(x)/float64(scale)))))
			sum += int32(p)
			panel[(i/int8Group*loops.columns+j%loops.columns)*int8Group+i%int8Group] = p
		}
		f.start[j] = -activationZero * sum
	}
	return f
}

// Round takes the rows x [m×k].
func (r *Int8Rows) Round(x []float32, m, k int) { r.round(bestInt8, x, m, k) }

func (r *Int8Rows) round(loops *int8Loops, x []float32, m, k int) {
	r.loops, r.k = loops, k
	r.apart = (k + int8Group - 1) / int8Group * int8Group
	if r.apart%1024 == 0 {
		r.apart += 64 // or rows compete for the same places of the L1 cache
	}
	// what the last tile computes of rows that are not there is dropped
	whole := (m + loops.rows - 1) / loops.rows * loops.rows
	r.q, r.scales = vec.Grow(r.q, whole*r.apart), vec.Grow(r.scales, whole)
	for i := range m {
		row, to := x[i*k:(i+1)*k], r.q[i*r.apart:][:k]
		largest := math.Float32frombits(loops.largest(row))
		a := largest / activationLimit
		// not of rows of zeros, or nearly, or with infinities
		if inverse := 1 / a; inverse > 0 && inverse <= math.MaxFloat32 {
			loops.round(to, row, inverse)
		} else {
			a = 0 * largest // NaN where a number is not finite
			for j := range to {
				to[j] = activationZero
			}
		}
		r.scales[i] = a
	}
}

// Times computes c = x·Wᵀ + s. Arguments are as of Factor.Times: start and finish see the parts of rows of c in the
// cache.
func (f *Int8Factor) Times(x *Int8Rows, m int, c []float32, stride int, bias []float32,
	start, finish func(c []float32, row, column int)) {
	if m == 0 {
		return
	}
	if x.k != f.K || x.loops != f.loops {
		panic("kernels: rows of another length, or rounded for other loops")
	}
	_ = c[(m-1)*stride+f.N-1]
	l, t, steps := f.loops, &x.tile, (f.K+int8Group-1)/int8Group
	x.c = vec.Grow(x.c, 2*l.rows*l.columns) // what the tile is added to, and the tile
	from, to := x.c[:l.rows*l.columns], x.c[l.rows*l.columns:]
	t.steps, t.aRow = steps, x.apart
	panel := l.columns * steps * int8Group
	for lo := 0; lo < f.N; lo += f.group * l.columns {
		hi := min(f.N, lo+f.group*l.columns)
		for i := 0; i < m; i += l.rows {
			height := min(l.rows, m-i)
			if start != nil {
				for r := range height {
					start(c[(i+r)*stride+lo:(i+r)*stride+hi], i+r, lo)
				}
			}
			t.a, t.rows = x.q[i*x.apart:], x.scales[i:i+l.rows]
			for j := lo; j < hi; j += l.columns {
				width := min(l.columns, hi-j)
				t.b, t.start, t.columns = f.panels[j/l.columns*panel:][:panel], f.start[j:j+l.columns], f.scales[j:j+l.columns]
				inPlace := height == l.rows && width == l.columns
				switch {
				case inPlace && start != nil:
					t.from, t.fromRow = c[i*stride+j:], stride
				case inPlace && start == nil && bias != nil:
					t.from, t.fromRow = bias[j:j+width], 0
				default:
					t.from, t.fromRow = from, l.columns
					clear(from)
					for r := range height {
						switch part := from[r*l.columns:][:width]; {
						case start != nil:
							copy(part, c[(i+r)*stride+j:])
						case bias != nil:
							copy(part, bias[j:])
						}
					}
				}
				if inPlace {
					t.c, t.cRow = c[i*stride+j:], stride
					l.run(t)
					continue
				}
				t.c, t.cRow = to, l.columns
				l.run(t)
				for r := range height {
					copy(c[(i+r)*stride+j:][:width], to[r*l.columns:])
				}
			}
			if finish != nil {
				for r := range height {
					finish(c[(i+r)*stride+lo:(i+r)*stride+hi], i+r, lo)
				}
			}
		}
	}
}

// runPlain is the inner loop for tiles of 4 rows × 24 columns.
func (t *tile8) runPlain() {
	const rows, columns = 4, 24
	var sums [columns]int32
	for r := range rows {
		copy(sums[:], t.start)
		a := t.a[r*t.aRow:][:t.steps*int8Group]
		for s := range t.steps {
			q := a[s*int8Group:][:int8Group]
			q0, q1, q2, q3 := int32(q[0]), int32(q[1]), int32(q[2]), int32(q[3])
			b := t.b[s*columns*int8Group:][:columns*int8Group]
			for j := range columns {
				p := b[j*int8Group:][:int8Group]
				sums[j] += q0*int32(p[0]) + q1*int32(p[1]) + q2*int32(p[2]) + q3*int32(p[3])
			}
		}
		c, from, scale := t.c[r*t.cRow:][:columns], t.from[r*t.fromRow:][:columns], t.rows[r]
		for j, sum := range sums {
			x := float32(float32(float32(sum)*scale) * t.columns[j]) // rounded: no multiplication is fused with the addition
			c[j] = from[j] + x
		}
	}
}

func largestPlain(x []float32) uint32 {
	largest := uint32(0)
	for _, v := range x {
		largest = max(largest, math.Float32bits(v)&^(1<<31))
	}
	return largest
}

func roundPlain(to []uint8, x []float32, scale float32) {
	for i, v := range x {
		to[i] = uint8(activationZero + int(math.RoundToEven(float64(float32(scale*v)))))
	}
}
