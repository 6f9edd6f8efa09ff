package adversary

import (
	"math"
	"testing"

	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// relaxed is a crf or softmax-margin objective with the tree-reweighted bound of one order in place of log Σ exp
// (oracles/reweighted/doc.go):
//
//	R(θ) = max_u ⟨θ, u⟩ + Σ_v Σ_j w_j H(y_v | y_u(j))   over the local polytope,
//
// where every variable has links j, with equal weights w_j, to its neighbours that come earlier in a breadth-first
// order. R is the least value, over shifts ν with Σ_j w_j ν_j = 0 for each variable, of an elimination from the last
// variable to the first. So F is the least value of a function of (w, ν) that is convex and smooth, which Newton's
// method minimises. Any (w, ν) gives an upper bound of min F; marginals made to agree give a lower one.
type relaxed struct {
	explicit // without blocks
	of       []field
}

// field is an example.
type field struct {
	κ       float64
	gold    []int32
	labels  int
	entries []entry   // of the potentials, with the task loss
	order   []int     // of variables, parents first
	links   [][]place // [V] those of each child
	first   int       // place of the shifts among all variables of the minimisation
}

// place is a link of a child: its parent, and the entries of its table [child's label × parent's], −1 for none.
type place struct {
	parent int
	table  []int
}

func newRelaxed(t testing.TB, p *train.Problem) *relaxed {
	x := &relaxed{explicit: *objectiveOf(p)}
	all, at := jacobians(t, p), p.Scorer.Dim()
	s := p.Scorer.Form().Structure.(graphs.Pairwise)
	for i := range p.Len() {
		g, n, y := p.Data.Graphs[i], p.Data.Length(i), p.Scorer.Form().Parts[0].Width
		f := field{κ: p.Data.Weight(i) / float64(p.Len()), gold: p.Data.Gold(i), labels: y, entries: all[i], links: make([][]place, n), first: at}
		if p.Loss != engine.CRF {
			for v := range n {
				for l := range y {
					if int32(l) != f.gold[v] {
						f.entries[v*y+l].constant++
					}
				}
			}
		}
		when := make([]int, n)
		for root := range n {
			if when[root] > 0 {
				continue
			}
			f.order = append(f.order, root)
			when[root] = len(f.order)
			for k := len(f.order) - 1; k < len(f.order); k++ {
				v := f.order[k]
				for _, ends := range g.Ends {
					if a, b := int(ends[0]), int(ends[1]); a == v || b == v {
						if u := a + b - v; when[u] == 0 {
							f.order = append(f.order, u)
							when[u] = len(f.order)
						}
					}
				}
			}
		}
		for e, ends := range g.Ends {
			a, b := int(ends[0]), int(ends[1])
			child, parent := b, a
			if when[a] > when[b] {
				child, parent = a, b
			}
			link := place{parent: parent}
			for l := range y {
				for k := range y {
					la, lb := k, l
					if child == a {
						la, lb = l, k
					}
					entry := (e*y+la)*y + lb
					switch s.Edges {
					case graphs.Typed:
						entry = (int(g.Types[e])*y+la)*y + lb
					case graphs.Potts:
						if entry = e; la != lb {
							link.table = append(link.table, -1)
							continue
						}
					}
					link.table = append(link.table, n*y+entry)
				}
			}
			f.links[child] = append(f.links[child], link)
		}
		at += len(g.Ends) * y
		x.of = append(x.of, f)
	}
	return x
}

func (x *relaxed) variables() int {
	n := x.dim()
	for _, f := range x.of {
		for _, links := range f.links {
			n += len(links) * f.labels
		}
	}
	return n
}

// evaluate returns an upper bound of F at w, its gradient at z = (w, ν), and, if wanted, a lower bound of min F from
// the marginals there.
func (x *relaxed) evaluate(z []float64, wantDual bool) (f, size float64, g []float64, dual float64) {
	w := z[:x.dim()]
	g = make([]float64, len(z))
	f, size = x.constant, math.Abs(x.constant)+1
	pulled, a := make([]float64, x.dim()), 0.0
	for k := range x.of {
		of := &x.of[k]
		θ := make([]float64, len(of.entries))
		for e, at := range of.entries {
			θ[e] = at.constant
			m := math.Abs(at.constant)
			for _, s := range at.slopes {
				θ[e] += s.x * w[s.j]
				m += math.Abs(s.x * w[s.j])
			}
			size += of.κ * m
		}
		value, u, shifts := of.eliminate(θ, z[of.first:])
		gold := of.indicator()
		f += of.κ * (value - dot(gold, θ))
		for e := range u {
			for _, s := range of.entries[e].slopes {
				g[s.j] += of.κ * (u[e] - gold[e]) * s.x
			}
		}
		for j, v := range shifts {
			g[of.first+j] += of.κ * v
		}
		if !wantDual {
			continue
		}
		u, h := of.agree(θ, z[of.first:])
		a += of.κ * h
		for e := range u {
			a += of.κ * (u[e] - gold[e]) * of.entries[e].constant
			for _, s := range of.entries[e].slopes {
				pulled[s.j] += of.κ * (u[e] - gold[e]) * s.x
			}
		}
	}
	dual = a + x.constant
	for j, c := range x.center {
		d := w[j] - c
		f += x.λ / 2 * d * d
		size += x.λ*d*d + math.Abs(pulled[j]*c) + pulled[j]*pulled[j]/x.λ
		g[j] += x.λ * d
		dual += pulled[j]*c - pulled[j]*pulled[j]/(2*x.λ)
	}
	return f, size, g, dual
}

// indicator returns 1_y of the gold labels.
func (f *field) indicator() []float64 {
	y := make([]float64, len(f.entries))
	for v, l := range f.gold {
		y[v*f.labels+int(l)]++
		for _, link := range f.links[v] {
			if at := link.table[int(l)*f.labels+int(f.gold[link.parent])]; at >= 0 {
				y[at]++
			}
		}
	}
	return y
}

// conditionals eliminates all variables. It returns the bound, the marginals of variables, and each link's table of
// pair marginals.
func (f *field) conditionals(θ, ν []float64) (value float64, p [][]float64, pairs [][][]float64) {
	n, y := len(f.links), f.labels
	at := make([]int, n) // of the shifts of each variable's links
	sum := 0
	for v, links := range f.links {
		at[v] = sum
		sum += len(links) * y
	}
	score, cond := make([][]float64, n), make([][][]float64, n)
	for v := range score {
		score[v] = append([]float64(nil), θ[v*y:(v+1)*y]...)
		cond[v] = make([][]float64, len(f.links[v]))
	}
	p = make([][]float64, n)
	for k := n - 1; k >= 0; k-- {
		v := f.order[k]
		if len(f.links[v]) == 0 {
			p[v] = make([]float64, y)
			value += gibbs(score[v], p[v])
			continue
		}
		c := float64(len(f.links[v]))
		mean := make([]float64, y)
		for j := range f.links[v] {
			for l := range mean {
				mean[l] += ν[at[v]+j*y+l] / c
			}
		}
		for j, link := range f.links[v] {
			table, z, q := make([]float64, y*y), make([]float64, y), make([]float64, y)
			for i := range y {
				for l := range y {
					z[l] = score[v][l] + ν[at[v]+j*y+l] - mean[l]
					if e := link.table[l*y+i]; e >= 0 {
						z[l] += θ[e] * c
					}
				}
				score[link.parent][i] += gibbs(z, q) / c
				for l := range q {
					table[l*y+i] = q[l]
				}
			}
			cond[v][j] = table
		}
	}
	for _, v := range f.order {
		if len(f.links[v]) == 0 {
			continue
		}
		p[v] = make([]float64, y)
		for j, link := range f.links[v] {
			for l := range y {
				for i := range y {
					cond[v][j][l*y+i] *= p[link.parent][i]
					p[v][l] += cond[v][j][l*y+i] / float64(len(f.links[v]))
				}
			}
		}
	}
	return value, p, cond
}

// eliminate returns the bound and its gradients: marginals, and those of the shifts.
func (f *field) eliminate(θ, ν []float64) (value float64, u, shifts []float64) {
	value, p, pairs := f.conditionals(θ, ν)
	u = make([]float64, len(θ))
	for v, q := range p {
		copy(u[v*f.labels:], q)
		for j, link := range f.links[v] {
			c := float64(len(f.links[v]))
			for l := range f.labels {
				s := 0.0
				for i := range f.labels {
					s += pairs[v][j][l*f.labels+i]
				}
				shifts = append(shifts, (s-q[l])/c)
			}
			for k, e := range link.table {
				if e >= 0 {
					u[e] += pairs[v][j][k]
				}
			}
		}
	}
	return value, u, shifts
}

// agree returns a point of the local polytope and its tree-reweighted entropy. Rows of a pair's table that exceed the
// child's marginals are scaled down, and a product of what is missing fills it up.
func (f *field) agree(θ, ν []float64) (u []float64, h float64) {
	_, p, pairs := f.conditionals(θ, ν)
	u = make([]float64, len(θ))
	y := f.labels
	entropy := func(q []float64) (h float64) {
		for _, v := range q {
			if v > 0 {
				h -= v * math.Log(v)
			}
		}
		return h
	}
	for v, q := range p {
		copy(u[v*y:], q)
		if len(f.links[v]) == 0 {
			h += entropy(q)
		}
		for j, link := range f.links[v] {
			table := append([]float64(nil), pairs[v][j]...)
			rows, columns, missing := make([]float64, y), append([]float64(nil), p[link.parent]...), 0.0
			for l := range y {
				s := 0.0
				for i := range y {
					s += table[l*y+i]
				}
				scale := 1.0
				if s > q[l] {
					scale = q[l] / s
				}
				rows[l] = max(0, q[l]-scale*s)
				missing += rows[l]
				for i := range y {
					table[l*y+i] *= scale
					columns[i] -= table[l*y+i]
				}
			}
			for l := range y {
				for i := range y {
					if missing > 0 {
						table[l*y+i] += rows[l] * max(0, columns[i]) / missing
					}
					if e := link.table[l*y+i]; e >= 0 {
						u[e] += table[l*y+i]
					}
				}
			}
			h += (entropy(table) - entropy(p[link.parent])) / float64(len(f.links[v]))
		}
	}
	return u, h
}

// minimise encloses min F by Newton's method, with a Hessian of differences of gradients and Levenberg's damping.
func (x *relaxed) minimise() *enclosure {
	n := x.variables()
	z := make([]float64, n)
	copy(z, x.center)
	best := &enclosure{lower: math.Inf(-1), upper: math.Inf(1)}
	damping, quiet := 1e-6, 0
	f, size, g, dual := x.evaluate(z, true)
	for range 300 {
		rounding := float64(n+40) * 0x1p-52 * size
		width := best.upper - best.lower
		best.upper, best.lower = min(best.upper, f+rounding), max(best.lower, dual-rounding)
		if quiet++; best.upper-best.lower < 0.8*width {
			quiet = 0
		}
		if best.width() < 1e-12 || quiet > 40 {
			break
		}
		hessian := make([][]float64, n)
		for j := range hessian {
			ε := 1e-5 * (1 + math.Abs(z[j]))
			at := z[j]
			z[j] = at + ε
			_, _, up, _ := x.evaluate(z, false)
			z[j] = at - ε
			_, _, down, _ := x.evaluate(z, false)
			z[j] = at
			hessian[j] = up
			for i := range up {
				hessian[j][i] = (up[i] - down[i]) / (2 * ε)
			}
		}
		moved := false
		for range 30 {
			damped := make([][]float64, n)
			for j := range damped {
				damped[j] = append([]float64(nil), hessian[j]...)
				damped[j][j] += damping
			}
			if solve := factor(damped); solve != nil {
				move, to := solve(g), make([]float64, n)
				for j := range to {
					to[j] = z[j] - move[j]
				}
				if at, s, gradient, d := x.evaluate(to, true); at < f || at <= f+rounding && dot(gradient, gradient) < dot(g, g) {
					z, f, size, g, dual = to, at, s, gradient, d
					damping, moved = max(1e-12, damping/5), true
					break
				}
			}
			damping *= 10
		}
		if !moved {
			break
		}
	}
	best.w = z[:x.dim()]
	return best
}
