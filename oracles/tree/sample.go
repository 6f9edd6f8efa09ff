package tree

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/structured/trees"
)

// Sample implements oracles.Sampler: trees first, and then a relation for each of their arcs.
func (o *Oracle) Sample(θ *structured.Potentials, μ float64, n int, seed []uint64, to *oracles.Samples) {
	to.Resize(θ, n)
	o.guard.Begin(θ)
	for b := range θ.Len() {
		s := sentenceOf(θ, b)
		if !o.guard.Valid(θ, b) {
			to.Count[b] = 0
			continue
		}
		if s.n == 0 {
			continue
		}
		o.open(θ, b, nil)
		o.draws.Seed(seed[b])
		if s.relations == 1 {
			o.sumArcs(&s)
		} else {
			o.shares = vec.Grow(o.shares, len(s.label))
			o.sumRelations(&s, μ, o.shares)
		}
		o.heads = vec.Grow(o.heads, n*s.n)
		if !o.solver.Sample(o.summed, s.n, μ, n, &o.draws, o.heads) {
			to.Count[b] = 0
			continue
		}
		for k := range n {
			y := to.Output(k, θ.Outputs[b], θ.Outputs[b+1])
			heads := o.heads[k*s.n : (k+1)*s.n]
			copy(y, heads)
			if s.relations == 1 {
				clear(y[s.n:])
				continue
			}
			for d, h := range heads {
				row := trees.Row(s.n, d, h)
				y[s.n+d] = int32(oracles.Pick(o.shares[row*s.relations:(row+1)*s.relations],
					o.draws.Uniform()*float64(o.share[row])))
			}
		}
	}
}

// Sample draws trees with probabilities proportional to exp(score/μ), from the top of Eisner's tables down: O(n³) for
// the tables, and O(n²) for each tree. heads are [count×n]. It returns false if no tree is allowed.
func (p *Projective) Sample(arc []float64, n int, μ float64, count int, r *oracles.Draws, heads []int32) bool {
	d := drawing{eisner: &p.sums, r: r}
	switch value, of := p.fill(arc, n, μ); {
	case value == minusInf:
		return false
	case of == logarithms:
		d.log = true
	}
	for k := range count {
		d.heads = heads[k*n : (k+1)*n]
		d.tree()
	}
	return true
}

// drawing draws a tree from a chart of sums: every choice that makes up a table's entry in proportion to what it adds.
type drawing struct {
	*eisner[float64]
	log   bool // the chart holds logarithms
	r     *oracles.Draws
	heads []int32
}

func (d *drawing) tree() {
	root := d.pick(d.total, d.n, func(r int) float64 {
		left, right := d.sides(r)
		return d.product(d.product(d.left[left], d.right[right]), d.root[r])
	})
	d.heads[root] = 0
	d.drawLeft(root, 0)
	d.drawRight(d.n-1-root, root)
}

// product multiplies two entries of the chart.
func (d *drawing) product(a, b float64) float64 {
	if d.log {
		return a + b
	}
	return a * b
}

// pick draws one of some terms whose sum is total.
func (d *drawing) pick(total float64, terms int, term func(s int) float64) int {
	at, sum, last := d.r.Uniform(), 0.0, 0
	if !d.log {
		at *= total
	}
	for s := range terms {
		p := term(s)
		if d.log {
			p = math.Exp(p - total)
		}
		if sum += p; sum > at {
			return s
		}
		if p > 0 {
			last = s
		}
	}
	return last
}

// split draws a split whose terms are x[ox+s·dx] ⊗ y[oy+s·dy].
func (d *drawing) split(total float64, x, y []float64, ox, dx, oy, dy, splits int) int {
	if splits == 1 {
		return 0
	}
	return d.pick(total, splits, func(s int) float64 { return d.product(x[ox+s*dx], y[oy+s*dy]) })
}

// drawRight draws a complete span (w, i) with head i.
func (d *drawing) drawRight(w, i int) {
	for w > 0 {
		s := 1 + d.split(d.right[d.index(w, i)], d.rightArc, d.right, d.index(1, i), d.stride, d.index(w-1, i+1), 1-d.stride,
			w)
		d.heads[i+s] = int32(i) + 1
		d.drawJoined(s, i)
		w, i = w-s, i+s
	}
}

// drawLeft draws a complete span (w, i) with head i+w.
func (d *drawing) drawLeft(w, i int) {
	for w > 0 {
		s := d.split(d.left[d.index(w, i)], d.left, d.leftArc, d.index(0, i), d.stride, d.index(w, i), 1-d.stride, w)
		d.heads[i+s] = int32(i+w) + 1
		d.drawJoined(w-s, i+s)
		w = s
	}
}

// drawJoined draws what is between head and dependent, the ends of span (w, i).
func (d *drawing) drawJoined(w, i int) {
	s := d.split(d.joined[d.index(w, i)], d.right, d.left, d.index(0, i), d.stride, d.index(w-1, i+1), 1-d.stride, w)
	d.drawRight(s, i)
	d.drawLeft(w-1-s, i+s+1)
}
