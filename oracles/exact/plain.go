package exact

import "math"

var plain = kernels{
	name:      "plain Go",
	lanes:     1,
	expError:  1e-15,
	widen:     widen,
	maxPlus:   maxPlus,
	maxDots:   maxDots,
	argmax:    argmaxOfSum,
	exps:      exps,
	expsFrom:  expsFrom,
	expSums:   expSums,
	jointExps: jointExps,
	sums:      sums,
	dots:      dots,
	multiply:  multiply,
	normalise: normalise,
	divide:    divide,
	product:   product,
	outer:     outer,
	weigh:     weigh,
	joint:     joint,
}

func widen(to []float64, from []float32, rows, y, stride int, pad float64) {
	for i := range rows {
		row := to[i*stride:][:stride]
		for l, x := range from[i*y:][:y] {
			row[l] = float64(x)
		}
		for l := y; l < stride; l++ {
			row[l] = pad
		}
	}
}

func maxPlus(to, x, table []float64, y int) {
	for l := range to {
		most := minusInf
		for k, at := 0, l; k < y; k, at = k+1, at+len(to) {
			most = max(most, x[k]+table[at])
		}
		to[l] += most
	}
}

func maxDots(to, x, table []float64, y int) {
	for l := range y {
		most := minusInf
		for k, t := range table[l*len(to):][:y] {
			most = max(most, x[k]+t)
		}
		to[l] += most
	}
}

func argmaxOfSum(x, y []float64) int {
	best, most := 0, minusInf
	for l, s := range x {
		if s += y[l]; s > most {
			best, most = l, s
		}
	}
	return best
}

func exps(to []float64, from []float32, rows, y, stride int, scale float64) (most, least float64) {
	for i := range rows {
		m := float32(math.Inf(-1))
		for _, v := range from[i*y:][:y] {
			m = max(m, v)
		}
		most += float64(m)
		least = min(least, expsFrom(to[i*stride:], from[i*y:], 1, y, stride, float64(m), scale))
	}
	return most, least
}

func expsFrom(to []float64, from []float32, rows, y, stride int, most, scale float64) (least float64) {
	for i := range rows {
		row := to[i*stride:][:stride]
		for l, v := range from[i*y:][:y] {
			e := (float64(v) - most) * scale
			row[l] = math.Exp(e)
			if e < least && !math.IsInf(e, -1) {
				least = e
			}
		}
		clear(row[y:])
	}
	return least
}

func expSums(to, x, table, m []float64, y int) {
	clear(to)
	for k, v := range x[:y] {
		for l, t := range table[k*len(to):][:len(to)] {
			if e := v + t - m[l]; e > tiniest {
				to[l] += math.Exp(e)
			}
		}
	}
}

// tiniest is the exponent below which exponentials in sums are 0.
const tiniest = -708

func jointExps(g, rows, cols, a, b, table []float64, y int) {
	clear(rows)
	clear(cols)
	stride := len(b)
	for k, v := range a[:y] {
		row := g[k*stride:][:stride]
		for l, t := range table[k*stride:][:stride] {
			if e := v + t + b[l]; e > tiniest {
				e = math.Exp(e)
				row[l] += e
				rows[k] += e
				cols[l] += e
			}
		}
	}
}

func sums(to, x, table []float64, y int) {
	clear(to)
	for k, v := range x[:y] {
		for l, t := range table[k*len(to):][:len(to)] {
			to[l] += v * t
		}
	}
}

func dots(to, x, table []float64, y int) {
	for l := range y {
		s := 0.0
		for k, t := range table[l*len(to):][:len(to)] {
			s += t * x[k]
		}
		to[l] = s
	}
	clear(to[y:])
}

func multiply(to, x, floor []float64) {
	for l, v := range x {
		p := to[l] * v
		to[l] = p
		for _, v := range [2]float64{p, v} {
			if v > 0 {
				floor[0] = min(floor[0], v)
			}
		}
	}
}

func normalise(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	for l := range x {
		x[l] /= s
	}
	return s
}

func divide(to, x, y []float64) {
	for l, v := range y {
		to[l] = 0
		if v > 0 {
			to[l] = x[l] / v
		}
	}
}

func product(to []float64, p []float32, x, y []float64) {
	for l := range to {
		to[l] = x[l] * y[l]
	}
	for l := range p {
		p[l] = float32(to[l])
	}
}

func outer(g, a, b []float64, y, stride int) {
	b0, b1, b2, b3 := b[:stride], b[stride:][:stride], b[2*stride:][:stride], b[3*stride:][:stride]
	for k := range y {
		a0, a1, a2, a3 := a[k], a[stride+k], a[2*stride+k], a[3*stride+k]
		for l := range g[k*stride:][:stride] {
			g[k*stride+l] += a0*b0[l] + a1*b1[l] + a2*b2[l] + a3*b3[l]
		}
	}
}

func weigh(to []float32, g, table []float64, y, stride int) {
	for k := range y {
		g, table := g[k*stride:][:y], table[k*stride:][:y]
		for l := range to[k*y:][:y] {
			to[k*y+l] = float32(g[l] * table[l])
		}
	}
}

func joint(to []float32, a, b, table []float64, y int) {
	stride := len(b)
	for k := range y {
		table := table[k*stride:][:y]
		for l := range to[k*y:][:y] {
			to[k*y+l] = float32(a[k] * b[l] * table[l])
		}
	}
}
