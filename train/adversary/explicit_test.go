package adversary

import (
	"math"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// explicit is an objective with all outputs listed. With rows a_y and offsets b_y for the outputs y of block i,
//
//	F(w) = Σ_i κ_i h(b + A w) + (λ/2)‖w − c‖² + Σ_j λ₁_j |w_j| + constant,    low ≤ w_j ≤ high,
//
// where h is max or log Σ exp. Scores are those above the gold output's, which is row 0 with b_0 = 0 and a_0 = 0. For
// the quadratic loss h is half the squared norm, and a block has a row for each potential that the loss fits: what is
// above the indicator of the gold label.
type explicit struct {
	h        curve
	blocks   []block
	λ        float64
	λ1       []float64 // of each weight
	center   []float64
	constant float64
	bounds   *engine.Bounds // low and high; nil: none
}

// curve is the function of the scores of a block in an explicit objective.
type curve int

const (
	largest curve = iota // max
	logSum               // log Σ exp
	squares              // ½‖·‖²
)

// clip returns the weight between the bounds that is closest to w.
func (x *explicit) clip(w float64) float64 {
	if x.bounds == nil {
		return w
	}
	return min(max(w, float64(x.bounds.Low)), float64(x.bounds.High))
}

type block struct {
	κ       float64
	a       [][]float64 // [Y×d]
	b       []float64   // [Y]
	allowed []bool      // [Y] by partial labels: scores are those of the outputs, and h of the allowed ones is subtracted, which is not convex; nil: labels are whole
}

func (x *explicit) dim() int { return len(x.center) }

// list lists all outputs of a problem. The scorer must be affine. Its derivatives are its differences at unit vectors,
// which are exact if every weight meets a potential once: the reference then has the numbers of the data in float64,
// and none of the scorer's roundings.
func list(t testing.TB, p *train.Problem) *explicit {
	t.Helper()
	x := objectiveOf(p)
	jacobian := jacobians(t, p)
	n := float64(p.Len())
	for i := range p.Len() {
		if p.Data.Weight(i) == 0 {
			continue
		}
		var batch structured.Batch
		batch.Reset(p.Data, []int{i})
		θ, u := &structured.Potentials{}, &structured.Marginals{}
		θ.Resize(&batch, p.Scorer.Form())
		u.Resize(&batch, p.Scorer.Form())
		gold := batch.GoldOf(0)
		if x.h == squares {
			u.Clear()
			u.Add(0, gold.Output, 1)
			x.blocks = append(x.blocks, fits(p.Data.Weight(i)/n, jacobian[i], u, x.dim()))
			continue
		}
		bl := block{κ: p.Data.Weight(i) / n}
		mixed := p.Soft || p.Completion != nil && p.Data.Partial(i) // the reference is a mixture of outputs
		open := !mixed && p.Data.Partial(i)
		var restricted, lost *structured.Potentials // zeros: −∞ where labels forbid outputs, and the loss, since TaskLoss.Loss needs whole labels
		if open {
			restricted = zeros(&batch, p.Scorer.Form())
			restricted.Structure.(structured.Restricter).Restrict(restricted, 0, gold)
		}
		if p.Loss.Augments() {
			lost = zeros(&batch, p.Scorer.Form())
			p.Task.Augment(lost, 0, gold)
		}
		if !mixed && !open {
			bl.a, bl.b = [][]float64{make([]float64, x.dim())}, []float64{0}
		}
		θ.Structure.Each(θ, 0, func(y []int32) {
			if c, some := p.Constraints.(*chains.Constraints); some && !c.Allows(y) {
				return
			}
			u.Clear()
			u.Add(0, y, 1)
			if !mixed && !open {
				u.Add(0, gold.Output, -1)
				if u.Zero(0) {
					return
				}
			}
			row, b := make([]float64, x.dim()), 0.0
			at := 0
			for k := range u.Parts {
				for r, v := range u.Parts[k].Of(0) {
					v := float64(v)
					if mixed {
						v -= float64(p.Completion.Parts[k].Of(i)[r])
					}
					if v != 0 {
						e := jacobian[i][at]
						b += v * e.constant
						for _, s := range e.slopes {
							row[s.j] += v * s.x
						}
					}
					at++
				}
			}
			switch {
			case lost != nil && p.Data.Partial(i):
				b += lost.Score(0, y)
			case lost != nil:
				b += p.Task.Loss(y, gold)
			}
			if open {
				bl.allowed = append(bl.allowed, restricted.Score(0, y) == 0)
			}
			bl.a, bl.b = append(bl.a, row), append(bl.b, b)
		})
		x.blocks = append(x.blocks, bl)
	}
	return x
}

// zeros returns potentials that are 0.
func zeros(b *structured.Batch, form structured.Form) *structured.Potentials {
	θ := &structured.Potentials{}
	θ.Resize(b, form)
	for k := range θ.Parts {
		clear(θ.Parts[k].Values)
	}
	return θ
}

// fits returns the block of an example for the quadratic loss, with the gold output in u.
func fits(κ float64, potentials []entry, u *structured.Marginals, dim int) block {
	bl, at := block{κ: κ}, 0
	for k := range u.Parts {
		for _, y := range u.Parts[k].Of(0) {
			if e := potentials[at]; k == u.Structure.(structured.Entrywise).EntryPart() {
				row := make([]float64, dim)
				for _, s := range e.slopes {
					row[s.j] = s.x
				}
				bl.a, bl.b = append(bl.a, row), append(bl.b, e.constant-float64(y))
			}
			at++
		}
	}
	return bl
}

// objectiveOf returns everything of an explicit objective but its blocks.
func objectiveOf(p *train.Problem) *explicit {
	x := &explicit{h: curveOf(p.Loss), λ: p.Lambda, center: make([]float64, p.Scorer.Dim()), λ1: make([]float64, p.Scorer.Dim()), constant: p.Constant, bounds: p.Bounds}
	for j := range x.λ1 {
		x.λ1[j] = p.L1
	}
	for _, r := range nets.Unshrunk(p.Scorer) {
		clear(x.λ1[r[0]:r[1]])
	}
	for j, c := range p.Center {
		x.center[j] = float64(c)
	}
	return x
}

func curveOf(loss engine.Loss) curve {
	switch loss {
	case engine.Hinge:
		return largest
	case engine.Quadratic:
		return squares
	}
	return logSum
}

// entry is a potential as a function of the weights.
type entry struct {
	constant float64
	slopes   []slope
}

type slope struct {
	j int
	x float64
}

// jacobians returns the entries of the potentials of each example, part by part.
func jacobians(t testing.TB, p *train.Problem) [][]entry {
	t.Helper()
	all := make([][]entry, p.Len())
	worker, w, θ := p.Scorer.NewWorker(), make([]float32, p.Scorer.Dim()), &structured.Potentials{}
	for j := -1; j < len(w); j++ {
		if j >= 0 {
			w[j] = 1
		}
		for i := range all {
			var batch structured.Batch
			batch.Reset(p.Data, []int{i})
			if err := worker.Score(w, &batch, θ); err != nil {
				t.Fatal(err)
			}
			at := 0
			for k := range θ.Parts {
				for _, v := range θ.Parts[k].Of(0) {
					if j < 0 {
						all[i] = append(all[i], entry{constant: float64(v)})
					} else if e := &all[i][at]; float64(v) != e.constant {
						e.slopes = append(e.slopes, slope{j, float64(v) - e.constant})
					}
					at++
				}
			}
		}
		if j >= 0 {
			w[j] = 0
		}
	}
	return all
}

// scores sets z to b + A w.
func (b *block) scores(w, z []float64) {
	for y, row := range b.a {
		z[y] = b.b[y] + dot(row, w)
	}
}

// magnitude is that of the terms in the scores.
func (b *block) magnitude(w []float64) (most float64) {
	for y, row := range b.a {
		s := math.Abs(b.b[y])
		for j, v := range row {
			s += math.Abs(v * w[j])
		}
		most = max(most, s)
	}
	return most
}

// among returns the scores that partial labels allow.
func (b *block) among(z []float64) (some []float64) {
	for y, v := range z {
		if b.allowed[y] {
			some = append(some, v)
		}
	}
	return some
}

func dot(a, b []float64) (s float64) {
	for j, v := range a {
		s += v * b[j]
	}
	return s
}

// gibbs sets q to exp(z)/Σ exp(z) and returns log Σ exp(z).
func gibbs(z, q []float64) float64 {
	most, s := math.Inf(-1), 0.0
	for _, v := range z {
		most = max(most, v)
	}
	for y, v := range z {
		q[y] = math.Exp(v - most)
		s += q[y]
	}
	for y := range q {
		q[y] /= s
	}
	return most + math.Log(s)
}

// rounding is a bound of the relative error of a float64 sum of products of this problem's sizes.
func (x *explicit) rounding() float64 {
	most := 0
	for _, b := range x.blocks {
		most = max(most, len(b.b))
	}
	return float64(x.dim()+most+len(x.blocks)+20) * 0x1p-52
}

// value returns bounds of F(w).
func (x *explicit) value(w []float64) (low, high float64) {
	f, size := x.constant, math.Abs(x.constant)
	for k := range x.blocks {
		b := &x.blocks[k]
		z := make([]float64, len(b.b))
		b.scores(w, z)
		h, most := 0.0, b.magnitude(w)
		switch x.h {
		case largest:
			h = slices.Max(z)
			if b.allowed != nil {
				h -= slices.Max(b.among(z))
			}
		case logSum:
			h = gibbs(z, make([]float64, len(z)))
			if b.allowed != nil {
				z = b.among(z)
				h -= gibbs(z, make([]float64, len(z)))
			}
		case squares: // z errs by a share of most, and so z²/2 by that of |z|·most, and by its square
			for _, v := range z {
				h += v * v / 2
				size += b.κ * most * (math.Abs(v) + x.rounding()*most)
			}
		}
		f += b.κ * h
		size += b.κ * (math.Abs(h) + most + 1)
	}
	for j, v := range w {
		d := v - x.center[j]
		r := x.λ/2*d*d + x.λ1[j]*math.Abs(v)
		f += r
		size += r
	}
	return f - x.rounding()*size, f + x.rounding()*size
}

// dual returns a lower bound of min F from weights q of the outputs of each block, which it makes sum to 1. For the
// quadratic loss any q bound it: ½‖z‖² ≥ ⟨q, z⟩ − ½‖q‖².
func (x *explicit) dual(q [][]float64) float64 {
	a, bend, size := 0.0, 0.0, 0.0
	g, sizes := make([]float64, x.dim()), make([]float64, x.dim())
	for k := range x.blocks {
		b, total := &x.blocks[k], 0.0
		for _, v := range q[k] {
			total += v
		}
		for y, v := range q[k] {
			if x.h != squares {
				v /= total
			}
			if v == 0 || v < 0 && x.h != squares {
				continue
			}
			h := v * b.b[y]
			switch x.h {
			case logSum:
				h -= v * math.Log(v)
			case squares:
				bend += b.κ * v * v / 2
				size += b.κ * v * v
			}
			a += b.κ * h
			size += b.κ * (math.Abs(h) + math.Abs(v))
			for j, s := range b.a[y] {
				g[j] += b.κ * v * s
				sizes[j] += b.κ * math.Abs(v*s)
			}
		}
	}
	least := func(s float64) (d, magnitude float64) { // min_w ⟨s·g,w⟩ + r(w)
		for j, c := range x.center {
			if x.λ == 0 {
				continue
			}
			v := c - s*g[j]/x.λ
			w := x.clip(math.Copysign(max(0, math.Abs(v)-x.λ1[j]/x.λ), v))
			r := s*g[j]*w + x.λ/2*(w-c)*(w-c) + x.λ1[j]*math.Abs(w)
			d += r
			magnitude += math.Abs(s*g[j]*w) + x.λ/2*(w-c)*(w-c) + x.λ1[j]*math.Abs(w) + s*sizes[j]*math.Abs(w)
		}
		return d, magnitude
	}
	s := 1.0
	if x.λ == 0 { // g/λ₁ must be in the unit box: mix with the gold outputs
		for j, v := range g {
			if m := math.Abs(v) + x.rounding()*sizes[j]; m > x.λ1[j] {
				s = min(s, x.λ1[j]/m)
			}
		}
	}
	d, magnitude := least(s)
	return s*a - s*s*bend + d + x.constant - x.rounding()*(s*size+magnitude+math.Abs(x.constant))
}
