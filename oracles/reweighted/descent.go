package reweighted

import (
	"math"

	"github.com/dsp-go/dsp/structured/vec"
)

// descent lowers a bound by moving its shifts, and stops when a point of the local polytope comes close.
type descent struct {
	bound
	point point
	start []float64 // [E×Y] the shifts before a step
	move  []float64 // [E×Y]
	step  float64
	upper float64 // the bound

	weights, shifts []float64 // the best so far, while weights move
}

// Steps of a descent.
const (
	firstStep = 0.8
	longest   = 3
	shortest  = 1e-3
	between   = 4 // passes between two points
)

// run lowers the bound of an example until it is within tolerance of the value of a point, or for a number of passes. Then point is the
// last point, unless the bound is −∞.
func (d *descent) run(x *example, μ, tolerance float64, passes int) {
	d.begin(x, μ)
	d.start, d.move = vec.Grow(d.start, len(d.shift)), vec.Grow(d.move, len(d.shift))
	d.step, d.upper = firstStep, d.collect()
	if !math.IsInf(d.upper, -1) {
		d.distribute()
		d.descend(tolerance, passes)
	}
}

func (d *descent) descend(tolerance float64, passes int) {
	d.point.project(&d.bound)
	for pass := 0; pass < passes && !(d.upper-d.point.value <= tolerance); pass += between {
		improves := true
		for range between {
			improves = improves && d.improve()
		}
		d.point.project(&d.bound)
		if !improves {
			return
		}
	}
}

// improve makes a step that lowers the bound, or returns false if it finds none.
func (d *descent) improve() bool {
	copy(d.start, d.shift)
	d.match(d.move)
	for ; d.step >= shortest; d.step /= 2 {
		for i, m := range d.move {
			d.shift[i] = d.start[i] + d.step*m
		}
		if value := d.collect(); value <= d.upper {
			d.upper, d.step = value, min(longest, 1.1*d.step)
			d.distribute()
			return true
		}
	}
	copy(d.shift, d.start)
	d.step, d.upper = firstStep, d.collect()
	d.distribute()
	return false
}

// tighten moves the weights of the links of each child towards the link that says most about it, round by round, and lowers the bound
// for the new weights. It keeps weights that lower the bound, and stops early if no weights could lower it by more than tolerance. The
// steps are those of Frank and Wolfe over the forests that give each child one of its links: the link with the least entropy of the
// child's label given the parent's is an edge of the best of them (Krishnan, Lacoste-Julien and Sontag 2015, section 4).
func (d *descent) tighten(rounds int, tolerance float64, passes int) {
	d.weights = append(d.weights[:0], d.w...)
	d.shifts = append(d.shifts[:0], d.shift...)
	γ := 0.5
	for range rounds {
		if d.upper-d.point.tightest(&d.bound) <= tolerance || γ < shortest {
			return
		}
		before := d.upper
		d.favour(γ)
		d.descend(tolerance, passes)
		if d.upper < before {
			copy(d.weights, d.w)
			copy(d.shifts, d.shift)
			continue
		}
		γ /= 2
		copy(d.w, d.weights)
		copy(d.shift, d.shifts)
		d.restart()
		d.point.project(&d.bound)
	}
}

// favour moves the weights by a step of size γ.
func (d *descent) favour(γ float64) {
	y := d.y
	for k := range d.order {
		from, to := d.of(k)
		best := from
		for j := from; j < to; j++ {
			if d.point.entropies[j] < d.point.entropies[best] {
				best = j
			}
		}
		for j := from; j < to; j++ {
			d.w[j] *= 1 - γ
		}
		if from < to {
			d.w[best] += γ
		}
		for l := range y {
			mean := 0.0
			for j := from; j < to; j++ {
				mean += d.w[j] * d.shift[j*y+l]
			}
			for j := from; j < to; j++ {
				d.shift[j*y+l] -= mean
			}
		}
	}
	d.restart()
}

// restart computes the bound for new weights and shifts.
func (d *descent) restart() {
	d.weigh()
	d.step, d.upper = firstStep, d.collect()
	d.distribute()
}
