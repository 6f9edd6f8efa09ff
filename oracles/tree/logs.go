package tree

import "math"

// logs is the semiring (+, ×) on logarithms: slow, but correct for weights of any size.
var logs = semiring[float64]{
	zero: math.Inf(-1), one: 0,
	splits: logSplits,
	times:  add[float64],
	plus: func(to, x []float64) {
		for i := range to {
			to[i] = logPlus(to[i], x[i])
		}
	},
}

func logSplits(to, x, y []float64, ox, dx, oy, dy, splits, lanes int) {
	for i := range lanes {
		m := minusInf
		for s, px, py := 0, ox+i, oy+i; s < splits; s, px, py = s+1, px+dx, py+dy {
			m = max(m, x[px]+y[py])
		}
		to[i] = m
		if m == minusInf {
			continue
		}
		sum := 0.0
		for s, px, py := 0, ox+i, oy+i; s < splits; s, px, py = s+1, px+dx, py+dy {
			sum += math.Exp(x[px] + y[py] - m)
		}
		to[i] = m + math.Log(sum)
	}
}

// logPlus returns log(eᵃ + eᵇ).
func logPlus(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if b == minusInf {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

// logElimination is elimination on logarithms.
var logElimination = elimination{
	zero: math.Inf(-1), one: 0,
	plus:  logPlus,
	times: func(a, b float64) float64 { return a + b },
	log:   func(a float64) float64 { return a },
	sum: func(x []float64) float64 {
		m, sum := minusInf, 0.0
		for _, v := range x {
			m = max(m, v)
		}
		if m == minusInf {
			return m
		}
		for _, v := range x {
			sum += math.Exp(v - m)
		}
		return m + math.Log(sum)
	},
	divide: func(x []float64, s float64) {
		for i := range x {
			x[i] -= s
		}
	},
	eliminate: func(m, e []float64, ek float64, stride, k, lo, hi int) {
		for i := lo; i < hi; i++ {
			t := m[i*stride+k]
			if t == minusInf {
				continue
			}
			e[i] = logPlus(e[i], t+ek)
			to, row := m[i*stride+lo:i*stride+hi], m[k*stride+lo:k*stride+hi]
			for j, v := range row {
				to[j] = logPlus(to[j], t+v)
			}
		}
	},
	combine: func(to, c, g []float64, stride, lanes int) {
		for i, t := range c {
			if t == minusInf {
				continue
			}
			for j, v := range g[i*stride:][:lanes] {
				to[j] = logPlus(to[j], t+v)
			}
		}
	},
}
