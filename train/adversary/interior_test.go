package adversary

import "math"

// enclosure holds bounds of the least value of an objective, and weights close to the optimum.
type enclosure struct {
	lower, upper float64
	w            []float64
}

// add improves the enclosure by a point and a dual point.
func (e *enclosure) add(x *explicit, w []float64, q [][]float64) {
	w = append([]float64(nil), w...)
	for j, v := range w {
		w[j] = x.clip(v)
	}
	if _, f := x.value(w); f < e.upper {
		e.upper = f
		e.w = append(e.w[:0], w...)
	}
	if d := x.dual(q); d > e.lower {
		e.lower = d
	}
}

// width returns how wide the enclosure is, relative to its upper end.
func (e *enclosure) width() float64 { return (e.upper - e.lower) / (1e-9 + math.Abs(e.upper)) }

// minimise encloses min F by an interior-point method (Boyd and Vandenberghe 2004, section 11.7; steps of Mehrotra
// 1992). With ξ_i ≥ b_y + a_y·w for the blocks of a hinge and t ≥ |w| for λ₁ > 0, and between bounds, F is a smooth
// function of (w, ξ, t) under linear constraints with slacks s > 0 and multipliers z > 0, and each step is a Newton
// step for the conditions of optimality with sz = σμ. Multipliers of a hinge's constraints are weights of outputs: a
// dual point. Without constraints it is Newton's method. Where scores are large, log Σ exp has kinks for Newton's
// method: it begins with μ log Σ exp(·/μ) for a large μ, which falls to 1.
func (x *explicit) minimise() *enclosure {
	ip := newInterior(x)
	best := &enclosure{lower: math.Inf(-1), upper: math.Inf(1)}
	best.add(x, ip.w, ip.point())
	quiet := 0
	for range 400 {
		before := *best
		if !ip.step() {
			break
		}
		best.add(x, ip.w, ip.point())
		if best.width() <= 1e-14 {
			break
		}
		if quiet++; best.upper-best.lower < 0.9*(before.upper-before.lower) {
			quiet = 0
		}
		if quiet > 60 {
			break
		}
	}
	return best
}

// interior is the state of the method. Constraint k is Σ G x ≤ h with slack s and multiplier z; those of a block are
// its outputs, and for λ₁ > 0 up and down are ±w_j ≤ t_j. The ends of bounds are ±w_j ≤ end.
type interior struct {
	x        *explicit
	μ        float64 // of log Σ exp
	w, ξ, t  []float64
	shrunk   []int       // the weights under λ₁, in the order of t, up and down
	s, z     [][]float64 // of the blocks
	up, down sides
	ends     []end
	bounded  sides // of the ends
	hessian  [][]float64
	q        [][]float64
}

type sides struct{ s, z []float64 }

// end is a constraint sign·w_j ≤ at.
type end struct {
	j        int
	sign, at float64
}

func newInterior(x *explicit) *interior {
	ip := &interior{x: x, w: make([]float64, x.dim()), μ: 1}
	copy(ip.w, x.center)
	if x.bounds != nil {
		low, high := float64(x.bounds.Low), float64(x.bounds.High)
		for j, v := range ip.w {
			margin := min(0.1*(high-low), 1)
			v = min(max(v, low+margin), high-margin)
			ip.w[j] = v
			for _, e := range []end{{j, 1, high}, {j, -1, -low}} {
				if !math.IsInf(e.at, 0) {
					ip.ends = append(ip.ends, e)
					ip.bounded.s, ip.bounded.z = append(ip.bounded.s, e.at-e.sign*v), append(ip.bounded.z, x.λ/2)
				}
			}
		}
	}
	if x.h == logSum {
		for k := range x.blocks {
			z := make([]float64, len(x.blocks[k].b))
			x.blocks[k].scores(ip.w, z)
			for _, v := range z {
				ip.μ = max(ip.μ, math.Abs(v)/4)
			}
			for _, row := range x.blocks[k].a {
				for _, v := range row {
					ip.μ = max(ip.μ, math.Abs(v)/4)
				}
			}
		}
	}
	ip.q = make([][]float64, len(x.blocks))
	for k := range x.blocks {
		ip.q[k] = make([]float64, len(x.blocks[k].b))
	}
	ip.hessian = make([][]float64, x.dim())
	for j := range ip.hessian {
		ip.hessian[j] = make([]float64, x.dim())
	}
	if x.h == largest {
		for k := range x.blocks {
			b := &x.blocks[k]
			s, z := make([]float64, len(b.b)), make([]float64, len(b.b))
			b.scores(ip.w, s)
			most := 0.0
			for _, v := range s {
				most = max(most, v)
			}
			most = 1.1*most + 1
			for y := range s {
				s[y], z[y] = most-s[y], b.κ/float64(len(z))
			}
			ip.ξ, ip.s, ip.z = append(ip.ξ, most), append(ip.s, s), append(ip.z, z)
		}
	}
	for j, v := range ip.w {
		if x.λ1[j] > 0 {
			ip.shrunk = append(ip.shrunk, j)
			t := 1.1*math.Abs(v) + 1
			ip.t = append(ip.t, t)
			ip.up.s, ip.down.s = append(ip.up.s, t-v), append(ip.down.s, t+v)
			ip.up.z, ip.down.z = append(ip.up.z, x.λ1[j]/2), append(ip.down.z, x.λ1[j]/2)
		}
	}
	return ip
}

// point returns the dual point of the iterate.
func (ip *interior) point() [][]float64 {
	for k := range ip.x.blocks {
		b := &ip.x.blocks[k]
		switch ip.x.h {
		case largest:
			copy(ip.q[k], ip.z[k])
		case logSum:
			z := make([]float64, len(b.b))
			b.scores(ip.w, z)
			gibbs(z, ip.q[k])
		case squares:
			b.scores(ip.w, ip.q[k])
		}
	}
	return ip.q
}

// gradient sets g to that of the smooth part of F, and the Hessian if wanted.
func (ip *interior) gradient(w, g []float64, wantHessian bool) {
	x := ip.x
	for j := range g {
		g[j] = x.λ * (w[j] - x.center[j])
		if wantHessian {
			clear(ip.hessian[j])
			ip.hessian[j][j] = x.λ
		}
	}
	if x.h == largest {
		return
	}
	for k := range x.blocks {
		b := &x.blocks[k]
		z, q := make([]float64, len(b.b)), make([]float64, len(b.b))
		b.scores(w, z)
		if x.h == squares {
			for j, m := range b.mean(z) {
				g[j] += b.κ * m
			}
			if wantHessian {
				for y := range q {
					q[y] = 1
				}
				ip.bend(b, q, b.κ, make([]float64, x.dim()))
			}
			continue
		}
		for y := range z {
			z[y] /= ip.μ
		}
		gibbs(z, q)
		mean := b.mean(q)
		for j, m := range mean {
			g[j] += b.κ * m
		}
		if wantHessian {
			ip.bend(b, q, b.κ/ip.μ, mean)
		}
	}
}

// mean returns Σ q a.
func (b *block) mean(q []float64) []float64 {
	mean := make([]float64, len(b.a[0]))
	for y, v := range q {
		if v == 0 {
			continue
		}
		for j, s := range b.a[y] {
			mean[j] += v * s
		}
	}
	return mean
}

// bend adds c Σ q (a − mean)(a − mean)ᵀ to the lower half of the Hessian.
func (ip *interior) bend(b *block, q []float64, c float64, mean []float64) {
	d := make([]float64, len(mean))
	for y, v := range q {
		if v == 0 {
			continue
		}
		for j, s := range b.a[y] {
			d[j] = s - mean[j]
		}
		for j, s := range d {
			if s *= c * v; s != 0 {
				to := ip.hessian[j]
				for i := range j + 1 {
					to[i] += s * d[i]
				}
			}
		}
	}
}

// direction is a step in all variables.
type direction struct {
	w, ξ, t  []float64
	s, z     [][]float64
	up, down sides
	bounded  sides
}

// step takes one step, and returns false if there is none.
func (ip *interior) step() bool {
	x := ip.x
	if x.h != largest && len(ip.shrunk) == 0 && len(ip.ends) == 0 {
		return ip.newton()
	}
	g := make([]float64, x.dim())
	ip.gradient(ip.w, g, true)
	for k := range ip.s {
		b := &x.blocks[k]
		d, total := make([]float64, len(b.b)), 0.0
		for y := range d {
			d[y] = ip.z[k][y] / ip.s[k][y]
			total += d[y]
		}
		mean := b.mean(d)
		for j := range mean {
			mean[j] /= total
		}
		ip.bend(b, d, 1, mean)
	}
	for i, j := range ip.shrunk {
		u, v := ip.up.z[i]/ip.up.s[i], ip.down.z[i]/ip.down.s[i]
		ip.hessian[j][j] += 4 * u * v / (u + v)
	}
	for i, e := range ip.ends {
		ip.hessian[e.j][e.j] += ip.bounded.z[i] / ip.bounded.s[i]
	}
	solve := factor(ip.hessian)
	if solve == nil {
		return false
	}
	μ, count := ip.complementarity(direction{}, 0)
	predicted := ip.solve(solve, g, func(_ direction, k, y int) float64 { return 0 }, direction{})
	after, _ := ip.complementarity(predicted, ip.longest(predicted))
	σ := math.Pow(max(after, 0)/μ, 3)
	σ = min(max(σ, 1e-6), 0.9)
	target := σ * μ / count
	corrected := predicted
	if x.h != largest { // the second-order term of a quadratic does not fit
		corrected = direction{}
	}
	d := ip.solve(solve, g, func(direction, int, int) float64 { return target }, corrected)
	α := min(1, 0.995*ip.longest(d))
	if x.h != largest {
		before := ip.residual(target)
		for ; α > 1e-8; α /= 2 {
			trial := ip.moved(d, α)
			if trial.residual(target) <= (1-0.01*α)*before {
				break
			}
		}
	}
	*ip = *ip.moved(d, α)
	if α > 0.5 {
		ip.μ = max(1, ip.μ/3)
	}
	return !math.IsNaN(dot(ip.w, ip.w)) && α > 1e-12
}

// complementarity returns Σ sz after a step of length α, and the number of constraints.
func (ip *interior) complementarity(d direction, α float64) (total, count float64) {
	at := func(s, z, ds, dz []float64) {
		for i := range s {
			a, b := s[i], z[i]
			if ds != nil {
				a, b = a+α*ds[i], b+α*dz[i]
			}
			total += a * b
			count++
		}
	}
	for k := range ip.s {
		if d.s == nil {
			at(ip.s[k], ip.z[k], nil, nil)
		} else {
			at(ip.s[k], ip.z[k], d.s[k], d.z[k])
		}
	}
	at(ip.up.s, ip.up.z, d.up.s, d.up.z)
	at(ip.down.s, ip.down.z, d.down.s, d.down.z)
	at(ip.bounded.s, ip.bounded.z, d.bounded.s, d.bounded.z)
	return total, count
}

// longest returns the step at which the first slack or multiplier vanishes, at most 1/0.995.
func (ip *interior) longest(d direction) float64 {
	α := 1 / 0.995
	at := func(x, dx []float64) {
		for i, v := range dx {
			if x[i]+α*v < 0 {
				α = -x[i] / v
			}
		}
	}
	for k := range ip.s {
		at(ip.s[k], d.s[k])
		at(ip.z[k], d.z[k])
	}
	at(ip.up.s, d.up.s)
	at(ip.up.z, d.up.z)
	at(ip.down.s, d.down.s)
	at(ip.down.z, d.down.z)
	at(ip.bounded.s, d.bounded.s)
	at(ip.bounded.z, d.bounded.z)
	return α
}

// solve returns the Newton step for sz = target, less the product of the steps of s and z in second.
func (ip *interior) solve(solve func([]float64) []float64, g []float64, target func(direction, int, int) float64, second direction) direction {
	x, d := ip.x, direction{}
	right := make([]float64, x.dim())
	for j := range right {
		right[j] = -g[j]
	}
	// e is the step of z before that of x: (target − sz + z·r − ΔsΔz)/s, with r the primal residual
	blocks := make([][]float64, len(ip.s))
	residual := make([][]float64, len(ip.s))
	weight, ρ, total := make([][]float64, len(ip.s)), make([]float64, len(ip.s)), make([]float64, len(ip.s))
	means := make([][]float64, len(ip.s))
	for k := range ip.s {
		b := &x.blocks[k]
		n := len(b.b)
		e, r, D := make([]float64, n), make([]float64, n), make([]float64, n)
		b.scores(ip.w, r)
		ρ[k] = -b.κ
		for y := range e {
			s, z := ip.s[k][y], ip.z[k][y]
			r[y] += s - ip.ξ[k]
			e[y] = target(d, k, y) - s*z + z*r[y]
			if second.s != nil {
				e[y] -= second.s[k][y] * second.z[k][y]
			}
			e[y] /= s
			D[y] = z / s
			total[k] += D[y]
			ρ[k] += z + e[y] // −r_ξ + Σ e
		}
		mean := b.mean(D)
		for y := range e {
			for j, v := range b.a[y] {
				right[j] -= (ip.z[k][y] + e[y]) * v
			}
		}
		for j := range mean {
			mean[j] /= total[k]
			right[j] += mean[j] * ρ[k]
		}
		blocks[k], residual[k], weight[k], means[k] = e, r, D, mean
	}
	n := len(ip.shrunk)
	type side struct{ e, r, D []float64 }
	makeSide := func(sign float64, at sides, second sides) side {
		s := side{make([]float64, n), make([]float64, n), make([]float64, n)}
		for i, j := range ip.shrunk {
			s.r[i] = sign*ip.w[j] - ip.t[i] + at.s[i]
			s.e[i] = target(d, -1, i) - at.s[i]*at.z[i] + at.z[i]*s.r[i]
			if second.s != nil {
				s.e[i] -= second.s[i] * second.z[i]
			}
			s.e[i] /= at.s[i]
			s.D[i] = at.z[i] / at.s[i]
		}
		return s
	}
	up, down := makeSide(1, ip.up, second.up), makeSide(-1, ip.down, second.down)
	τ := make([]float64, n)
	for i, j := range ip.shrunk {
		τ[i] = -(x.λ1[j] - ip.up.z[i] - ip.down.z[i]) + up.e[i] + down.e[i]
		right[j] -= ip.up.z[i] - ip.down.z[i] + up.e[i] - down.e[i]
		right[j] += (up.D[i] - down.D[i]) * τ[i] / (up.D[i] + down.D[i])
	}
	ends := side{make([]float64, len(ip.ends)), make([]float64, len(ip.ends)), make([]float64, len(ip.ends))}
	for i, e := range ip.ends {
		s, z := ip.bounded.s[i], ip.bounded.z[i]
		ends.r[i] = e.sign*ip.w[e.j] - e.at + s
		ends.e[i] = target(d, -1, i) - s*z + z*ends.r[i]
		if second.bounded.s != nil {
			ends.e[i] -= second.bounded.s[i] * second.bounded.z[i]
		}
		ends.e[i] /= s
		ends.D[i] = z / s
		right[e.j] -= e.sign * (z + ends.e[i])
	}
	d.w = solve(right)
	for k := range ip.s {
		b := &x.blocks[k]
		ξ := dot(means[k], d.w) + ρ[k]/total[k]
		s, z := make([]float64, len(b.b)), make([]float64, len(b.b))
		for y := range s {
			move := dot(b.a[y], d.w) - ξ
			s[y] = -residual[k][y] - move
			z[y] = blocks[k][y] + weight[k][y]*move
		}
		d.ξ, d.s, d.z = append(d.ξ, ξ), append(d.s, s), append(d.z, z)
	}
	d.t = make([]float64, n)
	d.up, d.down = sides{make([]float64, n), make([]float64, n)}, sides{make([]float64, n), make([]float64, n)}
	for i, j := range ip.shrunk {
		d.t[i] = ((up.D[i]-down.D[i])*d.w[j] + τ[i]) / (up.D[i] + down.D[i])
		d.up.s[i] = -up.r[i] - (d.w[j] - d.t[i])
		d.up.z[i] = up.e[i] + up.D[i]*(d.w[j]-d.t[i])
		d.down.s[i] = -down.r[i] - (-d.w[j] - d.t[i])
		d.down.z[i] = down.e[i] + down.D[i]*(-d.w[j]-d.t[i])
	}
	d.bounded = sides{make([]float64, len(ip.ends)), make([]float64, len(ip.ends))}
	for i, e := range ip.ends {
		move := e.sign * d.w[e.j]
		d.bounded.s[i] = -ends.r[i] - move
		d.bounded.z[i] = ends.e[i] + ends.D[i]*move
	}
	return d
}

// moved returns the state after a step of length α.
func (ip *interior) moved(d direction, α float64) *interior {
	to := *ip
	add := func(x, dx []float64) []float64 {
		out := make([]float64, len(x))
		for i := range x {
			out[i] = x[i] + α*dx[i]
		}
		return out
	}
	to.w, to.ξ, to.t = add(ip.w, d.w), add(ip.ξ, d.ξ), add(ip.t, d.t)
	to.s, to.z = nil, nil
	for k := range ip.s {
		to.s, to.z = append(to.s, add(ip.s[k], d.s[k])), append(to.z, add(ip.z[k], d.z[k]))
	}
	to.up = sides{add(ip.up.s, d.up.s), add(ip.up.z, d.up.z)}
	to.down = sides{add(ip.down.s, d.down.s), add(ip.down.z, d.down.z)}
	to.bounded = sides{add(ip.bounded.s, d.bounded.s), add(ip.bounded.z, d.bounded.z)}
	return &to
}
