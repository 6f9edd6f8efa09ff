package chain

import "math"

func boundsOf(x []float32) bounds {
	b := bounds{lo: float32(math.Inf(1)), hi: minusInf, all: true}
	for _, v := range x {
		if v == minusInf {
			b.all = false
			continue
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
		edgeSums:      edgeSums[F],
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

func matVec[F real](next, prev, m []F, y int) {
	stride := len(next)
	clear(next)
	i := 0
	for ; i+4 <= y; i += 4 {
		p0, p1, p2, p3 := prev[i], prev[i+1], prev[i+2], prev[i+3]
		r0, r1 := m[i*stride:][:len(next)], m[(i+1)*stride:][:len(next)]
		r2, r3 := m[(i+2)*stride:][:len(next)], m[(i+3)*stride:][:len(next)]
		for j := range next {
			next[j] += p0*r0[j] + p1*r1[j] + p2*r2[j] + p3*r3[j]
		}
	}
	for ; i < y; i++ {
		p := prev[i]
		for j, v := range m[i*stride:][:len(next)] {
			next[j] += p * v
		}
	}
}

func matDots[F real](next, prev, m []F, y int) {
	stride := len(next)
	for i := range y {
		sum := F(0)
		for j, v := range m[i*stride : (i+1)*stride] {
			sum += v * prev[j]
		}
		next[i] = sum
	}
	clear(next[y:])
}

func normalise[F real](x, a, b []F) F {
	a, b = a[:len(x)], b[:len(x)]
	c := F(0)
	for j := range x {
		x[j] = a[j] * b[j]
		c += x[j]
	}
	for j := range x {
		x[j] /= c
	}
	return c
}

func combine[F real](g []F, p []float32, n, s, β []F) {
	n, s, β, p = n[:len(g)], s[:len(g)], β[:len(g)], p[:len(g)]
	z := F(0)
	for j := range g {
		g[j] = 0
		if s[j] > 0 {
			g[j] = n[j] * β[j]
		}
		z += s[j] * g[j]
	}
	for j := range g {
		g[j] /= z
		p[j] = float32(s[j] * g[j])
	}
}

func edgeSums[F real](to []float32, α, g, edge []F, y, stride, steps int) {
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
				row[j] += float32((a0*g0[j] + a1*g1[j] + a2*g2[j] + a3*g3[j]) * e[j])
			}
		}
		for ; t < steps; t++ {
			a := α[t*stride+i]
			for j, v := range g[t*stride:][:len(row)] {
				row[j] += float32(a * v * e[j])
			}
		}
	}
}
