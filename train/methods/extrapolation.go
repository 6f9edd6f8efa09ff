package methods

import (
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
)

// mark begins a round of visits at whose end extrapolate may be called. The first of several rounds knows of none
// before.
func (x *workingSet) mark(first bool) {
	copy(x.before, x.since)
	copy(x.since, x.w)
	if first {
		copy(x.before, x.w)
	}
	for i, of := range x.active {
		s := &x.sets[i]
		s.since, s.before = s.before, s.since
		s.since = vec.Grow(s.since, len(of))
		for k, c := range of {
			s.since[k] = c.α
		}
		if first {
			s.before = append(s.before[:0], s.since...)
		}
	}
}

// extrapolate moves the dual point on along the change of the shares since the last mark, d, and that of the round
// before, e: to where the dual is largest among all xd + ye, which are cut short for an example whose shares would fall
// below 0, and then no further than the dual rises. Visits get slow along directions of small curvature; these two
// directions, as those of conjugate gradients, are made of them. It takes no products of planes with weights.
func (x *workingSet) extrapolate(p *train.Problem) {
	λ, n := p.Lambda, float64(p.Len())
	var rise [2]float64
	for i := range x.sets {
		s, c := &x.sets[i], p.Data.Weight(i)
		for k, f := range s.planes {
			rise[0] += c * (x.active[i][k].α - s.since[k]) * f.height
			rise[1] += c * (s.since[k] - s.before[k]) * f.height
		}
	}
	d, e := x.step, x.before
	copy(d, x.w)
	vec.Axpy(-1, x.since, d)
	vec.Axpby(1, x.since, -1, e) // mark puts other numbers there
	rise[0], rise[1] = rise[0]/n-λ*vec.Dot64(d, x.w), rise[1]/n-λ*vec.Dot64(e, x.w)
	dd, de, ee := λ*vec.Norm2(d), λ*vec.Dot64(d, e), λ*vec.Norm2(e)
	if dd == 0 {
		return
	}
	a, b := rise[0]/dd, 0.0
	if det := dd*ee - de*de; det > independent*dd*ee {
		a, b = (rise[0]*ee-rise[1]*de)/det, (rise[1]*dd-rise[0]*de)/det
	}
	clear(x.step)
	linear := 0.0
	for i := range x.sets {
		if !x.change(i, a, b) {
			continue
		}
		s, c := &x.sets[i], p.Data.Weight(i)
		for k, f := range s.planes {
			linear += c * x.shares[k] * f.height
			x.shares[k] *= -c / (λ * n)
		}
		x.add(s, x.shares, x.step)
	}
	bend := λ * vec.Norm2(x.step)
	γ := min(1, (linear/n-λ*vec.Dot64(x.step, x.w))/bend)
	if !(γ > 0) {
		return
	}
	vec.Axpy(float32(γ), x.step, x.w)
	for i, of := range x.active {
		if x.change(i, a, b) {
			for k := range of {
				of[k].α = max(0, of[k].α+γ*x.shares[k])
			}
		}
	}
}

// independent is the square of the sine of the least angle between two directions in which extrapolate searches.
const independent = 1e-6

// change sets the shares in x to a times the change of example i's since the last mark plus b times that of the round
// before, and cuts it short. It reports whether there is a change.
func (x *workingSet) change(i int, a, b float64) bool {
	s, of, any := &x.sets[i], x.active[i], false
	x.shares = vec.Grow(x.shares, len(of))
	short := 1.0
	for k, c := range of {
		δ := a*(c.α-s.since[k]) + b*(s.since[k]-s.before[k])
		if x.shares[k] = δ; δ != 0 {
			any = true
		}
		if δ < 0 {
			short = min(short, c.α/-δ)
		}
	}
	for k := range x.shares {
		x.shares[k] *= short
	}
	return any && short > 0
}
