package adversary

import "math"

// residual returns the norm of what the conditions of optimality lack, for a smooth loss with λ₁ > 0.
func (ip *interior) residual(target float64) float64 {
	x, total := ip.x, 0.0
	g := make([]float64, x.dim())
	ip.gradient(ip.w, g, false)
	for i, j := range ip.shrunk {
		g[j] += ip.up.z[i] - ip.down.z[i]
		for _, r := range []float64{
			x.λ1[j] - ip.up.z[i] - ip.down.z[i],
			ip.w[j] - ip.t[i] + ip.up.s[i], -ip.w[j] - ip.t[i] + ip.down.s[i],
			ip.up.s[i]*ip.up.z[i] - target, ip.down.s[i]*ip.down.z[i] - target,
		} {
			total += r * r
		}
	}
	for i, e := range ip.ends {
		g[e.j] += e.sign * ip.bounded.z[i]
		r, sz := e.sign*ip.w[e.j]-e.at+ip.bounded.s[i], ip.bounded.s[i]*ip.bounded.z[i]-target
		total += r*r + sz*sz
	}
	for _, v := range g {
		total += v * v
	}
	return math.Sqrt(total)
}

// newton takes a step of Newton's method that lowers F.
func (ip *interior) newton() bool {
	x := ip.x
	g := make([]float64, x.dim())
	ip.gradient(ip.w, g, true)
	solve := factor(ip.hessian)
	if solve == nil {
		return false
	}
	for j := range g {
		g[j] = -g[j]
	}
	move := solve(g)
	f := ip.smoothed(ip.w)
	fall := dot(g, move)
	if fall <= 1e-6*math.Abs(f) && ip.μ > 1 {
		ip.μ = max(1, ip.μ/3)
		return true
	}
	if !(fall > 0) {
		return false
	}
	to := make([]float64, len(move))
	for α := 1.0; α > 1e-9; α /= 2 {
		for j := range to {
			to[j] = ip.w[j] + α*move[j]
		}
		if ip.smoothed(to) <= f-0.1*α*fall || fall < 1e-12*math.Abs(f) {
			copy(ip.w, to)
			if α > 0.5 {
				ip.μ = max(1, ip.μ/3)
			}
			return true
		}
	}
	return false
}

// smoothed returns F, with μ log Σ exp(·/μ) in place of log Σ exp.
func (ip *interior) smoothed(w []float64) float64 {
	x, f := ip.x, 0.0
	for j, v := range w {
		d := v - x.center[j]
		f += x.λ / 2 * d * d
	}
	for k := range x.blocks {
		b := &x.blocks[k]
		z := make([]float64, len(b.b))
		b.scores(w, z)
		if x.h == squares {
			f += b.κ * dot(z, z) / 2
			continue
		}
		for y := range z {
			z[y] /= ip.μ
		}
		f += b.κ * ip.μ * gibbs(z, make([]float64, len(z)))
	}
	return f
}

// factor returns a solver for a positive definite matrix, of which it reads the lower half, by the Cholesky factor of
// the matrix with a unit diagonal, and two steps of iterative refinement; nil if there is no factor.
func factor(a [][]float64) func([]float64) []float64 {
	n := len(a)
	scale := make([]float64, n)
	for j := range scale {
		if !(a[j][j] > 0) {
			return nil
		}
		scale[j] = 1 / math.Sqrt(a[j][j])
	}
	full, l := make([][]float64, n), make([][]float64, n)
	for i := range full {
		full[i], l[i] = make([]float64, n), make([]float64, n)
	}
	for i := range n {
		for j := range i + 1 {
			full[i][j] = a[i][j] * scale[i] * scale[j]
			full[j][i] = full[i][j]
		}
	}
	for i := range n {
		for j := range i + 1 {
			s := full[i][j] - dot(l[i][:j], l[j][:j])
			if i == j {
				l[i][i] = math.Sqrt(max(s, 1e-16))
				continue
			}
			l[i][j] = s / l[j][j]
		}
	}
	once := func(right []float64) []float64 {
		v := append([]float64(nil), right...)
		for i := range v {
			v[i] = (v[i] - dot(l[i][:i], v[:i])) / l[i][i]
		}
		for i := n - 1; i >= 0; i-- {
			v[i] /= l[i][i]
			for j := range i {
				v[j] -= l[i][j] * v[i]
			}
		}
		return v
	}
	return func(right []float64) []float64 {
		r := make([]float64, n)
		for j := range r {
			r[j] = right[j] * scale[j]
		}
		v := once(r)
		for range 2 {
			rest := make([]float64, n)
			for i := range rest {
				rest[i] = r[i] - dot(full[i], v)
			}
			for j, c := range once(rest) {
				v[j] += c
			}
		}
		for j := range v {
			v[j] *= scale[j]
		}
		return v
	}
}
