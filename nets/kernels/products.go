package kernels

import "github.com/dsp-go/dsp/structured/sys/instructions"

// ProductLoops are the inner loops of matrix products of float32 numbers whose sums are in float64, in which every
// product is exact. They serve certificates (train/engine/rounding.go). There is one set per instruction set; all sets
// agree up to the rounding of float64.
type ProductLoops struct {
	Name string
	// dots sets to[2i+j] to the inner product of x_i and w_j, for n ≤ 4 rows x_i and m ≤ 2 rows w_j of k numbers each.
	dots func(to *[8]float64, x []float32, n int, w []float32, m, k int)
	// outer adds Σ_r v_{2r+j}·x_{rows[r]} to to_j for two rows to_0 and to_1, all with k numbers.
	outer func(to []float64, v []float64, x []float32, rows []int32, k int)
}

// Products are the fastest loops of this processor.
var Products = availableProducts()[0]

func availableProducts() []*ProductLoops {
	return instructions.Available(&plainProducts, avx2Products, avx512Products)
}

var plainProducts = ProductLoops{"plain", dotsPlain, outerPlain}

// Multiply sets out [R×C] to x wᵀ, for x [R×k] and w [C×k].
func (l *ProductLoops) Multiply(out []float64, x, w []float32, k int) {
	if k == 0 || len(w) == 0 {
		clear(out)
		return
	}
	rows, columns := len(x)/k, len(w)/k
	_ = out[:rows*columns]
	var tile [8]float64
	for i := 0; i < rows; i += 4 {
		n := min(4, rows-i)
		for j := 0; j < columns; j += 2 {
			m := min(2, columns-j)
			l.dots(&tile, x[i*k:(i+n)*k], n, w[j*k:(j+m)*k], m, k)
			for r := range n {
				copy(out[(i+r)*columns+j:][:m], tile[2*r:])
			}
		}
	}
}

// Outer is the sum of products of rows of v and of x,
//
//	Sum_c ← Sum_c + Σ_r v_{r,c}·x_r    [C×k],
//
// taken by AddRows a few hundred rows at a time.
type Outer struct {
	Sum []float64 // [C×k], and one more row if C is odd

	pairs []float64
}

// outerRows is how many rows of x a pass over the columns takes: few enough to stay in the cache.
const outerRows = 64

// Reset makes the sum a zero of C rows of k numbers.
func (o *Outer) Reset(columns, k int) {
	n := (columns + 1) / 2 * 2 * k
	if cap(o.Sum) < n {
		o.Sum = make([]float64, n)
	}
	o.Sum = o.Sum[:n]
	clear(o.Sum)
}

// AddRows adds the products of the given rows of v [R×C] and x [R×k].
func (o *Outer) AddRows(l *ProductLoops, v, x []float32, rows []int32, columns, k int) {
	if k == 0 {
		return
	}
	for len(rows) > 0 {
		n := min(outerRows, len(rows))
		if cap(o.pairs) < 2*n {
			o.pairs = make([]float64, 2*outerRows)
		}
		for j := 0; j < columns; j += 2 {
			pairs := o.pairs[:2*n]
			for i, r := range rows[:n] {
				at := v[int(r)*columns:][:columns]
				pairs[2*i], pairs[2*i+1] = float64(at[j]), 0
				if j+1 < columns {
					pairs[2*i+1] = float64(at[j+1])
				}
			}
			l.outer(o.Sum[j*k:(j+2)*k], pairs, x, rows[:n], k)
		}
		rows = rows[n:]
	}
}

func dotsPlain(to *[8]float64, x []float32, n int, w []float32, m, k int) {
	second := w[(m-1)*k:][:k]
	w = w[:k]
	for i := range n {
		row := x[i*k:][:k]
		a, b, c, d := 0.0, 0.0, 0.0, 0.0 // two sums each, so that additions need not wait for each other
		j := 0
		for ; j+1 < k; j += 2 {
			p, q := float64(row[j]), float64(row[j+1])
			a += p * float64(w[j])
			b += p * float64(second[j])
			c += q * float64(w[j+1])
			d += q * float64(second[j+1])
		}
		if j < k {
			p := float64(row[j])
			a += p * float64(w[j])
			b += p * float64(second[j])
		}
		to[2*i], to[2*i+1] = a+c, b+d
	}
}

func outerPlain(to []float64, v []float64, x []float32, rows []int32, k int) {
	first, second := to[:k], to[k:][:k]
	for i, r := range rows {
		row := x[int(r)*k:][:k]
		a, b := v[2*i], v[2*i+1]
		for j, p := range row {
			q := float64(p)
			first[j] += a * q
			second[j] += b * q
		}
	}
}
