package adversary

import (
	"math"

	"github.com/dsp-go/dsp/structured"
)

// wide is a crf of single positions with many labels, too many weights for a Hessian:
//
//	F(W) = (1/n) Σ_i [log Σ_l exp(x_i·W_l) − x_i·W_{y_i}] + (λ/2)‖W‖².
//
// With 1 label in many that is gold, F is minimised by Newton's method with conjugate gradients.
type wide struct {
	x      [][]float64 // [n×D]
	gold   []int32
	labels int
	λ      float64
}

func newWide(d *structured.Dataset, labels, inputs int, λ float64) *wide {
	p := &wide{labels: labels, λ: λ}
	a := d.Attributes
	for i := range d.Len() {
		row := make([]float64, inputs)
		for k := a.Offsets[i]; k < a.Offsets[i+1]; k++ {
			row[a.Index[k]] += float64(a.Value[k])
		}
		p.x, p.gold = append(p.x, row), append(p.gold, d.Labels[i])
	}
	return p
}

// marginals returns those of every example at W [D×labels], and the mean loss with the size of its terms.
func (p *wide) marginals(w []float64) (q [][]float64, loss, size float64) {
	for i, x := range p.x {
		z := make([]float64, p.labels)
		for j, v := range x {
			for l := range z {
				z[l] += v * w[j*p.labels+l]
			}
		}
		u := make([]float64, p.labels)
		h := gibbs(z, u)
		loss += h - z[p.gold[i]]
		size += math.Abs(h) + math.Abs(z[p.gold[i]]) + 1
		q = append(q, u)
	}
	n := float64(len(p.x))
	return q, loss / n, size / n
}

// pull returns (1/n) Σ x_i v_i.
func (p *wide) pull(v [][]float64) []float64 {
	g := make([]float64, len(p.x[0])*p.labels)
	for i, x := range p.x {
		for j, s := range x {
			for l, u := range v[i] {
				g[j*p.labels+l] += s * u / float64(len(p.x))
			}
		}
	}
	return g
}

// minimise encloses the optimum. At W with marginals u and gradient G = g + λW, the dual value of u is F(W) − ‖G‖²/2λ.
func (p *wide) minimise() *enclosure {
	w := make([]float64, len(p.x[0])*p.labels)
	best := &enclosure{lower: math.Inf(-1), upper: math.Inf(1)}
	for range 60 {
		q, loss, size := p.marginals(w)
		f := loss + p.λ/2*dot(w, w)
		rounding := float64(p.labels) * 0x1p-52 * (size + p.λ/2*dot(w, w))
		v := make([][]float64, len(q))
		for i := range q {
			v[i] = append([]float64(nil), q[i]...)
			v[i][p.gold[i]]--
		}
		g := p.pull(v)
		for j := range g {
			g[j] += p.λ * w[j]
		}
		best.upper = min(best.upper, f+rounding)
		best.lower = max(best.lower, f-dot(g, g)/(2*p.λ)-rounding)
		move := p.conjugate(q, g)
		fall := dot(g, move)
		if !(fall > 1e-16*f) {
			break
		}
		for α := 1.0; α > 1e-6; α /= 2 {
			to := make([]float64, len(w))
			for j := range to {
				to[j] = w[j] - α*move[j]
			}
			if _, at, _ := p.marginals(to); at+p.λ/2*dot(to, to) <= f-0.1*α*fall || fall < 1e-12*f {
				w = to
				break
			}
		}
	}
	return best
}

// conjugate solves Hv = g by conjugate gradients.
func (p *wide) conjugate(q [][]float64, g []float64) []float64 {
	v, r := make([]float64, len(g)), append([]float64(nil), g...)
	d, rr := append([]float64(nil), g...), dot(g, g)
	for range 200 {
		hd := p.curve(q, d)
		α := rr / dot(d, hd)
		for j := range v {
			v[j] += α * d[j]
			r[j] -= α * hd[j]
		}
		next := dot(r, r)
		if next <= 1e-16*dot(g, g) {
			break
		}
		for j := range d {
			d[j] = r[j] + next/rr*d[j]
		}
		rr = next
	}
	return v
}

// curve returns Hd.
func (p *wide) curve(q [][]float64, d []float64) []float64 {
	v := make([][]float64, len(q))
	for i, x := range p.x {
		v[i] = make([]float64, p.labels)
		for j, s := range x {
			for l := range v[i] {
				v[i][l] += s * d[j*p.labels+l]
			}
		}
		mean := dot(q[i], v[i])
		for l := range v[i] {
			v[i][l] = q[i][l] * (v[i][l] - mean)
		}
	}
	hd := p.pull(v)
	for j := range hd {
		hd[j] += p.λ * d[j]
	}
	return hd
}
