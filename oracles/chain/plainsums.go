package chain

import "math"

func boundsOf(x []float32) bounds {
	b := bounds{lo: float32(math.Inf(1)), hi: minusInf, all: true}
	for _, v := range x {
		switch {
		case v == minusInf:
			b.all = false
			continue
		case v != v:
			b.nan = true
		}
		if v < b.lo {
			b.lo = v
		}
		if v > b.hi {
			b.hi = v
		}
	}
	return b
}

func grandTotal(x []float32) float32 {
	var s0, s1, s2, s3 float32
	for ; len(x) >= 4; x = x[4:] {
		s0, s1, s2, s3 = s0+x[0], s1+x[1], s2+x[2], s3+x[3]
	}
	for _, v := range x {
		s0 += v
	}
	return s0 + s1 + (s2 + s3)
}

func plainSums[F real](widest, expError float64) sumKernels[F] {
	return sumKernels[F]{
		widest:        widest,
		expError:      expError,
		leastPositive: leastPositive[F],
		exps:          exps[F],
		matVec:        matVec[F],
		matDots:       matDots[F],
		normalise:     normalise[F],
		combine:       combine[F],
		edgeSums:      edgeSums[F, float32],
	}
}

func leastPositive[F real](x []F) F {
	least := F(math.Inf(1))
	for _, v := range x {
		if v > 0 && v < least {
			least = v
		}
	}
	return least
}

func exps[F real](to []F, from []float32, rows, y, stride int, shift float32, scale float64) {
	if shift == minusInf {
		shift = 0
	}
	for i := range rows {
		row := to[i*stride : (i+1)*stride]
		for j, v := range from[i*y : (i+1)*y] {
			row[j] = F(math.Exp((float64(v) - float64(shift)) * scale))
		}
		clear(row[y:])
	}
}

const (
	groups = 4 * run // of a run: matVec adds four rows at a time
	strip  = 512     // columns whose sums it keeps if there is more than a run
)

func matVec[F real](next, prev, m []F, y int) {
	stride := len(next)
	clear(next)
	if y <= groups {
		addRows(next, prev[:y], m, stride)
		return
	}
	for from := 0; from < stride; from += strip {
		to := next[from:min(stride, from+strip)]
		for lo := 0; lo < y; lo += groups {
			var sums [strip]F
			part := sums[:len(to)]
			addRows(part, prev[lo:min(y, lo+groups)], m[lo*stride+from:], stride)
			for j, s := range part {
				to[j] += s
			}
		}
	}
}

// addRows adds p_i times row i of m, for all i, to to.
func addRows[F real](to, p, m []F, stride int) {
	i := 0
	for ; i+4 <= len(p); i += 4 {
		p0, p1, p2, p3 := p[i], p[i+1], p[i+2], p[i+3]
		r0, r1 := m[i*stride:][:len(to)], m[(i+1)*stride:][:len(to)]
		r2, r3 := m[(i+2)*stride:][:len(to)], m[(i+3)*stride:][:len(to)]
		for j := range to {
			to[j] += p0*r0[j] + p1*r1[j] + p2*r2[j] + p3*r3[j]
		}
	}
	for ; i < len(p); i++ {
		p := p[i]
		for j, v := range m[i*stride:][:len(to)] {
			to[j] += p * v
		}
	}
}

func matDots[F real](next, prev, m []F, y int) {
	stride := len(next)
	for i := range y {
		row, total := m[i*stride:(i+1)*stride], F(0)
		for lo := 0; lo < stride; lo += run {
			sum, p := F(0), prev[lo:stride]
			for j, v := range row[lo:min(stride, lo+run)] {
				sum += v * p[j]
			}
			total += sum
		}
		next[i] = total
	}
	clear(next[y:])
}

func normalise[F real](x, a, b []F) F {
	c := F(0)
	for lo := 0; lo < len(x); lo += run {
		to, sum := x[lo:min(len(x), lo+run)], F(0)
		a, b := a[lo:][:len(to)], b[lo:][:len(to)]
		for j := range to {
			to[j] = a[j] * b[j]
			sum += to[j]
		}
		c += sum
	}
	for j := range x {
		x[j] /= c
	}
	return c
}

func combine[F real](g []F, p []float32, n, s, β []F) {
	z := F(0)
	for lo := 0; lo < len(g); lo += run {
		to, sum := g[lo:min(len(g), lo+run)], F(0)
		n, s, β := n[lo:][:len(to)], s[lo:][:len(to)], β[lo:][:len(to)]
		for j := range to {
			to[j] = 0
			if s[j] > 0 {
				to[j] = n[j] * β[j]
			}
			sum += s[j] * to[j]
		}
		z += sum
	}
	s, p = s[:len(g)], p[:len(g)]
	for j := range g {
		g[j] /= z
		p[j] = float32(s[j] * g[j])
	}
}

func edgeSums[F, G real](to []G, α, g, edge []F, y, stride, steps int) {
	for i := range y {
		row := to[i*y : (i+1)*y]
		e := edge[i*stride:][:len(row)]
		clear(row)
		t := 0
		for ; t+4 <= steps; t += 4 {
			a0, a1, a2, a3 := α[t*stride+i], α[(t+1)*stride+i], α[(t+2)*stride+i], α[(t+3)*stride+i]
			g0, g1 := g[t*stride:][:len(row)], g[(t+1)*stride:][:len(row)]
			g2, g3 := g[(t+2)*stride:][:len(row)], g[(t+3)*stride:][:len(row)]
			for j := range row {
				row[j] += G((a0*g0[j] + a1*g1[j] + a2*g2[j] + a3*g3[j]) * e[j])
			}
		}
		for ; t < steps; t++ {
			a := α[t*stride+i]
			for j, v := range g[t*stride:][:len(row)] {
				row[j] += G(a * v * e[j])
			}
		}
	}
}
