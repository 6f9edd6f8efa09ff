package tree

import "math"

var plain = kernels{
	name: "plain Go",
	single: semiring[float32]{
		zero: float32(math.Inf(-1)), one: 0,
		splits: maxSplits, times: add[float32], plus: maximise,
	},
	double: semiring[float64]{
		zero: 0, one: 1,
		splits: sumSplits, times: multiply, plus: func(to, x []float64) { add(to, to, x) },
	},
	trees: elimination{
		zero: 0, one: 1,
		plus:      func(a, b float64) float64 { return a + b },
		times:     func(a, b float64) float64 { return a * b },
		log:       math.Log,
		sum:       sum,
		divide:    divide,
		eliminate: eliminate,
		combine:   combine,
	},
	largest: largest[float32], largestDouble: largest[float64],
	largestOfRows: largestOfRows,
	shares:        shares,
	exps:          exps,
	argmax:        argmax,
	above:         above,
	widen:         widen,
	contract:      contract,
}

func maxSplits(to, x, y []float32, ox, dx, oy, dy, splits, lanes int) {
	to = to[:lanes]
	for i := range to {
		to[i] = float32(math.Inf(-1))
	}
	for range splits {
		a, b := x[ox:][:lanes], y[oy:][:lanes]
		for i := range to {
			if v := a[i] + b[i]; v > to[i] {
				to[i] = v
			}
		}
		ox, oy = ox+dx, oy+dy
	}
}

func sumSplits(to, x, y []float64, ox, dx, oy, dy, splits, lanes int) {
	to = to[:lanes]
	clear(to)
	for range splits {
		a, b := x[ox:][:lanes], y[oy:][:lanes]
		for i := range to {
			to[i] += a[i] * b[i]
		}
		ox, oy = ox+dx, oy+dy
	}
}

func add[F real](to, x, y []F) {
	x, y = x[:len(to)], y[:len(to)]
	for i := range to {
		to[i] = x[i] + y[i]
	}
}

func multiply(to, x, y []float64) {
	x, y = x[:len(to)], y[:len(to)]
	for i := range to {
		to[i] = x[i] * y[i]
	}
}

func maximise(to, x []float32) {
	for i := range to {
		to[i] = max(to[i], x[i])
	}
}

func sum(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s
}

func divide(x []float64, s float64) {
	by := 1 / s
	for i := range x {
		x[i] *= by
	}
}

func eliminate(m, e []float64, ek float64, stride, k, lo, hi int) {
	row := m[k*stride+lo : k*stride+hi]
	for i := lo; i < hi; i++ {
		t := m[i*stride+k]
		if t == 0 {
			continue
		}
		e[i] += t * ek
		to := m[i*stride+lo:][:len(row)]
		for j, v := range row {
			to[j] += t * v
		}
	}
}

func combine(to, c, g []float64, stride, lanes int) {
	to = to[:lanes]
	for i, t := range c {
		for j, v := range g[i*stride:][:lanes] {
			to[j] += t * v
		}
	}
}

func largest[F real](x []F) F {
	m := F(math.Inf(-1))
	for _, v := range x {
		if v > m {
			m = v
		}
	}
	return m
}

func largestOfRows(to, x []float32, width int) {
	for i := range to {
		to[i] = largest(x[i*width : (i+1)*width])
	}
}

// leastShare is the exponent below which shares gives 0: its exponential is about the smallest normal float32.
const leastShare = -86

func shares(to, x []float32, shift, scale float32) float64 {
	sum := 0.0
	for i, v := range x {
		to[i] = 0
		if e := scale * (v - shift); e > leastShare {
			to[i] = float32(math.Exp(float64(e)))
			sum += float64(to[i])
		}
	}
	return sum
}

// leastExponent is the exponent below which exps gives 0: its exponential is about the smallest normal number.
const leastExponent = -707

func exps(to, from []float64, shift, scale, factor float64) {
	for i, v := range from {
		to[i] = 0
		if e := (v - shift) * scale; e > leastExponent {
			to[i] = factor * math.Exp(e)
		}
	}
}

func argmax(x []float64) int {
	best, m := -1, minusInf
	for i, v := range x {
		if v > m {
			best, m = i, v
		}
	}
	return best
}

func above(x []float64, from int, bound float64) int {
	for i := from; i < len(x); i++ {
		if x[i] > bound {
			return i
		}
	}
	return -1
}

func widen(to []float64, from []float32) {
	for i, v := range from {
		to[i] = float64(v)
	}
	for i := len(from); i < len(to); i++ {
		to[i] = minusInf
	}
}

func contract(to, x []float64, less float64) {
	x = x[:len(to)]
	for i, v := range x {
		if v -= less; v > to[i] {
			to[i] = v
		}
	}
}
